"""Temporary folders and files that are gone when their process is, whichever way it ends.

They are removed when their block is left, or before a signal ends the process (`ending`). What a killed process left is
removed by the next: each is locked for as long as its process lives, and the kernel takes the lock away with the
process, so that no number of a process has to be trusted that another may have got since.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from mapper.workloads.document import InputError
from mapper.workloads.process.ending import at_the_very_end

FOLDER = "mapper-"
FILE = ".mapper-"
_NAME = re.compile(rf"(?:{re.escape(FOLDER)}|{re.escape(FILE)})[0-9a-f]{{16}}")
MOST_SWEEPS = 100
SECONDS_BETWEEN_SWEEPS = 0.01

_own: set[Path] = set()
_ending = False


@contextmanager
def temporary_folder(base: Path | None = None) -> Iterator[Path]:
    """An empty folder in ``base`` (default: where temporary folders are) for the time of the block, which nobody else
    may read.

    Raises: InputError if none can be made.
    """
    try:
        root = base or Path(tempfile.gettempdir())
        remove_abandoned_once(root)
        path, descriptor = _made(root, FOLDER)
    except OSError as error:
        remedy = f"needs a temporary folder ({error.strerror}); set it to a writable folder"
        raise InputError("TMPDIR", os.environ.get("TMPDIR", ""), remedy) from None
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        _own.discard(path)
        os.close(descriptor)


@contextmanager
def temporary_file(folder: Path, rights: int) -> Iterator[tuple[Path, int]]:
    """A new file in ``folder``, open for writing, for the time of the block; who wants to keep it renames it. It has
    those of ``rights`` that the user's mask leaves to new files.

    Raises: OSError if it cannot be made.
    """
    path, descriptor = _made(folder, FILE, rights)
    try:
        yield path, descriptor
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        _own.discard(path)
        os.close(descriptor)


def remove_abandoned(folder: Path | None = None) -> None:
    """Remove what processes of this user that are dead left in ``folder`` (default: where temporary folders are)."""
    with suppress(OSError), os.scandir(folder or tempfile.gettempdir()) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and Path(entry.path) not in _own:
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


@cache
def remove_abandoned_once(folder: Path) -> None:
    """Remove what dead processes left in ``folder``, where this process begins to write to it."""
    remove_abandoned(folder)


def _remove_if_abandoned(path: Path) -> None:
    """Raises: OSError if its process lives (BlockingIOError), or if it cannot be looked at."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(found.st_mode):
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(found.st_mode):
            path.unlink()
    finally:
        os.close(descriptor)


def _made(folder: Path, prefix: str, rights: int = 0o700) -> tuple[Path, int]:
    """A new folder or file with a lock on it, and the descriptor that holds the lock."""
    while True:
        while _ending:
            time.sleep(SECONDS_BETWEEN_SWEEPS)
        path = folder / f"{prefix}{secrets.token_hex(8)}"
        # Known before it is there: a signal may end the process between the two.
        _own.add(path)
        try:
            descriptor = _opened(path, prefix, rights)
        except OSError:
            _own.discard(path)
            raise
        with suppress(OSError):  # a file system without locks: nobody can take what it holds for abandoned
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _names(path, descriptor):
            return path, descriptor
        # Another process was quicker with its lock and took it for abandoned.
        os.close(descriptor)
        _own.discard(path)


def _opened(path: Path, prefix: str, rights: int) -> int:
    """Make ``path`` and open it.

    Raises: OSError if it cannot be made.
    """
    if prefix == FILE:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, rights)
    while True:
        path.mkdir(rights)
        # Without a lock it may be taken for abandoned at once.
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _names(path: Path, descriptor: int) -> bool:
    """Whether ``path`` still is what ``descriptor`` has open."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


@at_the_very_end
def remove_own() -> None:
    """Remove all that this process has made, again and again while other threads still write to it."""
    global _ending
    _ending = True
    clean = 0
    for _ in range(MOST_SWEEPS):
        left = [path for path in tuple(_own) if os.path.lexists(path)]
        clean = 0 if left else clean + 1
        if clean == 2:
            return
        for path in left:
            if path.name.startswith(FILE):
                with suppress(OSError):
                    path.unlink()
            else:
                shutil.rmtree(path, ignore_errors=True)
        time.sleep(SECONDS_BETWEEN_SWEEPS)
