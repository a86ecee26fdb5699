"""Documents in other forms: which mean the same and must be read, or say a thing twice and must be refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from mapper.workloads.document import InputError


def other_form(data: bytes, random: Random) -> bytes:
    """``data``, a text, with the line ends of another system, a byte order mark, or both."""
    text = data.decode()
    text = text.replace("\n", random.choice(("\n", "\r\n", "\r\n", "\r")))
    return random.choice((b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf")) + text.removeprefix("\ufeff").encode()


def repeated_key(data: bytes, random: Random) -> bytes:
    """``data``, a JSON document, in which a key of one of its objects stands twice, with another value."""
    tree = json.loads(data, object_pairs_hook=_Pairs)
    objects = [one for one in _objects(tree) if one.pairs]
    chosen = random.choice(objects)
    key, value = random.choice(chosen.pairs)
    again = random.choice((value, None, 0, "again", [], [value]))
    chosen.pairs.insert(random.randrange(len(chosen.pairs) + 1), (key, again))
    return _written(tree).encode()


class _Pairs:
    """An object as the pairs that it was written as."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def _objects(tree: Any) -> list[_Pairs]:
    found: list[_Pairs] = []
    waiting = [tree]
    while waiting:
        here = waiting.pop()
        if isinstance(here, _Pairs):
            found.append(here)
            waiting += [value for _, value in here.pairs]
        elif isinstance(here, list):
            waiting += here
    return found


def _written(tree: Any) -> str:
    if isinstance(tree, _Pairs):
        return "{" + ", ".join(f"{json.dumps(key)}: {_written(value)}" for key, value in tree.pairs) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(_written, tree)) + "]"
    return json.dumps(tree)


def must_read(read: Callable[[Path], None], path: Path) -> None:
    """Raises: AssertionError if the file is refused."""
    try:
        read(path)
    except InputError as error:
        raise AssertionError(f"refused: {error}") from None


def must_refuse(read: Callable[[Path], None], path: Path) -> None:
    """Raises: InputError, as it should, AssertionError if the file is taken."""
    read(path)
    raise AssertionError("a key stands twice, and was taken in silence")
