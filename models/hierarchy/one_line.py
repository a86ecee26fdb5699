"""Timeloop's one-line form of a mapping: ``L3[WIO] P28 R7 - L2[WI] N1 K16X - L0[W] Q8`` (NVlabs/timeloop).

Levels outer to inner, in brackets the tensors kept, then loops outer to inner with their trips; ``X`` and ``Y`` mark
loops in space below the level, and ``N1`` stands where there is no loop. Names with digits take an equals sign here:
``k0=16X``.
"""

from __future__ import annotations

import re
from typing import Any

from mapper.arch.hierarchy import HierarchyMachine
from mapper.models.hierarchy.mapping import Axis, HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.models.hierarchy.role import loop_roles, loops_called, tensor_roles, tensors_called
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.text.nearest import meant

LONGEST = 1 << 16
LEVEL = re.compile(r"\s*L(\d{1,3})\s*\[\s*([\w ,]*?)\s*\]\s*([\w=, ]*?)\s*", re.ASCII)
LOOP = re.compile(r"(?:([A-Za-z_]+?)|([A-Za-z_]\w*)=)(\d{1,18})(?:,(\d{1,18}))?([XY]?)", re.ASCII)


def is_one_line(text: str) -> bool:
    """Whether a text begins as the one-line form does."""
    return re.match(r"\s*L\d{1,3}\s*\[", text[:64]) is not None


def mapping_from_line(text: str, nest: LoopNest, machine: HierarchyMachine, source: str) -> HierarchyMapping:
    """A mapping from its line; the innermost level is ``L0``.

    Raises: InputError if it is none of this nest and machine.
    """
    parts = " ".join(text[:LONGEST].split()).split(" - ")
    if len(parts) != len(machine.levels):
        names = ", ".join(level.name for level in machine.levels)
        raise InputError(
            source, "mapping", f"has {len(parts)} levels, the machine has {len(machine.levels)} ({names})"
        )
    levels = []
    for place, (part, memory) in enumerate(zip(parts, machine.levels, strict=True)):
        found = LEVEL.fullmatch(part)
        number = len(parts) - 1 - place
        if found is None or int(found[1]) != number:
            raise InputError(
                source, "mapping", f"{part[:40]!r} is not L{number}[tensors] and loops with trips"
            )
        levels.append(_level(found, memory.name, nest, source))
    return HierarchyMapping(tuple(levels))


def _level(found: re.Match[str], name: str, nest: LoopNest, source: str) -> LevelMapping:
    temporal: list[TemporalLoop] = []
    spatial: list[SpatialLoop] = []
    for token in found[3].split():
        loop, trips, last, axis = _token(token, nest, source)
        if loop is None:
            continue
        if axis is None:
            temporal.append(TemporalLoop(loop, trips, last))
        else:
            spatial.append(SpatialLoop(loop, trips, axis, last))
    return LevelMapping(name, _kept(found[2], nest, source), tuple(temporal), tuple(spatial))


def _token(token: str, nest: LoopNest, source: str) -> tuple[str | None, int, int | None, Axis | None]:
    """Loop, trips, trips of the last pass and axis of ``K16X``; no loop where it has one trip."""
    found = LOOP.fullmatch(token)
    if found is None or int(found[3]) < 1:
        raise InputError(
            source, "mapping", f"{token[:40]!r} is not a loop with its trips, such as K16 or K16X"
        )
    name, trips = found[1] or found[2], int(found[3])
    named = loops_called(nest, name)
    if trips == 1:
        return None, 1, None, None
    if len(named) != 1:
        known = ", ".join(nest.loops)
        raise InputError(source, "mapping", f"{name[:20]!r} names {len(named)} loops of {known}; name one")
    axis: dict[str, Axis | None] = {"": None, "X": "x", "Y": "y"}
    return named[0], trips, int(found[4]) if found[4] else None, axis[found[5]]


def _kept(text: str, nest: LoopNest, source: str) -> tuple[str, ...]:
    names = text.replace(",", " ").split()
    if len(names) == 1 and not tensors_called(nest, names[0]):
        names = list(names[0])
    kept: list[str] = []
    for name in names:
        own = tensors_called(nest, name)
        if not own:
            known = [operand.name for operand in nest.operands]
            remedy = f"{meant(name, known)}{name[:20]!r} is no tensor of {', '.join(known)}"
            raise InputError(source, "mapping", remedy)
        kept += own
    return tuple(operand.name for operand in nest.operands if operand.name in kept)


def line_of(mapping: HierarchyMapping, nest: LoopNest) -> str:
    """The one-line form of a mapping; loops and tensors of one letter keep their names, others take their roles where
    no other one has that role or name."""
    loops, tensors = _loop_names(nest), tensor_roles(nest)
    short = all(len(operand.name) == 1 for operand in nest.operands)
    roles = sorted(tensors.values()) == ["I", "O", "W"] and all(
        role == name or role not in tensors for name, role in tensors.items()
    )
    parts = []
    for number, level in zip(reversed(range(len(mapping.levels))), mapping.levels, strict=True):
        kept = [tensors[name] if roles else name for name in level.keep]
        texts = [_written(one, loops) for one in level.temporal if one.trips > 1]
        texts = texts or ["N1"]
        texts += [_written(one, loops) + one.axis.upper() for one in level.spatial if one.trips > 1]
        brackets = "".join(kept) if roles or short else ",".join(kept)
        parts.append(f"L{number}[{brackets}] " + " ".join(texts))
    return " - ".join(parts)


def _loop_names(nest: LoopNest) -> dict[str, str]:
    """What each loop is called in a line: by its role if it has a longer name, and nothing else is called so."""
    roles = loop_roles(nest)
    shared = [role for role in roles.values() if list(roles.values()).count(role) > 1]
    return {
        loop: role if len(loop) > 1 and role not in (*shared, *nest.loops) else loop
        for loop, role in roles.items()
    }


def _written(one: TemporalLoop | SpatialLoop, names: dict[str, str]) -> str:
    name = names[one.loop]
    between = "=" if any(letter.isdigit() for letter in name) else ""
    return f"{name}{between}{one.trips}" + (f",{one.last}" if one.last is not None else "")


def one_line_document(text: str) -> dict[str, Any]:
    """The line as the fields of a document."""
    return {"line": text}
