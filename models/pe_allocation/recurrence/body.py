"""What an iteration of a recurrence does: operations one after another, a unit's cycle each.

The statements stand in sequence. Alternatives of one tensor share a place in it: each ends where the longest does. A
value that is only handed on takes no operation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.nest.work import UNIT_LATENCY
from mapper.workloads.recurrence.recurrence import Access, Operation, Recurrence, Statement, Term


@dataclass(frozen=True)
class Earlier:
    """The result of an earlier step of the same statement."""

    step: int


Source = Access | Earlier | int


@dataclass(frozen=True)
class Step:
    """One operation: two sources, or three of ``+ *`` and ``- *``, where a product is added to or taken from the first
    as a unit multiplies and adds in one go."""

    operator: str
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Program:
    """The steps of a statement, the first of them ``begin`` operations after an iteration begins, and its result."""

    statement: Statement
    steps: tuple[Step, ...]
    result: Source
    begin: int

    @property
    def end(self) -> int:
        return self.begin + len(self.steps)

    @cached_property
    def reads(self) -> tuple[tuple[Access, int], ...]:
        """Every word that is read, and after how many operations of the iteration."""
        found = [
            (source, self.begin + place)
            for place, step in enumerate(self.steps)
            for source in step.sources
            if isinstance(source, Access)
        ]
        if isinstance(self.result, Access):
            found.append((self.result, self.end))
        return tuple(found)


@dataclass(frozen=True)
class Dependence:
    """Values of ``tensor`` are read ``distance`` iterations later: the reading iteration begins at least ``latency``
    cycles after the one that writes, and links come on top. It is kept until the last operation that reads it, which
    would be soon enough after ``latest`` cycles."""

    tensor: str
    distance: tuple[int, ...]
    latency: int
    latest: int


@dataclass(frozen=True)
class Body:
    """The programs of a recurrence, and the fewest cycles from an iteration to the next that its operations leave."""

    recurrence: Recurrence
    programs: tuple[Program, ...]
    operations: int
    interval: int

    @cached_property
    def ends(self) -> dict[str, int]:
        """Cycles after which an iteration has computed each tensor's value."""
        return {one.statement.target.tensor: one.end * UNIT_LATENCY for one in self.programs}

    @cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        """Each tensor and distance once, with the latency of the earliest that reads it."""
        found: dict[tuple[str, tuple[int, ...]], list[int]] = {}
        for program in self.programs:
            for access, operations in program.reads:
                distance = self.recurrence.distance(access)
                if distance is not None and self.recurrence.carried(distance):
                    latency = self.ends[access.tensor] - operations * UNIT_LATENCY
                    found.setdefault((access.tensor, distance), []).append(latency)
        return tuple(Dependence(*key, max(latencies), min(latencies)) for key, latencies in found.items())


def body_of(recurrence: Recurrence, machine: TcpaMachine) -> Body:
    """Units are those for convolutions where something is multiplied, else those for elementwise operations."""
    programs: list[Program] = []
    begin = 0
    for alternatives in recurrence.alternatives.values():
        compiled = [_compiled(statement.value) for statement in alternatives]
        longest = max(len(steps) for steps, _ in compiled)
        for statement, (steps, result) in zip(alternatives, compiled, strict=True):
            programs.append(Program(statement, steps, result, begin + longest - len(steps)))
        begin += longest
    multiplies = any("*" in step.operator for program in programs for step in program.steps)
    units = machine.functional_units
    count = units.convolution if multiplies else units.elementwise
    return Body(recurrence, tuple(programs), begin, max(1, -(-begin // count)))


def _compiled(term: Term) -> tuple[tuple[Step, ...], Source]:
    steps: list[Step] = []

    def source(part: Term) -> Source:
        if not isinstance(part, Operation):
            return part
        left, right = part.left, part.right
        if part.operator == "+" and not _is_product(right) and _is_product(left):
            left, right = right, left
        if part.operator in ("+", "-") and isinstance(right, Operation) and _is_product(right):
            sources = (source(left), source(right.left), source(right.right))
            steps.append(Step(f"{part.operator} *", sources))
        else:
            steps.append(Step(part.operator, (source(left), source(right))))
        return Earlier(len(steps) - 1)

    result = source(term)
    return tuple(steps), result


def _is_product(term: Term) -> bool:
    return isinstance(term, Operation) and term.operator == "*"
