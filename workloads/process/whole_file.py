"""Writing what a user named, whole or not at all.

A regular file is replaced in one step: readers see the old document or the new one, and a full disk costs nothing but
the new one. Symbolic links stay and what they name is replaced. Whatever else stands there (a pipe, a device, a socket,
``/dev/stdout``) stays too, and is written to.
"""

from __future__ import annotations

import os
import re
import select
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from mapper.workloads.document import InputError
from mapper.workloads.process.temporary import remove_abandoned_once, temporary_file

MOST_LINKS = 40
DESCRIPTORS = re.compile(r"/proc/(?:self|\d+)(?:/task/\d+)?/fd|/dev/fd")
"""Folders whose entries are open files of a process."""
STDOUT = 1


def write_whole(path: Path, content: str | bytes, option: str = "") -> None:
    """Write ``content`` (text as UTF-8) to ``path``.

    Raises: InputError naming ``option`` (or the path alone) if it cannot be written; a regular file is then as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        descriptor = own_descriptor(path)
        if descriptor is not None:
            if descriptor == STDOUT:
                sys.stdout.flush()
            write_all(descriptor, data)
            return
        found = _status(path)
        if found is None or stat.S_ISREG(found.st_mode):
            _replace(Path(os.path.realpath(path)), data, found)
        elif stat.S_ISSOCK(found.st_mode):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.connect(str(path))
                connection.sendall(data)
        else:
            _pour(path, data)
    except OSError as error:
        raise _refused(path, option, error) from None


def is_replaced(path: Path) -> bool:
    """Whether what is written to ``path`` takes the place of what was written before, as in a regular file; anything
    else is given one document, the last."""
    try:
        found = _status(path)
    except OSError:
        return False
    return own_descriptor(path) is None and (found is None or stat.S_ISREG(found.st_mode))


def is_stdout(path: Path) -> bool:
    """Whether ``path`` is this process's own stdout by name, as ``/dev/stdout``."""
    return own_descriptor(path) == STDOUT


def check_writable(path: Path, option: str) -> None:
    """Fail before the search, not after it, if its result cannot be written.

    Raises: InputError naming ``option``.
    """
    try:
        descriptor = own_descriptor(path)
        if descriptor is not None:
            os.fstat(descriptor)
            return
        found = _status(path)
        if found is not None and stat.S_ISDIR(found.st_mode):
            raise InputError(option, str(path), "cannot be written (it is a folder); give a file")
        if found is not None and not os.access(path, os.W_OK, effective_ids=True):
            raise PermissionError(13, os.strerror(13))
        if found is None or stat.S_ISREG(found.st_mode):
            _check_folder(Path(os.path.realpath(path)).parent)
    except OSError as error:
        raise _refused(path, option, error) from None
    except ValueError:
        raise InputError(option, repr(str(path)), "is not a path (it holds a null character)") from None


def open_stream(path: Path, option: str) -> IO[str]:
    """``path`` opened anew for text that comes bit by bit.

    Raises: InputError naming ``option`` if it cannot be opened.
    """
    try:
        descriptor = own_descriptor(path)
        return path.open("w", encoding="utf-8") if descriptor is None else _copy(descriptor)
    except OSError as error:
        raise _refused(path, option, error) from None


def write_all(descriptor: int, data: bytes) -> None:
    """All of ``data``, whatever signals come in between.

    Raises: OSError if it cannot be written.
    """
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


def own_descriptor(path: Path) -> int | None:
    """The open file of this process that ``path`` leads to, as ``/dev/stdout`` or ``/dev/fd/3`` do: opened again, it
    would be cut to nothing, or written from its start."""
    place = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the last link too
    for _ in range(MOST_LINKS):
        folder = os.path.realpath(place.parent)
        named = place.name.isascii() and place.name.isdecimal() and len(place.name) < 10
        if DESCRIPTORS.fullmatch(folder) and named:
            own = folder == "/dev/fd" or folder.startswith((f"/proc/{os.getpid()}/", "/proc/self/"))
            return int(place.name) if own else None
        try:
            place = Path(folder) / place.readlink()
        except OSError:
            return None
    return None


def _copy(descriptor: int) -> IO[str]:
    if descriptor == STDOUT:
        sys.stdout.flush()
    return os.fdopen(os.dup(descriptor), "w", encoding="utf-8")


def _status(path: Path) -> os.stat_result | None:
    """What stands at ``path`` or where its links lead; None for nothing.

    Raises: OSError if that cannot be said.
    """
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _check_folder(folder: Path) -> None:
    """Raises: OSError if no file can be made there."""
    folder.stat()
    if not folder.is_dir():
        raise NotADirectoryError(20, os.strerror(20))
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        raise PermissionError(30, os.strerror(30))
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
        raise PermissionError(13, "its folder may not be written to")


def _replace(path: Path, data: bytes, old: os.stat_result | None) -> None:
    """Raises: OSError; ``path`` is then as it was."""
    if old is not None and not os.access(path, os.W_OK, effective_ids=True):
        raise PermissionError(13, os.strerror(13))
    remove_abandoned_once(path.parent)
    # What takes the place of a private file is private from its first byte on.
    with temporary_file(path.parent, 0o666 if old is None else 0o600) as (beside, descriptor):
        write_all(descriptor, data)
        if old is not None:
            # Only root may give a file away.
            with suppress(OSError):
                os.fchown(descriptor, old.st_uid, old.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
        beside.replace(path)


def _pour(path: Path, data: bytes) -> None:
    # Neither made nor cut: what stands there is no file of ours.
    descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY)
    try:
        write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _refused(path: Path, option: str, error: OSError) -> InputError:
    remedy = f"cannot be written ({error.strerror or error}); give a file in a folder that can be written to"
    return InputError(option, str(path), remedy) if option else InputError(str(path), "", remedy)
