"""Within which time functions that have no machine code must end, for the thread that calls them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

GRACE = 0.5
"""Seconds of processor time from the end of an effort in which something may still be made of what was found."""
BUSY = 4
"""So many times as long by the clock: others may have the processors."""
SHORT_GRACE = 0.1
"""The same where an answer is there already."""


class UnfinishedError(Exception):
    """Time was over, or somebody interrupted, while something ran that asks no clock; its text is the reason."""


class NoMachineCodeError(Exception):
    """Only machine code that is on disk is wanted, and this function has none."""


@dataclass
class Limit:
    """``stopped`` says (by anything but None) that an effort is over, after which ``grace`` seconds are left;
    ``compiling`` hears, once, that machine code is being made. ``on_disk``: nothing runs as plain Python, nothing is
    compiled. Not ``plain``: nothing runs as plain Python, machine code is awaited."""

    stopped: Callable[[], object]
    compiling: Callable[[], None]
    on_disk: bool = False
    plain: bool = True
    grace: float = GRACE
    told: bool = False
    _since: tuple[float, float] | None = field(default=None, init=False)

    @property
    def is_over(self) -> bool:
        """Whether the effort has been over for so long that nothing more may be made of it."""
        if self.stopped() is None:
            return False
        now, busy = time.monotonic(), time.process_time()
        self._since = self._since or (now, busy)
        return busy - self._since[1] > self.grace or now - self._since[0] > BUSY * self.grace

    def tell(self) -> None:
        """Say that machine code is being made."""
        if not self.told:
            self.told = True
            self.compiling()


_here = threading.local()


def current() -> Limit | None:
    """The limit of this thread, if it has one."""
    found: Limit | None = getattr(_here, "limit", None)
    return found


@contextmanager
def _of_this_thread(limit: Limit) -> Iterator[None]:
    before = current()
    _here.limit = limit
    try:
        yield
    finally:
        _here.limit = before


def nobody_hears() -> None:
    """Nobody hears of compiling."""


@contextmanager
def limited(
    stopped: Callable[[], object],
    compiling: Callable[[], None] = nobody_hears,
    plain: bool = True,
    grace: float = GRACE,
) -> Iterator[None]:
    """Nothing in this block waits for machine code that is not there: functions run as plain Python until it is. Where
    that is hopeless (not ``plain``) they wait for it, but no longer than until ``stopped``.

    Raises: UnfinishedError, soon after ``stopped`` says so, where a function is at it.
    """
    from mapper.models.compiling import CHILD

    with CHILD.wanted(), _of_this_thread(Limit(stopped, compiling, plain=plain, grace=grace)):
        yield


def on_disk(prepare: Callable[[], None]) -> bool:
    """Run ``prepare``, which calls functions, as far as their machine code is on disk; whether all of it is."""
    with _of_this_thread(Limit(lambda: None, nobody_hears, on_disk=True)):
        try:
            prepare()
        except NoMachineCodeError:
            return False
    return True
