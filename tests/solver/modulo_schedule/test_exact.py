"""The exact methods of modulo scheduling: schedules that the referee accepts, proofs that agree, honest limits."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import pytest

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.contradiction import ContradictionError
from mapper.solver.method import Effort, Method, Start
from mapper.solver.modulo_schedule.catalogue import AUTOMATIC
from mapper.solver.modulo_schedule.exact.brute_force import BRUTE_FORCE
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.modulo_schedule.exact.decoupled import DECOUPLED
from mapper.solver.modulo_schedule.exact.interval_search import Attempt, least_interval
from mapper.solver.outcome import Outcome
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

Exact = Method[ModuloProblem, ModuloSchedule]
EXACT = [CONSTRAINT_PROGRAM, DECOUPLED]


def mesh(rows: int, columns: int, registers: int = 8) -> CgraMachine:
    document = {
        "schema": "mapper.cgra/1", "name": "mesh", "rows": rows, "columns": columns, "links": ["mesh"],
        "pes": [{"at": "all", "classes": ["any"]}], "register_file": {"registers": registers},
    }  # fmt: skip
    return cgra_from_document(document, "test")


def problem(machine: CgraMachine, operations: int, *edges: tuple[int, int, int]) -> ModuloProblem:
    """Edges as source, destination and distance; operands in the order in which they come."""
    operands = [sum(other[1] == edge[1] for other in edges[:at]) for at, edge in enumerate(edges)]
    graph = DataflowGraph(
        "graph",
        tuple(Operation(f"o{position}", "add") for position in range(operations)),
        tuple(Edge(u, w, operand, d) for (u, w, d), operand in zip(edges, operands, strict=True)),
    )
    return ModuloProblem(Kernel("graph", graph), machine)


def random_problem(machine: CgraMachine, operations: int, seed: int) -> ModuloProblem:
    rng = random.Random(seed)
    edges = [
        (rng.randrange(max(0, w - 3), w), w, 0)
        for w in range(1, operations)
        for _ in range(rng.choice([1, 2]))
    ]
    return problem(machine, operations, *edges, (operations - 1, operations - 2, 1))


def check(given: ModuloProblem, outcome: Outcome[ModuloSchedule]) -> None:
    assert outcome.mapping is not None
    assert verify(given, outcome.mapping).broken == ()
    assert outcome.value == outcome.mapping.ii
    assert outcome.bound is not None and outcome.bound <= outcome.mapping.ii


@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.name)
@pytest.mark.parametrize("seed", range(3))
def test_a_small_graph_gets_a_schedule_that_the_referee_accepts_and_a_proof(method: Exact, seed: int) -> None:
    given = random_problem(mesh(2, 2), 6, seed)
    outcome = method.search(given, Effort())
    check(given, outcome)
    assert outcome.proven and not outcome.restrictions and outcome.bound == outcome.value


@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.name)
def test_routing_can_raise_the_interval_above_every_bound_by_argument(method: Exact) -> None:
    """One value with four readers on a row of PEs whose every slot is taken: none is left for a move."""
    given = problem(mesh(1, 5), 5, (0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0))
    assert mii(given.kernel.graph, given.machine).value == 1
    outcome = method.search(given, Effort())
    check(given, outcome)
    assert outcome.value == 2 and outcome.proven


@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.name)
def test_a_pinned_interval_without_a_schedule_is_proven_to_have_none(method: Exact) -> None:
    given = problem(mesh(1, 5), 5, (0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0))
    for ii in (0, 1):
        outcome = method.search(replace(given, fixed_ii=ii), Effort())
        assert outcome.mapping is None and outcome.bound is None and outcome.proven


@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.name)
def test_a_value_that_lives_longer_than_the_interval_is_handed_on(method: Exact) -> None:
    given = replace(problem(mesh(1, 2), 2, (0, 1, 2)), fixed_ii=2)
    outcome = method.search(given, Effort())
    check(given, outcome)


@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.name)
def test_without_registers_values_wait_in_output_registers_and_moves_alone(method: Exact) -> None:
    given = problem(mesh(2, 2, registers=0), 4, (0, 1, 0), (1, 2, 0), (0, 2, 0), (2, 3, 0))
    check(given, method.search(given, Effort()))


@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.name)
def test_what_ends_for_want_of_time_claims_no_more_than_the_argument_gives(method: Exact) -> None:
    given = random_problem(mesh(2, 2), 9, 1)
    outcome = method.search(given, Effort(deadline=time.monotonic()))
    assert outcome.mapping is None and not outcome.proven
    assert outcome.stop == "time_limit"
    assert outcome.bound == mii(given.kernel.graph, given.machine).value


@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.name)
def test_the_same_seed_gives_the_same_schedule(method: Exact) -> None:
    given = random_problem(mesh(2, 2), 6, 4)
    assert method.search(given, Effort(seed=3)) == method.search(given, Effort(seed=3))


@pytest.mark.parametrize(
    "edges", [((0, 1, 0), (1, 0, 1)), ((0, 1, 0), (0, 1, 1)), ((0, 1, 0), (1, 2, 0), (0, 2, 0))]
)
@pytest.mark.parametrize("registers", [1, 8])
def test_brute_force_finds_what_the_exact_methods_prove(
    edges: tuple[tuple[int, int, int], ...], registers: int
) -> None:
    given = problem(mesh(1, 2, registers), 1 + max(w for _, w, _ in edges), *edges)
    brute = BRUTE_FORCE.search(given, Effort())
    check(given, brute)
    assert [method.search(given, Effort()).value for method in EXACT] == [brute.value] * len(EXACT)


def test_a_program_too_large_to_build_is_said_to_be_left_out_and_proves_nothing() -> None:
    chain, ends = ((at, at + 1, 0) for at in range(449)), ((0, at, 0) for at in range(450, 900))
    given = problem(mesh(2, 2), 900, *chain, *ends)
    outcome = CONSTRAINT_PROGRAM.search(replace(given, fixed_ii=225), Effort())
    assert outcome.mapping is None and not outcome.proven
    assert outcome.bound == 225 and outcome.restrictions and outcome.stop == "heuristic"


def saying(name: str, said: Outcome[ModuloSchedule]) -> Exact:
    """A method that always says the same."""
    return Method(name, True, "", lambda problem, effort: said)


def test_issue_times_whose_places_are_undecided_are_not_taken_for_impossible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = replace(problem(mesh(1, 1), 2, (0, 1, 0)), fixed_ii=2)
    nothing = saying("nothing", Outcome.unknown("heuristic", 2))
    monkeypatch.setattr("mapper.solver.modulo_schedule.exact.decoupled.ITERATIVE", nothing)
    monkeypatch.setattr(
        "mapper.solver.modulo_schedule.exact.decoupled.decide",
        lambda *_, **__: Attempt(None, "undecided", "time_limit"),
    )
    outcome = DECOUPLED.search(given, Effort())
    assert outcome.mapping is None and not outcome.proven and outcome.bound == 2
    assert outcome.stop == "time_limit"


def test_intervals_above_one_that_is_left_out_and_then_refuted_are_not_passed_over() -> None:
    given = problem(mesh(1, 1), 2, (0, 1, 0))
    schedule = CONSTRAINT_PROGRAM.search(replace(given, fixed_ii=3), Effort()).mapping
    assert schedule is not None

    def quick(ii: int, effort: Effort) -> Attempt:
        return Attempt(None, "undecided", "complete", "programs so large are not built")

    def decide(ii: int, effort: Effort) -> Attempt:
        return Attempt(schedule, "found") if ii == schedule.ii else Attempt(None, "infeasible")

    outcome = least_interval(given, Effort(), quick, decide)
    assert (outcome.value, outcome.bound, outcome.proven) == (3, 3, True)


def test_a_schedule_below_what_is_claimed_to_be_the_bound_is_a_contradiction() -> None:
    given = problem(mesh(1, 1), 2, (0, 1, 0))
    found = CONSTRAINT_PROGRAM.search(given, Effort())
    assert found.mapping is not None and found.value == 2
    start = Start(given, found.mapping, 2, 3, "another")
    with pytest.raises(ContradictionError, match="none has an II below 3"):
        CONSTRAINT_PROGRAM.search(given, Effort(start=start))


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (Outcome.infeasible(), "proves that there is no schedule"),
        (Outcome.unknown("heuristic", 4), "proves that no II is below 4"),
    ],
)
def test_auto_lets_no_claim_pass_that_a_schedule_already_found_refutes(
    monkeypatch: pytest.MonkeyPatch, claim: Outcome[ModuloSchedule], reason: str
) -> None:
    given = problem(mesh(1, 1), 2, (0, 1, 0))
    late = CONSTRAINT_PROGRAM.search(replace(given, fixed_ii=3), Effort()).mapping
    stages = (
        (saying("iterative", Outcome.bounded(late, 3, 2, "heuristic")), False, 1.0),
        (saying("cp-sat", claim), False, 1.0),
    )
    monkeypatch.setattr("mapper.solver.modulo_schedule.catalogue.STAGES", stages)
    with pytest.raises(ContradictionError, match=f"{reason}, iterative has a schedule of II 3") as raised:
        AUTOMATIC.search(given, Effort())
    assert (raised.value.first.bound, raised.value.second.value) == (claim.bound, 3)


def test_auto_goes_on_where_the_referee_rejects_what_a_stage_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem(mesh(1, 1), 2, (0, 1, 0))
    valid = CONSTRAINT_PROGRAM.search(given, Effort())
    assert valid.mapping is not None
    first, second = valid.mapping.placements
    rejected = replace(
        valid, mapping=replace(valid.mapping, placements=(first, replace(second, time=first.time)))
    )
    stages = ((saying("hasty", rejected), False, 1.0), (CONSTRAINT_PROGRAM, False, 1.0))
    monkeypatch.setattr("mapper.solver.modulo_schedule.catalogue.STAGES", stages)
    outcome = AUTOMATIC.search(given, Effort())
    check(given, outcome)
    assert outcome.proven and outcome.value == valid.value


def layered_problem(machine: CgraMachine, seed: int) -> ModuloProblem:
    """25 operations that read one or two of the six before them, and two recurrences."""
    rng = random.Random(seed)
    edges = [
        (source, reader, 0)
        for reader in range(1, 25)
        for source in sorted(
            {rng.randrange(max(0, reader - 6), reader) for _ in range(rng.choice([1, 2, 2]))}
        )
    ]
    for _ in range(2):
        last = rng.randrange(3, 25)
        edges.append((last, rng.randrange(max(0, last - 3), last + 1), 1))
    return problem(machine, 25, *edges)


def test_cp_sat_alone_meets_the_bound_for_a_graph_of_25_operations() -> None:
    given = layered_problem(mesh(5, 5, 16).model_copy(update={"links": ["torus"]}), 0)
    outcome = CONSTRAINT_PROGRAM.search(given, Effort())
    check(given, outcome)
    assert outcome.proven and outcome.value == mii(given.kernel.graph, given.machine).value


@pytest.mark.slow
@pytest.mark.parametrize("links", ["mesh", "torus"])
@pytest.mark.parametrize("seed", [0, 1])
def test_times_first_schedules_a_graph_of_25_operations_on_400_pes(links: str, seed: int) -> None:
    given = layered_problem(mesh(20, 20, 16).model_copy(update={"links": [links]}), seed)
    outcome = DECOUPLED.search(given, Effort(deadline=time.monotonic() + 300))
    check(given, outcome)
    assert outcome.proven
