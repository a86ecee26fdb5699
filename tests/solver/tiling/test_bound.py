"""The bound on what PEs receive: the least over all splits of an array tile, gaps of strided indices left out."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given

from mapper.arch.dataflow import DataflowMachine, dataflow_from_document
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling import tile
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.exact.lattice import divisors_of
from mapper.solver.tiling.exact.pruning import NO_PRUNING
from mapper.solver.tiling.exact.search_table import build_table
from mapper.solver.tiling.program.bounded_table import BOUNDED_TABLE
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document
from tests.solver.sample import drawn
from tests.solver.tiling.random_tiling import problems
from tests.solver.tiling.small import machine_fields


def strided() -> LoopNest:
    document = {
        "schema": "mapper.nest/1",
        "name": "strided",
        "loops": {"I": 8, "J": 2},
        "operands": [
            {"tensor": "O", "index": ["I", "J"], "access": "read_write"},
            {"tensor": "A", "index": ["16*I"]},
            {"tensor": "B", "index": ["J"]},
        ],
    }
    return nest_from_document(document, "strided")


def wide_and_dear_noc() -> DataflowMachine:
    """2x4 PEs of 6 words; the NoC takes 64 words a cycle at 10 pJ each, all else is cheap."""
    width = 64
    networks = [{"carries": way, "width_words": width} for way in ("read", "read", "read", "write")]
    fields = machine_fields(
        2,
        4,
        6,
        noc={"networks": networks},
        dma={"initiation_cycles": 0, "cycles_per_byte": 0.1},
        spm={"bytes": 131072, "bank_bytes": 2048},
        rules={"energy": "exact"},
    )
    prices = dict.fromkeys(("mac", "add", "rf", "spm", "dram"), 0.1) | {"noc": 10}
    return dataflow_from_document({**fields, "word_bytes": 1, "energy_pj": prices}, "wide and dear NoC")


@pytest.mark.parametrize(
    "method", [BRANCH_AND_BOUND, CONSTRAINT_PROGRAM, BOUNDED_TABLE, BRUTE_FORCE], ids=lambda m: m.name
)
def test_no_pe_receives_the_gaps_of_a_strided_index(method: object) -> None:
    outcome = method.search(TilingProblem(strided(), wide_and_dear_noc(), "edp"), Effort())  # type: ignore[attr-defined]
    assert outcome.proven and outcome.value == outcome.bound == 2971.5


@drawn(25)
@given(problems())
def test_the_bound_of_an_array_tile_is_met_by_its_cheapest_split(problem: TilingProblem) -> None:
    """Of each operand alone: the table is the least of ``noc_words`` over the splits that it could take part in."""
    table, nest, machine = build_table(problem, NO_PRUNING), problem.nest, problem.machine
    for point in range(0, table.lattice.size, max(1, table.lattice.size // 20)):
        array = dict(zip(nest.loops, table.lattice.factors(point), strict=True))
        for k, operand in enumerate(nest.operands):
            own = [loop for loop in nest.loops if loop in operand.loops]
            counted = []
            for pes in product(*(divisors_of(array[loop]) for loop in own)):
                spatial = dict.fromkeys(nest.loops, 1) | dict(zip(own, pes, strict=True))
                rf = {loop: array[loop] // spatial[loop] for loop in nest.loops}
                if tile.words(operand, rf) <= machine.rf_words and max(pes, default=1) <= machine.pes:
                    usable = all(
                        problem.pins.allows(loop, "rf", rf[loop])
                        and problem.pins.allows(loop, "spatial", spatial[loop])
                        and (spatial[loop] == 1 or loop not in nest.sequential_loops)
                        for loop in own
                    )
                    counted += [tile.noc_words(operand, nest, rf, spatial)] if usable else []
            assert table.least_delivered[k, point] == min(counted, default=float("inf"))
