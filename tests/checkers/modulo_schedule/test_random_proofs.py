"""Random loops: trying everything, solver and checker agree; forged evidence shows nothing that is false; the checker
accepts the schedules that the referee accepts, and of changed proofs those whose claim still holds."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.bound import mii
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.proof import Claim, NotCertifiedError
from tests.checkers.modulo_schedule.checking import (
    CHECKER,
    Document,
    bound_again,
    claim_of,
    problem_of,
    proof_of,
    schedule_of,
    status,
)
from tests.checkers.modulo_schedule.mutation import mutated
from tests.solver.modulo_schedule.random_kernel import problems
from tests.solver.modulo_schedule.test_random_kernel import tried
from tests.solver.sample import drawn

SECONDS = 2
"""Of the solver on a changed problem, after which the claim is only held against what it found."""
SMALL = st.one_of(problems(4, 2), problems(4, 3))


def changed(document: Document, **claim: Any) -> Document:
    return {**document, "claim": {**document["claim"], **claim}}


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_trying_everything_solver_and_checker_agree(count: int) -> None:
    seen = Counter[str]()

    @drawn(count)
    @given(SMALL)
    def holds(problem: ModuloProblem) -> None:
        known = tried(problem)
        assume(known is not None)
        assert known is not None
        outcome = CONSTRAINT_PROGRAM.search(problem, Effort(time.monotonic() + SECONDS))
        assume(outcome.proven)
        assert outcome.value == known.value
        try:
            document = proof_of(problem, claim_of(outcome))
        except NotCertifiedError:
            seen["no evidence"] += 1
            return
        seen[document["evidence"]["bound"]["rule"]] += 1
        assert status(document) == "certified"
        if known.value is None:
            return
        value = int(known.value)
        for wrong in (value - 1, value + 1):
            assert status(changed(document, value=wrong, bound=wrong)) in ("refuted", "malformed")
        assert status(changed(document, status="bounded", bound=value + 1)) == "refuted"
        assert status(changed(document, status="infeasible", value=None, bound=None)) != "certified"

    holds()
    assert seen["no evidence"] <= count // 2, seen


def forged(problem: ModuloProblem, rng: Random) -> Document:
    """Evidence for a bound that nobody has thought about."""
    edges, operations = len(problem.kernel.graph.edges), len(problem.kernel.graph.operations)
    some_edges = [rng.randrange(edges or 1) for _ in range(rng.randint(1, 4))]
    walk = some_edges[:1]
    for _ in range(rng.randint(0, 3)):
        following = (
            problem.kernel.graph.outgoing[problem.kernel.graph.edges[walk[-1]].destination] if edges else ()
        )
        walk += [rng.choice(following)] if following else []
    colours = [sum(pe) % 2 for pe in problem.machine.all_pes]
    return rng.choice([
        {"rule": "cycle", "edges": walk},
        {"rule": "units", "operations": [rng.randrange(operations) for _ in range(rng.randint(1, 4))]},
        {"rule": "units", "operations": rng.sample(range(operations), rng.randint(1, operations))},
        {"rule": "ports"},
        {"rule": "parity", "walk": [[edge, rng.randrange(2)] for edge in some_edges], "colours": colours},
        {"rule": "operands", "edges": some_edges * 2},
        {"rule": "survival", "iterations": rng.randint(1, 3)},
    ])  # fmt: skip


@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_forged_evidence_shows_more_than_is_true(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    shown = Counter[str]()
    monkeypatch.setattr(CHECKER, "MOST_STEPS", 2000)

    @drawn(count)
    @given(SMALL, st.integers(0, 1 << 30))
    def holds(problem: ModuloProblem, seed: int) -> None:
        rng = Random(seed)
        known = tried(problem)
        assume(known is not None)
        assert known is not None
        least = known.value
        if problem.fixed_ii is not None:
            free = tried(replace(problem, fixed_ii=None))
            assume(free is not None)
            assert free is not None
            least = free.value
        document = proof_of(
            problem,
            Claim(
                "bounded",
                None,
                None,
                min(mii(problem.kernel.graph, problem.machine).value, problem.fixed_ii or 99),
            ),
        )
        loop = CHECKER.Loop(document["problem"])
        for _ in range(30):
            evidence = forged(problem, rng)
            try:
                found = loop.least(evidence)
            except (CHECKER.EndedError, LookupError, TypeError):
                continue
            shown[evidence["rule"]] += 1
            assert least is None or found <= least, (evidence, found, least)

    holds()
    assert min(shown[rule] for rule in ("cycle", "units", "ports")) > count // 10, shown


@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_checker_accepts_the_schedules_that_the_referee_accepts(count: int) -> None:
    seen = Counter[bool]()

    @drawn(count)
    @given(problems(3, 2), st.integers(0, 1 << 30))
    def holds(problem: ModuloProblem, seed: int) -> None:
        rng = Random(seed)
        known = tried(problem)
        assume(known is not None and known.value is not None)
        outcome = CONSTRAINT_PROGRAM.search(problem, Effort(time.monotonic() + SECONDS))
        assume(outcome.mapping is not None or outcome.proven)
        weak = 1 if problem.fixed_ii is None else problem.fixed_ii
        document = proof_of(problem, Claim("bounded", outcome.mapping, outcome.value, weak))
        assert status(document) == "certified"
        loop = CHECKER.Loop(document["problem"])
        for _ in range(30):
            other = mutated(document, rng, ("evidence", "mapping"))
            for _ in range(rng.randint(0, 2)):
                other = mutated(other, rng, ("evidence", "mapping"))
            try:
                loop.interval(other["evidence"]["mapping"])
                accepted = True
            except CHECKER.EndedError as end:
                accepted = False
                if end.args[0] == "malformed":
                    continue
            except (LookupError, TypeError, ValueError, AttributeError):
                continue
            try:
                valid = verify(replace(problem, fixed_ii=None), schedule_of(other)).valid
            except (LookupError, TypeError, ValueError):
                valid = False
            assert valid == accepted, other
            seen[accepted] += 1

    holds()
    assert min(seen[True], seen[False]) > count // 2, seen


def holds_still(document: Document) -> bool:
    """Whether the claim of a changed proof is true, by the referee and the solver."""
    problem, claim = problem_of(document), document["claim"]
    said: Claim[None] = Claim(claim["status"], None, claim["value"], claim["bound"])
    if said.status != "infeasible" and document["evidence"]["mapping"] is not None:
        verdict = verify(problem, schedule_of(document))
        if not verdict.valid or verdict.cost is None or verdict.cost.ii != said.value:
            return False
    if not all(
        any(problem.machine.can_execute(pe, operation.opcode) for pe in problem.machine.all_pes)
        for operation in problem.kernel.graph.operations
    ):
        return said.value is None
    best = tried(problem)
    if best is None:
        best = CONSTRAINT_PROGRAM.search(problem, Effort(time.monotonic() + SECONDS))
    if not best.proven:
        return best.value is None or said.value is None or best.value >= said.value
    if said.status == "infeasible":
        return best.value is None
    if said.status == "optimal":
        return best.value == said.value
    return said.bound is not None and (best.value is None or said.bound <= best.value)


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_changed_proof_is_accepted_only_where_its_claim_still_holds(count: int) -> None:
    accepted, rng = Counter[bool](), Random(count)

    @drawn(count // 10)
    @given(problems(3, 2))
    def holds(problem: ModuloProblem) -> None:
        assume(tried(problem) is not None)
        outcome = CONSTRAINT_PROGRAM.search(problem, Effort(time.monotonic() + SECONDS))
        assume(outcome.mapping is not None or outcome.proven)
        try:
            document = proof_of(problem, claim_of(outcome))
        except NotCertifiedError:
            assume(False)
        for at in range(10):
            other = mutated(document, rng)
            if at % 4:
                other = bound_again(other) if "problem" in other else other
            certified = status(other) == "certified"
            accepted[certified] += 1
            assert not certified or holds_still(other), other

    holds()
    assert accepted[False] > accepted[True], accepted
