"""Which layer of the array each map of an operand comes from, through what stands between layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.pe_allocation.number.unknown import UnknownNumbersError
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork
from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer
from mapper.workloads.reference.layer import has_reference, stored
from mapper.workloads.reference.movement import moved

Places = npt.NDArray[np.int64]
FRAME = -1


@dataclass(frozen=True)
class Origin:
    """Of each map of an operand the layer (position) whose pixels it is made of, ``FRAME`` for the network's inputs,
    and whether the words are those that the layer made (``plain``) or the processor has computed others."""

    layers: tuple[int, ...]
    plain: bool


def origins(network: LayerNetwork, streams: StreamNetwork) -> tuple[tuple[Origin, ...], ...]:
    """The origins of every layer's operands.

    Raises: UnknownNumbersError where the processor has an operator that nothing here computes, or a layer reads the
    frame beside maps of other layers.
    """
    places = {layer.name: at for at, layer in enumerate(streams.layers)}
    memory: dict[str, Places] = {
        name: np.broadcast_to(np.int64(2 * FRAME), network.operators.tensors[name])
        for name in network.operators.inputs
    }
    found: dict[int, tuple[Origin, ...]] = {}
    for layer in network.layers:
        at = places.get(layer.name)
        if at is None:
            memory |= _through(layer, memory)
            continue
        # A computed map is told by an odd number: 2 * layer + 1.
        found[at] = tuple(_origin(streams.layers[at], one, memory) for one in layer.inputs)
        memory |= {name: np.broadcast_to(np.int64(2 * at), shape) for name, shape in layer.outputs}
    return tuple(found[at] for at in range(len(streams.layers)))


def _through(layer: NetworkLayer, memory: Mapping[str, Places]) -> dict[str, Places]:
    """Where what the processor makes comes from."""
    if not has_reference(layer):
        raise UnknownNumbersError(f"{layer.name} ({layer.op}) is not computed on the tile's processor")
    inputs = [_read(one, memory) for one in layer.inputs]
    if layer.work == "movement":
        results: list[Places] = [np.asarray(one, np.int64) for one in moved(layer, inputs[0], {})]
    elif layer.work == "concatenation" and len(inputs) == len(layer.operator.operands):
        results = [np.concatenate(inputs, layer.operator.integer("axis"))]
    else:
        same = next((one for one in inputs if one.shape == layer.output_shape), None)
        first = int(inputs[0].reshape(-1)[0]) if inputs and inputs[0].size else 2 * FRAME
        filled = np.broadcast_to(np.int64(first), layer.output_shape) if same is None else same
        results = [filled | 1]
    return {name: result for (name, _), result in zip(layer.outputs, results, strict=True)}


def _origin(layer: StreamLayer, one: LayerInput, memory: Mapping[str, Places]) -> Origin:
    places = _read(one, memory)
    maps = places.reshape(places.shape[1] if places.ndim > 1 else 1, -1)
    if (maps != maps[:, :1]).any():
        raise UnknownNumbersError(f"{layer.name} reads maps that are put together of pieces")
    found = tuple(int(place) >> 1 for place in maps[:, 0])
    if not layer.feeds and set(found) != {FRAME}:
        raise UnknownNumbersError(f"{layer.name} reads what no layer makes")
    if layer.feeds and FRAME in found:
        raise UnknownNumbersError(f"{layer.name} reads the frame beside maps of other layers")
    return Origin(found, not bool((maps[:, 0] & 1).any()))


def _read(one: LayerInput, memory: Mapping[str, Places]) -> Places:
    held: npt.NDArray[Any] = memory[one.memory]
    if held.shape == one.shape and one.offset == 0:
        return held
    return stored(one, memory)
