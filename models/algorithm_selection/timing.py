"""Cycles of what the overlay's engines run one by one: products of the array, and streams of the movers.

They are those of the generated Verilog, to the cycle (`tests/sim/algorithm_selection/`). An engine has its instruction
``HAND_OVER`` cycles after the controller hands it over.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mapper.models.algorithm_selection.choice import Dataflow

Rows = TypeVar("Rows", int, NDArray[np.int64])

HAND_OVER = 2
FETCH = 8
"""Words of control memory that are fetched in a cycle."""
CALL_WORDS, GEMM_WORDS = 11, 17
"""Of a call, and of the products of an instruction, which its calls come before."""
TURN = 2
"""Cycles between the last word of a tile and the first of the transformed one: its last line is transformed along
itself, and the tile in the other direction."""


def fetch_cycles(words: int) -> int:
    """Cycles from handing over one instruction until the next, of so many words, can be."""
    return 2 + -(-words // FETCH)


MOVE_WORDS = 80
FETCHED = fetch_cycles(MOVE_WORDS)
"""Cycles until an instruction of a mover is fetched."""


def product_fetch(calls: int) -> int:
    """Cycles from handing over one instruction until so many products of the next can begin."""
    return calls * fetch_cycles(CALL_WORDS) + fetch_cycles(GEMM_WORDS)


def block_rows(rows: Rows, wires: int) -> Rows:
    """Rows of a stationary block that come in over one of the ``wires`` of a column, one a cycle: half of them, and of
    two wires an odd number, as a bank gives two rows at once that lie an odd number apart."""
    return rows if wires == 1 else -(-rows // 2) | 1


def gemm_cycles(
    array: tuple[int, int], dataflow: Dataflow, product: tuple[int, int, int], calls: int, wires: int = 1
) -> dict[str, int]:
    """Cycles that the array takes for ``calls`` products of a x b by b x c in one instruction, by cause.

    ``eq9``: Eq. 9 without I_SA. ``short_passes``: where a pass has fewer beats than the array has rows, the next waits
    until its P1 results are out (NS) or the P1 rows of its stationary block are in (WS, IS), as the Verilog has one
    wire a column for results and ``wires`` for blocks. ``hand_over``: until the array has its instruction. ``preload``:
    the first block. ``drain``: from the last beat to the last result written.
    """
    (rows, columns), (a, b, c) = array, product
    inner, outer, beats = {"NS": (a, c, b), "WS": (b, c, a), "IS": (b, a, c)}[dataflow]
    passes = calls * -(-inner // rows) * -(-outer // columns)
    stationary = dataflow != "NS"
    block = block_rows(rows, wires)
    return {
        "eq9": passes * beats,
        "short_passes": (passes - 1) * max(0, (block if stationary else rows) - beats),
        "hand_over": HAND_OVER,
        "preload": block * stationary,
        "drain": rows + columns + (0 if stationary else rows - 1),
    }


def stream_cycles(rows: int, tile: tuple[int, int] = (1, 1)) -> int:
    """Cycles in which a mover asks for so many rows of lanes, of which a transform takes ``tile[0]`` for every
    ``tile[1]`` that it gives: it is not fed faster than it gives."""
    took, gave = tile
    return rows + max(0, gave - took) * (rows // took - 1)


def move_cycles(
    rows: int, latency: int, tile: tuple[int, int] = (1, 1), *, transforms: bool = False, pools: int = 0
) -> int:
    """Cycles of a stream that nobody holds up: the rows of lanes, the ``latency`` of where they come from (DRAM's, or 1
    of a buffer), and what the unit they pass still has when the last is in: a pool 1, or 2 behind the requantisers."""
    return HAND_OVER + stream_cycles(rows, tile) + latency + (tile[1] + TURN if transforms else 0) + pools
