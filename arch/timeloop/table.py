"""Accelergy's tables: energies of actions (ERT) and areas (ART) by component."""

from __future__ import annotations

from typing import Any

from mapper.arch.timeloop.value import number
from mapper.workloads.document import InputError

ACTIONS = {
    "read": ("random_read", "read"),
    "fill": ("random_fill", "random_write", "fill", "write"),
    "update": ("random_update", "random_write", "update", "write"),
    "compute": ("mac_random", "mult_random", "mac", "mult", "compute", "random_compute"),
    "leak": ("leak",),
}
"""What Timeloop looks for in a table, the first of them that is there (NVlabs/timeloop, ``topology.hpp``)."""


def energies(table: Any, source: str) -> dict[str, dict[str, float]]:
    """Energy in pJ of each action of each component, by their bare names.

    Raises: InputError if the table is of another form.
    """
    found: dict[str, dict[str, float]] = {}
    for name, entry in _tables(table, "ERT", source):
        actions = entry.get("actions", entry.get("estimation"))
        if not isinstance(actions, list) or not all(isinstance(one, dict) for one in actions):
            raise InputError(source, f"ERT: {name}", "must list actions")
        known = found.setdefault(name, {})
        for action in actions:
            energy = number(action.get("energy"), source, f"ERT: {name}.{action.get('name')}")
            known.setdefault(str(action.get("name")), float(energy))
    return found


def areas(table: Any, source: str) -> dict[str, float]:
    """Area of an instance of each component in mm2; tables are in um2.

    Raises: InputError if the table is of another form.
    """
    return {
        name: float(number(entry.get("area"), source, f"ART: {name}.area")) * 1e-6
        for name, entry in _tables(table, "ART", source)
    }


def _tables(table: Any, root: str, source: str) -> list[tuple[str, dict[str, Any]]]:
    entries = table.get("tables") if isinstance(table, dict) else None
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InputError(source, f"{root}.tables", "must list components")
    found = []
    for entry in entries:
        name = entry.get("name")
        if not isinstance(name, str):
            raise InputError(source, f"{root}.tables", "has an entry without a name")
        found.append((bare(name), entry))
    return found


def bare(name: str) -> str:
    """``system.PE[0..15].spad[1..16]`` as ``spad``."""
    last = name.replace("..", "~").rpartition(".")[2]
    return last.partition("[")[0].strip()


def action(energies_of: dict[str, float], sort: str) -> float | None:
    """The energy of a sort of action, None if the table has none."""
    for name in ACTIONS[sort]:
        if name in energies_of:
            return energies_of[name]
    return None
