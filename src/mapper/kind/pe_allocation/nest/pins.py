"""Pinned decisions of a loop nest on a TCPA, as ``--fix`` says them."""

from __future__ import annotations

from collections.abc import Mapping

from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.recurrence.recurrence import Recurrence
from mapper.workloads.text.number_text import whole_number

KNOWN = "LOOP.tile, order, rows and columns"
NONE = "none"


def read_nest_fix(fix: Mapping[str, str], nest: LoopNest | Recurrence) -> NestPins:
    """``J.tile=32``, ``order=I,J,K`` (outer to inner, all loops), ``rows=I``, ``columns=none``.

    Raises: InputError for a decision, a loop or a value that there is none of.
    """
    tile: dict[str, int] = {}
    order: tuple[str, ...] | None = None
    axes: dict[str, str | None] = {}
    for key, value in fix.items():
        name, dot, decision = key.rpartition(".")
        if dot and decision == "tile" and name in nest.loops:
            number = whole_number(value, 1, nest.trip_counts[name])
            if number is None:
                remedy = f"{value[:40]!r} is not a whole number from 1 to {nest.trip_counts[name]}"
                raise InputError("--fix", key[:60], remedy)
            tile[name] = number
        elif key == "order":
            order = tuple(part.strip() for part in value.split(","))
            if sorted(order) != sorted(nest.loops):
                remedy = f"must name {', '.join(nest.loops)} once each, outer to inner"
                raise InputError("--fix", key, remedy)
        elif key in ("rows", "columns"):
            if value != NONE and value not in nest.loops:
                remedy = f"{value[:40]!r} is no loop; there are {', '.join(nest.loops)}, or {NONE}"
                raise InputError("--fix", key, remedy)
            axes[key] = None if value == NONE else value
        else:
            remedy = f"unknown decision; there are {KNOWN} with the loops {', '.join(nest.loops)}"
            raise InputError("--fix", key[:60], remedy)
    if axes.get("rows") is not None and axes.get("rows") == axes.get("columns"):
        raise InputError("--fix", "columns", "is the loop on the rows; name another, or none")
    return NestPins(tile, order, axes)
