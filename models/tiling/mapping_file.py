"""Tilings read from documents; the inverse of ``TilingMapping.to_json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mapper.models.tiling.mapping import AXES, LEVELS, ORDERED_LEVELS, TilingMapping
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest

LARGEST_FACTOR = 1 << 40


def tiling_from_json(
    fields: Mapping[str, Any], nest: LoopNest, source: str, array_axes: bool = False
) -> TilingMapping:
    """Read a mapping of ``nest``; ``array_axes``: for a machine that tells the axes of its array apart.

    Raises: InputError on unknown or missing keys, factors that are not positive integers, and orders that
    are not permutations of the loops. Factors that do not multiply to the bound, the padded one where there is one,
    or along the axes not to what is in space, are left to the referee.
    """
    padded = fields.get("padded", {}) if isinstance(fields, Mapping) else {}
    _same_keys(
        {key: value for key, value in fields.items() if key != "padded"}
        if isinstance(fields, Mapping)
        else fields,
        ("tiling", "order", *(("axes",) if array_axes else ())),
        source,
        "mapping",
    )
    _check_padded(padded, nest, source)
    tiling, order = fields["tiling"], fields["order"]
    _same_keys(tiling, nest.loops, source, "tiling")
    _same_keys(order, ORDERED_LEVELS, source, "order")
    factors = []
    for loop in nest.loops:
        _same_keys(tiling[loop], LEVELS, source, f"tiling.{loop}")
        row = [tiling[loop][level] for level in LEVELS]
        if not all(type(factor) is int and 1 <= factor <= LARGEST_FACTOR for factor in row):
            raise InputError(source, f"tiling.{loop}", "factors must be positive integers")
        factors.append((row[0], row[1], row[2], row[3]))
    for level in ORDERED_LEVELS:
        if not _is_permutation(order[level], nest.loops):
            loops = ", ".join(nest.loops)
            raise InputError(source, f"order.{level}", f"must list each of {loops} once, outer to inner")
    axes = _axes(fields["axes"], nest, source) if array_axes else ()
    grown = tuple((loop, padded[loop]) for loop, bound in nest.bounds if padded.get(loop, bound) != bound)
    return TilingMapping(
        nest.loops, tuple(factors), tuple(order["dram"]), tuple(order["spm"]), padded=grown, axes=axes
    )


def _check_padded(padded: object, nest: LoopNest, source: str) -> None:
    if not isinstance(padded, Mapping):
        raise InputError(source, "padded", "must name loops and their larger bounds")
    for loop, size in padded.items():
        if loop not in nest.loops:
            remedy = f"{str(loop)[:40]!r} is not a loop; the loops are {', '.join(nest.loops)}"
            raise InputError(source, "padded", remedy)
        bound = nest.trip_counts[loop]
        if type(size) is not int or not bound <= size < 2 * bound:
            raise InputError(source, f"padded.{loop}", f"must be an integer from {bound} to {2 * bound - 1}")


def _axes(fields: object, nest: LoopNest, source: str) -> tuple[tuple[int, int], ...]:
    """The factors of every loop along rows and columns; loops that are not named there have one step."""
    _same_keys(fields, AXES, source, "axes")
    assert isinstance(fields, Mapping)
    for axis in AXES:
        own = fields[axis]
        if not isinstance(own, Mapping) or not set(own) <= set(nest.loops):
            raise InputError(source, f"axes.{axis}", f"must name loops of {', '.join(nest.loops)}")
        if not all(type(factor) is int and 1 <= factor <= LARGEST_FACTOR for factor in own.values()):
            raise InputError(source, f"axes.{axis}", "factors must be positive integers")
    rows, columns = (fields[axis] for axis in AXES)
    return tuple((rows.get(loop, 1), columns.get(loop, 1)) for loop in nest.loops)


def _is_permutation(order: object, loops: Sequence[str]) -> bool:
    return (
        isinstance(order, list)
        and all(isinstance(loop, str) for loop in order)
        and sorted(order) == sorted(loops)
    )


def _same_keys(fields: object, keys: Sequence[str], source: str, place: str) -> None:
    if not isinstance(fields, Mapping):
        raise InputError(source, place, f"must name {', '.join(keys)}")
    unknown, missing = sorted(set(map(str, fields)) - set(keys)), sorted(set(keys) - set(fields))
    if unknown:
        raise InputError(source, f"{place}.{unknown[0]}", "unknown key; remove it")
    if missing:
        raise InputError(source, f"{place}.{missing[0]}", "is missing; add it")
