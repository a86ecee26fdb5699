"""The tile's processor: what stands between the array's layers, in single precision, and the frames it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.pe_allocation.configuration.layer_data import Integers
from mapper.models.pe_allocation.number.origin import FRAME
from mapper.models.pe_allocation.number.plan import NumberPlan
from mapper.models.word import words
from mapper.workloads.network.network_layer import LayerInput, NetworkLayer
from mapper.workloads.reference.layer import layer_results, stored

Tensors = Mapping[str, npt.NDArray[Any]]
Made = Sequence[Integers]
"""Of every layer so far what it has made: (frames x rows x columns, in one axis or several) x maps."""


class Processor:
    """What layers of the array read of each other and of ``frames``, each a network's inputs by name.

    The array's words are taken for what they mean. Joining, choosing and enlarging maps changes none of them; what the
    processor computes is rounded to words of the operand once.
    """

    def __init__(self, plan: NumberPlan, frames: Sequence[Tensors]) -> None:
        self.plan, self.frames = plan, frames
        self.place = {layer.name: at for at, layer in enumerate(plan.streams.layers)}
        self.maker = {name: layer for layer in plan.network.layers for name, _ in layer.outputs}

    def operands(self, at: int, made: Made) -> Integers:
        """What the layer at ``at`` reads, frames x rows x columns x maps, all maps of the first operand first."""
        stream = self.plan.streams.layers[at]
        layer = self.plan.network.layer(stream.name)
        high, wide = (side // times for side, times in zip(stream.size, stream.spread, strict=True))
        frames = []
        for frame in range(len(self.frames)):
            tile = _Tile(self, frame, made)
            maps = []
            for one, bits in zip(layer.inputs, self.plan.layers[at].operands, strict=True):
                given = words(tile.read(one), bits, self.plan.bits).astype(np.int64)
                maps.append(np.broadcast_to(given, (1, stream.channels, high, wide))[0])
            frames.append(np.concatenate(maps).transpose(1, 2, 0))
        return np.stack(frames)

    def reading(self, at: int, made: Made) -> list[tuple[Integers, Integers]]:
        """For each layer that the one at ``at`` reads (the frame, if none), in order: words of the pixels as that layer
        makes them, and which of the operands' maps they are."""
        stream, origins = self.plan.streams.layers[at], self.plan.layers[at].origins
        given = self.operands(at, made)
        per_map = [one.layers * (stream.channels // len(one.layers)) for one in origins]
        source_of = np.array([layer for one in per_map for layer in one])
        found = []
        for feed in stream.feeds or (FRAME,):
            columns = np.flatnonzero(source_of == feed)
            pixels = given
            if feed != FRAME:
                high, wide = self.plan.streams.layers[feed].output_size
                pixels = given[:, :: given.shape[1] // high, :: given.shape[2] // wide]
            found.append((pixels[..., columns].reshape(-1, len(columns)), columns))
        return found

    def layer_tensors(self, made: Made) -> list[Tensors]:
        """What the layers of the array make, frame by frame, by ONNX's names."""
        names = [self.plan.network.layer(stream.name).output for stream in self.plan.streams.layers]
        tiles = (_Tile(self, frame, made) for frame in range(len(self.frames)))
        return [{name: tile.tensor(name) for name in names} for tile in tiles]

    def outputs(self, made: Made) -> list[Tensors]:
        """The network's outputs, frame by frame, by ONNX's names."""
        tiles = (_Tile(self, frame, made) for frame in range(len(self.frames)))
        return [{one.tensor: tile.read(one) for one in self.plan.network.outputs} for tile in tiles]


class _Tile:
    """The tensors of one frame, each found when it is first read."""

    def __init__(self, processor: Processor, frame: int, made: Made) -> None:
        self.processor, self.frame, self.made = processor, frame, made
        self.memory = {
            name: np.asarray(values, np.float32) for name, values in processor.frames[frame].items()
        }

    def read(self, one: LayerInput) -> npt.NDArray[Any]:
        self.tensor(one.memory)
        return stored(one, self.memory)

    def tensor(self, name: str) -> npt.NDArray[Any]:
        if name not in self.memory:
            layer: NetworkLayer = self.processor.maker[name]
            at = self.processor.place.get(layer.name)
            self.memory |= self._computed(layer) if at is None else {name: self._of_array(layer, at)}
        return self.memory[name]

    def _computed(self, layer: NetworkLayer) -> dict[str, npt.NDArray[Any]]:
        results = layer_results(layer, tuple(map(self.read, layer.inputs)), self.processor.plan.weights)
        return {tensor: result for (tensor, _), result in zip(layer.outputs, results, strict=True)}

    def _of_array(self, layer: NetworkLayer, at: int) -> npt.NDArray[Any]:
        """Words that the array has made, as the numbers that they stand for."""
        plan, (_, shape) = self.processor.plan.layers[at], layer.outputs[0]
        own = self.made[at].reshape(len(self.processor.frames), -1, self.made[at].shape[-1])[self.frame]
        return np.asarray(np.ldexp(own.T.astype(np.float32), -plan.made)).reshape(shape)
