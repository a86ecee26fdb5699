"""Algorithms 1 to 3 on the convolutions of a network, each on the whole layer with the numbers that the array has run:
whether they make what the array has made, in the cycles that the calculus says [Heidorn2019, secs. 3.3 and 5.1]."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.pe_allocation.calculus import position_cycles
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.sim.pe_allocation.algorithm import (
    Nest,
    Trace,
    algorithm_1,
    algorithm_2,
    algorithm_3,
    following_start,
)
from mapper.sim.pe_allocation.data import Data, Integers
from mapper.sim.pe_allocation.reference import finished, layer_input, padded

MOST_PRODUCTS = 1 << 31
"""Products of all layers that are run; every one is a step of each algorithm's loops."""


def compared(
    network: StreamNetwork, configuration: Configuration, data: Data, made: tuple[Integers, ...]
) -> dict[str, Any] | None:
    """The algorithms on whole convolutions, the first frame's: ``outputs_equal`` to those that the array has ``made``
    (frames x rows x columns x maps), ``cycles_equal`` to those of Eq. 4, by layer, and when a layer that reads them can
    start. None of a network without convolutions."""
    layers: dict[str, Any] = {}
    left_out: list[str] = []
    products = 0
    for at, layer in enumerate(configuration.layers):
        if layer.rule != "convolution":
            continue
        stream = network.layers[at]
        products += stream.positions * position_cycles(stream, 1, 1)
        if products > MOST_PRODUCTS:
            left_out.append(layer.name)
            continue
        nest = whole_nest(
            layer, data.layers[at].weights, data.layers[at].bias, layer_input(configuration, at, data, made)
        )
        layers[layer.name] = _layer(network, configuration, at, nest, data, made[at][0])
    if not layers and not left_out:
        return None
    return {
        "outputs_equal": all(one["outputs_equal"] for one in layers.values()),
        "cycles_equal": all(one["cycles"] == one["model"] for one in layers.values()),
        "layers": layers,
        "left_out": left_out,
    }


def whole_nest(layer: LayerProgram, weights: Integers, bias: Integers, pixels: Integers) -> Nest:
    """A convolution with all that its windows reach of the first of ``pixels``, frames x rows x columns x maps."""
    image = np.ascontiguousarray(padded(layer, pixels[:1], 0)[0].transpose(2, 0, 1))
    return Nest(image, weights, bias, layer.strides, layer.output_size, layer.dilations, layer.group_filters)


def _layer(
    network: StreamNetwork, configuration: Configuration, at: int, nest: Nest, data: Data, made: Integers
) -> dict[str, Any]:
    stream, layer = network.layers[at], configuration.layers[at]
    pes = len(layer.pes)
    traces = {"algorithm_1": algorithm_1(nest), "algorithm_2": algorithm_2(nest)}
    cycles = dict.fromkeys(traces, stream.positions * position_cycles(stream, 1, 1))
    if layer.scheme == "depth":
        traces["algorithm_3"] = algorithm_3(nest, min(pes, layer.filters), layer.delta)
        cycles["algorithm_3"] = stream.positions * position_cycles(stream, pes, layer.delta)
    equal = [
        np.array_equal(finished(layer, data.layers[at], trace.output.transpose(1, 2, 0)), made)
        for trace in traces.values()
    ]
    return {
        "outputs_equal": all(equal),
        "cycles": {name: trace.cycles for name, trace in traces.items()},
        "model": cycles,
        "following": _following(network, at, traces),
    }


def _following(network: StreamNetwork, at: int, traces: dict[str, Trace]) -> dict[str, Any] | None:
    """The first layer that reads this one, and when its first window is there; None if none does."""
    if not network.readers[at]:
        return None
    layer, reader = network.layers[at], network.layers[network.readers[at][0]]
    times = reader.stretch(layer)
    reach = [
        min(layer.output_size[axis], -(-max(1, reader.reach[axis] - reader.pads[axis]) // times[axis]))
        for axis in (0, 1)
    ]
    starts = {name: following_start(trace, (reach[0], reach[1])) for name, trace in traces.items()}
    return {"layer": reader.name, "start": starts}
