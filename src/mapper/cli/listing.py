"""What can be listed: the names that the commands take, and what they stand for."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

METHODS_FILE = Path(__file__).parents[1] / "kind" / "methods.json"
"""What ``methods_of_kinds`` says, since a list must not wait for all models and searches to be imported. Made by
``python -m mapper.cli.listing``; a test holds that it is up to date."""


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
    return [(name, text) for name, text in json.loads(METHODS_FILE.read_text("utf-8"))]


def methods_of_kinds() -> list[tuple[str, str]]:
    """Every method of every kind with what it does, from the methods themselves."""
    from mapper.kind import kinds

    return [
        (method.name, f"{kind.name}, {'exact' if method.exact else 'not exact'}: {method.summary}")
        for kind in kinds()
        for method in kind.methods().values()
    ]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(row) for row in methods_of_kinds())
    METHODS_FILE.write_text(f"[\n{lines}\n]\n", "utf-8")
