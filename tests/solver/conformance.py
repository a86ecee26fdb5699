"""What every method of every kind of problem must hold, alone and against the others.

A kind of problem brings a `Referee`, its methods and its problems; the checks know nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mapper.formulations.verdict import BrokenRule
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

P = TypeVar("P")
M = TypeVar("M")

Number = int | float


@dataclass(frozen=True)
class Referee(Generic[P, M]):
    """How a kind judges a mapping: the rules it breaks and its objective (None if it has no cost). ``most``: whether
    a problem asks for the most of it; else for the least."""

    verify: Callable[[P, M], tuple[tuple[BrokenRule, ...], Number | None]]
    most: Callable[[P], bool] = lambda problem: False

    def excess(self, problem: P, value: Number, other: Number) -> Number:
        """By how much ``value`` is worse than ``other``; negative if it is better."""
        return other - value if self.most(problem) else value - other


def refereed_by(
    verify: Callable[[P, M], Any],
    value: Callable[[P, Any], Number],
    most: Callable[[P], bool] = lambda problem: False,
) -> Referee[P, M]:
    """The referee, ``verify``, and what ``value`` says of the cost that its verdict holds."""

    def refereed(problem: P, mapping: M) -> tuple[tuple[BrokenRule, ...], Number | None]:
        verdict = verify(problem, mapping)
        return verdict.broken, None if verdict.cost is None else value(problem, verdict.cost)

    return Referee(refereed, most)


def check_outcome(problem: P, method: Method[P, M], kind: Referee[P, M], outcome: Outcome[M]) -> None:
    """The outcome says of its mapping what the referee says, and claims no more than it may."""
    if outcome.mapping is None:
        assert outcome.value is None, f"{method.name} values a mapping that it does not give"
    else:
        broken, value = kind.verify(problem, outcome.mapping)
        assert broken == (), f"{method.name} breaks {broken}"
        assert outcome.value == value, f"{method.name} reports another value than the model's"
    if outcome.proven:
        # Others prove where they meet a bound by argument, or where an argument says that there is nothing.
        argued = outcome.bound is not None or outcome.mapping is None
        assert method.exact or argued, f"{method.name} is no exact method"
        assert outcome.stop == "complete", f"{method.name} proves although it was stopped"
        assert not outcome.restrictions, f"{method.name} proves although it left something out"
        assert outcome.mapping is None or outcome.bound == outcome.value
    elif method.exact and outcome.restrictions and outcome.value is not None:
        # The least of what was not left out is no bound of the whole.
        assert outcome.bound != outcome.value, f"{method.name} left something out and bounds the whole"
    if outcome.value is not None and outcome.bound is not None:
        beyond = kind.excess(problem, outcome.bound, outcome.value)
        assert beyond <= 0, f"the bound of {method.name} lies beyond its own value"


def check_agreement(
    problem: P, kind: Referee[P, M], outcomes: Sequence[tuple[Method[P, M], Outcome[M]]]
) -> None:
    """Proofs agree, nothing beats a proven optimum, no bound exceeds it, and what is proven to have no
    answer has none."""
    proofs = [(method.name, outcome) for method, outcome in outcomes if outcome.proven]
    assert proofs, "no method proved anything"
    name, proven = proofs[0]
    for method, outcome in outcomes:
        if proven.value is None:
            assert outcome.mapping is None, f"{method.name} found what {name} proved impossible"
        elif outcome.proven:
            assert outcome.value == proven.value, f"{method.name} and {name} prove different values"
        else:
            value, bound = outcome.value, outcome.bound
            worse = 0 if value is None else kind.excess(problem, value, proven.value)
            assert worse >= 0, f"{method.name} beats {name}"
            beyond = 0 if bound is None else kind.excess(problem, bound, proven.value)
            assert beyond <= 0, f"the bound of {method.name} lies beyond what {name} proves"


def check_determinism(problem: P, method: Method[P, M], seed: int) -> None:
    """The same seed gives the same mapping."""
    first, second = (method.search(problem, Effort(seed=seed)) for _ in range(2))
    assert first == second
