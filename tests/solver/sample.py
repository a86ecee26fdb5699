"""A sample of random problems of one kind: every method on each of them, the mappings run, and what came of it counted.

The counts are there so that a sample on which nothing could have gone wrong fails: one without problems that have no
answer, or on which every heuristic is as good as the proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from hypothesis import HealthCheck, settings

from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from tests.solver.conformance import M, P, Referee, check_agreement, check_outcome

QUICK, THOROUGH = 100, 10_000
"""Problems of a kind in the fast suite and in the slow one."""


def drawn(count: int) -> settings:
    """How a sample of so many problems is drawn: always the same ones, and a failing one is made smaller."""
    return settings(
        derandomize=True, deadline=None, max_examples=count, suppress_health_check=list(HealthCheck)
    )


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
        worse than the proof. A few problems need show only one of either."""
        print(dict(self.counts))
        problems, few = self.counts["problems"], self.counts["problems"] < THOROUGH
        for count, share in (("without an answer", unanswered), ("some heuristic misses", missed)):
            least = min(int(share * problems), 1) if few else share * problems
            assert self.counts[count] >= least, f"{self.counts[count]} of {problems}: {count}"
