"""A sample of random problems of one kind: every method on each of them, the mappings run, and what came of it counted.

The counts are there so that a sample on which nothing could have gone wrong fails: one without problems that have no
answer, or on which every heuristic is as good as the proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

import pytest
from hypothesis import HealthCheck, seed, settings

from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from tests.solver.conformance import M, P, Referee, check_agreement, check_outcome

QUICK, THOROUGH = 40, 10_000
"""Problems of a kind in the fast suite and in the slow one."""
PART = 500
"""Problems in one test of the slow suite: all cores get some, and a failure is near the problem that shows it."""


class Count(int):
    """So many problems, drawn from a ``seed`` of their own (None: from the test's name and code)."""

    seed: int | None = None

    @classmethod
    def of_part(cls, count: int, seed: int) -> Count:
        found = cls(count)
        found.seed = seed
        return found


def counts(quick: int = QUICK, thorough: int = THOROUGH) -> list[Any]:
    """Values of a parameter ``count``: a few problems in the fast suite, and in the slow one many, in parts of equal
    size that share none of their seeds."""
    parts = -(-thorough // PART)
    sizes = [thorough // parts + (at < thorough % parts) for at in range(parts)]
    slow = [
        pytest.param(Count.of_part(size, at), marks=pytest.mark.slow, id=f"{thorough}-part-{at}")
        for at, size in enumerate(sizes)
    ]
    return [pytest.param(Count(quick), id=str(quick)), *slow]


def drawn(count: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """How a sample of so many problems is drawn: always the same ones, and a failing one is made smaller."""
    health = list(HealthCheck)
    chosen = settings(derandomize=True, deadline=None, max_examples=count, suppress_health_check=health)
    number = count.seed if isinstance(count, Count) else None
    return chosen if number is None else lambda test: seed(number)(chosen(test))


@dataclass
class Sample(Generic[P, M]):
    """``runs``: different mappings of a problem that are run at the most, those of the first methods."""

    kind: Referee[P, M]
    runs: int = 2
    counts: Counter[str] = field(default_factory=Counter)

    def examine(
        self,
        problem: P,
        methods: Sequence[Method[P, M]],
        proving: frozenset[str],
        simulate: Callable[[P, M], bool] | None = None,
        oracle: Outcome[M] | None = None,
    ) -> dict[str, Outcome[M]]:
        """Every method on ``problem``, beside what an ``oracle`` proves that is no method of the kind; what each says,
        by its name. ``proving``: methods that must prove it; ``simulate``: whether a mapping runs, computes what it
        should and takes what the model says, within the kind's tolerance."""
        outcomes = [(method, method.search(problem, Effort())) for method in methods]
        for method, outcome in outcomes:
            check_outcome(problem, method, self.kind, outcome)
            assert outcome.proven or method.name not in proving, f"{method.name} proves nothing"
        everything = [outcome.proven for method, outcome in outcomes if method.name == "brute-force"]
        assert oracle is not None or any(everything), "nobody tried everything"
        known: list[tuple[Method[P, M], Outcome[M]]] = []
        if oracle is not None:
            said = oracle
            known = [(Method("oracle", True, "", lambda problem, effort: said), oracle)]
        check_agreement(problem, self.kind, [*known, *outcomes])
        self._count(problem, outcomes, oracle)
        found = dict.fromkeys(outcome.mapping for _, outcome in outcomes if outcome.mapping is not None)
        if simulate is not None:
            for mapping in list(found)[: self.runs]:
                assert simulate(problem, mapping), f"the simulation disagrees on {mapping}"
                self.counts["runs"] += 1
        return {method.name: outcome for method, outcome in outcomes}

    def _count(
        self, problem: P, outcomes: Sequence[tuple[Method[P, M], Outcome[M]]], oracle: Outcome[M] | None
    ) -> None:
        proofs = [outcome for _, outcome in outcomes if outcome.proven]
        best = (oracle or proofs[0]).value
        self.counts["problems"] += 1
        self.counts["proofs"] += len(proofs)
        self.counts["without an answer"] += best is None
        if best is None:
            return
        others = [outcome.value for method, outcome in outcomes if not method.exact]
        worse = [value is None or self.kind.excess(problem, value, best) > 0 for value in others]
        self.counts["answers of heuristics"] += len(others)
        self.counts["answers at the optimum"] += worse.count(False)
        self.counts["some heuristic misses"] += any(worse)

    def check_telling(self, unanswered: float, missed: float) -> None:
        """The sample could have failed: at least such shares of its problems have no answer, and a heuristic that is
        worse than the proof. Of a few problems one is enough, and none of what is expected less than twice."""
        print(dict(self.counts))
        problems, few = self.counts["problems"], self.counts["problems"] < PART
        for count, share in (("without an answer", unanswered), ("some heuristic misses", missed)):
            least = min(int(share * problems / 2), 1) if few else share * problems
            assert self.counts[count] >= least, f"{self.counts[count]} of {problems}: {count}"
