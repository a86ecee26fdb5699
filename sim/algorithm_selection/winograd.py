"""Winograd's linear transforms F(m x m, 3 x 3) in integers [Meng2021, Eq. 5; Lavin and Gray].

G has fractions: 1/2 in F(2,3), 1/24 in F(4,3). Here kernels are transformed by 2G (or 24G) on both sides, so that all
numbers stay integers and the results are 4 (or 576) times those of the convolution; dividing by that is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mapper.models.algorithm_selection.control.walk import TAP
from mapper.sim.algorithm_selection.address import Integers


@dataclass(frozen=True)
class Transform:
    """``data``: B^T; ``kernel``: G times ``scale``; ``result``: A^T."""

    data: Integers
    kernel: Integers
    result: Integers
    scale: int


TRANSFORMS = {
    2: Transform(
        np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]]),
        np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]]),
        np.array([[1, 1, 1, 0], [0, 1, -1, -1]]),
        2,
    ),
    4: Transform(
        np.array(
            [
                [4, 0, -5, 0, 1, 0],
                [0, -4, -4, 1, 1, 0],
                [0, 4, -4, -1, 1, 0],
                [0, -2, -1, 2, 1, 0],
                [0, 2, -1, -2, 1, 0],
                [0, 4, 0, -5, 0, 1],
            ]
        ),
        np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]),
        np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]),
        24,
    ),
}


def transformed_data(matrix: Integers, pieces: int, m: int) -> Integers:
    """B^T d B of the tiles that lie scattered in ``matrix`` (pieces * side^2 * tiles, channels), in the same layout."""
    side, factor = m + TAP - 1, TRANSFORMS[m].data
    tiles = matrix.reshape(pieces, side, side, -1).astype(np.int64)
    half = np.tensordot(factor, tiles, (1, 1))  # x, pieces, j, rest
    return np.tensordot(factor, half, (1, 2)).transpose(2, 1, 0, 3).reshape(matrix.shape)


def transformed_kernels(kernels: Integers, m: int) -> Integers:
    """The Kernel Buffer's matrix (pieces * side^2 * channels, maps) of ``kernels`` (k1, k2, channels, maps): cut into
    pieces of 3 x 3, the last filled with zeros, each transformed to ``scale``^2 * G g G^T."""
    taps1, taps2, channels, maps = kernels.shape
    pieces1, pieces2 = -(-taps1 // TAP), -(-taps2 // TAP)
    filled = np.zeros((pieces1 * TAP, pieces2 * TAP, channels, maps), np.int64)
    filled[:taps1, :taps2] = kernels
    cut = filled.reshape(pieces1, TAP, pieces2, TAP, channels, maps)
    factor = TRANSFORMS[m].kernel
    made = np.einsum("xi,piqjcm,yj->pqxycm", factor, cut, factor, optimize=True)
    return np.asarray(made).reshape(-1, maps)


def restored_tiles(product: Integers, m: int) -> Integers:
    """A^T M A without the scale: ``product`` (side^2 * tiles, maps) becomes (m^2 * tiles, maps), Winograd's output
    layout.

    Raises: ArithmeticError if the scale does not divide a result, which sums of transformed tiles never show.
    """
    transform, side = TRANSFORMS[m], m + TAP - 1
    tiles = product.reshape(side, side, -1)
    half = np.tensordot(transform.result, tiles, (1, 0))
    made = np.tensordot(transform.result, half, (1, 1)).transpose(1, 0, 2)
    results, rest = np.divmod(made, transform.scale**2)
    if rest.any():
        raise ArithmeticError("a result of Winograd's transform is not a multiple of its scale")
    return results.reshape(-1, product.shape[1])
