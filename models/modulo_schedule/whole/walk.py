"""How often a whole kernel does what: its control alone is followed, without any memory.

Of loops whose iterations all start the same, two are followed. Values that come from memory, and floats, are unknown.
Where one of them decides how often something runs, nothing is known of the cycles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from mapper.models.modulo_schedule.whole.steady import Control
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.opcode import evaluate, wrapped
from mapper.workloads.whole.program import (
    BOUND,
    COMPARE,
    CONDITION,
    Block,
    Branch,
    Count,
    Repeat,
    Segment,
    Start,
    WholeKernel,
)

MOST_STEPS = 1 << 20
"""Segments and starts that are followed at the most."""


@dataclass
class Tally:
    """``runs``: per kernel how many starts have which trip count; ``changes``: per kernel its starts after another
    one's, the first of all included; ``operations``: those of the host between kernels, by opcode."""

    runs: dict[int, Counter[int]] = field(default_factory=dict)
    changes: Counter[int] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally, times: int = 1) -> None:
        """Counts what ``other`` does, so many times."""
        for kernel, counts in other.runs.items():
            own = self.runs.setdefault(kernel, Counter())
            for trips, count in counts.items():
                own[trips] += times * count
        for mine, others in ((self.changes, other.changes), (self.operations, other.operations)):
            for key, count in others.items():
                mine[key] += times * count  # type: ignore[index]

    def starts(self, kernel: int) -> int:
        return sum(self.runs.get(kernel, Counter()).values())

    def iterations(self, kernel: int) -> int:
        return sum(trips * count for trips, count in self.runs.get(kernel, Counter()).items())


def walked(whole: WholeKernel) -> Tally:
    """What one run of ``whole`` does.

    Raises: InputError if data decide that, or it takes too many steps to find out.
    """
    return _Walk(whole).tally


class _Walk:
    def __init__(self, whole: WholeKernel) -> None:
        self.whole = whole
        self.tally = Tally()
        self.scalars: dict[str, Number | None] = dict(whole.scalars)
        self.last: int | None = None
        self.steps = 0
        self.control = Control(whole.body)
        self._block(whole.body)

    def _block(self, block: Block) -> None:
        for statement in block:
            match statement:
                case Segment():
                    self._segment(statement)
                case Start():
                    self._start(statement)
                case Branch():
                    self._segment(statement.condition)
                    self._block(statement.taken if self._known(CONDITION) else statement.other)
                case Repeat():
                    self._repeat(statement)

    def _repeat(self, loop: Repeat) -> None:
        self._segment(loop.before)
        before, again, rounds = self.tally, Tally(), 0
        steady = self.control.is_steady(loop)
        while True:
            if loop.asks_first or rounds:
                self._segment(loop.condition)
                if not self._known(CONDITION):
                    break
            rounds += 1
            # The first iteration may come after another kernel; those after the second are like that.
            if not steady or rounds == 1:
                self._block(loop.body)
            elif rounds == 2:
                self.tally = again
                self._block(loop.body)
                self.tally = before
            self._segment(loop.after)
        self.tally.add(again, max(0, rounds - 1))

    def _known(self, name: str) -> int:
        value = self.scalars.get(name)
        if value is None:
            raise InputError(self.whole.name, "", "data decide how often its loops run; map its loops alone")
        return int(value)

    def _start(self, start: Start) -> None:
        self._segment(start.before)
        self.tally.operations[COMPARE] += 1
        number, trips = start.kernel, self._trips(start.count)
        if trips and start.inner is not None:
            self._segment(start.inner[0])
            trips *= self._trips(start.inner[1])
        if trips:
            self.tally.runs.setdefault(number, Counter())[trips] += 1
            self.tally.changes[number] += self.last != number
            self.last = number
            self.scalars |= dict.fromkeys(start.results)

    def _trips(self, count: Count) -> int:
        first = self._known(count.variable)
        trips = count.trips(first, self._known(BOUND))
        if trips is None:
            raise InputError(self.whole.name, count.variable, "never reaches its bound; correct the loop")
        self.scalars[count.variable] = wrapped(first + trips * count.step, count.bits)
        return trips

    def _segment(self, segment: Segment) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise InputError(
                self.whole.name, "", f"takes more than {MOST_STEPS} steps to follow; give smaller sizes"
            )
        known: dict[str, Number | None] = {}
        for operation in segment.operations:
            self.tally.operations[operation.opcode] += 1
            values = tuple(self._operand(one, known) for one in operation.operands)
            known[operation.name] = None if operation.array is not None else _result(operation.opcode, values)
        self.scalars |= {name: self._operand(one, known) for name, one in segment.results}

    def _operand(self, one: Number | str, known: Mapping[str, Number | None]) -> Number | None:
        if not isinstance(one, str):
            return one
        return known[one] if one in known else self.scalars.get(one, 0)


def _result(opcode: str, values: tuple[Number | None, ...]) -> Number | None:
    given = tuple(value for value in values if value is not None)
    return evaluate(opcode, given) if len(given) == len(values) else None
