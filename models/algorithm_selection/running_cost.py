"""What the layers of a network take one after another on the overlay as it is generated, for arrays of many shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mapper.arch.overlay import Engines
from mapper.models.algorithm_selection.choice import Algorithm, Choice, Dataflow
from mapper.models.algorithm_selection.layer_time import Arrays, Cycles, LayerTime, between, exposed
from mapper.models.algorithm_selection.overlay.layer import OverlayLayer
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.pipeline import (
    Cut,
    kernel_time,
    layer_times,
    one_array,
    piece_product,
    pool_time,
)


@dataclass(frozen=True, eq=False)
class RunningTime:
    """A layer under one algorithm and dataflow: its ``own`` cycles, and cycles [S] until its ``kernels`` are in."""

    own: LayerTime
    kernels: Cycles


def running_times(
    network: OverlayNetwork, at: int, algorithm: Algorithm, dataflows: Sequence[Dataflow], arrays: Arrays
) -> list[RunningTime]:
    """Layer ``at`` under an algorithm and each of ``dataflows``."""
    engines = network.machine.engines
    assert engines is not None
    return _timed(network.layers[at], algorithm, dataflows, arrays, engines, cut_of(network, at, algorithm))


def running_time_at(network: OverlayNetwork, at: int, choice: Choice, array: tuple[int, int]) -> RunningTime:
    """Layer ``at`` as chosen, on one array."""
    engines, cut = network.machine.engines, cut_of(network, at, choice.algorithm)
    assert engines is not None
    return _timed_once(network.layers[at], choice, array, engines, cut)


@lru_cache(maxsize=1 << 14)
def _timed_once(
    layer: OverlayLayer, choice: Choice, array: tuple[int, int], engines: Engines, cut: Cut
) -> RunningTime:
    return _timed(layer, choice.algorithm, (choice.dataflow,), one_array(array), engines, cut)[0]


def _timed(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflows: Sequence[Dataflow],
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
) -> list[RunningTime]:
    none = np.zeros(len(arrays.rows), np.int64)
    kernels = kernel_time(layer, algorithm, arrays, engines, cut) if engines.kernels else none
    every = layer_times(layer, algorithm, dataflows, arrays, engines, cut)
    return [RunningTime(own, kernels) for own in every]


def cut_of(network: OverlayNetwork, at: int, algorithm: Algorithm) -> Cut:
    """How layer ``at`` is cut under an algorithm."""
    machine, layer = network.machine, network.layers[at]
    return Cut(
        layer.piece_counts(algorithm, machine),
        layer.bands(algorithm),
        layer.kernel_parts(algorithm, machine),
        at in network.running.given,
        dict(network.running.flattened).get(at, 0),
    )


def piece_passes(
    network: OverlayNetwork, at: int, algorithm: Algorithm, dataflow: Dataflow
) -> list[tuple[int, int, int, int]]:
    """What layer ``at`` spreads over P1 and over P2 in pieces of every height, the beats of a pass, and products."""
    layer, cut = network.layers[at], cut_of(network, at, algorithm)
    heights = sorted({cut.bands // count + more for count in cut.counts for more in (0, 1)})
    return [piece_product(layer, algorithm, dataflow, height, cut) for height in heights]


def waiting(network: OverlayNetwork, at: int, time: RunningTime, before: RunningTime | None) -> Cycles:
    """Cycles that layer ``at`` waits for its kernels, all they take where the overlay stops before it; below 0: by
    which it begins before the last piece of the layer before is stored."""
    if before is None or at not in network.running.ahead:
        return time.kernels
    if overlaps(network, at):
        return between(time.kernels, time.own, before.own)
    return exposed(time.kernels, before.own)


def overlaps(network: OverlayNetwork, at: int) -> bool:
    """Whether layer ``at`` begins while the one before it stores."""
    engines = network.machine.engines
    return engines is not None and engines.overlap and at in network.running.overlapping


def pools_after(network: OverlayNetwork, at: int, arrays: Arrays) -> Cycles:
    """Cycles of the max pools that run after layer ``at``."""
    engines, found = network.machine.engines, np.zeros(len(arrays.rows), np.int64)
    if engines is None or not engines.pools:
        return found
    for pool in network.running.pools:
        if pool.after == at:
            found = found + pool_time(pool, arrays, engines)
    return found
