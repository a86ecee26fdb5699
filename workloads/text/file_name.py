"""Names from documents as names of files and folders: one component each, which every system takes."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 80
"""Characters of a component, so that what is put after it still fits the 255 bytes of file systems."""
_OTHER = re.compile(r"[^A-Za-z0-9_.-]")
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
"""What Windows takes for devices, whatever follows after a dot."""


def file_names(names: Iterable[str]) -> tuple[str, ...]:
    """A component for each of ``names``, in order: letters, digits, ``_``, ``-`` and ``.``, none of which begins with a
    dot or a dash or ends with a dot, all different also where case does not count."""
    taken: set[str] = set()
    found = []
    for name in names:
        stem = file_name(name)
        own, number = stem, 1
        while own.lower() in taken:
            number += 1
            own = f"{stem}-{number}"
        taken.add(own.lower())
        found.append(own)
    return tuple(found)


def file_name(name: str) -> str:
    """``name`` as one component; see ``file_names`` for several, which must differ."""
    plain = _OTHER.sub("_", name).lstrip(".-")[:LONGEST].rstrip(".") or "unnamed"
    return f"_{plain}" if plain.partition(".")[0].lower() in _DEVICES else plain
