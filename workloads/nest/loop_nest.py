"""Perfect loop nests: loops, operands with affine index expressions, and dependences [Dave2019, sec. 4]."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant

Access = Literal["read", "write", "read_write"]
Operation = Literal["multiply_add", "add"]

LONGEST_EXPRESSION = 256


@dataclass(frozen=True)
class AffineIndex:
    """One index expression: a sum of integer multiples of loops, plus a constant (in elements)."""

    coefficients: tuple[tuple[str, int], ...]
    constant: int = 0

    @classmethod
    def parse(cls, text: str, loops: Sequence[str], source: str, field: str) -> AffineIndex:
        """Read ``2*ox + fx - 1``.

        Raises: InputError if the text is not affine in the loops.
        """
        if len(text) > LONGEST_EXPRESSION:
            raise InputError(source, field, f"longer than {LONGEST_EXPRESSION} characters; shorten it")
        try:
            terms = _affine(ast.parse(text.strip(), mode="eval").body, loops)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = error.args[0] if isinstance(error, ValueError) else "not an expression"
            remedy = f"{text[:60]!r} is not affine ({reason}); write a sum such as 2*Ox + Fx"
            raise InputError(source, field, remedy) from None
        constant = terms.pop("", 0)
        return cls(tuple(sorted((loop, factor) for loop, factor in terms.items() if factor)), constant)

    def span(self, trip_counts: Mapping[str, int]) -> int:
        """Elements between the least and the largest index touched, both included [Dave2019, sec. 4.3.1]."""
        return 1 + sum(abs(factor) * (trip_counts[loop] - 1) for loop, factor in self.coefficients)

    def __str__(self) -> str:
        parts = [loop if factor == 1 else f"{factor}*{loop}" for loop, factor in self.coefficients]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


def _affine(node: ast.expr, loops: Sequence[str]) -> dict[str, int]:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            if abs(value) > 1 << 31:
                raise ValueError("a number beyond 2^31")
            return {"": value}
        case ast.Name(id=name):
            if name not in loops:
                raise ValueError(f"{meant(name, loops)}{name!r} is not a loop of the nest")
            return {name: 1}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return {name: -factor for name, factor in _affine(operand, loops).items()}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right):
            total = _affine(left, loops)
            sign = 1 if isinstance(operator, ast.Add) else -1
            for name, factor in _affine(right, loops).items():
                total[name] = total.get(name, 0) + sign * factor
            return total
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            first, second = _affine(left, loops), _affine(right, loops)
            if set(first) - {""} and set(second) - {""}:
                raise ValueError("a product of loops")
            scale, other = (first, second) if set(first) <= {""} else (second, first)
            return {name: factor * scale.get("", 0) for name, factor in other.items()}
    raise ValueError("only +, - and multiplication by a constant")


@dataclass(frozen=True)
class Operand:
    """One access of the statement: a tensor, its index expressions (outer to inner, the last contiguous),
    the stored extents (elements per dimension) and how it is used."""

    name: str
    index: tuple[AffineIndex, ...]
    access: Access
    extents: tuple[int, ...]
    zero_initialised: bool = True
    tensor: str = ""

    @cached_property
    def loops(self) -> frozenset[str]:
        """Loops the operand depends on; it is invariant of the others and can be reused there."""
        return frozenset(loop for dimension in self.index for loop, _ in dimension.coefficients)

    @property
    def reads(self) -> bool:
        return self.access != "write"

    @property
    def writes(self) -> bool:
        return self.access != "read"

    @property
    def is_updated(self) -> bool:
        """Read and written by the same statement (``r+w`` of the paper), as a partial sum is."""
        return self.access == "read_write"

    def words(self, trip_counts: Mapping[str, int]) -> int:
        """Words touched by loops of these trip counts: ``data_alloc`` of [Dave2019, sec. 4.3.1]."""
        return math.prod(dimension.span(trip_counts) for dimension in self.index)

    def touches_each_word_once(self, trip_counts: Mapping[str, int]) -> bool:
        """Whether no two values of the operand's loops name the same word (sufficient, by mixed radix)."""
        for dimension in self.index:
            reach = 0
            for loop, factor in sorted(dimension.coefficients, key=lambda term: abs(term[1])):
                if trip_counts[loop] > 1:
                    if abs(factor) <= reach:
                        return False
                    reach += abs(factor) * (trip_counts[loop] - 1)
        return True


@dataclass(frozen=True)
class LoopNest:
    """A perfect loop nest, loops outer to inner, with one statement over its operands.

    ``dependences`` are distance vectors in loop order; reductions into an updated operand are exempt.
    """

    name: str
    bounds: tuple[tuple[str, int], ...]
    operands: tuple[Operand, ...]
    operation: Operation = "multiply_add"
    dependences: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def loops(self) -> tuple[str, ...]:
        return tuple(loop for loop, _ in self.bounds)

    @cached_property
    def trip_counts(self) -> dict[str, int]:
        return dict(self.bounds)

    @cached_property
    def iterations(self) -> int:
        """Executions of the statement; for a convolution its multiply-accumulates."""
        return math.prod(bound for _, bound in self.bounds)

    @cached_property
    def sequential_loops(self) -> frozenset[str]:
        """Loops that carry a dependence and so never run in space."""
        carried = [
            loop for vector in self.dependences for loop, d in zip(self.loops, vector, strict=True) if d
        ]
        return frozenset(carried)

    @cached_property
    def reduction_loops(self) -> frozenset[str]:
        """Loops an updated operand does not depend on: they sum into it."""
        updated = [operand.loops for operand in self.operands if operand.is_updated]
        return frozenset(loop for loop in self.loops for dependent in updated if loop not in dependent)

    @cached_property
    def window_loops(self) -> frozenset[str]:
        """Reductions that slide along another loop's dimension, as Fx along Ox (the loops of OPT 2)."""
        shared = {
            loop
            for operand in self.operands
            for dimension in operand.index
            if len(dimension.coefficients) > 1
            for loop, _ in dimension.coefficients
        }
        return self.reduction_loops & shared

    def padded(self, sizes: Mapping[str, int]) -> LoopNest:
        """The nest with these bounds; tensors are stored as much further as the loops then reach."""
        if not sizes:
            return self
        bounds = self.trip_counts | dict(sizes)
        operands = tuple(
            replace(
                operand,
                extents=tuple(
                    stored + dimension.span(bounds) - dimension.span(self.trip_counts)
                    for dimension, stored in zip(operand.index, operand.extents, strict=True)
                ),
            )
            for operand in self.operands
        )
        return replace(self, bounds=tuple(bounds.items()), operands=operands)

    def same_problem(self) -> LoopNest:
        """The nest without its name: what decides whether two layers are one problem."""
        return LoopNest("", self.bounds, self.operands, self.operation, self.dependences)


def uniform_dependences(loops: Sequence[str], operands: Sequence[Operand]) -> tuple[tuple[int, ...], ...]:
    """Distance vectors between a written tensor and other accesses to it with the same linear part.

    Raises: ValueError if two accesses of one tensor differ by more than a constant, or if the distance is
    not unique, so that the vectors must be declared.
    """
    vectors: list[tuple[int, ...]] = []
    for written in (operand for operand in operands if operand.writes):
        for other in operands:
            if other is written or (other.tensor or other.name) != (written.tensor or written.name):
                continue
            vector = _distance(loops, written, other)
            if any(vector):
                leading = next(component for component in vector if component)
                vectors.append(vector if leading > 0 else tuple(-component for component in vector))
    return tuple(dict.fromkeys(vectors))


def _distance(loops: Sequence[str], written: Operand, other: Operand) -> tuple[int, ...]:
    if [d.coefficients for d in written.index] != [d.coefficients for d in other.index]:
        raise ValueError(f"accesses of {written.name} differ by more than a constant")
    if set(loops) - written.loops:
        raise ValueError(f"{written.name} is written again along a loop that does not index it")
    distance: dict[str, int] = {}
    for ours, theirs in zip(written.index, other.index, strict=True):
        gap = ours.constant - theirs.constant
        if gap == 0 and len(ours.coefficients) != 1:
            continue
        if len(ours.coefficients) != 1 or gap % ours.coefficients[0][1]:
            raise ValueError(f"the distance between accesses of {written.name} is not unique")
        loop, factor = ours.coefficients[0]
        if distance.setdefault(loop, gap // factor) != gap // factor:
            raise ValueError(f"the distance between accesses of {written.name} is not unique")
    return tuple(distance.get(loop, 0) for loop in loops)
