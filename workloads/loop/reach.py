"""What values the iteration and the loops around the kernel take, and which accesses these keep apart.

Bounds are forms in the symbols of loops further out, so that triangular loops are followed: of ``for j < i`` the
greatest j is i - 1. A form is bounded by putting the bounds of its symbols in their places, the innermost first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mapper.workloads.loop.affine import ITERATION, Form, as_number, plus, times


@dataclass(frozen=True)
class Reach:
    """Per symbol its least and its greatest value as forms, None where unknown, in the order in which they came to
    be known: outermost first. ``last``: the number of the last iteration, if it is known as a form."""

    bounds: dict[str, tuple[Form | None, Form | None]] = field(default_factory=dict)
    last: Form | None = None

    def apart(self, first: Form, second: Form) -> bool:
        """Whether no two iterations, nor the same one, lead both forms to one value."""
        return self._positive(first, second) or self._positive(second, first)

    def _positive(self, first: Form, second: Form) -> bool:
        """Whether ``first`` in any iteration is sure to be greater than ``second`` in any."""
        low = self._extreme(first, -1)
        high = self._extreme(second, 1)
        if low is None or high is None:
            return False
        least = self._least(plus(low, high, -1))
        return least is not None and least > 0

    def _extreme(self, form: Form, sign: int) -> Form | None:
        """The least (``sign`` -1) or greatest value of ``form`` over all iterations, as a form without them."""
        stride = form.get((ITERATION,), 0)
        rest = {term: factor for term, factor in form.items() if term != (ITERATION,)}
        if any(ITERATION in term for term in rest):
            return None
        if stride * sign <= 0:
            return rest
        return None if self.last is None else plus(rest, times(self.last, {(): stride}) or {})

    def _least(self, form: Form) -> int | None:
        """A number that ``form`` is never below, or None."""
        for name in reversed(list(self.bounds)):
            factor = form.get((name,), 0)
            if factor == 0:
                continue
            if any(name in term for term in form if term != (name,)):
                return None
            bound = self.bounds[name][0 if factor > 0 else 1]
            if bound is None:
                return None
            rest = {term: other for term, other in form.items() if term != (name,)}
            form = plus(rest, times(bound, {(): factor}) or {})
        return as_number(form)
