"""Searches as they once were, put back one at a time: what they claim falsely is refuted, or has no proof at all."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver import cbc
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule import catalogue as modulo_catalogue
from mapper.solver.modulo_schedule.exact import constraint_program as modulo_program
from mapper.solver.modulo_schedule.exact import decoupled, interval_search
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.modulo_schedule.exact.interval_search import Attempt
from mapper.solver.outcome import Outcome
from mapper.solver.pbqp import proof as pbqp_proof
from mapper.solver.pbqp.exact import program as pbqp_program
from mapper.solver.pe_allocation.parallel import front, integer_program
from mapper.solver.proof import Claim, NotCertifiedError
from mapper.solver.tiling import proof as tiling_proof
from mapper.solver.tiling.exact import branch_and_bound, search_table
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.workloads.pbqp.instance import instance
from tests.checkers.modulo_schedule import checking as modulo
from tests.checkers.pbqp.test_check_pbqp import VERDICT as PBQP_VERDICT
from tests.checkers.pe_allocation import example as allocation
from tests.checkers.tiling import claim as tiling
from tests.checkers.wrong_module import patched
from tests.solver.modulo_schedule.test_exact import mesh
from tests.solver.modulo_schedule.test_exact import problem as loop
from tests.solver.modulo_schedule.test_exact import random_problem as random_loop
from tests.solver.pe_allocation.test_confirmed import calls_the_worst_the_best, posed, says_infeasible
from tests.solver.tiling.test_bound import strided, wide_and_dear_noc

Document = dict[str, Any]
Wrong = Callable[[ModuleType, str, str], ModuleType]


@pytest.fixture
def wrong(tmp_path: Path) -> Wrong:
    """Puts one place of a module wrong again."""
    return lambda module, right, mistake: patched(module, right, mistake, tmp_path)


# ---- Tilings: the array tile's box for what PEs receive of it.
GAPS = (
    "    machine, loops = problem.machine, problem.nest.loops\n    words = tile.words(operand, grid)\n",
    "    words = tile.words(operand, grid)\n    return words.astype(np.float64)\n",
)


@pytest.mark.slow
def test_a_branch_and_bound_that_charges_the_noc_for_gaps_is_refuted(
    wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = TilingProblem(strided(), wide_and_dear_noc(), "edp")
    monkeypatch.setattr(branch_and_bound, "build_table", wrong(search_table, *GAPS).build_table)
    said = BRANCH_AND_BOUND.search(problem, Effort())
    assert said.proven and said.value == said.bound and round(said.value or 0) == 4398
    claim = Claim("optimal", said.mapping, said.value, said.bound)
    status, reason = tiling.verdict(tiling_proof.prove(problem, claim, Effort()).to_json("tiling", "layer"))
    assert status == "refuted" and "there is a better mapping" in reason


# ---- Modulo schedules.
UNDECIDED = (
    '            if tried.answer != "infeasible":\n',
    "            if tried.schedule is not None or effort.stopped():\n",
)
PASSED_OVER = ("chain(open_intervals, range(untried, last + 1))", "tuple(open_intervals)")
CLIPPED = ("    _agree(one, other)\n    _agree(other, one)\n", "")
LOOP = loop(mesh(1, 1), 2, (0, 1, 0))
"""Two operations on one PE: II 2 is possible."""


def nothing(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    return Outcome.bounded(None, None, 2, "heuristic")


def saying(said: Outcome[ModuloSchedule]) -> Callable[[ModuloProblem, Effort], Outcome[ModuloSchedule]]:
    return lambda problem, effort: said


def shown_to_be_none(problem: ModuloProblem, claim: Claim[ModuloSchedule]) -> None:
    """That a false claim has no proof, and that the evidence of a true one does not serve for it."""
    with pytest.raises(NotCertifiedError):
        modulo.proof_of(problem, claim)
    free = replace(problem, fixed_ii=None)
    document = modulo.proof_of(free, modulo.claim_of(CONSTRAINT_PROGRAM.search(free, Effort())))
    assert modulo.status(document) == "certified"
    forged = copy.deepcopy(document)
    forged["problem"]["fixed_ii"] = problem.fixed_ii
    forged["claim"] = {"status": claim.status, "value": claim.value, "bound": claim.bound}
    if claim.mapping is None:
        forged["evidence"]["mapping"] = None
    else:
        shown = modulo.proof_of(problem, Claim("bounded", claim.mapping, claim.value, 1))
        assert modulo.status(shown) == "certified"
        forged["evidence"]["mapping"] = shown["evidence"]["mapping"]
    assert modulo.status(modulo.bound_again(forged)) == "refuted"


@pytest.mark.parametrize("fixed", [None, 2])
def test_a_search_that_takes_undecided_places_for_impossible_proves_nothing_to_a_checker(
    fixed: int | None, wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    def decide(problem: ModuloProblem, ii: int, *given: Any, **named: Any) -> Attempt:
        return right(problem, ii, *given, **named) if ii > 2 else Attempt(None, "undecided")

    right, module = modulo_program.decide, wrong(decoupled, *UNDECIDED)
    problem = replace(LOOP, fixed_ii=fixed)
    for one in (decoupled, module):
        monkeypatch.setattr(one, "decide", decide)
        monkeypatch.setattr(one, "ITERATIVE", Method("nothing", False, "", nothing))
    assert not decoupled.decoupled(problem, Effort()).proven
    said = module.decoupled(problem, Effort())
    assert said.proven and (said.value, said.bound) == ((3, 3) if fixed is None else (None, None))
    shown_to_be_none(problem, modulo.claim_of(said))


def test_a_bound_above_intervals_that_were_passed_over_is_refuted(wrong: Wrong) -> None:
    """The first interval is left out and then refuted; those above it are neither, and yet the bound is beyond them."""
    problem = random_loop(mesh(1, 2, 0), 4, 0)
    least = CONSTRAINT_PROGRAM.search(problem, Effort()).value
    assert least == 3 and mii(problem.kernel.graph, problem.machine).value == 2

    def quick(ii: int, effort: Effort) -> Attempt:
        return Attempt(None, "undecided", "complete", "programs so large are not built")

    def decide(ii: int, effort: Effort) -> Attempt:
        return modulo_program.decide(problem, ii, problem.machine.all_pes, effort)

    assert interval_search.least_interval(problem, Effort(), quick, decide).value == least
    said = wrong(interval_search, *PASSED_OVER).least_interval(problem, Effort(), quick, decide)
    assert said.bound is not None and said.bound > least
    shown_to_be_none(problem, Claim("bounded", None, None, said.bound))


def test_an_infeasibility_that_beats_a_schedule_is_refuted(
    wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = CONSTRAINT_PROGRAM.search(replace(LOOP, fixed_ii=3), Effort()).mapping
    outcomes = {"first": Outcome.bounded(late, 3, 2, "heuristic"), "second": Outcome.infeasible()}
    stages = tuple((Method(name, True, "", saying(said)), False, 1.0) for name, said in outcomes.items())
    module = wrong(modulo_catalogue, *CLIPPED)
    monkeypatch.setattr(module, "STAGES", stages)
    said = module.AUTOMATIC.search(LOOP, Effort())
    assert said.proven and said.mapping is None
    shown_to_be_none(LOOP, modulo.claim_of(said))


# ---- CBC's word, unconfirmed.
CBC_ALONE = (
    "    if not said:\n        return decision\n",
    "    if not said:\n        return decision\n"
    "    if decision.allocation is None:\n        return replace(decision, is_final=True)\n"
    "    told = quantity(instance.problem, decision.allocation, instance.goal)\n"
    "    return replace(decision, is_final=True, bound=told)\n",
)
CBC_FRONT = "from mapper.solver.pe_allocation.parallel.constraint_program import decide\n"
UNCONFIRMED = (
    "    begun = None if assignment is None else np.array(assignment.choice)\n    quiet",
    "    if stop == 'complete':\n"
    "        return Outcome.ended(assignment, value, value, 'complete', proven=True)\n"
    "    begun = None if assignment is None else np.array(assignment.choice)\n    quiet",
)
SHARED = {"sharing": True, "objective": "latency", "longest_interval": 90}
LIES = {
    "latency": SHARED,
    "streaming": {"model": "streaming", "sharing": True, "objective": "latency"},
    "PEs": {"sharing": True, "objective": "pes", "longest_interval": 90},
    "throughput": {"sharing": True, "objective": "throughput"},
}


def false_allocation(problem: AllocationProblem, said: Outcome[Any]) -> None:
    """That a false claim has no proof, and that the evidence of a true one does not serve for it."""
    with pytest.raises(NotCertifiedError):
        allocation.proof_of(problem, said)
    true = allocation.solved(problem)
    document = allocation.proof_of(problem, true)
    assert allocation.verdict_on(document)[0] == "certified" and true.value != said.value
    forged = copy.deepcopy(document)
    if said.mapping is None:
        forged["claim"] = {"status": "infeasible", "value": None, "bound": None}
        forged["evidence"]["mapping"] = None
    else:
        shown = allocation.proof_of(problem, replace(said, proven=False, bound=true.bound))
        assert allocation.verdict_on(shown)[0] == "certified"
        value = shown["claim"]["value"]
        forged["claim"] = {"status": "optimal", "value": value, "bound": value}
        forged["evidence"]["mapping"] = shown["evidence"]["mapping"]
    assert allocation.verdict_on(forged)[0] == "refuted"


@pytest.mark.parametrize("fields", LIES.values(), ids=LIES)
def test_an_allocation_that_rests_on_cbc_alone_is_refuted(
    fields: Document, wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, module = posed(**fields), wrong(integer_program, *CBC_ALONE)
    monkeypatch.setattr(cbc, "run_cbc", calls_the_worst_the_best)
    said = module.INTEGER_PROGRAM.search(problem, Effort())
    assert said.proven and said.mapping is not None
    false_allocation(problem, said)


def test_a_point_of_a_front_that_rests_on_cbc_alone_is_refuted(
    wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The point with the most frames per second is the front's word that there are no more."""
    problem = posed(model="streaming", sharing=True, objective="throughput", max_pes=4)
    alone, module = wrong(integer_program, *CBC_ALONE), wrong(front, CBC_FRONT, "decide = None\n")
    monkeypatch.setattr(module, "decide", alone.confirmed)
    monkeypatch.setattr(cbc, "run_cbc", calls_the_worst_the_best)
    said = module.front(problem, Effort())
    assert said.complete
    most = max(said.points, key=lambda point: point.value or 0)
    assert most.proven
    false_allocation(problem, most)


def test_nothing_that_cbc_alone_calls_impossible_is_certified(
    wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, alone = posed(**SHARED), wrong(integer_program, *CBC_ALONE)
    module = wrong(front, CBC_FRONT, "decide = None\n")
    monkeypatch.setattr(module, "decide", alone.confirmed)
    monkeypatch.setattr(cbc, "run_cbc", says_infeasible)
    said = module.front(problem, Effort())
    assert said.complete and not said.points
    false_allocation(problem, Outcome.infeasible())


@pytest.mark.parametrize("lie", [calls_the_worst_the_best, says_infeasible])
def test_an_assignment_that_rests_on_cbc_alone_is_refuted(
    lie: Any, wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [[0, 7, 3], [5, 1, 2], [4, 4, 9]]
    problem = PbqpProblem(instance(rows, [(0, 1, rows), (1, 2, rows[::-1]), (0, 2, rows)]))
    module = wrong(pbqp_program, *UNCONFIRMED)
    right = pbqp_program.integer_program(problem, Effort())
    monkeypatch.setattr(cbc, "run_cbc", lie)
    said = module.integer_program(problem, Effort())
    assert right.proven and said.proven and said.value != right.value
    status = "optimal" if said.mapping is not None else "infeasible"
    claim = Claim(status, said.mapping, said.value, said.bound)  # type: ignore[arg-type]
    made = pbqp_proof.prove(problem, claim, Effort()).to_json("pbqp", "instance")
    assert PBQP_VERDICT(json.loads(json.dumps(made)))[1] == "refuted"
