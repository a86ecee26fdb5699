"""A network's own numbers: its frames, what onnxruntime makes of them, and how far the array's words are from that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mapper.models.pe_allocation.configuration.layer_data import Integers
from mapper.models.pe_allocation.number.plan import NumberPlan, number_plan, wanted_tensors
from mapper.models.pe_allocation.number.unknown import UnknownNumbersError
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.sim.onnx_result import Deviation, deviation, onnx_results
from mapper.sim.pe_allocation.data import Data
from mapper.sim.pe_allocation.own.processor import Processor
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.weight import seeded_inputs

if TYPE_CHECKING:
    import onnx

Tensors = Mapping[str, npt.NDArray[Any]]
TOLERANCE = 0.05
"""How far the root of the mean square of a layer's differences from onnxruntime may be, beside the largest number in
its result."""


@dataclass(frozen=True, eq=False)
class Given:
    """What a network is run with: its ONNX model, the constants in place of its own, and where they are from."""

    network: LayerNetwork
    model: onnx.ModelProto
    weights: Tensors
    origin: str


@dataclass(frozen=True, eq=False)
class OwnNumbers:
    """``plan``, the frames, and for each what onnxruntime makes of it."""

    plan: NumberPlan
    frames: tuple[Tensors, ...]
    results: tuple[Tensors, ...]

    @property
    def data(self) -> Data:
        return Data({}, tuple(layer.data for layer in self.plan.layers), Processor(self.plan, self.frames))

    def deviations(self, made: Sequence[Integers]) -> tuple[tuple[Deviation, ...], tuple[Deviation, ...]]:
        """Of every layer of the array, ``made`` by frames, and of the network's outputs, over all frames."""
        processor = Processor(self.plan, self.frames)
        outputs = [one.tensor for one in self.plan.network.outputs]
        layers = [self.plan.network.layer(one.name) for one in self.plan.streams.layers]
        tensors, ends = processor.layer_tensors(made), processor.outputs(made)
        return (
            tuple(self._deviation(layer.name, layer.output, tensors) for layer in layers),
            tuple(self._deviation(name, name, ends) for name in outputs),
        )

    def _deviation(self, name: str, tensor: str, tensors: Sequence[Tensors]) -> Deviation:
        own, wanted = (np.stack([one[tensor] for one in each]) for each in (tensors, self.results))
        return deviation(name, own, wanted)


def own_numbers(given: Given, streams: StreamNetwork, bits: int, frames: int, seed: int) -> OwnNumbers:
    """Seeded frames, and words of ``bits`` bits whose fractions leave room for what onnxruntime makes of them.

    Raises: UnknownNumbersError if something is computed by nothing here, or onnxruntime does not run the model.
    """
    network = given.network
    wanted = dict.fromkeys((*wanted_tensors(network, streams), *(one.tensor for one in network.outputs)))
    names = [name for name in wanted if name not in network.operators.inputs]
    images = tuple(seeded_inputs(network.operators, seed + frame) for frame in range(frames))
    try:
        results = tuple(
            {**image, **onnx_results(given.model, given.weights, image, names)} for image in images
        )
    except Exception as error:  # whatever onnxruntime may raise on a model
        said = " ".join(str(error).split())[:120]
        raise UnknownNumbersError(f"onnxruntime does not run the network ({said})") from None
    largest = {name: max(float(np.abs(one[name]).max(initial=0)) for one in results) for name in wanted}
    return OwnNumbers(number_plan(network, streams, given.weights, largest, bits), images, results)
