"""What a method is: a search of one kind of problem that says honestly how far it got."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from mapper.solver.certificate import Stop

P = TypeVar("P")
M = TypeVar("M")


@dataclass(frozen=True)
class Progress:
    """Where a search stands: best value and bound so far, in the objective's unit."""

    value: int | float | None
    bound: int | float | None
    evaluations: int


def _silent(progress: Progress) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Effort:
    """How hard to search: a deadline on ``time.monotonic()``, workers, a seed, an event that interrupts,
    and who hears of progress."""

    deadline: float | None = None
    workers: int = 1
    seed: int = 0
    interrupt: threading.Event = field(default_factory=threading.Event)
    report: Callable[[Progress], None] = _silent

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
class Outcome(Generic[M]):
    """What a search found. ``proven`` with a mapping: no better one exists in the whole problem; without
    one: none exists. ``bound`` holds for the whole problem, or is None. ``method`` is set where a method
    handed the problem on to another."""

    mapping: M | None
    value: int | float | None
    bound: int | float | None
    stop: Stop
    proven: bool
    restrictions: tuple[str, ...] = ()
    evaluations: int | None = None
    method: str | None = None


@dataclass(frozen=True)
class Method(Generic[P, M]):
    """One way to solve a kind of problem; ``prepare`` compiles what it needs, outside the measured time."""

    name: str
    exact: bool
    summary: str
    search: Callable[[P, Effort], Outcome[M]]
    prepare: Callable[[], None] = lambda: None
