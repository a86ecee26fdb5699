"""What can be listed: the names that the other commands take, the kind they belong to, and what they stand for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mapper.kind import Entry
from mapper.workloads.text.nearest import meant

METHODS_FILE = "methods.json"
"""Of a kind's folder: what ``methods_of`` says, since a list must not wait for all models and searches to be imported.
Made by ``python -m mapper.cli.listing``; a test holds that it is up to date."""


class Listing(StrEnum):
    """What ``list`` lists."""

    workloads = "workloads"
    archs = "archs"
    objectives = "objectives"
    methods = "methods"


@dataclass(frozen=True)
class Listed:
    """A name with a line on it. ``kind``: of the problem that it belongs to; workloads have none of their own, as their
    kind follows from the machine too."""

    name: str
    description: str
    kind: str | None = None


def listed(what: Listing, kind: str | None = None) -> list[Listed]:
    """Names in the order of the catalogues, those of ``kind`` alone if it is given.

    Raises: InputError if nothing of that sort belongs to ``kind``.
    """
    rows = _all_of(what)
    if kind is None:
        return rows
    known = list(dict.fromkeys(row.kind for row in rows if row.kind is not None))
    if kind not in known:
        from mapper.workloads.document import InputError

        if not known:
            raise InputError("--kind", kind, f"does not apply to {what.value}; leave it out")
        raise InputError(
            "--kind", kind, f"is no kind of problem; {meant(kind, known)}write {', '.join(known)}"
        )
    return [row for row in rows if row.kind == kind]


def _all_of(what: Listing) -> list[Listed]:
    if what is Listing.workloads:
        from mapper.workloads.catalogue import catalogue_names
        from mapper.workloads.graph.kernel_source import kernel_names

        return [Listed(name, text) for name, text in (*catalogue_names(), *kernel_names())]
    from mapper.kind import ENTRIES

    if what is Listing.archs:
        from mapper.arch.source import machine_names

        posed_by = {entry.schema: kind_name(entry) for entry in ENTRIES}
        return [Listed(name, text, posed_by[schema]) for name, text, schema in machine_names()]
    if what is Listing.objectives:
        return [
            Listed(objective.name, "the default" if place == 0 else "", kind_name(entry))
            for entry in ENTRIES
            for place, objective in enumerate(entry.objectives)
        ]
    return [row for entry in ENTRIES for row in _methods_listed(entry)]


def kind_name(entry: Entry) -> str:
    """What a kind is called where instances of PBQP are told apart from networks."""
    return entry.name if entry.alone is None else entry.package.rpartition(".")[2]


def _methods_listed(entry: Entry) -> list[Listed]:
    file = entry.folder / METHODS_FILE
    if not file.is_file():
        return methods_of(entry)
    return [Listed(name, text, kind_name(entry)) for name, text in json.loads(file.read_text("utf-8"))]


def methods_of(entry: Entry) -> list[Listed]:
    """Every method of a kind with what it does, from the methods themselves."""
    from mapper.kind import imported

    return [
        Listed(method.name, f"{'exact' if method.exact else 'not exact'}: {method.summary}", kind_name(entry))
        for method in imported(entry).methods().values()
    ]


def write_methods() -> None:
    """Write the list of each kind into its folder."""
    from mapper.kind import ENTRIES

    for entry in ENTRIES:
        lines = ",\n".join(json.dumps([row.name, row.description]) for row in methods_of(entry))
        (entry.folder / METHODS_FILE).write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    write_methods()
