"""Random loops on random arrays: exact methods agree with trying everything, no heuristic is better, schedules run."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.sim.modulo_schedule import report
from mapper.solver.cp_sat import CpSatResult, run_cp_sat
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.catalogue import METHODS
from mapper.solver.modulo_schedule.exact.brute_force import BRUTE_FORCE, STAGES
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.modulo_schedule.exact.decoupled import DECOUPLED
from mapper.solver.modulo_schedule.exact.interval_search import Attempt
from mapper.solver.modulo_schedule.heuristic.annealing import ANNEALING
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError
from tests.solver.conformance import check_agreement, check_outcome, refereed_by
from tests.solver.modulo_schedule.oracle import Oracle
from tests.solver.modulo_schedule.random_kernel import lacking, problems, wide
from tests.solver.sample import QUICK, THOROUGH, Sample, counts, drawn

FEW = {
    "annealing.RESTARTS": 1, "annealing.MOVES": 3, "annealing.LIGHT": 1,
    "iterative.RESTARTS": 1, "iterative.PLACEMENTS": 1, "iterative.LIGHT": 1,
}  # fmt: skip
SOME = {"annealing.RESTARTS": 1, "annealing.MOVES": 40, "annealing.LIGHT": 20, "iterative.RESTARTS": 2}
"""Starts of a heuristic, and its steps for every operation."""
MOST_FREE = 2
"""Slots that operations may leave for trying everything to end soon."""
MOST_TRIES = 5000
"""Placements with their moves after which trying everything is given up."""
MOST_PLACEMENTS = 2000
"""Of operations, up to which the kind's brute force is among the methods."""


def tried(problem: ModuloProblem) -> Outcome[ModuloSchedule] | None:
    """The least II by trying everything; None if that would take too long."""
    graph, fixed = problem.kernel.graph, problem.fixed_ii
    least = mii(graph, problem.machine).value
    ii = least if fixed is None else fixed
    while ii >= least:
        oracle = Oracle(graph, problem.machine, ii)
        if oracle.free > MOST_FREE:
            return None
        feasible = oracle.feasible(MOST_TRIES)
        if feasible is None:
            return None
        if feasible:
            return Outcome(None, ii, ii, "complete", True)
        if fixed is not None:
            break
        ii += 1
    return Outcome.infeasible()


def methods_of(problem: ModuloProblem) -> list[Method[ModuloProblem, ModuloSchedule]]:
    """All methods; brute force only where placements, edges and registers are very few: else it takes minutes."""
    graph, machine = problem.kernel.graph, problem.machine
    ii = problem.fixed_ii or mii(graph, machine).value
    placements = (len(machine.all_pes) * STAGES * ii) ** len(graph.operations)
    names = machine.register_file.registers + (machine.shared_register_file is not None)
    many = placements > MOST_PLACEMENTS or len(graph.edges) > 3 or names > 1
    return [method for method in METHODS.values() if method is not BRUTE_FORCE or not many]


def runs(problem: ModuloProblem, schedule: ModuloSchedule) -> bool:
    """On symbols: every operand is that of the right operation and iteration, and the cycles are the model's."""
    found = report(problem.kernel, problem.machine, schedule)
    return bool(found["outputs_equal"] and found["agrees"])


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heuristics that give up soon where there is no schedule, and miss some that there are, so that others must find
    and prove them."""
    for name, number in FEW.items():
        monkeypatch.setattr(f"mapper.solver.modulo_schedule.heuristic.{name}", number)


KIND = refereed_by(verify, lambda problem, cost: cost.ii)


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("count", counts(QUICK // 2))
def test_methods_agree_on_random_loops_and_every_schedule_runs(count: int) -> None:
    exact = frozenset({"auto", "cp-sat", "decoupled"})
    sample = Sample(KIND, runs=len(METHODS))

    @drawn(count)
    @given(st.one_of(problems(4, 2), problems(4, 2), problems(4, 3)), st.integers(0, 7))
    def holds(problem: ModuloProblem, kept: int) -> None:
        known = tried(problem)
        assume(known is not None)
        least = mii(problem.kernel.graph, problem.machine).value
        above = known is not None and known.value is not None and known.value > least
        # Where MII is reached a heuristic proves it, and what nothing fits is soon told: of these few are enough.
        assume(above or kept == 0)
        sample.examine(problem, methods_of(problem), exact, runs, known)
        sample.counts["above MII"] += above

    holds()
    sample.check_telling(unanswered=0.1, missed=0.05)
    assert sample.counts["above MII"] >= int(0.1 * count)


@pytest.mark.parametrize("count", counts(QUICK // 2, THOROUGH))
def test_every_schedule_of_a_heuristic_is_valid_and_runs_on_wider_arrays(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Where trying everything would take too long: what is found keeps every rule, no bound lies beyond it, and none
    finds what another proves impossible."""
    found = Counter[str]()
    for name, number in SOME.items():
        monkeypatch.setattr(f"mapper.solver.modulo_schedule.heuristic.{name}", number)

    @drawn(count)
    @given(wide())
    def holds(problem: ModuloProblem) -> None:
        outcomes = [(method, method.search(problem, Effort())) for method in (ITERATIVE, ANNEALING)]
        for method, outcome in outcomes:
            check_outcome(problem, method, KIND, outcome)
            if outcome.mapping is not None:
                assert runs(problem, outcome.mapping)
                found[method.name] += 1
        if any(outcome.proven for _, outcome in outcomes):
            check_agreement(problem, KIND, outcomes)

    holds()
    assert min(found["iterative"], found["annealing"]) >= count // 15, found


@pytest.mark.parametrize("count", counts(max(10, QUICK // 10), THOROUGH // 10))
def test_nothing_is_claimed_falsely_where_the_solver_gives_up_at_any_moment(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """CP-SAT ends undecided, or a program is said to be too large, whenever the draw says so, and heuristics find
    nothing; what is still claimed is what trying everything says."""
    rng, share, gave_up = Random(0), [0.0], Counter[str]()

    def unsure(*given: Any, **named: Any) -> CpSatResult:
        # Issue times, which come first and are not clauses, are mostly found: what is made of them counts.
        if rng.random() < (share[0] if named.get("clausal") else share[0] / 10):
            gave_up["undecided"] += 1
            return CpSatResult("unknown", None, "time_limit", lambda variable: 0)
        return run_cp_sat(*given, **named)

    def unbuilt(clauses: int, effort: Effort) -> Attempt | None:
        if rng.random() < share[0] / 4:
            gave_up["left out"] += 1
            return Attempt(None, "undecided", "complete", "programs that the draw leaves out are not built")
        return None

    monkeypatch.setattr("mapper.solver.cp_sat.run_cp_sat", unsure)
    for module in ("constraint_program", "decoupled"):
        monkeypatch.setattr(f"mapper.solver.modulo_schedule.exact.{module}.too_large", unbuilt)
    for name in FEW:
        monkeypatch.setattr(f"mapper.solver.modulo_schedule.heuristic.{name}", 0)

    @drawn(count)
    @given(problems(4, 2), st.integers(0, 1 << 30), st.sampled_from([0.3, 0.6, 0.9]))
    def holds(problem: ModuloProblem, seed: int, giving_up: float) -> None:
        known = tried(problem)
        assume(known is not None and known.value != mii(problem.kernel.graph, problem.machine).value)
        assert known is not None
        rng.seed(seed)
        share[0] = giving_up
        outcomes = [(method, method.search(problem, Effort())) for method in (CONSTRAINT_PROGRAM, DECOUPLED)]
        for method, outcome in outcomes:
            check_outcome(problem, method, KIND, outcome)
        check_agreement(problem, KIND, [(BRUTE_FORCE, known), *outcomes])

    holds()
    assert min(gave_up["undecided"], gave_up["left out"]) >= count // 2, gave_up


@drawn(QUICK)
@given(lacking())
def test_an_operation_that_no_unit_executes_is_refused_by_every_method(problem: ModuloProblem) -> None:
    for method in METHODS.values():
        with pytest.raises(InputError, match="no PE of array executes"):
            method.search(problem, Effort())
