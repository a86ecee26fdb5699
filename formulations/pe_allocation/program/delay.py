"""Start times of the streaming model as linear inequalities (``mapper.models.pe_allocation.stream.timing``).

The delay of a layer after one that it reads is the largest (need + 1)*z_feed - k*z_out over all positions k. For paces
that are not negative only the corners of the upper hull of the points (k, need + 1) matter, a handful of them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork
from mapper.models.pe_allocation.stream.timing import first_needed, last_needed

Line = tuple[int, int]
"""(a, b) of a*z_feed - b*z_out."""


@lru_cache(maxsize=4096)
def delay_lines(layer: StreamLayer, feed: StreamLayer) -> tuple[Line, ...]:
    """Lines whose maximum is the delay of ``layer`` after ``feed``.

    Rows and columns count apart: the delay is the sum of their maxima, so that the lines are the corners of the sum of
    the two hulls, whose edges are theirs in the order of their slopes.
    """
    if feed.positions == 1:
        return ((1, 0),)
    wide = layer.output_size[1]
    rows = [(int(row) * feed.output_size[1], k * wide) for k, row in enumerate(last_needed(layer, feed, 0))]
    columns = [(int(column) + 1, k) for k, column in enumerate(last_needed(layer, feed, 1))]
    sums = [(a + c, b + d) for a, b in _hull(rows) for c, d in _hull(columns)]
    return tuple(_hull(sorted(sums, key=lambda line: (line[1], line[0]))))


def least_delay(layer: StreamLayer, feed: StreamLayer, z_feed: int, z_out: int) -> int:
    """The delay at these paces: it rises with ``z_feed`` and falls with ``z_out``."""
    return max(a * z_feed - b * z_out for a, b in delay_lines(layer, feed))


def _hull(points: list[Line]) -> list[Line]:
    """Corners, by ascending b, of the hull of points (b ascending): those that are largest at some paces."""
    kept: list[Line] = []
    for a, b in points:
        if kept and a <= kept[-1][0]:
            continue
        if kept and b == kept[-1][1]:
            kept.pop()
        while len(kept) > 1:
            (a0, b0), (a1, b1) = kept[-2:]
            if (a1 - a0) * (b - b1) > (a - a1) * (b1 - b0):
                break
            kept.pop()
        kept.append((a, b))
    return kept


def least_line_buffers(network: StreamNetwork) -> int:
    """Words that line buffers hold at least, whatever the paces: when a position is made all pixels of its window
    are there, and none that it or a later one reads is gone."""
    words = 0
    for layer in network.layers:
        for feed in (network.layers[at] for at in layer.feeds):
            held = 1
            if feed.positions > 1:
                wide = feed.output_size[1]
                first, last = (
                    needed(layer, feed, 0)[:, None] * wide + needed(layer, feed, 1)[None, :]
                    for needed in (first_needed, last_needed)
                )
                kept = np.minimum.accumulate(first.ravel()[::-1])[::-1]
                held = int((last.ravel() + 1 - kept).max())
            words += held * feed.maps
    return words
