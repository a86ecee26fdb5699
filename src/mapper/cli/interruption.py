"""Ctrl-C, SIGTERM and SIGHUP: what the program does when it is asked to end.

While a search runs, the first signal asks it to end with what it has; one before anything is searched ends the program
at once. An answer that is there is written to its end: only a second signal cuts that short, after a moment. Ended at
once, the program leaves no child, no temporary file and one line.
"""

from __future__ import annotations

import os
import signal

from mapper.workloads.process.ending import clear

# What is imported here delays the answer to signals; for that reason nothing of contextlib, dataclasses and typing.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

    from mapper.api.search import Search

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SECONDS_TO_WRITE = 0.5
"""How long an answer that is being written may take after a second signal."""
NOTHING = "interrupted before anything was found"
AGAIN = "interrupted again; unfinished work is lost"
CURSOR = b"\r\x1b[K\x1b[?25h"
"""Clears the line of a progress bar and shows the cursor again."""


class _Stage:
    """How far the command is: which search runs, whether its answer is there, and how many signals have come."""

    def __init__(self) -> None:
        self.search: Search | None = None
        self.answered = False
        self.signals = 0


_stage = _Stage()


def heed_signals() -> None:
    """Answer signals from now on, those too that a parent has held back. Hang-ups that are ignored (nohup) stay so."""
    for number in SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _hear)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def ignore_signals() -> None:
    """Everything is written: while the interpreter is taken down there is nothing left to end."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


class interruptible:  # noqa: N801 - it stands where a function would
    """A block with a search that the first signal asks to end with what it has, as soon as it has begun; what follows
    the block is its answer."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def __enter__(self) -> None:
        _stage.search = self._search

    def __exit__(self, *error: object) -> None:
        answer_begins()
        _stage.search = None


def answer_begins() -> None:
    """All is found that will be: from here on signals do not keep it from being written."""
    _stage.answered = True


def _hear(number: int, frame: FrameType | None) -> None:
    _stage.signals += 1
    search = _stage.search
    if _stage.answered:
        if _stage.signals > 1:
            # Not here: what is being written goes on only when this function is left.
            import threading

            threading.Thread(target=_end_soon, daemon=True).start()
    elif _stage.signals == 1 and search is not None and search.begun.is_set():
        search.interrupt.set()
    else:
        ignore_signals()
        _end(NOTHING if _stage.signals == 1 else AGAIN)


def _end_soon() -> None:
    import time

    time.sleep(SECONDS_TO_WRITE)
    _end(AGAIN)


def _end(reason: str) -> NoReturn:
    """End where it is: nothing is unwound, so that no library can turn the signal into something else."""
    clear()
    try:
        bar = CURSOR if os.isatty(2) else b""
        os.write(2, bar + f"mapper: {reason}\n".encode())
    finally:
        os._exit(3)
