"""Random loops on random arrays: exact methods agree with trying everything, no heuristic is better, schedules run."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee import verify
from mapper.models.modulo_schedule.interval import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.sim.modulo_schedule import report
from mapper.solver.method import Method, Outcome
from mapper.solver.modulo_schedule.brute_force import BRUTE_FORCE, STAGES
from mapper.solver.modulo_schedule.catalogue import METHODS
from tests.solver.conformance import judged_by
from tests.solver.modulo_oracle import Oracle
from tests.solver.random_kernel import problems
from tests.solver.sample import QUICK, THOROUGH, Sample, drawn

MOST_FREE = 2
"""Slots that operations may leave for trying everything to end soon."""
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
        if oracle.feasible():
            return Outcome(None, ii, ii, "complete", True)
        if fixed is not None:
            break
        ii += 1
    return Outcome(None, None, None, "complete", True)


def methods_of(problem: ModuloProblem) -> list[Method[ModuloProblem, ModuloSchedule]]:
    """All methods; brute force only where placements, edges and registers are very few: else it takes minutes."""
    graph, machine = problem.kernel.graph, problem.machine
    ii = problem.fixed_ii or mii(graph, machine).value
    placements = (len(machine.all_pes) * STAGES * ii) ** len(graph.operations)
    names = machine.register_file.registers + (machine.shared_register_file is not None)
    many = placements > MOST_PLACEMENTS or len(graph.edges) > 3 or names > 1
    return [method for method in METHODS if method is not BRUTE_FORCE or not many]


def runs(problem: ModuloProblem, schedule: ModuloSchedule) -> bool:
    """On symbols: every operand is that of the right operation and iteration, and the cycles are the model's."""
    found = report(problem.kernel, problem.machine, schedule)
    return bool(found["outputs_equal"] and found["agrees"])


@pytest.fixture(autouse=True)
def few_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heuristics that give up soon where there is no schedule, and miss some that there are."""
    for method in ("annealing", "iterative"):
        monkeypatch.setattr(f"mapper.solver.modulo_schedule.{method}.RESTARTS", 2)


@pytest.mark.parametrize("count", [QUICK, pytest.param(THOROUGH, marks=pytest.mark.slow)])
def test_methods_agree_on_random_loops_and_every_schedule_runs(count: int) -> None:
    exact = frozenset({"auto", "cp-sat", "decoupled"})
    sample = Sample(judged_by(verify, lambda problem, cost: cost.ii), runs=len(METHODS))

    @drawn(count)
    @given(st.one_of(problems(4, 2), problems(4, 2), problems(4, 3)))
    def holds(problem: ModuloProblem) -> None:
        known = tried(problem)
        assume(known is not None)
        sample.examine(problem, methods_of(problem), exact, runs, known)
        if known is not None and known.value is not None:
            sample.counts["above MII"] += known.value > mii(problem.kernel.graph, problem.machine).value

    holds()
    # Heuristics seldom miss on graphs so small; there must be many that only trying everything proves.
    sample.check_telling(unanswered=0.1, missed=0)
    assert sample.counts["above MII"] >= int(0.05 * count)
