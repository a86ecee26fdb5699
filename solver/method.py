"""Methods: a method searches for answers to one kind of problem and says honestly how far it got."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from mapper.solver.certificate import Stop
from mapper.solver.contradiction import refuse_contradiction
from mapper.solver.outcome import Outcome

P = TypeVar("P")
M = TypeVar("M")


@dataclass(frozen=True)
class Progress:
    """Where a search stands: best value and bound so far, in the objective's unit, and what it does now (``doing``, a
    few words; None: nothing worth saying)."""

    value: int | float | None
    bound: int | float | None
    evaluations: int
    doing: str | None = None


class Interrupt(threading.Event):
    """An event that ends searches, and knows ``since`` when, on ``time.monotonic()``."""

    since: float | None = None

    def set(self) -> None:
        if self.since is None:
            self.since = time.monotonic()
        super().set()


def _silent(progress: Progress) -> None:
    """Nobody listens."""


class Pieces(Protocol):
    """Remembers answers to pieces of problems from one command to the next, by their content."""

    def get(self, content: str) -> Mapping[str, Any] | None:
        """The mapping that was kept of a piece, as a document; whoever asks judges it anew."""

    def put(self, content: str, name: str, mapping: Mapping[str, Any], value: int) -> None:
        """Keep the mapping of a piece and what it is worth, if there is a place for it."""


@dataclass(frozen=True)
class Effort:
    """How hard to search: a deadline on ``time.monotonic()``, workers, a seed, an event that interrupts,
    who hears of progress, and what is known already, of the problem and of ``pieces`` of it."""

    deadline: float | None = None
    workers: int = 1
    seed: int = 0
    interrupt: threading.Event = field(default_factory=Interrupt)
    report: Callable[[Progress], None] = _silent
    start: Start[Any] | None = None
    pieces: Pieces | None = None

    def known(self, problem: object) -> Start[Any] | None:
        """The start, if it is one of ``problem`` itself: efforts are handed on to searches of other problems too."""
        return self.start if self.start is not None and self.start.problem is problem else None

    def known_mapping(self, problem: object) -> Any:
        """The mapping of the start, if it is one of ``problem`` itself, else None."""
        start = self.known(problem)
        return None if start is None else start.mapping

    def is_over(self) -> bool:
        """Whether the search must end now; formulations ask so while they build tables."""
        return self.stopped() is not None

    def stopped(self) -> Stop | None:
        """Why the search must end now, if it must."""
        if self.interrupt.is_set():
            return "interrupted"
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return "time_limit"
        return None

    def seconds_left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


@dataclass(frozen=True)
class Start(Generic[M]):
    """Where a search begins that had predecessors: a ``mapping`` of ``problem`` that the referee has accepted, what the
    model says it is worth (``value``), a ``bound`` that was proven of the same problem (None: no bound), and the method
    that found the mapping. ``most``: more is better; floats that differ by no more than ``slack`` are the same.
    ``searches`` came before."""

    problem: object
    mapping: M
    value: int | float
    bound: int | float | None
    method: str
    most: bool = False
    searches: int = 1
    slack: float = 0.0

    def outcome(self) -> Outcome[M]:
        """What is known, as the outcome of the searches before."""
        return Outcome.bounded(self.mapping, self.value, self.bound, "heuristic", method=self.method)

    def combined(self, found: Outcome[M]) -> Outcome[M]:
        """The better of the two mappings, the new one if they are equal, with the tighter of the bounds, since both are
        of the one problem. A bound that a mapping passes within the slack of floats proves nothing and goes.

        Raises: ContradictionError if they cannot both hold.
        """
        refuse_contradiction(self.outcome(), found, self.most, self.slack)
        value, lost = found.value, False
        if value is None or found.mapping is None or self.beats(self.value, value):
            value, lost = self.value, True
        claims = [claim for claim in (self.bound, found.bound) if claim is not None]
        bound = self._tightest([claim for claim in claims if not self.beats(value, claim)])
        proven = bound == value
        names = [name for name in (self.method if lost else None, found.method) if name]
        stop = "complete" if proven else "heuristic" if found.proven else found.stop
        return replace(
            found,
            mapping=self.mapping if lost else found.mapping,
            value=value,
            bound=bound,
            stop=stop,
            proven=proven,
            restrictions=() if proven else found.restrictions,
            method=" + ".join(dict.fromkeys(names if proven else names[:1])) or None,
        )

    def heard(self, progress: Progress) -> Progress:
        """Where a search stands that began here."""
        values = [value for value in (self.value, progress.value) if value is not None]
        value = max(values) if self.most else min(values)
        bound = self._tightest([claim for claim in (self.bound, progress.bound) if claim is not None])
        if bound is not None and self.beats(value, bound):
            # Only a hint on the way: whether it contradicts is said of what the search ends with.
            bound = value
        return replace(progress, value=value, bound=bound)

    def beats(self, one: int | float, other: int | float) -> bool:
        """Whether ``one`` is better than ``other``."""
        return one > other if self.most else one < other

    def _tightest(self, bounds: list[int | float]) -> int | float | None:
        return None if not bounds else min(bounds) if self.most else max(bounds)


@dataclass(frozen=True)
class Method(Generic[P, M]):
    """One way to solve a kind of problem; ``prepare`` calls the compiled functions that it needs, on a problem of
    milliseconds, so that they are read from disk outside the measured time. ``at_once`` gives a mapping without having
    searched, for efforts that end before this one has any; its own effort has ended already. A search may use what
    its effort says to be known already; what it finds is combined with that in any case. ``before``: methods that give
    every part of a problem a mapping soon, the soonest first, and go first where it takes long itself."""

    name: str
    exact: bool
    summary: str
    search: Callable[[P, Effort], Outcome[M]]
    prepare: Callable[[], None] = lambda: None
    at_once: Method[P, M] | None = None
    before: tuple[Method[P, M], ...] = ()
