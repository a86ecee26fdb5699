"""Winograd's convolution in single precision, with every rounding in a stated place.

Of data a tile's columns are transformed first and then its rows; at every point of a tile the products are added
channel by channel to the bias (at the point (1, 1)) or 0; of the sums columns are transformed first and then rows. What
the transforms add in which order stands below, as formulas.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mapper.workloads.network.operator_network import Window

Values = npt.NDArray[np.float32]
TWO, FOUR, EIGHT = np.float32(2), np.float32(4), np.float32(8)


def winograd_convolution(
    data: Values, weights: Values, window: Window, bias: Values, output: tuple[int, int]
) -> Values:
    """F(m x m, r x r) of ``data`` (images, channels, height, width), with ``weights`` (filters, channels of a group, n,
    n) that are transformed already, n = m + r - 1, and ``bias`` (filters,); ``output`` are its rows and columns."""
    words, kernel = weights.shape[-1], window.kernel[0]
    side = words - kernel + 1
    tiles = -(-output[0] // side), -(-output[1] // side)
    padded = _padded(data, window, (tiles[0] * side + kernel - 1, tiles[1] * side + kernel - 1))
    cut = np.stack(
        [
            np.stack(
                [
                    padded[:, :, u : u + side * tiles[0] : side, v : v + side * tiles[1] : side]
                    for v in range(words)
                ]
            )
            for u in range(words)
        ]
    )
    transform = _four if words == 4 else _six
    points = _both(cut, transform)
    images, filters, groups = data.shape[0], weights.shape[0], window.groups
    channels = data.shape[1] // groups
    sums = np.zeros((words, words, images, filters, *tiles), np.float32)
    sums[1, 1] += bias.reshape(filters, 1, 1)
    for group in range(groups):
        own = slice(group * (filters // groups), (group + 1) * (filters // groups))
        for channel in range(channels):
            factor = weights[own, channel].transpose(1, 2, 0)[:, :, np.newaxis, :, np.newaxis, np.newaxis]
            sums[:, :, :, own] += factor * points[:, :, :, group * channels + channel][:, :, :, np.newaxis]
    parts = _both(sums, {(4, 2): _two_of_four, (6, 2): _two_of_six, (6, 4): _four_of_six}[words, side])
    whole = parts.transpose(2, 3, 4, 0, 5, 1).reshape(images, filters, tiles[0] * side, tiles[1] * side)
    return np.ascontiguousarray(whole[:, :, : output[0], : output[1]])


def _padded(data: Values, window: Window, size: tuple[int, int]) -> Values:
    (top, _), (left, _) = window.pads
    padded = np.zeros((*data.shape[:2], *size), np.float32)
    padded[:, :, top : top + data.shape[2], left : left + data.shape[3]] = data
    return padded


def _both(tile: Values, transform: Callable[[Values], list[Values]]) -> Values:
    """A transform along a tile's columns and then along its rows, which are its first two axes."""
    columns = np.stack(transform(tile))
    return np.stack(transform(columns.swapaxes(0, 1))).swapaxes(0, 1)


def _four(d: Values) -> list[Values]:
    return [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]]


def _six(d: Values) -> list[Values]:
    even, odd = d[4] - FOUR * d[2], d[3] - FOUR * d[1]
    near, far = d[4] - d[2], TWO * (d[1] - d[3])
    return [
        FOUR * (d[0] - d[2]) + near,
        even + odd,
        even - odd,
        near - far,
        near + far,
        (d[5] - d[3]) + FOUR * (d[1] - d[3]),
    ]


def _two_of_four(s: Values) -> list[Values]:
    return [(s[0] + s[1]) + s[2], (s[1] - s[2]) - s[3]]


def _two_of_six(s: Values) -> list[Values]:
    near, far = s[1] - s[2], s[3] - s[4]
    return [(s[0] + (s[1] + s[2])) + (s[3] + s[4]), (near + TWO * far) + s[5]]


def _four_of_six(s: Values) -> list[Values]:
    one, other = s[1] + s[2], s[1] - s[2]
    two, far = s[3] + s[4], s[3] - s[4]
    return [
        (s[0] + one) + two,
        other + TWO * far,
        one + FOUR * two,
        (other + EIGHT * far) + s[5],
    ]
