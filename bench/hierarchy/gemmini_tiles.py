"""Cycles that Gemmini's RTL takes for a mapping, tile by tile [Genc2021].

What the RTL does, by its sources (ucb-bar/gemmini, `LoopConv.scala` and `ExecuteController.scala`): every tile of
weights and inputs is loaded anew, in requests of at most 64 bytes, one or more for a row of channels; while a tile is
computed the next is loaded, but a tile's own computing waits for its loads. A block of weights, as wide as the array,
meets the tile's outputs in instructions of as many rows as `P` has in the tile, at most the array's. Results leave when
the last sum of a tile is there; sums that go on stay. Words have 8 bits.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

Array = Any
LINE = 64
"""Bytes of a request at the most, and of a line of the cache."""
STEEPNESS = 3
"""Computing, loading and the least of a tile overlap; the longest counts, and a little more where two are alike: they
are added as third powers, which leave held-out training rows the least 95th percentile."""
CONSTANTS = {
    "least cycles of an instruction, by the array's width": 0.5,
    "cycles a byte loaded": 0.1,
    "cycles a request": 1.0,
    "cycles more a line missed, whole rows of memory": 2.0,
    "cycles more a line missed, parts of rows": 6.0,
    "cycles a line missed that is written in part": 20.0,
    "cycles a row of results": 1.0,
    "least cycles of a tile": 250.0,
}
"""What is fitted, and where fitting begins."""


class Tiling(NamedTuple):
    """How a layer is cut: its bounds and stride, the loops over tiles from the outermost in, what one tile has of each
    loop, and rows and columns of the array."""

    layer: dict[str, int]
    stride: int
    outer: tuple[tuple[str, int], ...]
    tile: dict[str, int]
    width: int


class Work(NamedTuple):
    """What is done for each tile, on average over the tiles."""

    tiles: float
    width: float
    instructions: float
    """Rows of outputs that meet blocks of weights; each is `full` instructions of all the array's rows and one of the
    rest of `P`, if there is a rest."""
    full: float
    rest: float
    bytes: float
    requests: float
    streamed: float
    """Lines missed of tensors whose rows are loaded whole, so that lines lie one after another."""
    strided: float
    """Lines missed of tensors of whose rows a part is loaded."""
    partial: float
    """Lines missed that results fill in part."""
    results: float
    """Rows of results, as wide as the array, that leave."""


def work(tiling: Tiling, capacity: int) -> Work:
    """The work of each tile, beside a cache of so many bytes."""
    tile, layer, width = tiling.tile, tiling.layer, tiling.width
    tiles = prod(trips for _, trips in tiling.outer)
    written = prod(trips for loop, trips in tiling.outer if loop in "KPQ") / tiles
    requests = {name: _requests(tiling, tile, name) for name in "WI"}
    own = {name: _row(tiling, tile, name) * _rows(tiling, tile, name) for name in "WI"}
    missed = {name: _missed(tiling, capacity, name) / tiles for name in "WIO"}
    parts = {name: _row(tiling, tile, name) < _row(tiling, layer, name) for name in "WIO"}
    full, rest = divmod(tile["P"], width)
    return Work(
        tiles=tiles,
        width=width,
        instructions=_up(tile["C"], width) * _up(tile["K"], width) * tile["R"] * tile["S"] * tile["Q"],
        full=full,
        rest=rest,
        bytes=sum(own.values()),
        requests=sum(requests.values()),
        streamed=sum(missed[name] for name in "WI" if not parts[name]),
        strided=sum(missed[name] for name in "WI" if parts[name]),
        partial=missed["O"] if parts["O"] and tile["K"] < LINE else 0.0,
        results=tile["P"] * tile["Q"] * _up(tile["K"], width) * written,
    )


def estimate(constants: Array, features: Array) -> Array:
    """Cycles of mappings, of the constants and of the rows' `Work`: the first tile is loaded and the last one computed
    with nothing beside them."""
    tiles, width, instructions, full, rest, size, requests, streamed, strided, partial, results = features.T
    least, byte, request, stream, part, fill, result, tile = constants
    computing = instructions * (full * width + np.where(rest > 0, np.maximum(least * width, rest), 0))
    loading = byte * size + request * requests + stream * streamed + part * strided
    leaving = fill * partial + result * results
    longest = (computing**STEEPNESS + loading**STEEPNESS + tile**STEEPNESS) ** (1 / STEEPNESS)
    found: Array = (tiles - 1) * (longest + leaving) + computing + loading + leaving + tile
    return found


def _up(number: int, unit: int) -> int:
    return -(-number // unit)


def _row(tiling: Tiling, part: dict[str, int], name: str) -> int:
    """Bytes of a tensor that lie side by side in a part of the layer: its channels."""
    return part["C" if name == "I" else "K"]


def _rows(tiling: Tiling, part: dict[str, int], name: str) -> int:
    """Rows of channels of a tensor in a part of the layer. Rows of an image between windows are loaded too."""
    if name == "W":
        return part["C"] * part["R"] * part["S"]
    if name == "O":
        return part["P"] * part["Q"]
    across = (part["P"] - 1) * tiling.stride + part["R"]
    return across * ((part["Q"] - 1) * tiling.stride + part["S"])


def _requests(tiling: Tiling, part: dict[str, int], name: str) -> int:
    return _rows(tiling, part, name) * _up(_row(tiling, part, name), LINE)


def _lines(tiling: Tiling, part: dict[str, int], name: str) -> float:
    """Lines of the cache that a part of a tensor touches; rows of the layer shorter than a line share it."""
    whole = _row(tiling, tiling.layer, name)
    if whole < LINE:
        return _rows(tiling, part, name) * whole / LINE
    return _requests(tiling, part, name)


def _missed(tiling: Tiling, capacity: int, name: str) -> float:
    """Lines that come from DRAM in the whole run. From the innermost loop over tiles out, lines are in the cache at the
    next trip as long as all that a trip touches fits; from there on each trip brings them anew. Parts of rows fall on a
    part of the cache's sets, so that a tensor takes the room of its whole rows. What fits altogether was there before,
    since the layer's data were just written. Results are written once, at the last sum."""
    part = dict(tiling.tile)
    missed, fits = _lines(tiling, part, name), True
    for loop, trips in reversed(tiling.outer):
        fits = fits and _room(tiling, part, name) <= capacity
        part[loop] *= trips
        if fits:
            missed = _lines(tiling, part, name)
        elif not (name == "O" and loop in "CRS"):
            missed *= trips
    return missed if not fits or _room(tiling, part, name) > capacity else 0.0


def _room(tiling: Tiling, part: dict[str, int], name: str) -> float:
    """Bytes of the cache that a part of the layer takes for one of its tensors to stay."""
    own = _rows(tiling, part, name) * _row(tiling, tiling.layer, name)
    return own + LINE * sum(_lines(tiling, part, other) for other in "WIO" if other != name)
