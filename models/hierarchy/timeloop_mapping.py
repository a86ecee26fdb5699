"""Timeloop's mapping files, read and written: directives on loops and data spaces of each level.

Permutations go from the innermost loop outwards, and a factor of 0 takes what is left of its loop. Of a spatial
directive, the first ``split`` loops lie along X, the others along Y. A loop along both has no place in one directive:
then a level has one for each axis, which Timeloop does not read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import yaml

from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.timeloop.value import factors, names, permutation
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.models.hierarchy.role import loops_called, tensors_called
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.text.nearest import meant

Trips = dict[str, tuple[int, int | None]]
Directive = tuple[Trips, list[str], int | None]
"""Trips of loops, the permutation, and the split of a directive in space."""
DATASPACE = ("dataspace", "datatype", "bypass", "bypassing")


def mapping_from_timeloop(
    entries: Any, nest: LoopNest, machine: HierarchyMachine, source: str
) -> HierarchyMapping:
    """The mapping that a list of directives says; tensors that no directive names are kept.

    Raises: InputError if they are none of this nest and machine.
    """
    if not isinstance(entries, list):
        raise InputError(source, "mapping", "must list directives")
    temporal: dict[str, Directive] = {}
    spatial: dict[str, list[Directive]] = defaultdict(list)
    passed: dict[str, set[str]] = {level.name: _never_kept(level.bypass, nest) for level in machine.levels}
    for entry in entries:
        if not isinstance(entry, Mapping):
            raise InputError(source, "mapping", "must list objects")
        level = _target(entry.get("target"), machine, source)
        kind = entry.get("type")
        place = f"mapping of {level}"
        if kind in DATASPACE:
            for name in names(entry.get("keep"), source, place):
                passed[level] -= set(tensors_called(nest, name))
            for name in names(entry.get("bypass"), source, place):
                passed[level] |= set(tensors_called(nest, name))
        elif kind == "temporal":
            if level in temporal:
                raise InputError(source, f"{place}.type", "is temporal twice; leave one out")
            temporal[level] = _directive_on_loops(entry, nest, place, source)
        elif kind == "spatial":
            spatial[level].append(_directive_on_loops(entry, nest, place, source))
        else:
            raise InputError(
                source, f"{place}.type", f"{str(kind)[:30]!r} is not temporal, spatial or dataspace"
            )
    directives = [*temporal.values(), *(one for own in spatial.values() for one in own)]
    _fill(nest, [trips for trips, _, _ in directives], source)
    levels = []
    for memory in machine.levels:
        time, order, _ = temporal.get(memory.name, ({}, [], None))
        space = [_space(*one, memory.fanout.x, nest) for one in reversed(spatial[memory.name])]
        levels.append(
            LevelMapping(
                memory.name,
                tuple(one.name for one in nest.operands if one.name not in passed[memory.name]),
                tuple(TemporalLoop(loop, *time[loop]) for loop in _outwards(order, time, nest)),
                tuple(one for own in space for one in own),
            )
        )
    return HierarchyMapping(tuple(levels))


def _directive_on_loops(entry: Mapping[str, Any], nest: LoopNest, place: str, source: str) -> Directive:
    split = entry.get("split")
    if split is not None and type(split) is not int:
        raise InputError(source, f"{place}.split", "must be an integer")
    return _trips(entry, nest, place, source), _order(entry, nest, place, source), split


def _never_kept(bypass: list[str], nest: LoopNest) -> set[str]:
    """Levels that keep nothing at all need no directive."""
    return {operand.name for operand in nest.operands} if bypass == ["*"] else set()


def _target(value: Any, machine: HierarchyMachine, source: str) -> str:
    known = {level.name: level.name for level in machine.levels}
    fans = {
        name.removeprefix("inter_").removesuffix("_spatial"): name
        for name in known
        if name.startswith("inter_")
    }
    for name, level in fans.items():
        known.setdefault(name, level)
    if value not in known:
        raise InputError(source, "mapping: target", f"{str(value)[:40]!r} is none of {', '.join(known)}")
    return known[value]


def _trips(entry: Mapping[str, Any], nest: LoopNest, place: str, source: str) -> Trips:
    found: Trips = {}
    for name, _, trips, last in factors(entry.get("factors", []), source, f"{place}.factors"):
        loops = loops_called(nest, name)
        if len(loops) != 1:
            if trips == 1:
                continue
            remedy = f"{meant(name, nest.loops)}{name[:30]} is no loop of {', '.join(nest.loops)}"
            raise InputError(source, f"{place}.factors", remedy)
        found[loops[0]] = (trips, last)
    return found


def _order(entry: Mapping[str, Any], nest: LoopNest, place: str, source: str) -> list[str]:
    found = []
    for name in permutation(entry.get("permutation", []), source, f"{place}.permutation"):
        loops = loops_called(nest, name)
        if len(loops) == 1:
            found.append(loops[0])
    return found


def _fill(nest: LoopNest, directives: list[Trips], source: str) -> None:
    """A factor of 0 takes what the others leave of a loop."""
    for loop, bound in nest.bounds:
        open_ones = [trips for trips in directives if trips.get(loop, (1, None))[0] == 0]
        given = 1
        for trips in directives:
            given *= trips.get(loop, (1, None))[0] or 1
        if len(open_ones) > 1 or (open_ones and bound % given):
            raise InputError(source, "mapping", f"{loop}: a factor of 0 leaves its trips open")
        for trips in open_ones:
            trips[loop] = (bound // given, None)


def _outwards(order: list[str], trips: Trips, nest: LoopNest) -> list[str]:
    """Loops of more than one trip, outer to inner; those that the permutation leaves out are outermost."""
    inner = [loop for loop in order if trips.get(loop, (1, None))[0] > 1]
    others = [loop for loop in nest.loops if loop not in inner and trips.get(loop, (1, None))[0] > 1]
    return [*others, *reversed(inner)]


def _space(
    trips: Trips, order: list[str], split: int | None, width: int, nest: LoopNest
) -> tuple[SpatialLoop, ...]:
    """Loops along X are the first of the permutation; without a split, all that fit along X, else along Y."""
    along_x = set(order[:split]) if split is not None else None
    if along_x is None:
        product = 1
        for count, _ in trips.values():
            product *= count
        along_x = set(nest.loops) if product <= width else set()
    return tuple(
        SpatialLoop(loop, trips[loop][0], "x" if loop in along_x else "y", trips[loop][1])
        for loop in _outwards(order, trips, nest)
    )


def timeloop_document(mapping: HierarchyMapping, nest: LoopNest) -> dict[str, Any]:
    """The mapping as Timeloop's directives."""
    entries: list[dict[str, Any]] = []
    tensors = [operand.name for operand in nest.operands]
    for level in reversed(mapping.levels):
        passed = [name for name in tensors if name not in level.keep]
        entries.append(
            {"target": level.level, "type": "datatype", "keep": list(level.keep), "bypass": passed}
        )
    for level in reversed(mapping.levels):
        for part in _directives_in_space(level):
            order = [one.loop for one in reversed(part)]
            split = sum(one.axis == "x" for one in part)
            entries.append(_directive(level.level, "spatial", part, order, nest) | {"split": split})
        order = [one.loop for one in reversed(level.temporal)]
        entries.append(_directive(level.level, "temporal", level.temporal, order, nest))
    return {"mapping": entries}


def _directives_in_space(level: LevelMapping) -> list[list[SpatialLoop]]:
    """Loops in space of each directive, outer to inner, those along X innermost: one directive, or one for each axis if
    a loop lies along both."""
    along_x = [one for one in level.spatial if one.axis == "x"]
    along_y = [one for one in level.spatial if one.axis == "y"]
    if {one.loop for one in along_x} & {one.loop for one in along_y}:
        return [along_x, along_y]
    return [[*along_y, *along_x]] if level.spatial else []


def timeloop_text(mapping: HierarchyMapping, nest: LoopNest) -> str:
    """A mapping file with the directives, and above them, as remarks, what Timeloop does not take as it stands."""
    remarks = [
        f"{level.level}: a loop along both X and Y takes two spatial directives, which Timeloop does not read"
        for level in mapping.levels
        if len(_directives_in_space(level)) > 1
    ]
    remarks += [
        f"{loop} runs to {bound}, not to {nest.trip_counts[loop]}: write that bound into Timeloop's problem file"
        for loop, bound in mapping.padded
        if bound > nest.trip_counts[loop]
    ]
    document = timeloop_document(mapping, nest)
    body: str = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=100)
    return "".join(f"# {one}\n" for one in remarks) + body


def _directive(level: str, kind: str, loops: Any, order: list[str], nest: LoopNest) -> dict[str, Any]:
    trips = {one.loop: f"{one.trips}" + (f",{one.last}" if one.last is not None else "") for one in loops}
    rest = [loop for loop in nest.loops if loop not in order]
    return {
        "target": level,
        "type": kind,
        "factors": [f"{loop}={trips.get(loop, 1)}" for loop in nest.loops],
        "permutation": [*order, *rest],
    }
