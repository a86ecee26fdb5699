"""What every method of every kind of problem must hold, alone and against the others.

A kind of problem brings a `Referee`, its methods and its problems; the checks know nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from mapper.formulations.verdict import BrokenRule
from mapper.solver.method import Effort, Method, Outcome

P = TypeVar("P")
M = TypeVar("M")

Number = int | float


@dataclass(frozen=True)
class Judgement(Generic[P, M]):
    """How a kind judges a mapping: the rules it breaks and its objective (None if it has no cost)."""

    judge: Callable[[P, M], tuple[tuple[BrokenRule, ...], Number | None]]


def check_outcome(problem: P, method: Method[P, M], kind: Judgement[P, M], outcome: Outcome[M]) -> None:
    """The outcome says of its mapping what the referee says, and claims no more than it may."""
    if outcome.mapping is None:
        assert outcome.value is None, f"{method.name} values a mapping that it does not give"
    else:
        broken, value = kind.judge(problem, outcome.mapping)
        assert broken == (), f"{method.name} breaks {broken}"
        assert outcome.value == value, f"{method.name} reports another value than the model's"
    if outcome.proven:
        # Others prove where they meet a bound by argument.
        assert method.exact or outcome.bound is not None, f"{method.name} is no exact method"
        assert outcome.stop == "complete", f"{method.name} proves although it was stopped"
        assert not outcome.restrictions, f"{method.name} proves although it left something out"
        assert outcome.mapping is None or outcome.bound == outcome.value
    if outcome.value is not None and outcome.bound is not None:
        assert outcome.bound <= outcome.value, f"the bound of {method.name} lies above its own value"


def check_agreement(outcomes: Sequence[tuple[Method[P, M], Outcome[M]]]) -> None:
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
            assert outcome.value is None or outcome.value >= proven.value, f"{method.name} beats {name}"
            assert outcome.bound is None or outcome.bound <= proven.value, f"bound of {method.name} too high"


def check_determinism(problem: P, method: Method[P, M], seed: int) -> None:
    """The same seed gives the same mapping."""
    first, second = (method.search(problem, Effort(seed=seed)) for _ in range(2))
    assert first == second
