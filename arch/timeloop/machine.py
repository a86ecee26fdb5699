"""A machine of this project from Timeloop's files: architecture, constraints, tables of energy and area."""

from __future__ import annotations

from typing import Any

from mapper.arch.hierarchy import HIERARCHY_SCHEMA, HierarchyMachine, hierarchy_from_document
from mapper.arch.timeloop.architecture import FANOUT_CLASS, Component, components
from mapper.arch.timeloop.attribute import compute_fields, level_fields, passed_over
from mapper.arch.timeloop.constraint import read_constraint
from mapper.arch.timeloop.document import targets_of
from mapper.arch.timeloop.table import areas, energies
from mapper.arch.timeloop.value import number
from mapper.workloads.document import InputError

COMPUTE_CLASSES = ("mac", "intmac", "fpmac", "compute")
NETWORK_CLASSES = ("XY_NoC", "Legacy", "ReductionTree", "SimpleMulticast")


def is_compute(component: Component) -> bool:
    """Whether a component computes."""
    return any(component.sort == name or component.sort.endswith(f"_{name}") for name in COMPUTE_CLASSES) or (
        component.sort.lower().endswith("mac")
    )


def machine_of(roots: dict[str, tuple[str, Any]], name: str) -> HierarchyMachine:
    """The machine that the roots of Timeloop's files describe.

    Raises: InputError naming what is wrong or cannot be represented.
    """
    if "architecture" not in roots:
        raise InputError(name, "architecture", "is missing; join the file that has it with +")
    source, tree = roots["architecture"]
    version, found = components(tree, source)
    *memories, unit = found
    for one in memories:
        if one.sort in NETWORK_CLASSES or "noc" in one.sort.lower():
            raise InputError(
                source, one.name, f"is a network ({one.sort[:30]}), which cannot be represented; remove it"
            )
        if is_compute(one):
            raise InputError(
                source, one.name, "computes, but is not the innermost; one compute unit ends the hierarchy"
            )
    if not is_compute(unit):
        raise InputError(
            source, unit.name, f"is a {unit.sort[:30]}; the innermost component must compute (intmac)"
        )
    if not memories:
        raise InputError(source, "architecture", "has no memory; add one")
    ert = energies(roots["ERT"][1], roots["ERT"][0]) if "ERT" in roots else None
    art = areas(roots["ART"][1], roots["ART"][0]) if "ART" in roots else {}
    levels = [level_fields(one, ert, art, source) for one in memories]
    for place, one in enumerate(found[1:]):
        levels[place]["fanout"] = _fanout(found[place], one, source)
    for level, memory in zip(levels, memories, strict=True):
        level["bypass"] = ["*"] if memory.sort == FANOUT_CLASS else list(memory.beside)
    constraints = apply_entries(levels, _constraints(roots, found, memories))
    old = version in ("0.1", "0.2", "0.3")
    return hierarchy_from_document(
        {
            "schema": HIERARCHY_SCHEMA,
            "name": name[:64],
            "description": f"From Timeloop's files, version {version}.",
            "clock_mhz": _clock(found, source),
            "levels": levels,
            "compute": compute_fields(unit, ert, art, source),
            "rules": {
                # Before June 2023 the fill by a partial sum's first read was counted (NVlabs/timeloop, issue 30).
                "first_fill": "counted" if old else "elided",
                "throttling": "floating",
            },
            "constraints": constraints,
            "passed_over": passed_over(found)[:64],
        },
        source,
    )


def _fanout(outer: Component, inner: Component, source: str) -> dict[str, int]:
    """Instances along X and Y of the inner component per outer one."""
    ratio, rest = divmod(inner.instances, outer.instances)
    outer_x = outer.across if outer.across is not None else outer.instances
    inner_x = inner.across if inner.across is not None else inner.instances
    x, rest_x = divmod(inner_x, outer_x)
    if rest or rest_x or x < 1 or ratio % x:
        raise InputError(
            source, inner.name, f"has {inner.instances} instances, no whole number per {outer.name}"
        )
    return {"x": x, "y": ratio // x}


def _clock(found: list[Component], source: str) -> float | None:
    for one in found:
        seconds = one.attributes.get("global_cycle_seconds")
        if seconds is not None:
            value = number(seconds, source, f"{one.name}.global_cycle_seconds")
            if value > 0:
                return float(round(1e-6 / float(value), 9))
    return None


Entry = tuple[str, dict[str, Any], str]


def _constraints(
    roots: dict[str, tuple[str, Any]], found: list[Component], memories: list[Component]
) -> list[Entry]:
    """Entries (level, fields, file) from the architecture's nodes and from files of constraints."""
    source = roots["architecture"][0]
    entries: list[Entry] = []
    for one in found:
        for key, value in one.constraints.items():
            if not isinstance(value, dict):
                raise InputError(source, f"{one.name}.constraints.{key}", "must be an object")
            kind = "dataspace" if key == "dataspace" else key
            entries.append((one.name, {**value, "type": kind}, source))
    known = {one.name: one.name for one in memories}
    known |= {one.container: one.name for one in memories if one.container and one.container not in known}
    return [*entries, *file_entries(roots, known)]


def file_entries(roots: dict[str, tuple[str, Any]], known: dict[str, str]) -> list[Entry]:
    """Entries from files of constraints; ``known`` are the levels by what they may be called.

    Raises: InputError if an entry is about no level.
    """
    entries: list[Entry] = []
    if "constraints" in roots:
        source, value = roots["constraints"]
        for entry in targets_of(value, source):
            target = entry.get("target", entry.get("name")) if isinstance(entry, dict) else None
            if target not in known:
                raise InputError(source, "targets", f"{str(target)[:40]!r} is none of {', '.join(known)}")
            entries.append((known[target], entry, source))
    return entries


def apply_entries(levels: list[dict[str, Any]], entries: list[Entry]) -> list[dict[str, Any]]:
    """Write what levels keep and bypass into their fields; the constraints on loops remain."""
    by_name = {level["name"]: level for level in levels}
    remaining = []
    for level_name, fields, source in entries:
        constraint, kept = read_constraint(fields, level_name, source)
        level = by_name[level_name]
        if constraint is not None:
            remaining.append(constraint.model_dump(mode="json"))
        elif kept is not None and level["bypass"] != ["*"]:
            level["keep"] = list(dict.fromkeys([*level.get("keep", []), *kept[0]]))
            level["bypass"] = [
                name for name in dict.fromkeys([*level["bypass"], *kept[1]]) if name not in level["keep"]
            ]
    return remaining
