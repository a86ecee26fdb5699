"""Limits of one input: how long it is read and how much memory that takes, and who keeps the input if it goes wrong."""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.reader import Find, Reader, attempt

BEYOND = 4
"""The system refuses so many times the memory that an input may take: a reader that asks for more than the machine has
must not take it down."""


def scratch() -> Path:
    """A folder in memory if there is one: each input is a file."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None))


@dataclass(frozen=True)
class Guard:
    """Reads inputs of ``reader`` by ``read`` in a folder, where the file ``input`` is the one at work and ``progress``
    says how many came before it."""

    reader: Reader
    read: Callable[[Path], None]
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / f"input{self.reader.suffix}"

    def warm_up(self) -> None:
        """Read the seeds, so that what is loaded once counts for no input.

        Raises: AssertionError if a seed is refused, for then nothing would be tried; but for whole commands, of which
        not every one takes every seed.
        """
        from mapper.workloads.document import InputError

        for number, data in enumerate(self.reader.seeds()):
            self.path.write_bytes(data)
            try:
                (self.reader.valid or self.read)(self.path)
            except InputError as error:
                if self.reader.share == 1:
                    raise AssertionError(f"seed {number} of {self.reader.name} is refused: {error}") from None

    def limit_memory(self) -> None:
        """From here on the system refuses this process more than ``BEYOND`` times what an input may take."""
        if not sys.platform.startswith("linux"):
            return  # elsewhere the limit is none of what a process really takes
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = taken + BEYOND * self.reader.memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))

    def trial(self, number: int, data: bytes) -> Find | None:
        """Read input ``number``."""
        self.path.write_bytes(data)
        (self.folder / "progress").write_text(str(number))
        seconds, memory = _seconds(), _memory()
        found = attempt(self.read, self.path)
        taken = _memory() - memory
        spent = _seconds() - seconds
        if found is not None:
            return found
        if taken > self.reader.memory:
            return Find("memory", f"takes {taken >> 20} MiB")
        if spent > self.reader.seconds:
            return Find("time", f"takes {spent:.1f} s of processor time")
        return None


def _seconds() -> float:
    """Processor time of this process and of those that it has waited for."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, whose))


def _memory() -> int:
    """The most bytes that this process, or one that it has waited for, ever held."""
    unit = 1 if sys.platform == "darwin" else 1024
    children = unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    status = Path("/proc/self/status")
    if not status.exists():
        return max(children, unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    # What getrusage says begins with what the process that started this one held.
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return max(children, int(peak.split()[1]) << 10)
