"""The arrays in which the search over classes of covers works, made once for many tiles."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.tiling.cover import bound_kernel, goal_kernel
from mapper.solver.tiling.cover.bound_kernel import Crossing, Trips, Ways
from mapper.solver.tiling.cover.goal_kernel import Goal
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.stream import bound_kernel as stream_bounds
from mapper.solver.tiling.stream.bound_kernel import Room as StreamRoom

_crossing: Any = bound_kernel.crossing_room
_ways_of: Any = bound_kernel.ways_of
_trips_of: Any = bound_kernel.trips_of
_goal_of: Any = goal_kernel.goal_of
_room_of: Any = stream_bounds.room_of

OPEN_ENERGY, OPEN_CYCLES = 0, 1


class Opened(NamedTuple):
    """Mappings whose covers may have to be lowered no further: ``rows`` [n][5] as the incumbent's, ``costs`` [n][2]
    (energy, and cycles that no cover above them undercuts), ``count`` [1], which may exceed n."""

    rows: Array
    costs: Array
    count: Array


class Room(NamedTuple):
    """Scratch arrays, per loop (``pair``, ``inner``, ``outer``, ``tile``, ``least``), per operand and per case
    (``energy``, ``cycles``); what inner loops need of the problem's table."""

    pair: Array
    inner: Array
    outer: Array
    tile: Array
    least: Array
    energies: Array
    taken: Array
    following: StreamRoom
    spm_reuse: Array
    dram_reuse: Array
    spm_tiles: Array
    rereads: Array
    crossing: Crossing
    energy: Array
    cycles: Array
    mapping: Array
    goal: Goal
    ways: Ways
    trips: Trips


def _room(t: KernelTable, v: CoverTable, loops: int, operands: int, cases: int) -> Room:
    return Room(
        np.empty(loops, np.int64),
        np.ones(loops, np.int64),
        np.ones(loops, np.int64),
        np.ones(loops, np.int64),
        np.ones(loops, np.int64),
        np.empty(operands, np.float64),
        np.empty(operands, np.int64),
        _room_of(loops, operands, len(t.streams.along)),
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
        np.empty(operands, np.bool_),
        _crossing(operands),
        np.empty(cases, np.float64),
        np.empty(cases, np.float64),
        np.empty(5, np.int64),
        _goal_of(t),
        _ways_of(t),
        _trips_of(t, v),
    )


room_of = compiled(_room)
