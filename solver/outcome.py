"""Outcomes: what a search found, and what it proves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from mapper.solver.certificate import Certificate, Stop

M = TypeVar("M")


@dataclass(frozen=True)
class Outcome(Generic[M]):
    """What a search found: made by what it is, `optimal`, `infeasible`, `bounded`, `refused` or `unknown`.

    ``proven`` with a mapping: no better one exists in the whole problem; without one: none exists. ``bound`` holds for
    the whole problem, or is None. ``restrictions``: what the search left out. ``method`` is set where a method handed
    the problem on to another."""

    mapping: M | None
    value: int | float | None
    bound: int | float | None
    stop: Stop
    proven: bool
    restrictions: tuple[str, ...] = ()
    evaluations: int | None = None
    method: str | None = None

    @classmethod
    def optimal(
        cls,
        mapping: M,
        value: int | float | None,
        *,
        stop: Stop = "complete",
        evaluations: int | None = None,
        method: str | None = None,
    ) -> Outcome[M]:
        """No mapping is better than this one, in the whole problem."""
        return cls(mapping, value, value, stop, True, (), evaluations, method)

    @classmethod
    def infeasible(cls, *, evaluations: int | None = None, method: str | None = None) -> Outcome[M]:
        """There is no mapping."""
        return cls(None, None, None, "complete", True, (), evaluations, method)

    @classmethod
    def bounded(
        cls,
        mapping: M | None,
        value: int | float | None,
        bound: int | float | None,
        stop: Stop,
        *,
        restrictions: tuple[str, ...] = (),
        evaluations: int | None = None,
        method: str | None = None,
    ) -> Outcome[M]:
        """A mapping that may not be the best, or none yet, and a bound that holds in any case (None: none is known)."""
        return cls(mapping, value, bound, stop, False, restrictions, evaluations, method)

    @classmethod
    def refused(
        cls,
        reason: str,
        bound: int | float | None = None,
        *,
        evaluations: int | None = None,
        method: str | None = None,
    ) -> Outcome[M]:
        """The method does not try the problem, because it is too large for it or of another form."""
        return cls(None, None, bound, "complete", False, (reason,), evaluations, method)

    @classmethod
    def unknown(
        cls,
        stop: Stop,
        bound: int | float | None = None,
        *,
        evaluations: int | None = None,
        method: str | None = None,
    ) -> Outcome[M]:
        """Nothing was found before the search ended, and nothing is proven but the bound."""
        return cls(None, None, bound, stop, False, (), evaluations, method)

    @classmethod
    def ended(
        cls,
        mapping: M | None,
        value: int | float | None,
        bound: int | float | None,
        stop: Stop,
        *,
        proven: bool,
        restrictions: tuple[str, ...] = (),
        evaluations: int | None = None,
        method: str | None = None,
    ) -> Outcome[M]:
        """Optimal or infeasible if that is ``proven``, else bounded."""
        if not proven:
            return cls.bounded(
                mapping, value, bound, stop, restrictions=restrictions, evaluations=evaluations, method=method
            )
        if mapping is None:
            return cls.infeasible(evaluations=evaluations, method=method)
        return cls.optimal(mapping, value, stop=stop, evaluations=evaluations, method=method)

    def among_more(self, bound: int | float, left_out: str) -> Outcome[M]:
        """What a search that ``left_out`` some mappings says of all, for which ``bound`` holds by argument."""
        if self.value is not None and self.value <= bound:
            return self
        return Outcome.bounded(
            self.mapping,
            self.value,
            bound,
            self.stop,
            restrictions=(*self.restrictions, left_out),
            evaluations=self.evaluations,
            method=self.method,
        )

    def certificate(self, method: str) -> Certificate:
        """What is claimed, by ``method`` unless another did it; what the search took is not in it."""
        return Certificate(
            stop=self.stop,
            found=self.mapping is not None,
            value=self.value,
            bound=self.bound,
            proven=self.proven,
            method=self.method or method,
            restrictions=self.restrictions,
        )

    @classmethod
    def claimed(cls, mapping: M | None, value: int | float | None, certificate: Certificate) -> Outcome[M]:
        """What a certificate claims, whether or not it is so."""
        known = certificate
        return cls(
            mapping, value, known.bound, known.stop, known.proven, known.restrictions, method=known.method
        )
