"""What is fuzzed: one way from bytes in a file to a value, or to the one line that says what is wrong with them."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz.mutation.byte import LARGEST_BYTES


@dataclass(frozen=True)
class Reader:
    """``read`` takes a file whose name ends in ``suffix`` and may raise nothing but InputError. ``seeds`` are valid
    files, ``mutate`` makes one change in one. ``guided``: the same in this process, where ``read`` needs others, so
    that the lines that an input reaches are seen. An input may take ``seconds`` of processor time and ``memory``
    bytes. One of ``share`` inputs is enough, if each is a whole command. ``valid``: takes a seed, where ``read`` is for
    changed ones alone."""

    name: str
    suffix: str
    seeds: Callable[[], tuple[bytes, ...]]
    mutate: Callable[[bytes, Random], bytes]
    read: Callable[[Path], None]
    guided: Callable[[Path], None] | None = None
    seconds: float = 10.0
    memory: int = 1 << 30
    share: int = 1
    valid: Callable[[Path], None] | None = None


@dataclass(frozen=True)
class Find:
    """What is wrong with how an input was met: ``place`` tells one fault from another."""

    place: str
    text: str


MOST_CHANGES = 6


def changed(reader: Reader, random: Random) -> bytes:
    """A seed of the reader with one change or a few."""
    data = random.choice(reader.seeds())
    for _ in range(random.choice((1, 1, 1, 2, 3, MOST_CHANGES))):
        data = reader.mutate(data, random)
    return data[:LARGEST_BYTES]


def attempt(read: Callable[[Path], None], path: Path) -> Find | None:
    """Read a file; anything raised but an InputError of one line is a find."""
    from mapper.workloads.document import InputError

    try:
        read(path)
    except InputError as error:
        line = str(error)
        if line.isprintable() and len(line) <= 700:
            return None
        return Find("message", f"the message is no short line of printable text: {line!r}")
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [
            frame
            for frame in frames
            if "/fuzz/" not in frame.filename and "site-packages" not in frame.filename
        ]
        last = own[-1] if own else frames[-1]
        name = "MemoryError" if isinstance(error, MemoryError) else type(error).__name__
        place = f"{name} in {Path(last.filename).name}:{last.lineno}"
        return Find(place, "".join(traceback.format_exception(error))[-6000:])
    return None
