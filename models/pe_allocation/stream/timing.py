"""The calculus corrected for raster order: a window waits for its last pixel (this project's, next to [Heidorn2019],
5.2).

Every layer works at a steady pace: position k (raster order) is begun at start + k*z, and its pixels are there at
start + (k+1)*z + drain. It needs its input pixels up to the last one of its window, which the layer before makes in the
same way. A layer starts as early as no position finds a pixel missing; links take no time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mapper.models.pe_allocation.calculus import LayerTiming
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork

Indices = npt.NDArray[np.int64]


def last_needed(layer: StreamLayer, feed: StreamLayer, axis: int) -> Indices:
    """For each output row (axis 0) or column (axis 1) the last row or column of ``feed`` that its window reads."""
    start = np.arange(layer.output_size[axis], dtype=np.int64) * layer.strides[axis] - layer.pads[axis]
    dilation, edge = layer.dilations[axis], layer.size[axis] - 1
    last = start + layer.reach[axis] - 1
    outside = np.maximum(0, -((edge - last) // dilation))
    return np.asarray(np.clip(last - outside * dilation, 0, edge)) // layer.stretch(feed)[axis]


def first_needed(layer: StreamLayer, feed: StreamLayer, axis: int) -> Indices:
    """For each output row or column the first row or column of ``feed`` that its window reads."""
    start = np.arange(layer.output_size[axis], dtype=np.int64) * layer.strides[axis] - layer.pads[axis]
    dilation = layer.dilations[axis]
    outside = np.maximum(0, -(start // dilation))
    first = np.clip(start + outside * dilation, 0, layer.size[axis] - 1)
    return np.asarray(first) // layer.stretch(feed)[axis]


def delay(layer: StreamLayer, feed: StreamLayer, z_feed: int, z_out: int) -> int:
    """Least cycles from the start of ``feed`` to that of ``layer``, its drain left out: the largest
    (need+1)*z_feed - k*z_out over all positions k, ``need`` being the raster index of the last pixel of the window of
    k."""
    if feed.positions == 1:
        return z_feed
    rows, columns = (last_needed(layer, feed, axis) for axis in (0, 1))
    high, wide = layer.output_size
    by_row = rows * feed.output_size[1] * z_feed - np.arange(high, dtype=np.int64) * wide * z_out
    by_column = (columns + 1) * z_feed - np.arange(wide, dtype=np.int64) * z_out
    return int(by_row.max() + by_column.max())


def streamed(
    network: StreamNetwork, z_out: tuple[int, ...], drains: Sequence[int], members: range | None = None
) -> tuple[LayerTiming, ...]:
    """Earliest start times at steady paces ``z_out`` with these ``drains``; ``z_in`` is the delay after the layer that
    decides. Of a run of layers (``members``) from its start on: what earlier runs have made is there without
    waiting."""
    found: dict[int, LayerTiming] = {}
    for position in range(len(network.layers)) if members is None else members:
        layer, pace = network.layers[position], z_out[position]
        start = wait = 0
        for feed in layer.feeds:
            if feed in found:
                lag = delay(layer, network.layers[feed], z_out[feed], pace) + drains[feed]
                start, wait = max((start, wait), (found[feed].start + lag, lag))
        found[position] = LayerTiming(wait, pace, start, pace * layer.positions, drains[position])
    return tuple(found.values())


def latency(timed: tuple[LayerTiming, ...]) -> int:
    """Cycles from the first layer's start to the last pixel of the frame."""
    return max(layer.end for layer in timed)


def line_buffer_peaks(
    network: StreamNetwork, timed: tuple[LayerTiming, ...], members: range | None = None
) -> tuple[int, ...]:
    """Most words that the buffers before each layer hold, frames following each other at the slowest layer's pace.

    Every feed has a buffer of its own. A pixel is held from the moment it is there until the last position that may
    read it has been made; pixels are freed in raster order. What enters from the frame, or from an earlier run than
    that of the layers ``members``, is held by no line buffer.
    """
    return tuple(sum(peaks) for peaks in feed_peaks(network, timed, members))


def feed_peaks(
    network: StreamNetwork, timed: tuple[LayerTiming, ...], members: range | None = None
) -> tuple[tuple[int, ...], ...]:
    """For each layer the most words that the buffer of each of its feeds holds."""
    every = range(len(network.layers)) if members is None else members
    # A run of several ends before the next frame, so that no two frames meet in its buffers.
    alone = members is not None
    interval = latency(timed) if alone else max(layer.latency for layer in timed)
    at_work = dict(zip(every, timed, strict=True))
    return tuple(
        tuple(
            _peak(network.layers[at], network.layers[feed], at_work[at], at_work[feed], interval)
            if feed in at_work
            else 0
            for feed in network.layers[at].feeds
        )
        for at in every
    )


def _peak(
    layer: StreamLayer, feed: StreamLayer, timing: LayerTiming, feeding: LayerTiming, interval: int
) -> int:
    # What a later position still reads cannot be freed, also where a row of windows begins further left.
    kept = np.zeros(layer.positions, dtype=np.int64)
    if feed.positions > 1:
        wide = feed.output_size[1]
        rows, columns = (first_needed(layer, feed, axis) for axis in (0, 1))
        first = (rows[:, None] * wide + columns[None, :]).ravel()
        kept = np.minimum.accumulate(first[::-1])[::-1]
    done = timing.start + (np.arange(layer.positions, dtype=np.int64) + 1) * timing.z_out
    arrived = np.zeros(layer.positions, dtype=np.int64)
    frames = (timing.start + timing.latency - feeding.start) // interval + 1
    for frame in range(frames):
        since = done - feeding.start - feeding.drain - frame * interval
        arrived += np.clip(since // feeding.z_out, 0, feed.positions)
    return int((arrived - kept).max()) * feed.maps
