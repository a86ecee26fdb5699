"""Random problems of every mode: trying everything, the solver and the checker agree."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.catalogue import METHODS
from mapper.solver.proof import NotCertifiedError
from tests.checkers.pe_allocation.example import proof_of, solved, verdict_on
from tests.solver.pe_allocation.random_allocation import problems_of_every_mode
from tests.solver.pe_allocation.test_random import tried
from tests.solver.sample import drawn


@pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_brute_force_solver_and_checker_agree(count: int) -> None:
    seen: Counter[str] = Counter()

    @drawn(count)
    @given(problems_of_every_mode())
    def holds(problem: AllocationProblem) -> None:
        found = solved(problem)
        oracle = tried(problem) or METHODS["brute-force"].search(problem, Effort())
        try:
            document = proof_of(problem, found)
        except NotCertifiedError as error:
            assert problem.sharing, error
            seen["not certified"] += 1
            return
        status, said = verdict_on(document)
        assert status == "certified", said
        if not found.proven:
            # Line buffers are checked, not searched for, whichever model counts the time.
            assert problem.most_bytes is not None and problem.mode != "layer-by-layer"
            best, ends = oracle.value, [one for one in (found.value, found.bound) if one is not None]
            if oracle.proven and best is not None and len(ends) == 2:
                assert min(ends) <= best <= max(ends)
        elif oracle.proven:
            assert (oracle.mapping is None and oracle.value is None) == (said == "infeasible")
            assert oracle.value == found.value
            if oracle.value is not None:
                assert float(Fraction(said.split()[1])) == oracle.value
        seen[said.split()[0]] += 1
        for lie in _lies(problem, document):
            assert verdict_on(lie)[0] != "certified"

    holds()
    assert seen["infeasible"] > 1 and seen["optimal"] > 5
    assert seen["not certified"] < count // 10


def _lies(problem: AllocationProblem, document: dict[str, object]) -> list[dict[str, object]]:
    """The same evidence for values that are too good or too bad, and for there being nothing at all."""
    claim = document["claim"]
    assert isinstance(claim, dict) and isinstance(document["evidence"], dict)
    if claim["status"] == "infeasible":
        return [{**document, "claim": {"status": "optimal", "value": 1, "bound": 1}}]
    if claim["value"] is None:
        return []
    value = Fraction(claim["value"])
    nothing = {"status": "infeasible", "value": None, "bound": None}
    found = [
        {**document, "claim": nothing, "evidence": {**document["evidence"], "mapping": None}},
        {**document, "claim": {**claim, "value": str(value + 1), "bound": str(value + 1)}},
    ]
    if problem.objective == "throughput":
        # One cycle less between frames.
        interval = problem.machine.clock_hz / value
        if interval > 1:
            better = Fraction(problem.machine.clock_hz, int(interval) - 1)
            found.append({**document, "claim": {**claim, "value": str(better), "bound": str(better)}})
    elif value > 1:
        found.append({**document, "claim": {**claim, "value": int(value) - 1, "bound": int(value) - 1}})
    return found
