"""The time limit beside the searches: when a command began, and an end to what waits for other processes."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mapper.api.solving import Search

SECONDS_BEYOND = 1.0
"""How long after the limit others are still waited for."""
SECONDS_BETWEEN = 0.5
"""How often an end that somebody has caught is asked for again."""
_BEGAN: ContextVar[float | None] = ContextVar("began", default=None)


class OutOfTimeError(BaseException):
    """The time limit has passed before anything could be searched. Like Ctrl-C it comes from outside, at any line, so
    that nobody who expects errors of what he calls may take it for one."""


def begin_command() -> None:
    """The command begins now: its limit is for imports, reading and writing too."""
    _BEGAN.set(time.monotonic())


def command_began() -> float:
    """When the command began, on ``time.monotonic()``; now, if there is none."""
    began = _BEGAN.get()
    return time.monotonic() if began is None else began


@contextmanager
def ended_by_alarm(search: Search) -> Iterator[None]:
    """End what is done here when the time limit of the search has passed. It takes the process's alarm, which only its
    main thread can; in other threads, and where somebody else uses the alarm, nothing is ended.

    Raises: OutOfTimeError.
    """
    main = threading.current_thread() is threading.main_thread()
    if search.deadline is None or not main or any(signal.getitimer(signal.ITIMER_REAL)):
        yield
        return
    over = False

    def ring(number: int, frame: FrameType | None) -> None:
        if not over:
            raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, ring)
    left = search.deadline + SECONDS_BEYOND - time.monotonic()
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), SECONDS_BETWEEN)
            yield
        finally:
            # It may ring at this very line; it does not ring again before the next ones.
            over = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
