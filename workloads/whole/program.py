"""A function with several loops as a program: innermost loops are kernels of the array, a host runs all else.

The host is the array in VLIW mode. It holds scalars, runs straight-line code one operation after another, counts the
outer loops, and starts the kernels with the numbers of each start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mapper.workloads.c.reading import AS_WRITTEN, SourceReading
from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.kernel import Array, EntryOperation, Kernel
from mapper.workloads.loop.trips import trips

HOST, FLATTEN, AUTO, MIXED = "host", "flatten", "auto", "mixed"
"""Who runs the loops around innermost ones: the host; the array, as one loop with the innermost; or whichever of the
two takes fewer cycles for the whole, which may be either for each nest (``MIXED``)."""
CONDITION, BOUND = "#condition", "#bound"
"""Stand for scalars: what a condition gives, and what a kernel's variable is compared with."""
COMPARE = "lt"
"""The operation that decides whether a kernel is started at all."""


@dataclass(frozen=True)
class Segment:
    """Straight-line code. Operands are numbers, names of earlier operations (which begin with ``%``), or scalars;
    operations may store. ``results``: scalars that it gives a value."""

    operations: tuple[EntryOperation, ...] = ()
    results: tuple[tuple[str, Number | str], ...] = ()


@dataclass(frozen=True)
class Repeat:
    """A loop around others: ``condition`` (its result is ``CONDITION``) is asked before each iteration, or after it."""

    before: Segment
    condition: Segment
    body: Block
    after: Segment
    asks_first: bool = True


@dataclass(frozen=True)
class Branch:
    """An ``if`` with loops in it."""

    condition: Segment
    taken: Block
    other: Block


@dataclass(frozen=True)
class Count:
    """``variable symbol BOUND; variable += step`` from where the variable stands; ``bits`` of the comparison."""

    variable: str
    symbol: str
    step: int
    bits: int
    unsigned: bool

    def trips(self, first: int, bound: int) -> int | None:
        """How often a loop from ``first`` runs; None if it never ends."""
        if self.unsigned:
            first, bound = first % (1 << self.bits), bound % (1 << self.bits)
        return trips(self.symbol, first, bound, self.step)


@dataclass(frozen=True)
class Start:
    """Starts kernel ``kernel`` as often as ``count`` says, if that is once at the least. ``before`` gives the variable
    and ``BOUND``. ``given``: scalars by the operations of the kernel's entry that stand for them; ``results``: scalars
    that it leaves in arrays of one word with their names. The variable then stands where the loop has ended. ``inner``:
    of two loops as one, what the inner one begins with, and how often it runs each time."""

    kernel: int
    before: Segment
    count: Count
    given: tuple[tuple[str, str], ...]
    results: tuple[str, ...]
    inner: tuple[Segment, Count] | None = None


Statement = Segment | Repeat | Branch | Start
Block = tuple[Statement, ...]


@dataclass(frozen=True)
class WholeKernel:
    """A function. ``kernels``: its innermost loops, in the order of the text, with the numbers of some start; ``text``:
    the function with what it names, which reads the same with ``reading``; ``scalars``: the numbers that its parameters
    stand at; ``nest``: who runs the loops around the kernels; ``others``: the same function with others, where any
    may be chosen."""

    name: str
    text: str
    function: str
    kernels: tuple[Kernel, ...]
    body: Block
    arrays: tuple[Array, ...]
    scalars: tuple[tuple[str, Number], ...]
    nest: str = HOST
    reading: SourceReading = AS_WRITTEN
    notes: tuple[str, ...] = ()
    others: tuple[WholeKernel, ...] = ()

    @property
    def starts(self) -> tuple[Start, ...]:
        """Every place that starts a kernel, in the order of the kernels."""
        return tuple(sorted(_starts(self.body), key=lambda start: start.kernel))


def _starts(block: Block) -> Iterator[Start]:
    for statement in block:
        if isinstance(statement, Start):
            yield statement
        elif isinstance(statement, Repeat):
            yield from _starts(statement.body)
        elif isinstance(statement, Branch):
            yield from _starts(statement.taken)
            yield from _starts(statement.other)


def segments_of(block: Block) -> Iterator[Segment]:
    """All straight-line code of ``block``."""
    for statement in block:
        match statement:
            case Segment():
                yield statement
            case Start():
                yield statement.before
                if statement.inner is not None:
                    yield statement.inner[0]
            case Branch():
                yield statement.condition
                yield from segments_of((*statement.taken, *statement.other))
            case Repeat():
                yield from (statement.before, statement.condition, statement.after)
                yield from segments_of(statement.body)
