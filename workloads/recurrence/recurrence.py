"""Systems of uniform recurrences: statements of one loop nest, in sequence, each written once in an iteration.

A tensor that is written along all loops carries values from iteration to iteration: reading it elsewhere is a
dependence of constant distance. Where no iteration has written the word that is read, its first value is read instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from mapper.workloads.nest.loop_nest import AffineIndex
from mapper.workloads.recurrence.region import Limit, Region

Operator = Literal["+", "-", "*", "min", "max"]


@dataclass(frozen=True)
class Access:
    """A word of a tensor."""

    tensor: str
    index: tuple[AffineIndex, ...]

    @cached_property
    def loops(self) -> frozenset[str]:
        return frozenset(loop for dimension in self.index for loop, _ in dimension.coefficients)

    def __str__(self) -> str:
        return f"{self.tensor}[{', '.join(str(dimension) for dimension in self.index)}]"


@dataclass(frozen=True)
class Operation:
    """Two terms and what is done with them."""

    operator: Operator
    left: Term
    right: Term

    def __str__(self) -> str:
        if self.operator in ("min", "max"):
            return f"{self.operator}({self.left}, {self.right})"
        return f"({self.left} {self.operator} {self.right})"


Term = Access | Operation | int


@dataclass(frozen=True)
class Statement:
    """A value that an iteration writes, if it keeps all ``limits``."""

    target: Access
    value: Term
    limits: tuple[Limit, ...] = ()

    @cached_property
    def reads(self) -> tuple[Access, ...]:
        return tuple(accesses(self.value))

    def __str__(self) -> str:
        condition = " and ".join(str(limit) for limit in self.limits)
        return f"{self.target} = {self.value}{' if ' + condition if condition else ''}"


def accesses(term: Term) -> Iterator[Access]:
    """The words that a term reads, from left to right."""
    if isinstance(term, Access):
        yield term
    elif isinstance(term, Operation):
        yield from accesses(term.left)
        yield from accesses(term.right)


@dataclass(frozen=True)
class Recurrence:
    """Statements in sequence within loops, outer to inner. Statements of one tensor are alternatives, of which an
    iteration executes the first whose limits it keeps. ``local`` tensors stay in the array and begin at 0; the others
    begin as the buffers hold them, and what is written to them is a result."""

    name: str
    bounds: tuple[tuple[str, int], ...]
    statements: tuple[Statement, ...]
    local: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def loops(self) -> tuple[str, ...]:
        return tuple(loop for loop, _ in self.bounds)

    @cached_property
    def trip_counts(self) -> dict[str, int]:
        return dict(self.bounds)

    @cached_property
    def iterations(self) -> int:
        return math.prod(bound for _, bound in self.bounds)

    @cached_property
    def alternatives(self) -> dict[str, tuple[Statement, ...]]:
        """The statements of each tensor that is written, in sequence."""
        found: dict[str, tuple[Statement, ...]] = {}
        for statement in self.statements:
            name = statement.target.tensor
            found[name] = (*found.get(name, ()), statement)
        return found

    @cached_property
    def results(self) -> tuple[str, ...]:
        """Tensors that leave the array."""
        return tuple(name for name in self.alternatives if name not in self.local)

    def region(self, statement: Statement) -> Region:
        return Region(self.bounds, statement.limits)

    def distance(self, access: Access) -> tuple[int, ...] | None:
        """How many iterations of each loop ago the word that is read was written; None for a tensor that is only
        read."""
        if access.tensor not in self.alternatives:
            return None
        target = self.alternatives[access.tensor][0].target
        steps: dict[str, int] = {}
        for ours, theirs in zip(target.index, access.index, strict=True):
            ((loop, _),) = ours.coefficients
            steps[loop] = ours.constant - theirs.constant
        return tuple(steps[loop] for loop in self.loops)

    def carried(self, distance: tuple[int, ...]) -> bool:
        """Whether there are iterations at this distance from one another."""
        return any(distance) and all(
            abs(d) < bound for d, (_, bound) in zip(distance, self.bounds, strict=True)
        )
