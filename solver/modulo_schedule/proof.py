"""Proofs of modulo schedules: the problem as plain numbers, and why no smaller II has a schedule."""

from __future__ import annotations

from typing import Any

from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.mapping import LayerMapping
from mapper.models.modulo_schedule.whole.mapping import WholeMapping
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.evidence import (
    Evidence,
    at_least,
    loop_document,
    no_interval,
    schedule_document,
)
from mapper.solver.modulo_schedule.whole.proof import prove_whole, whole_document
from mapper.solver.proof import Claim, NotCertifiedError, Proof

Problem = ModuloProblem | WholeProblem | LayerProblem


def prove(
    problem: Problem, claim: Claim[ModuloSchedule | WholeMapping | LayerMapping], effort: Effort
) -> Proof:
    """The proof of ``claim``.

    Raises: NotCertifiedError if no argument that the checker knows shows what is claimed.
    """
    if isinstance(problem, LayerProblem):
        raise NotCertifiedError(
            "the bound on a layer's cycles covers loop bodies, for which there is no checker"
        )
    if isinstance(problem, WholeProblem):
        assert not isinstance(claim.mapping, ModuloSchedule | LayerMapping)
        return prove_whole(problem, Claim(claim.status, claim.mapping, claim.value, claim.bound), effort)
    assert not isinstance(claim.mapping, WholeMapping | LayerMapping)
    mapping = None if claim.mapping is None else schedule_document(problem, claim.mapping)
    value = None if claim.value is None else int(claim.value)
    if claim.status == "infeasible":
        return Proof(
            loop_document(problem), "infeasible", None, None, _evidence(None, no_interval(problem, effort))
        )
    if claim.bound is None:
        raise NotCertifiedError("no bound is claimed")
    least = int(claim.bound)
    shown = at_least(problem, least, effort)
    return Proof(loop_document(problem), claim.status, value, least, _evidence(mapping, shown))


def _evidence(mapping: Evidence | None, bound: Evidence) -> Evidence:
    return {"rule": "interval", "mapping": mapping, "bound": bound}


def restated(problem: Problem) -> dict[str, Any] | None:
    """The problem as plain numbers; layers of networks have no checker."""
    if isinstance(problem, WholeProblem):
        return whole_document(problem)
    return loop_document(problem) if isinstance(problem, ModuloProblem) else None
