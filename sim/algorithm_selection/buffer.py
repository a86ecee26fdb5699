"""Buffers with the dual-parallelism blocked layout [Meng2021, sec. 3.2, Fig. 4, Eq. 7].

Block (i, j) of a matrix lies in bank (i + j) mod banks, circularly shifted, so that a row of blocks and a column of
blocks both touch every bank once. Eq. 7 itself is missing in the paper's text. A block is what one PE reads in a
cycle, one word here; block (i, j) is word i * ceil(columns / banks) + floor(j / banks) of its bank.

The paper gives the Input Buffer P1 banks and the Kernel Buffer P2. That is too few for two of the three dataflows
where P1 and P2 differ: IS reads P1 words of the weights at once, and P2 of the input. Here both have max(P1, P2).
"""

from __future__ import annotations

import numpy as np

from mapper.models.algorithm_selection.choice import Dataflow
from mapper.sim.algorithm_selection.address import Integers


def location(row: int, column: int, columns: int, banks: int) -> tuple[int, int]:
    """Bank and word of block (row, column) of a matrix that is ``columns`` wide (Eq. 7)."""
    return (row + column) % banks, row * -(-columns // banks) + column // banks


def fill(matrix: Integers, banks: int) -> Integers:
    """The buffer (banks, words) that holds a matrix."""
    rows, columns = matrix.shape
    row, column = np.indices(matrix.shape)
    per_row = -(-columns // banks)
    buffer = np.zeros((banks, rows * per_row), np.int64)
    buffer[(row + column) % banks, row * per_row + column // banks] = matrix
    return buffer


def most_reads(dataflow: Dataflow, array: tuple[int, int], banks: tuple[int, int]) -> tuple[int, int]:
    """The most words of one bank that a cycle reads, of the Input Buffer and of the Kernel Buffer with so many
    ``banks``: 1 is no conflict. All reads are edges of tiles, adjacent words of a row or of a column; with (i + j) mod
    banks both have the same conflicts, so that switching the dataflow makes no others."""
    along = {"NS": array, "WS": array, "IS": (array[1], array[0])}[dataflow]
    return -(-along[0] // banks[0]), -(-along[1] // banks[1])
