"""Padding: loops that run over their end, on words and iterations that count but change no result.

A bound B may grow to any B' with B <= B' < 2B. Words beyond the end of a tensor are zeros (or room that nobody reads
later), so a loop may be padded only where its additional iterations change no word of the result.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mapper.workloads.nest.loop_nest import LoopNest, Operand


@dataclass(frozen=True)
class Padding:
    """What bounds may grow to: ``ranges`` of (loop, least, most), both included; loops that are not named keep their
    bound."""

    ranges: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def every(cls, nest: LoopNest) -> Padding:
        """All loops that may be padded, to any bound below twice their own."""
        free = paddable_loops(nest)
        return cls(tuple((loop, bound, 2 * bound - 1) for loop, bound in nest.bounds if loop in free))

    @property
    def is_free(self) -> bool:
        """Whether there is a choice."""
        return any(least < most for _, least, most in self.ranges)

    @property
    def least(self) -> dict[str, int]:
        return {loop: least for loop, least, _ in self.ranges}

    @property
    def most(self) -> dict[str, int]:
        return {loop: most for loop, _, most in self.ranges}

    def range_of(self, loop: str, bound: int) -> tuple[int, int]:
        """The least and the largest bound that ``loop`` may run to."""
        return self.least.get(loop, bound), self.most.get(loop, bound)


NO_PADDING = Padding()


def paddable_loops(nest: LoopNest) -> tuple[str, ...]:
    """Loops whose iterations beyond the bound change no word of the result.

    They do so if they write beyond the end of the result, or add a product one of whose factors lies beyond the end of
    its tensor, where zeros are: if the loop stands alone in a dimension of the result, or of a factor (of every summand
    where the nest only adds), whose tensor nothing else reaches. Loops that carry a dependence, or run once, keep their
    bounds, and so do those that would grow into the words of another loop's iterations, or into gaps between them, as
    ``n`` does in ``O[4*k+n]``.
    """
    tensors = Counter(operand.tensor or operand.name for operand in nest.operands)
    alone = [
        {dimension.coefficients[0][0] for dimension in operand.index if len(dimension.coefficients) == 1}
        if tensors[operand.tensor or operand.name] == 1
        else set()
        for operand in nest.operands
    ]
    free = []
    for loop, bound in nest.bounds:
        zeros = [loop in own for own, op in zip(alone, nest.operands, strict=True) if op.access == "read"]
        nothing = any(zeros) if nest.operation == "multiply_add" else bool(zeros) and all(zeros)
        outside = all(loop in own for own, op in zip(alone, nest.operands, strict=True) if op.writes)
        inside = any(loop in _steps_within(nest, operand) for operand in nest.operands if operand.writes)
        if bound > 1 and loop not in nest.sequential_loops and not inside and (outside or nothing):
            free.append(loop)
    return tuple(free)


def _steps_within(nest: LoopNest, operand: Operand) -> set[str]:
    """Loops whose steps along a dimension are smaller than those of another loop."""
    moving = {loop for loop, bound in nest.bounds if bound > 1}
    steps = [{loop: abs(factor) for loop, factor in d.coefficients if loop in moving} for d in operand.index]
    return {loop for own in steps for loop, step in own.items() if step < max(own.values())}
