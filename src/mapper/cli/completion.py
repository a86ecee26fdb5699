"""What a shell offers where a name is typed: names of the catalogues, and files where a file would do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from mapper.cli.listing import Listing, listed

Completion = Callable[[str], list[str]]


def names(what: Listing, files: tuple[str, ...] = ()) -> Completion:
    """The completion of a word that names something listed, or a file with one of these endings."""

    def complete(incomplete: str) -> list[str]:
        found = dict.fromkeys(row.name for row in listed(what) if row.name.startswith(incomplete))
        return [*found, *_paths(incomplete, files)]

    return complete


def _paths(incomplete: str, endings: tuple[str, ...]) -> Iterable[str]:
    """Files that could be meant, and the folders on the way to others."""
    folder, _, start = incomplete.rpartition("/")
    try:
        entries = sorted(Path(f"{folder}/" if "/" in incomplete else ".").iterdir()) if endings else []
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(start) and not (entry.name.startswith(".") and not start):
            name = incomplete[: len(incomplete) - len(start)] + entry.name
            if entry.is_dir():
                yield f"{name}/"
            elif entry.name.endswith(endings):
                yield name
