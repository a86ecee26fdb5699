"""Another process that compiles: numba holds the interpreter, and can neither be stopped nor told the time.

It fills numba's folder on disk, from which this process then reads. It is killed as soon as nothing waits for it, and
ends by itself when the process that began it is gone: their pipe closes, however that ended.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapper.models.limit import Limit, Standing

if TYPE_CHECKING:
    from mapper.models.compiled import Compiled

LOCK = "mapper.lock"
"""The file in numba's folder that is locked while something is compiled: numba's own index loses what two write at
once, and may take one's machine code for the other's."""


@dataclass(frozen=True)
class Wanted:
    """A function with the types of its arguments."""

    kernel: Compiled
    types: tuple[Any, ...]

    @classmethod
    def of(cls, kernel: Compiled, arguments: tuple[Any, ...]) -> Wanted:
        return cls(kernel, tuple(kernel.dispatcher.typeof_pyval(argument) for argument in arguments))

    def is_read(self) -> bool:
        """Read the machine code from disk, as numba does before it compiles; whether it is there."""
        from numba.core.compiler_lock import global_compiler_lock

        dispatcher = self.kernel.dispatcher
        with global_compiler_lock:
            if self.types in dispatcher.overloads:
                return True
            found = dispatcher._cache.load_overload(self.types, dispatcher.targetctx)
            if found is None:
                return False
            dispatcher.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
            dispatcher.add_overload(found)
        return True


class Child:
    """The compiling process (there is at most one), and what it was asked for."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: list[Wanted] = []
        self._done: set[Wanted] = set()
        self._failed: set[Wanted] = set()
        self._refused: set[str] = set()
        self._users = 0
        self._pid = os.getpid()

    @contextlib.contextmanager
    def wanted(self) -> Iterator[None]:
        """While somebody is in this block the process may live."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self.kill()

    def ask(self, wanted: Wanted, limit: Limit) -> None:
        """Have it compiled, if it is not being compiled already."""
        with self._lock:
            self._hear()
            if wanted in self._asked or wanted in self._done or wanted in self._failed:
                return
            named = _named(wanted)
            if named is None or (self._process is None and not self._start()):
                self._failed.add(wanted)
                return
            assert self._process is not None and self._process.stdin is not None
            try:
                _send(self._process.stdin.fileno(), named)
            except OSError:
                self._failed.add(wanted)
                return
            self._asked.append(wanted)
            limit.tell(self.standing())

    def standing(self) -> Standing:
        """How far it is with all that this process has asked for."""
        with self._lock:
            self._hear()
            done = len(self._done) + len(self._failed)
            name = self._asked[0].kernel.name if self._asked else None
            return Standing(done, done + len(self._asked), name, tuple(sorted(self._refused)))

    def has(self, wanted: Wanted) -> bool:
        """Whether its machine code has come to lie on disk."""
        with self._lock:
            self._hear()
            return wanted in self._done

    def is_at(self, wanted: Wanted) -> bool:
        """Whether it is still to be compiled."""
        with self._lock:
            self._hear()
            return wanted in self._asked

    def kill(self) -> None:
        """End the process at once; what it has finished stays on disk."""
        with self._lock:
            process, self._process = self._process, None
            self._asked.clear()
            if process is not None and self._pid == os.getpid():
                process.kill()
                process.communicate()

    def _start(self) -> bool:
        numba: Any = import_module("numba")
        environment = {**os.environ, "NUMBA_CACHE_DIR": numba.config.CACHE_DIR or ""}
        package = str(Path(__file__).parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "mapper.models.compiling"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
            )  # fmt: skip
        except OSError:
            return False
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._pid = os.getpid()
        return True

    def _hear(self) -> None:
        """Take note of what it has finished: a byte for each, in the order in which they were asked for."""
        if self._process is None:
            return
        assert self._process.stdout is not None
        try:
            said = os.read(self._process.stdout.fileno(), 1 << 10)
        except BlockingIOError:
            return
        for one in said:
            if one == ord(b"1"):
                self._done.add(self._asked.pop(0))
            else:
                self._refuse(self._asked.pop(0))
        if not said:
            for wanted in self._asked:
                self._refuse(wanted)
            self.kill()

    def _refuse(self, wanted: Wanted) -> None:
        """What the process could not compile, or did not live to compile."""
        self._failed.add(wanted)
        self._refused.add(wanted.kernel.name)


def _named(wanted: Wanted) -> bytes | None:
    """The function by the module and the name it has there, and its types; None if it has no name there."""
    for name, module in list(sys.modules.items()):
        if name.startswith("mapper."):
            for attribute, value in vars(module).items():
                if value is wanted.kernel:
                    return pickle.dumps((name, attribute, wanted.types))
    return None


def _send(descriptor: int, content: bytes) -> None:
    connection = Connection(os.dup(descriptor), readable=False)
    try:
        connection.send_bytes(content)
    finally:
        connection.close()


CHILD = Child()
atexit.register(CHILD.kill)


def main() -> None:
    """What the process does: compile what it is asked for, one after another, until nobody is there to ask."""
    # A terminal sends Ctrl-C to it too; who began it ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    while True:
        try:
            _compile(*pickle.loads(asked.get()))
            answer = b"1"
        except Exception:
            answer = b"0"
        os.write(answers, answer)


def _listen(asked: queue.SimpleQueue[bytes]) -> None:
    with Connection(os.dup(0), writable=False) as connection:
        while True:
            try:
                asked.put(connection.recv_bytes())
            except (EOFError, OSError):
                os._exit(0)


@contextlib.contextmanager
def alone(kernel: Compiled) -> Iterator[None]:
    """While no other process compiles what lies in the kernel's folder: it waits for one that does, and may then read
    from disk what it would have compiled as well."""
    folder = Path(kernel.dispatcher._cache.cache_path)
    with contextlib.ExitStack() as stack:
        # In a folder that cannot be written to nothing is kept, and nobody is in the way.
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context((folder / LOCK).open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile(module: str, name: str, types: tuple[Any, ...]) -> None:
    kernel = getattr(import_module(module), name)
    with alone(kernel):
        kernel.dispatcher.compile(types)


if __name__ == "__main__":
    main()
