"""Loops whose iterations all start the same: what their bodies read does not change while they run.

Only scalars that decide how often something runs are looked at. What a condition or a bound gives is always read right
after it was written, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mapper.workloads.whole.program import (
    BOUND,
    CONDITION,
    Block,
    Branch,
    Repeat,
    Segment,
    Start,
    Statement,
    segments_of,
)

PASSING = frozenset({CONDITION, BOUND})


@dataclass(frozen=True)
class Use:
    """Scalars that are ``read`` before they are written, that surely are ``written``, and that may be (``touched``)."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()

    def then(self, other: Use) -> Use:
        return Use(
            self.read | (other.read - self.written),
            self.written | other.written,
            self.touched | other.touched,
        )

    def maybe(self) -> Use:
        """The same where it may not run at all."""
        return Use(self.read, frozenset(), self.touched)


class Control:
    """The scalars that decide how often anything of a block runs, and which of its loops are steady."""

    def __init__(self, block: Block) -> None:
        self.segments = tuple(segments_of(block))
        self.needed = _counted(block) | PASSING
        before: frozenset[str] = frozenset()
        while before != self.needed:
            before = self.needed
            self.needed |= frozenset[str]().union(*(self._leaves(one) for one in self.segments))
        self._known: dict[int, bool] = {}

    def is_steady(self, loop: Repeat) -> bool:
        """Whether every iteration of ``loop`` starts the same, as often, and leaves the same."""
        found = self._known.get(id(loop))
        if found is None:
            body = self._sequence(loop.body)
            step = self._segment(loop.after).then(self._segment(loop.condition))
            moved = body.touched | step.touched
            found = not body.read & moved and not body.touched & step.touched
            self._known[id(loop)] = found
        return found

    def _leaves(self, segment: Segment) -> frozenset[str]:
        """The scalars of which the needed results of ``segment`` are made."""
        made = {one.name: one for one in segment.operations}
        waiting = [value for name, value in segment.results if name in self.needed]
        found: set[str] = set()
        while waiting:
            value = waiting.pop()
            if value in made:
                waiting += made[str(value)].operands
            elif isinstance(value, str):
                found.add(value)
        return frozenset(found)

    def _segment(self, segment: Segment) -> Use:
        written = frozenset(name for name, _ in segment.results if name in self.needed) - PASSING
        return Use(self._leaves(segment) - PASSING, written, written)

    def _sequence(self, block: Iterable[Statement]) -> Use:
        found = Use()
        for statement in block:
            found = found.then(self._use(statement))
        return found

    def _use(self, statement: Statement) -> Use:
        match statement:
            case Segment():
                return self._segment(statement)
            case Start():
                variable = frozenset({statement.count.variable})
                left = frozenset(statement.results) & self.needed
                found = self._segment(statement.before).then(Use(variable, variable, variable | left))
                if statement.inner is not None:
                    within = frozenset({statement.inner[1].variable})
                    inner = self._segment(statement.inner[0]).then(Use(within, within, within))
                    found = found.then(inner.maybe())
                return found
            case Branch():
                either = self._sequence(statement.taken).maybe().then(self._sequence(statement.other).maybe())
                return self._segment(statement.condition).then(either)
            case Repeat():
                step = self._segment(statement.after)
                once = self._sequence(statement.body).then(step).then(self._segment(statement.condition))
                asked = self._segment(statement.condition) if statement.asks_first else Use()
                return self._segment(statement.before).then(asked).then(once.maybe())


def _counted(block: Block) -> frozenset[str]:
    """The variables of all loops that are started."""
    found: set[str] = set()
    for statement in block:
        match statement:
            case Start():
                found |= {statement.count.variable} | (
                    {statement.inner[1].variable} if statement.inner else set()
                )
            case Branch():
                found |= _counted(statement.taken) | _counted(statement.other)
            case Repeat():
                found |= _counted(statement.body)
            case _:
                pass
    return frozenset(found)
