"""What can be listed: the names that the commands take, and what they stand for."""

from __future__ import annotations

from enum import StrEnum


class Listing(StrEnum):
    """What ``list`` lists."""

    workloads = "workloads"
    archs = "archs"
    objectives = "objectives"
    methods = "methods"


def listed_names(what: Listing) -> list[tuple[str, str]]:
    """Names and descriptions, in the order of the catalogues."""
    from mapper.kind import ENTRIES, kinds

    if what is Listing.workloads:
        from mapper.workloads.catalogue import catalogue_names
        from mapper.workloads.kernel_source import kernel_names

        return [*catalogue_names(), *kernel_names()]
    if what is Listing.archs:
        from mapper.arch.source import machine_names

        return list(machine_names())
    if what is Listing.objectives:
        return [
            (objective, f"{entry.name}{' (default)' if place == 0 else ''}")
            for entry in ENTRIES
            for place, objective in enumerate(entry.objectives)
        ]
    return [
        (method.name, f"{kind.name}, {'exact' if method.exact else 'not exact'}: {method.summary}")
        for kind in kinds()
        for method in kind.methods().values()
    ]
