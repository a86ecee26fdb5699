"""Why a block of 4 x 4 sums has no schedule at its MII of 4 on srp-4x4, as docs/kind/modulo-schedule/results.md has it.

At II 4 float operations fill every slot of the float PEs, so that these move nothing and multiplications read both
operands from output registers of memory PEs.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from pathlib import Path

import networkx
import pytest

from mapper.arch.cgra import CgraMachine, Pe
from mapper.arch.source import load_machine
from mapper.models.modulo_schedule.bound import mii
from mapper.workloads.graph.kernel_source import load_kernel

KERNEL = Path(__file__).parents[3] / "docs" / "workload" / "product-4x4.c"
II = 4


@pytest.fixture(scope="module")
def machine() -> CgraMachine:
    found, _ = load_machine("srp-4x4")
    assert isinstance(found, CgraMachine)
    return found


def products(machine: CgraMachine, rows: tuple[Pe, ...], columns: tuple[Pe, ...]) -> int:
    """The most multiplications that float PEs issue in a cycle, each of another pair, where output registers of some
    PEs show values of a, and those of others values of b, all different: a matching of float PEs and pairs in reach."""
    graph: networkx.Graph[tuple[Pe, ...]] = networkx.Graph()
    floats = [pe for pe in machine.all_pes if machine.can_execute(pe, "fmul")]
    graph.add_nodes_from((pe,) for pe in floats)
    for pe, row, column in product(floats, rows, columns):
        if pe in machine.readers[row] and pe in machine.readers[column]:
            graph.add_edge((pe,), (row, column))
    return len(networkx.bipartite.maximum_matching(graph, [(pe,) for pe in floats])) // 2


@pytest.fixture(scope="module")
def most(machine: CgraMachine) -> list[int]:
    """The most multiplications in a cycle, by the number of memory PEs whose output registers show an operand."""
    memory = [pe for pe in machine.all_pes if machine.can_execute(pe, "load")]
    assert not any(machine.can_execute(pe, "fmul") for pe in memory)
    return [
        max(
            products(machine, rows, tuple(pe for pe in shown if pe not in rows))
            for shown in combinations(memory, count)
            for part in range(count // 2 + 1)
            for rows in combinations(shown, part)
        )
        for count in range(len(memory) + 1)
    ]


def splits(most: list[int], shown: int) -> set[tuple[int, ...]]:
    """The ways to share so many cycles of output registers over the interval that leave room for 16 products."""
    return {
        tuple(sorted(counts, reverse=True))
        for counts in product(range(len(most)), repeat=II)
        if sum(counts) <= shown and sum(most[count] for count in counts) >= 16
    }


def test_the_block_fills_the_float_pes_and_leaves_fourteen_cycles_of_output_registers(
    machine: CgraMachine,
) -> None:
    graph = load_kernel(f"{KERNEL}:product")[0].graph
    counted = Counter(operation.opcode for operation in graph.operations)
    assert counted == {"load": 8, "fmul": 16, "fadd": 16, "store": 16, "add": 2}
    assert mii(graph, machine).value == II
    floats = sum(machine.can_execute(pe, "fmul") for pe in machine.all_pes)
    assert counted["fmul"] + counted["fadd"] == floats * II
    assert (len(machine.all_pes) - floats) * II - counted["store"] - counted["add"] == 14


def test_fourteen_cycles_allow_sixteen_products_in_one_way_and_thirteen_in_none(most: list[int]) -> None:
    assert most == [0, 0, 1, 2, 4, 5, 7, 8, 8]
    assert splits(most, 14) == {(7, 7, 0, 0)}
    assert splits(most, 13) == set()


def test_in_that_way_loads_and_additions_of_addresses_find_no_slots(machine: CgraMachine) -> None:
    """Products fill the float PEs in two cycles, sums in the other two. A sum is in its output register for one
    cycle, in which it is stored, and stores' results take the output registers of all memory PEs in the cycle after:
    loads and additions must issue where no stores do and become ready where no store's result does."""
    load, add, store = (machine.latency(opcode) for opcode in ("load", "add", "store"))
    for products_in in combinations(range(II), 2):
        sums_in = set(range(II)) - set(products_in)
        stored = {(cycle + machine.latency("fadd")) % II for cycle in sums_in}
        taken = {(cycle + store) % II for cycle in stored}
        loads = [s for s in range(II) if s not in stored and (s + load) % II not in taken]
        adds = [s for s in range(II) if s not in stored and (s + add) % II not in taken]
        # Eight loads in one cycle take its issue slots and those in which they become ready of all memory PEs.
        assert len(loads) <= 1
        for loaded in loads:
            assert all(s == loaded or (s + add) % II == (loaded + load) % II for s in adds)
