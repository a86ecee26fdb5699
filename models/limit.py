"""Within which time functions that have no machine code must end, for the thread that calls them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

GRACE = 0.5
"""Seconds of processor time from the end of an effort in which something may still be made of what was found."""
BUSY = 4
"""So many times as long by the clock: others may have the processors."""
SHORT_GRACE = 0.1
"""The same where an answer is there already."""


@dataclass(frozen=True)
class Standing:
    """How far compiling is: of ``asked`` functions so many are ``done``; ``function`` is the one at which it is (None:
    nothing is left to compile), ``refused`` are those that could not be compiled: they run as plain Python."""

    done: int
    asked: int
    function: str | None
    refused: tuple[str, ...] = ()


class UnfinishedError(Exception):
    """Time was over, or somebody interrupted, while something ran that asks no clock; its text is the reason."""


class UndecidedError(UnfinishedError):
    """Time was over before a question was decided either way; its text is a line that says which, and the remedy."""


class NoMachineCodeError(Exception):
    """Only machine code that is on disk is wanted, and this function has none."""


@dataclass
class Limit:
    """``stopped`` says (by anything but None) that an effort is over, after which ``grace`` seconds are left;
    ``compiling`` hears how far the making of machine code is, whenever that changes.
    ``run`` takes a function that has no machine code here,
    this limit and the arguments, and has the result. ``on_disk``: nothing runs as plain Python, nothing is
    compiled. Not ``plain``: nothing runs as plain Python, machine code is awaited. Not ``compiles``: no machine code is
    asked for, however long that takes."""

    stopped: Callable[[], object]
    compiling: Callable[[Standing], None]
    run: Callable[..., Any]
    on_disk: bool = False
    plain: bool = True
    compiles: bool = True
    grace: float = GRACE
    told: Standing | None = None
    _since: tuple[float, float] | None = field(default=None, init=False)

    @property
    def is_over(self) -> bool:
        """Whether the effort has been over for so long that nothing more may be made of it."""
        if self.stopped() is None:
            return False
        now, busy = time.monotonic(), time.process_time()
        self._since = self._since or (now, busy)
        return busy - self._since[1] > self.grace or now - self._since[0] > BUSY * self.grace

    def tell(self, standing: Standing) -> None:
        """Say how far compiling is, if that is news."""
        if standing != self.told:
            self.told = standing
            self.compiling(standing)


_here = threading.local()


def current() -> Limit | None:
    """The limit of this thread, if it has one."""
    found: Limit | None = getattr(_here, "limit", None)
    return found


@contextmanager
def of_this_thread(limit: Limit) -> Iterator[None]:
    """In this block ``limit`` is that of the thread."""
    before = current()
    _here.limit = limit
    try:
        yield
    finally:
        _here.limit = before
