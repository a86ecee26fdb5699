"""Functions without machine code as plain Python, with the result of machine code to the last bit, until that is there.

Plain Python is a hundred times slower but needs no minute of compiling: a small problem is solved before that is done.
It runs on copies of the arrays, so that it can be given up at any moment: when the effort is over, or when machine code
is there, which then begins again.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

import numpy as np

from mapper.models.compiling import CHILD, Wanted
from mapper.models.limit import (
    GRACE,
    Limit,
    NoMachineCodeError,
    Standing,
    UnfinishedError,
    of_this_thread,
)

if TYPE_CHECKING:
    from mapper.models.compiled import Compiled

T = TypeVar("T")

PATIENCE = 0.5
"""Seconds of plain Python before anything is compiled: what is done by then needs no machine code."""
SECONDS_BETWEEN_LOOKS = 0.02
LARGEST_COPY = 1 << 28
"""Bytes of arrays beyond which machine code is awaited: plain Python would take hours for them."""
SECONDS_BETWEEN_READS = 1.0
_spent = 0.0
_asked_again: dict[Wanted, float] = {}
_prepared: WeakSet[Callable[[], None]] = WeakSet()


class _EnoughError(BaseException):
    """Raised in a thread that runs plain Python, as a class of its run's own. No function catches it."""


class _Run:
    """Something that may be given up. Either the thread that is at it says first that it is done, or the watch that it
    shall end; ``says`` is true for who was first."""

    def __init__(self, is_enough: Callable[[], bool]) -> None:
        self.is_enough = is_enough
        self.thread = threading.get_ident()
        self.enough: type[BaseException] = type("_EnoughError", (_EnoughError,), {})
        self.is_raised = False
        self._said: dict[str, str] = {}

    def says(self, who: str) -> bool:
        return self._said.setdefault("first", who) == who


class _Watch:
    """Ends runs that have had enough, from a thread of its own. A run may have others inside."""

    def __init__(self) -> None:
        self._runs: dict[int, tuple[_Run, ...]] = {}
        self._begun = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, run: _Run) -> None:
        self._runs[run.thread] = (*self._runs.get(run.thread, ()), run)
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._look, name="mapper-plain", daemon=True)
            self._thread.start()
        self._begun.set()

    def remove(self, run: _Run) -> None:
        left = tuple(other for other in self._runs.get(run.thread, ()) if other is not run)
        if left:
            self._runs[run.thread] = left
        else:
            self._runs.pop(run.thread, None)

    def _look(self) -> None:
        while True:
            self._begun.wait()
            self._begun.clear()
            while threads := list(self._runs.values()):
                for runs in threads:
                    self._end_one(runs)
                time.sleep(SECONDS_BETWEEN_LOOKS)

    def _end_one(self, runs: tuple[_Run, ...]) -> None:
        """Raise in the thread of these runs, the outermost first, that one of them has had enough: once for each, and
        not while it has yet to arrive for another, as a thread has room for one that is to come."""
        if any(run.is_raised for run in runs):
            return
        for run in runs:
            if run.is_enough() and run.says("watch"):
                run.is_raised = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(run.thread), ctypes.py_object(run.enough)
                )
                return


_watch = _Watch()


def nobody_hears(standing: Standing) -> None:
    """Nobody hears of compiling."""


@contextmanager
def limited(
    stopped: Callable[[], object],
    compiling: Callable[[Standing], None] = nobody_hears,
    plain: bool = True,
    grace: float = GRACE,
    compiles: bool = True,
) -> Iterator[None]:
    """Nothing in this block waits for machine code that is not there: functions run as plain Python until it is. Where
    that is hopeless (not ``plain``) they wait for it, but no longer than until ``stopped``. Where it is not worth the
    while (not ``compiles``) they run as plain Python to their ends.

    Raises: UnfinishedError, soon after ``stopped`` says so, where a function is at it.
    """
    with (
        CHILD.wanted(),
        of_this_thread(Limit(stopped, compiling, bridged, plain=plain, grace=grace, compiles=compiles)),
    ):
        yield


def on_disk(prepare: Callable[[], None]) -> bool:
    """Run ``prepare``, which calls functions, as far as their machine code is on disk; whether all of it is. What this
    process has once is there for good."""
    if prepare in _prepared:
        return True
    with of_this_thread(Limit(lambda: None, nobody_hears, bridged, on_disk=True)):
        try:
            prepare()
        except NoMachineCodeError:
            return False
    _prepared.add(prepare)
    return True


def bridged(kernel: Compiled, limit: Limit, *arguments: Any) -> Any:
    """The result of ``kernel``, for which this process has no machine code: by that on disk, or by plain Python until
    it is there.

    Raises: UnfinishedError if the effort ends before; NoMachineCodeError if nothing but the disk is asked.
    """
    wanted = Wanted.of(kernel, arguments)
    if not _is_read(wanted):
        if limit.on_disk:
            raise NoMachineCodeError(kernel.identity)
        copies = _Copies()
        own = [copies.of(argument) for argument in arguments] if limit.plain else []
        if limit.plain and copies.size <= LARGEST_COPY:
            done, result = _tried_plainly(wanted, limit, own)
            if done:
                copies.write_back()
                return result
        else:
            CHILD.ask(wanted, limit)
            while not limit.is_over and CHILD.is_at(wanted):
                limit.tell(CHILD.standing())
                time.sleep(SECONDS_BETWEEN_LOOKS)
            limit.tell(CHILD.standing())
        if limit.is_over:
            raise UnfinishedError(str(limit.stopped()))
        if not wanted.is_read():
            # No process can be had, or what it wrote is gone: nothing is left but to wait here.
            kernel.dispatcher.compile(wanted.types)
    return kernel.dispatcher(*arguments)


def _is_read(wanted: Wanted) -> bool:
    """Whether the machine code is in this process now. The disk is asked again once in a while: other processes compile
    too."""
    now = time.monotonic()
    if now < _asked_again.get(wanted, now) and not CHILD.has(wanted):
        return False
    _asked_again[wanted] = now + SECONDS_BETWEEN_READS
    return wanted.is_read()


def _tried_plainly(wanted: Wanted, limit: Limit, arguments: list[Any]) -> tuple[bool, Any]:
    """Whether plain Python came to its end before there was machine code, and its result."""
    global _spent
    began = time.monotonic()

    def is_enough() -> bool:
        if limit.compiles and _spent + time.monotonic() - began > PATIENCE:
            CHILD.ask(wanted, limit)
        if limit.told is not None:
            limit.tell(CHILD.standing())
        return limit.is_over or CHILD.has(wanted)

    def run() -> Any:
        with np.errstate(all="ignore"):
            return _as_numba_has_it(wanted.kernel.plain(*arguments))

    tried = _tried(run, is_enough)
    _spent += time.monotonic() - began if limit.compiles else 0.0
    return tried


def in_time(function: Callable[[], T], stopped: Callable[[], object]) -> T:
    """The result of ``function``, which is given up where it stands soon after ``stopped`` says (by anything but None)
    that an effort is over: for what makes values and asks no clock.

    Raises: UnfinishedError, and what ``function`` raises.
    """
    limit = Limit(stopped, nobody_hears, bridged, grace=2 * GRACE)
    done, result = _tried(function, lambda: limit.is_over)
    if not done:
        raise UnfinishedError(str(stopped()))
    found: T = result
    return found


def _tried(function: Callable[[], Any], is_enough: Callable[[], bool]) -> tuple[bool, Any]:
    """Whether the function came to its end, and its result.

    The watch raises once or never in this thread, and only after it was first to say something: what it raises is
    awaited here, wherever it was then, so that it comes nowhere else.
    """
    run = _Run(is_enough)
    result, fault = None, None
    try:
        try:
            _watch.add(run)
            result = function()
        except _EnoughError:
            raise
        except BaseException as error:
            fault = error
        while not run.says("thread"):
            time.sleep(SECONDS_BETWEEN_LOOKS)
    except run.enough:
        return False, None
    finally:
        _watch.remove(run)
    if fault is not None:
        raise fault
    return True, result


def _as_numba_has_it(result: Any) -> Any:
    """Numbers that a function returns as Python's own; a named tuple keeps its names."""
    if isinstance(result, tuple):
        fields = map(_as_numba_has_it, result)
        return type(result)(*fields) if hasattr(result, "_fields") else tuple(fields)
    return result.item() if isinstance(result, np.generic) else result


class _Copies:
    """Arguments for plain Python: arrays it may write to as copies, and none with integers below 64 bits, of which
    numpy makes sums that wrap where numba's do not."""

    def __init__(self) -> None:
        self.size = 0
        self._pairs: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        if isinstance(value, tuple):
            fields = [self.of(field) for field in value]
            return type(value)(*fields) if hasattr(value, "_fields") else tuple(fields)
        if not isinstance(value, np.ndarray):
            return value
        narrow = value.dtype.kind in "iu" and value.dtype.itemsize < 8
        if not value.flags.writeable and not narrow:
            return value
        self.size += value.nbytes
        place = value.__array_interface__["data"][0], value.shape, value.strides, value.dtype.str
        if place not in self._pairs:
            self._pairs[place] = value, value.astype(np.int64) if narrow else value.copy()
        return self._pairs[place][1]

    def write_back(self) -> None:
        for value, copy in self._pairs.values():
            if value.flags.writeable:
                np.copyto(value, copy, casting="unsafe")
