"""What can be listed: the names that the commands take, and what they stand for."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mapper.kind import Entry

METHODS_FILE = "methods.json"
"""Of a kind's folder: what ``methods_of`` says, since a list must not wait for all models and searches to be imported.
Made by ``python -m mapper.cli.listing``; a test holds that it is up to date."""


class Listing(StrEnum):
    """What ``list`` lists."""

    workloads = "workloads"
    archs = "archs"
    objectives = "objectives"
    methods = "methods"


def listed_names(what: Listing) -> list[tuple[str, str]]:
    """Names and descriptions, in the order of the catalogues."""
    if what is Listing.workloads:
        from mapper.workloads.catalogue import catalogue_names
        from mapper.workloads.graph.kernel_source import kernel_names

        return [*catalogue_names(), *kernel_names()]
    if what is Listing.archs:
        from mapper.arch.source import machine_names

        return list(machine_names())
    if what is Listing.objectives:
        from mapper.kind import ENTRIES

        return [
            (objective.name, f"{entry.name}{' (default)' if place == 0 else ''}")
            for entry in ENTRIES
            for place, objective in enumerate(entry.objectives)
        ]
    from mapper.kind import ENTRIES

    return [row for entry in ENTRIES for row in _methods_listed(entry)]


def _methods_listed(entry: Entry) -> list[tuple[str, str]]:
    file = entry.folder / METHODS_FILE
    if not file.is_file():
        return methods_of(entry)
    return [(name, text) for name, text in json.loads(file.read_text("utf-8"))]


def methods_of(entry: Entry) -> list[tuple[str, str]]:
    """Every method of a kind with what it does, from the methods themselves."""
    from mapper.kind import imported

    return [
        (method.name, f"{entry.name}, {'exact' if method.exact else 'not exact'}: {method.summary}")
        for method in imported(entry).methods().values()
    ]


def write_methods() -> None:
    """Write the list of each kind into its folder."""
    from mapper.kind import ENTRIES

    for entry in ENTRIES:
        lines = ",\n".join(json.dumps(row) for row in methods_of(entry))
        (entry.folder / METHODS_FILE).write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    write_methods()
