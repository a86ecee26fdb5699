"""Contradictions between answers to one problem, detected wherever two answers meet.

Nothing here can tell which of the two is wrong, so the command ends: next to a false proof, no answer can be trusted.
"""

from __future__ import annotations

from typing import Any

from mapper.api.part.verification import verified
from mapper.api.problem import PosedProblem
from mapper.api.solution import Solution, assemble, repeated, unanswered
from mapper.kind.kind import AnyKind, AnyPart
from mapper.kind.part import Part
from mapper.solver.contradiction import ContradictionError, beats, contradiction
from mapper.solver.outcome import Outcome


def claims(part: Part) -> Outcome[Any]:
    """What an answer claims of its problem; a mapping counts if the referee accepted it."""
    known = part.certificate
    mapping = None if broken(part) else part.mapping
    value = None if mapping is None else known.value
    return Outcome.claimed(mapping, value, known)


def refuse_own_contradiction(kind: AnyKind, problem: Any, part: Part, most: bool) -> None:
    """Refuse a mapping whose value by the model is better than its own search's bound, or differs from the value that
    is proven optimal.

    Raises: ContradictionError.
    """
    whole = claims(part)
    if whole.mapping is None or whole.value is None:
        return
    found = Outcome.bounded(whole.mapping, whole.value, None, whole.stop, method="the referee")
    # What is proven of the value is said by the bound.
    claim: Outcome[Any] = Outcome.bounded(
        None, None, whole.bound, whole.stop, restrictions=whole.restrictions, method=whole.method
    )
    slack = kind.slack(problem, whole.value)
    reason = contradiction(claim, found, most, slack)
    if whole.proven and whole.bound is not None and beats(whole.bound, whole.value, most, slack):
        reason = (
            f"{whole.method} proves a mapping worth {whole.bound}, by the model it is worth {whole.value}"
        )
    if reason is not None:
        raise ContradictionError(claim, found, reason)


def refuse_contradicting_parts(posed: PosedProblem, first: Part, second: Part) -> None:
    """Refuse two answers to the same part of ``posed`` that cannot both hold.

    Raises: ContradictionError with both documents.
    """
    one, other = claims(first), claims(second)
    problem = next(part.problem for part in posed.parts if part.name == first.name)
    value = one.value if other.value is None else other.value
    slack = 0.0 if value is None else posed.kind.slack(problem, value)
    reason = contradiction(one, other, posed.objective.most, slack)
    if reason is not None:
        raise between(posed, first, second, f"{first.name}: {reason}")


def between(posed: PosedProblem, first: Part, second: Part, reason: str) -> ContradictionError:
    """The contradiction between two answers to a part, with both documents."""
    documents = (_alone(posed, first), _alone(posed, second))
    return ContradictionError(claims(first), claims(second), reason, documents)


def broken(part: Part) -> bool:
    """Whether the referee has accepted no mapping of the part."""
    return part.mapping is None or bool(part.certificate.broken)


def refuse_contradicting_solutions(first: Solution, second: Solution) -> None:
    """Refuse two solutions of one problem that cannot both hold.

    Raises: ContradictionError with both documents.
    """
    for one, other in zip(first.parts, second.parts, strict=True):
        try:
            refuse_contradicting_parts(first.posed, one, other)
        except ContradictionError as error:
            documents = (first.to_json(), second.to_json())
            raise ContradictionError(error.first, error.second, error.reason, documents) from None


def documented(
    posed: PosedProblem, part: AnyPart, error: ContradictionError, method: str
) -> ContradictionError:
    """A contradiction that a search found, with the documents of both outcomes."""
    if error.documents:
        return error
    answers = [_part_of(posed.kind, part, outcome, method) for outcome in (error.first, error.second)]
    documents = tuple(_alone(posed, answer) for answer in answers)
    return ContradictionError(error.first, error.second, f"{part.name}: {error.reason}", documents)


def _part_of(kind: AnyKind, part: AnyPart, outcome: Outcome[Any], method: str) -> Part:
    return verified(kind, part, outcome.mapping, outcome.certificate(method))


def _alone(posed: PosedProblem, answer: Part) -> dict[str, Any]:
    """The solution document in which only this part is answered, and those that are the same problem."""
    named = next(part for part in posed.parts if part.name == answer.name)
    parts = []
    for part in posed.parts:
        if part.key != named.key:
            parts.append(unanswered(part, answer.certificate.method))
        elif part is named:
            parts.append(answer)
        else:
            parts.append(repeated(answer, part.name, part.source, part.merged))
    return assemble(posed, parts).to_json()
