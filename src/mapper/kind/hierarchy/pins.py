"""Pinned decisions of the kind ``hierarchy``: factors, permutations, loops in space, tensors kept, padding, and whether
factors divide."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mapper.arch.hierarchy import Constraint, HierarchyMachine
from mapper.formulations.hierarchy.problem import Pins
from mapper.kind.tiling.pins import OFF, PADDING, padding_of
from mapper.models.hierarchy.imperfect.limit import why_only_perfect
from mapper.models.hierarchy.role import loops_called, tensors_called
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.text.nearest import meant
from mapper.workloads.text.number_text import whole_number

LARGEST = 10**15
FACTORS, PERFECT, IMPERFECT = "factors", "perfect", "imperfect"
_SPATIAL = re.compile(r"\s*(\w+)\s*:\s*(\d{1,15})\s*([xyXY]?)\s*")


def parse_pins(fix: Mapping[str, str], nest: LoopNest, machine: HierarchyMachine, workload: str) -> Pins:
    """Read ``factors.L2=K:4,C:2``, ``permutation.DRAM=K,C`` (innermost loops, outer to inner), ``spatial.L2=K:16x``,
    ``bypass.L2=O``, ``keep.L2=W``, ``padding=off``, ``auto`` or ``M:200``, and ``factors=perfect`` or ``imperfect``,
    with which no bound grows by itself.

    Raises: InputError if a key or value does not belong to nest and machine.
    """
    constraints: list[Constraint] = []
    keep: list[tuple[str, str]] = []
    bypass: list[tuple[str, str]] = []
    padding = _padding(fix.get(PADDING, OFF), nest, workload)
    imperfect = _is_imperfect(fix.get(FACTORS, PERFECT), nest, machine)
    if imperfect:
        padding["free"] = ()
    for key, value in fix.items():
        decision, _, level = key.partition(".")
        if key in (PADDING, FACTORS):
            continue
        _known(decision, level, machine, key)
        if decision == "factors":
            constraints.append(Constraint(level=level, kind="temporal", factors=_factors(value, nest, key)))
        elif decision == "permutation":
            order = [_loop(name, nest, key) for name in value.split(",")]
            constraints.append(Constraint(level=level, kind="temporal", permutation=list(reversed(order))))
        elif decision == "spatial":
            constraints += _spatial(value, level, nest, key)
        else:
            tensors = [_tensor(name, nest, key) for name in value.split(",") if name.strip()]
            (keep if decision == "keep" else bypass).extend((level, tensor) for tensor in tensors)
    return Pins(tuple(constraints), tuple(keep), tuple(bypass), **padding, imperfect=imperfect)


def _is_imperfect(value: str, nest: LoopNest, machine: HierarchyMachine) -> bool:
    if value not in (PERFECT, IMPERFECT):
        remedy = (
            f"{value[:40]!r} is not {PERFECT} or {IMPERFECT}; to give some, write factors.LEVEL=LOOP:TRIPS"
        )
        raise InputError("--fix", FACTORS, remedy)
    reason = why_only_perfect(nest, machine) if value == IMPERFECT else None
    if reason is not None:
        raise InputError("--fix", FACTORS, f"{IMPERFECT}: {reason}")
    return value == IMPERFECT


def _known(decision: str, level: str, machine: HierarchyMachine, key: str) -> None:
    names = [one.name for one in machine.levels]
    decisions = ("factors", "permutation", "spatial", "bypass", "keep")
    if decision not in decisions or level not in names:
        keys = [PADDING, *(f"{one}.{name}" for one in decisions for name in names)]
        remedy = (
            f"unknown decision; {meant(key, keys)}use padding, or {', '.join(decisions)} and .LEVEL of "
            f"{', '.join(names)}"
        )
        raise InputError("--fix", key[:60], remedy)


def _loop(name: str, nest: LoopNest, key: str) -> str:
    found = loops_called(nest, name.strip())
    if len(found) != 1:
        raise InputError(
            "--fix", key[:60], f"{name[:30]!r} is not a loop; the loops are {', '.join(nest.loops)}"
        )
    return found[0]


def _tensor(name: str, nest: LoopNest, key: str) -> str:
    found = tensors_called(nest, name.strip())
    if len(found) != 1:
        known = ", ".join(operand.name for operand in nest.operands)
        raise InputError("--fix", key[:60], f"{name[:30]!r} is not a tensor; the tensors are {known}")
    return found[0]


def _factors(value: str, nest: LoopNest, key: str) -> dict[str, int]:
    found = {}
    for item in value.split(","):
        name, _, trips = item.partition(":")
        count = whole_number(trips.strip(), 1, LARGEST)
        if count is None:
            raise InputError("--fix", key[:60], f"{item[:40]!r} is not LOOP:TRIPS, such as K:4")
        loop = _loop(name, nest, key)
        if loop in found:
            raise InputError("--fix", key[:60], f"{loop} is given twice; give it once")
        found[loop] = count
    return found


def _spatial(value: str, level: str, nest: LoopNest, key: str) -> list[Constraint]:
    """The loops that run in space below a level, exactly these; with an axis they lie along it."""
    trips = dict.fromkeys(nest.loops, 1)
    along: dict[str, list[str]] = {"x": [], "y": []}
    seen: set[str] = set()
    for item in [one for one in value.split(",") if one.strip()]:
        found = _SPATIAL.fullmatch(item)
        if found is None:
            raise InputError(
                "--fix", key[:60], f"{item[:40]!r} is not LOOP:TRIPS with an axis, such as K:16x"
            )
        loop = _loop(found[1], nest, key)
        if loop in seen:
            remedy = f"{loop} is given twice; give all its instances at once, as in {loop}:8, which leaves axes open"
            raise InputError("--fix", key[:60], remedy)
        seen.add(loop)
        trips[loop] = int(found[2])
        if found[3]:
            along[found[3].lower()].append(loop)
    constraints = [Constraint(level=level, kind="spatial", factors=trips)]
    if along["x"] or along["y"]:
        order = [*along["x"], *along["y"]]
        constraints.append(Constraint(level=level, kind="spatial", permutation=order, split=len(along["x"])))
    return constraints


def _padding(value: str, nest: LoopNest, workload: str) -> dict[str, tuple[Any, ...]]:
    """What loops are padded to, and which may be padded to any bound below twice their own, as fields of pins."""
    ranges = padding_of(nest, value, workload).ranges
    return {
        "padded": tuple((loop, least) for loop, least, most in ranges if least == most),
        "free": tuple(loop for loop, least, most in ranges if least < most),
    }
