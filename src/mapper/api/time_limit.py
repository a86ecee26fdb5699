"""The time limit outside the searches: when a command began, and how waiting for other processes is ended."""

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
    from mapper.api.search import Search

SECONDS_BEYOND = 1.0
"""How long after the limit others are still waited for."""
SECONDS_BETWEEN = 0.5
"""How often an end that somebody has caught is asked for again."""
_BEGAN: ContextVar[float | None] = ContextVar("began", default=None)


class OutOfTimeError(BaseException):
    """The time limit passed before a search could begin. Like Ctrl-C, it can arrive at any line, so it is not an
    ``Exception``: no handler of ordinary errors may catch it."""


def begin_command() -> None:
    """Note that the command begins now: its limit includes imports, reading and writing."""
    _BEGAN.set(time.monotonic())


def command_began() -> float:
    """When the command began, on ``time.monotonic()``; now, if there is none."""
    began = _BEGAN.get()
    return time.monotonic() if began is None else began


@contextmanager
def ended_by_alarm(search: Search) -> Iterator[None]:
    """End the body when the time limit of the search passes. This uses the alarm of the process, which is only possible
    in its main thread; in other threads, or if the alarm is already in use, nothing is ended.

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
