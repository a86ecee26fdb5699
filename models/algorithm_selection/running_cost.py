"""What the layers of a network take one after another on the overlay as it is generated, for arrays of many shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.pipeline import (
    Arrays,
    Cycles,
    LayerTime,
    exposed,
    kernel_time,
    layer_time,
    pool_time,
)


@dataclass(frozen=True, eq=False)
class RunningTime:
    """A layer under one algorithm: ``own`` in its best dataflow, the position of that among those allowed, and cycles
    [S] until its ``kernels`` are in."""

    own: LayerTime
    dataflow: NDArray[np.int64]
    kernels: Cycles


def running_time(
    network: OverlayNetwork, at: int, algorithm: Algorithm, dataflows: Sequence[Dataflow], arrays: Arrays
) -> RunningTime:
    """Layer ``at`` under an algorithm, in the best of ``dataflows`` for each array."""
    engines, layer = network.machine.engines, network.layers[at]
    assert engines is not None
    own, flow = layer_time(
        layer,
        algorithm,
        dataflows,
        arrays,
        engines,
        given=at in network.running.given,
        flattened=dict(network.running.flattened).get(at, 0),
    )
    none = np.zeros(len(arrays.rows), np.int64)
    kernels = kernel_time(layer, algorithm, arrays, engines) if engines.kernels else none
    return RunningTime(own, flow, kernels)


def waiting(network: OverlayNetwork, at: int, time: RunningTime, before: RunningTime | None) -> Cycles:
    """Cycles that layer ``at`` waits for its kernels: all they take where the overlay stops before it."""
    if before is None or at not in network.running.ahead:
        return time.kernels
    return exposed(time.kernels, before.own)


def pools_after(network: OverlayNetwork, at: int, arrays: Arrays) -> Cycles:
    """Cycles of the max pools that run after layer ``at``."""
    engines, found = network.machine.engines, np.zeros(len(arrays.rows), np.int64)
    if engines is None or not engines.pools:
        return found
    for pool in network.running.pools:
        if pool.after == at:
            found = found + pool_time(pool, arrays, engines)
    return found
