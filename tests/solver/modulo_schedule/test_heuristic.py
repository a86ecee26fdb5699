"""The heuristics for modulo schedules: valid always, at MII where that is possible, honest where not."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.modulo_schedule.catalogue import AUTOMATIC, on_corners
from mapper.solver.modulo_schedule.heuristic.annealing import ANNEALING
from mapper.solver.modulo_schedule.heuristic.embedding import contains, corners, embed
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE, search_briefly
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_source import load_kernel

Search = Method[ModuloProblem, ModuloSchedule]
METHODS = [pytest.param(method, id=method.name) for method in (ITERATIVE, ANNEALING)]


def _grid(rows: int, columns: int, links: str = "mesh", **changes: object) -> CgraMachine:
    fields = {
        "schema": "mapper.cgra/1",
        "name": f"{links}-{rows}x{columns}",
        "rows": rows,
        "columns": columns,
        "links": [links],
        "pes": [{"at": "all", "classes": ["any"]}],
        "register_file": {"registers": 16},
    }
    return cgra_from_document({**fields, **changes}, "test")


def _graph(name: str, count: int, *edges: tuple[int, ...], opcodes: dict[int, str] | None = None) -> Kernel:
    """``edges``: source, destination, and optionally distance and latency."""
    made = []
    for operand, (source, destination, *more) in enumerate(edges):
        distance, latency = (*more, None, None)[:2]
        made.append(Edge(source, destination, operand, distance or 0, latency))
    chosen = opcodes or {}
    operations = tuple(Operation(f"o{number}", chosen.get(number, "add")) for number in range(count))
    return Kernel(name, DataflowGraph(name, operations, tuple(made)))


CHAIN = _graph("chain", 4, (0, 1), (1, 2), (2, 3))
SUM = _graph("sum", 4, (0, 1), (1, 2), (2, 2, 1), (2, 3))
DIAMOND = _graph("diamond", 6, (0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (0, 5), (4, 5))
FAN = _graph("fan", 9, *((0, reader) for reader in range(1, 8)), *((v, 8) for v in (1, 4, 7)))
RING = _graph("ring", 6, (0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0, 2))
LATE = _graph(
    "late", 7, (0, 1, 0, 16), (0, 2, 0, 16), (2, 3), (3, 4, 0, 4), (1, 5), (4, 5), (5, 6), (6, 3, 5)
)
SKIP = _graph("skip", 10, *((v, v + 1) for v in range(9)), (0, 9), (1, 8), (2, 7), (9, 4, 3))
TREE = _graph("tree", 15, *((v, (v - 1) // 2) for v in range(14, 0, -1)), (0, 0, 1))
TWIN = _graph("twin", 12, *((v, v + 2) for v in range(10)), (10, 0, 3), (11, 1, 3), (4, 7), (5, 8))
BUTTERFLY = _graph(
    "butterfly", 16, *((4 * s + v, 4 * s + 4 + w) for s in range(3) for v in range(4) for w in (v, v ^ (s % 2 + 1)))
)  # fmt: skip
LADDER = _graph("ladder", 20, *((v, v + 1) for v in range(19)), *((v, v + 5) for v in range(0, 15, 3)))
WIDE = _graph(
    "wide", 30, *((v, v + 6) for v in range(24)), *((v, v + 7) for v in range(0, 22, 4)), (29, 5, 4)
)
KERNELS = [CHAIN, SUM, DIAMOND, FAN, RING, LATE, SKIP, TREE, TWIN, BUTTERFLY, LADDER, WIDE]


def _random(operations: int, edges_back: int = 8) -> Kernel:
    """A graph of two operands an operation, from a fixed recipe without randomness in the interpreter."""
    edges = [(max(0, v - 1 - v * 7 % edges_back), v) for v in range(1, operations)]
    edges += [(v - 2, v) for v in range(4, operations, 3)]
    return _graph(f"recipe{operations}", operations, *edges, (operations - 1, operations - 4, 2))


def _holds(problem: ModuloProblem, method: Search) -> int:
    """The II of a schedule that the referee accepts."""
    outcome = method.search(problem, Effort())
    assert outcome.mapping is not None
    assert verify(problem, outcome.mapping).broken == ()
    assert outcome.value == outcome.mapping.ii
    assert outcome.proven == (outcome.value == outcome.bound)
    return outcome.mapping.ii


HARD = {(2, "skip"), (2, "late"), (2, "twin"), (2, "ladder"), (3, "skip"), (3, "butterfly")}
"""Kernels and sizes whose schedules are searched for long: `make slow` has them."""


@pytest.mark.parametrize(
    ("size", "kernel"),
    [
        pytest.param(
            size,
            kernel,
            id=f"{size}-{kernel.name}",
            marks=pytest.mark.slow if (size, kernel.name) in HARD else (),
        )
        for size in (2, 3)
        for kernel in KERNELS
    ],
)
def test_iterative_scheduling_ends_at_mii_or_two_above(kernel: Kernel, size: int) -> None:
    machine = _grid(size, size, "torus" if size == 3 else "mesh")
    bound = mii(kernel.graph, machine).value
    assert bound <= _holds(ModuloProblem(kernel, machine), ITERATIVE) <= bound + 2


@pytest.mark.parametrize("kernel", [CHAIN, SUM, DIAMOND, RING, SKIP, TWIN], ids=lambda kernel: kernel.name)
def test_iterative_scheduling_ends_at_mii_on_a_4x4_mesh(kernel: Kernel) -> None:
    machine = _grid(4, 4)
    assert _holds(ModuloProblem(kernel, machine), ITERATIVE) == mii(kernel.graph, machine).value


@pytest.mark.parametrize("kernel", [CHAIN, SUM, DIAMOND, RING, SKIP, TWIN], ids=lambda kernel: kernel.name)
def test_annealing_ends_at_mii_on_a_4x4_mesh(kernel: Kernel) -> None:
    machine = _grid(4, 4)
    assert _holds(ModuloProblem(kernel, machine), ANNEALING) == mii(kernel.graph, machine).value


@pytest.mark.parametrize("method", METHODS)
def test_memory_ports_and_units_of_some_pes_only_are_kept(method: Search) -> None:
    opcodes = {0: "load", 1: "load", 2: "fmul", 3: "fadd", 4: "store", 5: "load", 6: "fadd"}
    kernel = _graph("memory", 7, (0, 2), (1, 2), (2, 3), (5, 6), (3, 6), (6, 4), (3, 3, 1), opcodes=opcodes)
    left: list[tuple[int, int]] = [(0, 0), (1, 0)]
    pes = [{"at": "all", "classes": ["integer", "float"]}, {"at": left, "classes": ["memory"]}]
    latencies = {"load": 6, "float": 3}
    machine = _grid(2, 2, pes=pes, memory_ports=1, latency_cycles=latencies)
    assert _holds(ModuloProblem(kernel, machine), method) >= 4


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("registers", [0, 1])
def test_few_registers_and_one_read_port_are_kept(method: Search, registers: int) -> None:
    machine = _grid(3, 3, register_file={"registers": registers, "read_ports": 1, "write_ports": 1})
    _holds(ModuloProblem(RING, machine), method)


@pytest.mark.parametrize("method", METHODS)
def test_a_value_that_lives_longer_than_ii_is_handed_on_by_moves(method: Search) -> None:
    kernel = _graph("long", 3, (0, 1, 0, 4), (0, 2, 0, 1), (1, 2, 0, 9))
    problem = ModuloProblem(kernel, _grid(3, 3))
    outcome = method.search(problem, Effort())
    assert outcome.mapping is not None
    assert outcome.mapping.moves
    assert verify(problem, outcome.mapping).valid


@pytest.mark.parametrize("method", METHODS)
def test_operations_without_any_edge_are_placed(method: Search) -> None:
    assert _holds(ModuloProblem(_graph("loose", 9), _grid(2, 2)), method) == 3


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.data())
def test_whatever_is_found_is_valid(data: st.DataObject) -> None:
    """Unequal latencies, few registers, ports, one-way links: the referee accepts every schedule."""
    count = data.draw(st.integers(1, 9))
    edges = data.draw(
        st.lists(
            st.tuples(
                st.integers(0, count - 1), st.integers(0, count - 1), st.integers(0, 3), st.integers(1, 7)
            ),
            max_size=2 * count,
        )
    )
    kept = [(u, w, d if u < w else d + 1, latency) for u, w, d, latency in edges]
    kernel = _graph("drawn", count, *kept, opcodes={v: ("add", "load", "mul")[v % 3] for v in range(count)})
    file = {
        "registers": data.draw(st.integers(0, 3)),
        "read_ports": data.draw(st.sampled_from([None, 1, 2])),
    }
    machine = _grid(
        data.draw(st.integers(1, 3)),
        data.draw(st.integers(1, 3)),
        register_file=file,
        memory_ports=data.draw(st.sampled_from([None, 1])),
        latency_cycles={"load": data.draw(st.integers(1, 9)), "multiply": 2},
    )
    problem = ModuloProblem(kernel, machine)
    for method in (ITERATIVE, ANNEALING):
        outcome = method.search(problem, Effort(deadline=time.monotonic() + 0.15))
        if outcome.mapping is not None:
            assert verify(problem, outcome.mapping).broken == ()


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_schedule(method: Search) -> None:
    problem = ModuloProblem(RING, _grid(2, 2))
    assert method.search(problem, Effort(seed=3)) == method.search(problem, Effort(seed=3))


@pytest.mark.parametrize("method", METHODS)
def test_a_pinned_ii_is_kept(method: Search) -> None:
    assert _holds(ModuloProblem(DIAMOND, _grid(3, 3), fixed_ii=4), method) == 4


@pytest.mark.parametrize("method", METHODS)
def test_a_pinned_ii_below_mii_is_proven_to_have_no_schedule(method: Search) -> None:
    outcome = method.search(ModuloProblem(RING, _grid(3, 3), fixed_ii=2), Effort())
    assert (outcome.mapping, outcome.proven, outcome.stop) == (None, True, "complete")


def test_below_an_ii_that_is_enough_nothing_is_tried_and_the_bound_stays() -> None:
    kernel, machine = load_kernel("conv3x3")[0], load_machine("srp-4x4")[0]
    assert isinstance(machine, CgraMachine)
    problem = ModuloProblem(kernel, machine)
    least = mii(kernel.graph, machine).value
    found = search_briefly(problem, Effort(), enough=least + 3)
    assert found.value is not None and found.value >= least + 3
    assert (found.bound, found.proven) == (least, False)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_claimed_when_the_time_is_up_at_once(method: Search) -> None:
    problem = ModuloProblem(_random(200), _grid(4, 4))
    outcome = method.search(problem, Effort(deadline=time.monotonic()))
    assert (outcome.mapping, outcome.value, outcome.proven) == (None, None, False)
    assert (outcome.stop, outcome.bound) == ("time_limit", mii(problem.kernel.graph, problem.machine).value)


@pytest.mark.parametrize("method", METHODS)
def test_an_interrupt_ends_the_search(method: Search) -> None:
    interrupt = threading.Event()
    interrupt.set()
    outcome = method.search(ModuloProblem(_random(60), _grid(4, 4)), Effort(interrupt=interrupt))
    assert (outcome.mapping, outcome.stop) == (None, "interrupted")


@pytest.mark.slow
def test_a_graph_of_60_operations_is_scheduled_on_8x8() -> None:
    problem = ModuloProblem(_random(60), _grid(8, 8))
    assert _holds(problem, ITERATIVE) <= 6


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_graph_of_200_operations_is_scheduled_on_8x8_within_two_minutes(method: Search) -> None:
    problem = ModuloProblem(_random(200), _grid(8, 8))
    outcome = method.search(problem, Effort(deadline=time.monotonic() + 120))
    assert outcome.mapping is not None
    assert verify(problem, outcome.mapping).broken == ()


def test_a_schedule_of_a_small_mesh_is_one_of_the_larger_mesh_around_it() -> None:
    small, large = _grid(2, 2), _grid(4, 3)
    found = ITERATIVE.search(ModuloProblem(DIAMOND, small), Effort()).mapping
    assert found is not None
    for offset in ((0, 0), (2, 1)):
        embedded = embed(found, small, large, offset)
        assert verify(ModuloProblem(DIAMOND, large), embedded).valid
        assert {placed.pe[0] >= offset[0] for placed in embedded.placements} == {True}


@pytest.mark.parametrize("name", ["mesh-4x3", "torus-3x4", "left-memory-3x3", "srp-3x4"])
def test_the_corners_of_an_array_are_parts_of_it(name: str) -> None:
    machine, _ = load_machine(name)
    assert isinstance(machine, CgraMachine)
    found = corners(machine)
    assert len(found) == machine.rows * machine.columns - 1
    assert all(contains(corner, machine) for corner in found)
    assert [len(corner.all_pes) for corner in found] == sorted((len(c.all_pes) for c in found), reverse=True)


def _never_worse(kernel: Kernel, links: str, sizes: list[tuple[int, int]], seconds: float) -> None:
    """No array of these sizes ends above one that it contains."""
    found: dict[tuple[int, int], float] = {}
    for size in sizes:
        problem = ModuloProblem(kernel, _grid(*size, links))
        outcome = AUTOMATIC.search(problem, Effort(deadline=time.monotonic() + seconds))
        assert outcome.value is not None
        found[size] = outcome.value
    for small, value in found.items():
        for large, other in found.items():
            if contains(_grid(*small, links), _grid(*large, links)):
                assert other <= value


@pytest.mark.parametrize("links", ["mesh", "torus"])
@pytest.mark.parametrize(
    "kernel",
    [CHAIN, SUM, RING, *(pytest.param(kernel, marks=pytest.mark.slow) for kernel in (DIAMOND, TREE, TWIN))],
    ids=lambda kernel: kernel.name,
)
def test_a_larger_array_ends_no_worse_than_one_it_contains(kernel: Kernel, links: str) -> None:
    sizes = [(rows, columns) for rows in range(2, 6) for columns in range(rows, 6)]
    _never_worse(kernel, links, sizes, 20)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [FAN, LATE, SKIP, BUTTERFLY, LADDER, WIDE], ids=lambda kernel: kernel.name)
def test_a_larger_mesh_ends_no_worse_where_time_ends_the_search(kernel: Kernel) -> None:
    _never_worse(kernel, "mesh", [(2, 2), (2, 3), (3, 3), (4, 4), (5, 5)], 10)


def test_bounds_of_corners_are_not_reported_as_of_the_whole_array() -> None:
    problem = ModuloProblem(WIDE, _grid(3, 3))
    bound = mii(WIDE.graph, problem.machine).value
    heard: list[Progress] = []
    nothing: Outcome[ModuloSchedule] = Outcome.unknown("heuristic", bound)
    on_corners(problem, Effort(deadline=time.monotonic() + 2, report=heard.append), ITERATIVE, nothing)
    assert {progress.bound for progress in heard} == {bound}


def test_a_schedule_of_a_corner_is_taken_where_the_whole_array_ends_above_it() -> None:
    problem = ModuloProblem(DIAMOND, _grid(3, 3))
    worse: Outcome[ModuloSchedule] = Outcome.unknown("heuristic", mii(DIAMOND.graph, problem.machine).value)
    better = on_corners(problem, Effort(), ITERATIVE, worse)
    assert better.mapping is not None
    assert verify(problem, better.mapping).valid


def test_a_small_torus_is_no_part_of_a_larger_one() -> None:
    assert not contains(_grid(3, 3, "torus"), _grid(4, 4, "torus"))
    assert contains(_grid(2, 2, "torus"), _grid(4, 4, "torus"))


def test_an_array_with_fewer_registers_or_other_latencies_does_not_contain_one() -> None:
    small = _grid(2, 2)
    assert not contains(small, _grid(3, 3, register_file={"registers": 8}))
    assert not contains(small, _grid(3, 3, latency_cycles={"add": 2}))
    assert not contains(small, _grid(3, 3, memory_ports=1))


def test_embedding_beyond_the_array_is_refused() -> None:
    small, large = _grid(2, 2), _grid(3, 3)
    found = ITERATIVE.search(ModuloProblem(SUM, small), Effort()).mapping
    assert found is not None
    with pytest.raises(InputError):
        embed(replace(found), small, large, (2, 2))
