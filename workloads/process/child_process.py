"""Processes that end when this one does, however it ends: with a value, on Ctrl-C, or killed by SIGKILL.

Each is in a session of its own, so that a terminal's Ctrl-C is this process's to answer and not theirs. On Linux the
kernel kills a child whose parent died (PR_SET_PDEATHSIG). Elsewhere, and for commands that start processes of their
own (``family``), which the kernel does not count, a small process stands between: it reads a pipe that this process
holds open, and at the end of file kills its whole group.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mapper.workloads.process.ending import at_the_end

Child = subprocess.Popen[bytes]

PR_SET_PDEATHSIG, PR_GET_PDEATHSIG = 1, 2
WATCH = """\
import os, resource, signal, subprocess, sys, threading
pipe = int(sys.argv[1])
os.set_inheritable(pipe, False)
def watch():
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=watch, daemon=True).start()
# Not ignored, which the command would inherit: what the group is sent is the command's to answer.
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
try:
    code = subprocess.Popen(sys.argv[2:], close_fds=False).wait()
except OSError as error:
    print(f"{sys.argv[2]}: {error.strerror}", file=sys.stderr, flush=True)
    os._exit(127)
if code < 0:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)
os._exit(code)
"""
"""What stands between: the command is its child, in its group, and it ends as the command ends."""

_running: set[Child] = set()


def _kernel() -> Callable[..., int] | None:
    """The call that asks the kernel for a signal at the parent's death, where there is one."""
    if sys.platform != "linux":
        return None
    try:
        # Through PyDLL the lock of the interpreter is not let go: after a fork nobody else could give it back.
        call: Callable[..., int] = ctypes.PyDLL(None).prctl
        heard = ctypes.c_int(0)
        return call if call(PR_GET_PDEATHSIG, ctypes.byref(heard), 0, 0, 0) == 0 else None
    except (OSError, AttributeError):
        return None


KERNEL = _kernel()


@contextmanager
def child(command: Sequence[str | Path], family: bool = False, **given: Any) -> Iterator[Child]:
    """A running ``command``; what of it still runs is killed when the block is left, or when this process ends. The
    thread that starts it must stay until then: the kernel takes the thread for the parent. ``given`` as Popen has it.

    Raises: OSError as Popen (a command of a ``family`` that is missing ends with code 127 instead).
    """
    by_kernel = KERNEL is not None and not family
    with _started_alone(command, given) if by_kernel else _started_with_watch(command, given) as process:
        _running.add(process)
        try:
            yield process
        finally:
            ask(process, signal.SIGKILL)
            process.wait()
            _running.discard(process)


def ask(process: Child, number: signal.Signals) -> None:
    """Send a signal to it and what it started, unless it has ended."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)


def run(
    command: Sequence[str | Path],
    seconds: float | None = None,
    family: bool = False,
    **given: Any,
) -> subprocess.CompletedProcess[bytes]:
    """``command`` run to its end, with what it wrote to its stdout and stderr.

    Raises: subprocess.TimeoutExpired if it runs for more than ``seconds``; OSError as ``child``.
    """
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with child(command, family, **pipes | given) as process:
        out, err = process.communicate(timeout=seconds)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@contextmanager
def _started_alone(command: Sequence[str | Path], given: dict[str, Any]) -> Iterator[Child]:
    kernel, parent = KERNEL, os.getpid()
    assert kernel is not None

    def die_with_parent() -> None:
        # Between fork and exec: nothing but system calls. A parent that died before the first of them sends nothing.
        kernel(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    with subprocess.Popen(command, start_new_session=True, preexec_fn=die_with_parent, **given) as process:
        yield process


@contextmanager
def _started_with_watch(command: Sequence[str | Path], given: dict[str, Any]) -> Iterator[Child]:
    reading, writing = os.pipe()
    try:
        handed = (*given.pop("pass_fds", ()), reading)
        watched = [sys.executable, "-I", "-S", "-c", WATCH, str(reading), *map(str, command)]
        with subprocess.Popen(watched, start_new_session=True, pass_fds=handed, **given) as process:
            os.close(reading)
            reading = -1
            yield process
    finally:
        for end in (reading, writing):
            if end >= 0:
                os.close(end)


@at_the_end
def kill_all() -> None:
    """Kill every child that is known; those that are just being started see this process end."""
    for process in tuple(_running):
        # Not ``poll``: another thread may hold its lock. A child stays a zombie until that thread has waited for it.
        if process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
