"""Activations for which the overlay has no unit, as layers of their own beside it: what they take is the results of a
layer that runs on the array."""

from __future__ import annotations

from dataclasses import replace

from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer
from mapper.workloads.network.work import ACTIVATIONS

UNITS = frozenset({"Relu", "Clip", "LeakyRelu"})
"""Activations that requantisers make."""


def separated(network: LayerNetwork) -> LayerNetwork:
    """The network without activations merged into layers that no unit can make."""
    layers: list[NetworkLayer] = []
    after: dict[str | None, str] = {}
    for given in network.layers:
        inputs = tuple(replace(one, layer=after.get(one.layer, one.layer)) for one in given.inputs)
        layer = replace(given, inputs=inputs)
        last = layer.merged[-1] if layer.merged else None
        if last is None or last.op not in ACTIVATIONS - UNITS:
            layers.append(layer)
            continue
        made = layer.merged[-2].output if len(layer.merged) > 1 else layer.operator.output
        outputs = ((made, layer.output_shape),)
        layers.append(replace(layer, outputs=outputs, merged=layer.merged[:-1], views=()))
        read = LayerInput(made, layer.output_shape, made, layer.name)
        layers.append(NetworkLayer(last, "activation", (read,), layer.outputs, views=layer.views))
        after[layer.name] = last.name
    outputs_of = tuple(replace(one, layer=after.get(one.layer, one.layer)) for one in network.outputs)
    return replace(network, layers=tuple(layers), outputs=outputs_of)
