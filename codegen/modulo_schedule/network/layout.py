"""Where constants, tensors and buffers of a network lie in memory: constants first, then tensors, then one buffer that
every layer uses for what it lays out anew. Inputs of a concatenation lie inside of its output.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mapper.models.modulo_schedule.network.way.layer import is_in_place
from mapper.models.modulo_schedule.program.constant import Values
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerInput, LayerNetwork
from mapper.workloads.network.operator_network import Shape


@dataclass(frozen=True)
class Layout:
    """First words: of every layer's constants by (layer, array), of every tensor that a layer makes or the network is
    given, and of the buffer, with which memory ends."""

    constants: Mapping[tuple[str, str], int]
    tensors: Mapping[str, int]
    buffer: int

    def place(self, given: LayerInput) -> int:
        """The first word of what a layer reads."""
        return self.tensors[given.memory] + given.offset


def layout_of(network: LayerNetwork, constants: Mapping[tuple[str, str], Values]) -> Layout:
    """The layout for these constants.

    Raises: InputError for a concatenation whose inputs cannot lie side by side.
    """
    at, placed = 0, {}
    for key, values in constants.items():
        placed[key] = at
        at += values.size
    sizes = {name: math.prod(shape) for name, shape in shapes_of(network).items()}
    inside = _inside(network, sizes)
    tensors: dict[str, int] = {}
    for name, size in sizes.items():
        if name not in inside:
            tensors[name] = at
            at += size
    for name in inside:
        tensors[name] = _resolved(name, inside, tensors)
    return Layout(placed, tensors, at)


def shapes_of(network: LayerNetwork) -> dict[str, Shape]:
    """The tensors that have words of their own: inputs of the network, and what layers make."""
    known = network.operators.tensors
    shapes = {name: known[name] for name in network.operators.inputs}
    return shapes | {name: shape for layer in network.layers for name, shape in layer.outputs}


def _inside(network: LayerNetwork, sizes: Mapping[str, int]) -> dict[str, tuple[str, int]]:
    """For every tensor that lies in another one, in which and how many words from its start."""
    inside: dict[str, tuple[str, int]] = {}
    for layer in network.layers:
        if not is_in_place(layer):
            continue
        offset = 0
        for one in layer.inputs:
            size = math.prod(one.shape)
            if one.layer is None or one.offset or sizes[one.memory] != size or one.memory in inside:
                remedy = (
                    "is read where it cannot lie beside what it is joined with; copy it in a layer of its own"
                )
                raise InputError(layer.name, one.tensor[:60], remedy)
            inside[one.memory] = layer.output, offset
            offset += size
    return inside


def _resolved(name: str, inside: Mapping[str, tuple[str, int]], tensors: Mapping[str, int]) -> int:
    offset = 0
    while name in inside:
        name, further = inside[name]
        offset += further
    return tensors[name] + offset
