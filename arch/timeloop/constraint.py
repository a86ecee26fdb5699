"""Timeloop's constraints: what levels keep and bypass, factors, permutations and splits."""

from __future__ import annotations

from typing import Any

from mapper.arch.hierarchy import Constraint
from mapper.arch.timeloop.value import factors, names, permutation, whole
from mapper.workloads.document import InputError

DATASPACE = ("dataspace", "datatype", "bypass", "bypassing")
KNOWN = {"type", "target", "name", "factors", "permutation", "split", "keep", "bypass", "factors_only"}


def read_constraint(
    fields: Any, level: str, source: str
) -> tuple[Constraint | None, tuple[list[str], list[str]] | None]:
    """One entry about ``level``: a constraint on its loops, or the tensors that it keeps and bypasses.

    Raises: InputError naming what cannot be represented.
    """
    place = f"constraints of {level}"
    if not isinstance(fields, dict):
        raise InputError(source, place, "must be an object")
    unknown = sorted(set(map(str, fields)) - KNOWN)
    if unknown:
        raise InputError(source, f"{place}.{unknown[0]}", "cannot be represented here; remove it")
    kind = fields.get("type")
    if kind in DATASPACE:
        kept, passed = fields.get("keep"), fields.get("bypass")
        return None, (names(kept, source, f"{place}.keep"), names(passed, source, f"{place}.bypass"))
    if kind not in ("temporal", "spatial"):
        remedy = f"{str(kind)[:40]!r} cannot be represented here; give temporal, spatial or dataspace"
        raise InputError(source, f"{place}.type", remedy)
    fixed: dict[str, int] = {}
    most: dict[str, int] = {}
    for loop, relation, trips, last in factors(fields.get("factors", []), source, f"{place}.factors"):
        if last is not None:
            raise InputError(source, f"{place}.factors", f"{loop} has a last pass; give one trip count")
        if trips > 0:
            (most if relation == "<=" else fixed)[loop] = trips
    order = permutation(fields.get("permutation", []), source, f"{place}.permutation")
    split = fields.get("split")
    return (
        Constraint(
            level=level,
            kind=kind,
            factors=fixed,
            most=most,
            permutation=order,
            split=None if split is None else 0 if split == 0 else whole(split, source, f"{place}.split"),
        ),
        None,
    )
