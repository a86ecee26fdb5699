"""Whole networks in integers: by the control sequence on the overlay's layouts, and by onnxruntime's convolution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.algorithm_selection.choice import Choice, input_walk
from mapper.models.algorithm_selection.control.sequence import (
    Control,
    ConvolutionStep,
    convolution_step,
    layer_shape,
)
from mapper.models.algorithm_selection.number.network_number import NetworkNumbers
from mapper.models.algorithm_selection.number.seeded import given, seeded_numbers
from mapper.sim.algorithm_selection.address import Integers, reads_held, to_map, to_matrix
from mapper.sim.algorithm_selection.beside import beside, finished
from mapper.sim.algorithm_selection.convolution import convolve
from mapper.sim.algorithm_selection.onnx_convolution import integer_convolution
from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer
from mapper.workloads.reference.layer import stored

Tensors = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class LayerRun:
    """What a layer of the array made: ``sums`` (images, O1, O2, maps) before requantisation, of ``data`` (images, H1,
    H2, channels). ``lost``: its stored input lacks a position that one of its windows covers."""

    step: ConvolutionStep
    data: Integers
    sums: Integers
    lost: bool


def reference(network: LayerNetwork, numbers: NetworkNumbers, given: Tensors) -> Tensors:
    """Every tensor (images, channels, ...) with onnxruntime's convolutions, of the integers ``given``."""
    memory = dict(given)
    for layer in network.layers:
        inputs = [stored(one, memory) for one in layer.inputs]
        own = numbers.layers[layer.name]
        if layer.work in ("convolution", "fully_connected"):
            shape, zero = layer_shape(layer), numbers.zero(layer.inputs[0].memory)
            images = _images(inputs[0].astype(np.int64) - zero, shape.input_size)
            sums = integer_convolution(shape, images, own.kernels, zero)
            made: tuple[npt.NDArray[Any], ...] = (finished(layer, _channels_first(sums, layer), numbers),)
        else:
            made = beside(layer, inputs, numbers)
        memory |= {name: one for (name, _), one in zip(layer.outputs, made, strict=True)}
    return memory


def seeded_inputs(network: LayerNetwork, seed: int) -> Tensors:
    """Integers of 8 bits for the network's inputs."""
    return {name: given(name, network.operators.tensors[name], seed) for name in network.operators.inputs}


@dataclass(frozen=True, eq=False)
class Drawn:
    """``numbers`` and integers of the network's ``inputs``."""

    numbers: NetworkNumbers
    inputs: Tensors


def drawn(network: LayerNetwork, seed: int) -> Drawn:
    """Seeded integers for everything."""
    return Drawn(seeded_numbers(network, seed), seeded_inputs(network, seed))


class Overlay:
    """A network at work on the overlay: ``memory`` holds every tensor as its region says, image by image."""

    def __init__(
        self, network: LayerNetwork, control: Control, numbers: NetworkNumbers, inputs: Tensors
    ) -> None:
        self.network, self.control, self.numbers = network, control, numbers
        self.memory: dict[str, list[Integers]] = {}
        self.results: dict[str, npt.NDArray[Any]] = {}
        for name in network.operators.inputs:
            self._store(name, inputs[name])

    def run(self) -> Iterator[LayerRun]:
        """Run all steps, handing out what each layer of the array did."""
        for step, layer in zip(self.control.steps, self.network.layers, strict=True):
            kernels = self.numbers.layers[layer.name].kernels
            if not isinstance(step, ConvolutionStep) and layer.work in ("fully_connected", "convolution"):
                self._store(layer.output, self._product(layer))
                continue
            if not isinstance(step, ConvolutionStep) or layer.work == "average_pool":
                made = beside(layer, [self._restored(one)[0] for one in layer.inputs], self.numbers)
                for (name, _), one in zip(layer.outputs, made, strict=True):
                    self._store(name, one)
                continue
            matrices, images, lost = self._loaded(step, layer)
            sums = np.stack([convolve(step, matrix, kernels) for matrix in matrices])
            yield LayerRun(step, images, sums, lost)
            self._store(step.output, finished(layer, _channels_first(sums, layer), self.numbers))

    def _product(self, layer: NetworkLayer) -> Integers:
        """A convolution or a fully connected layer beside the array."""
        shape = layer_shape(layer)
        step = convolution_step(layer.name, shape, Choice("im2col", "NS"))
        data = self._restored(layer.inputs[0])[0].astype(np.int64) - self.numbers.zero(layer.inputs[0].memory)
        kernels = self.numbers.layers[layer.name].kernels
        matrices = [to_matrix(step.walk, image) for image in _images(data, shape.input_size)]
        sums = np.stack([convolve(step, matrix, kernels) for matrix in matrices])
        return finished(layer, _channels_first(sums, layer), self.numbers)

    def _loaded(self, step: ConvolutionStep, layer: NetworkLayer) -> tuple[list[Integers], Integers, bool]:
        """The Input Buffer's matrices, image by image, the maps they are of, and whether a position is missing."""
        tensor, held = self._restored(layer.inputs[0])
        zero = self.numbers.zero(step.input)
        images = _images(tensor.astype(np.int64) - zero, step.shape.input_size)
        if step.load == "copy":
            return [one.astype(np.int64) - zero for one in self.memory[step.input]], images, False
        same = held.shape == step.shape.input_size
        # Whole rows and tiles reach beyond the windows; what is there has no part in a result.
        windows = input_walk(step.shape, Choice("im2col", "NS"))
        lost = not (reads_held(windows, held) if same else held.all())
        return [to_matrix(step.walk, image) for image in images], images, lost

    def _store(self, name: str, tensor: npt.NDArray[Any]) -> None:
        self.results[name] = tensor
        region, zero = self.control.region(name), self.numbers.zero(name)
        size = (region.walk.height, region.walk.width)
        tensor = tensor.reshape(-1, region.walk.channels, *size)
        # What a layout holds beyond the map reads as nothing: it is the zero point.
        if zero:
            matrices = [
                to_matrix(region.walk, image) + zero
                for image in _images(tensor.astype(np.int64) - zero, size)
            ]
        else:
            matrices = [to_matrix(region.walk, image) for image in _images(tensor, size)]
        self.memory[name] = matrices

    def _restored(self, one: LayerInput) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """A tensor read back out of its layout, and which positions of its maps the layout holds."""
        region = self.control.region(one.memory)
        restored = [to_map(region.walk, matrix) for matrix in self.memory[one.memory]]
        maps = np.stack([image for image, _ in restored]).transpose(0, 3, 1, 2)
        tensor = maps.reshape(self.network.operators.tensors[one.memory])
        return stored(one, {one.memory: tensor}), restored[0][1]


def _images(tensor: npt.NDArray[Any], size: tuple[int, ...]) -> npt.NDArray[Any]:
    """A tensor (images, channels, ...) as maps (images, H1, H2, channels); the rows of a product that has no images
    are the positions of one map."""
    if tensor.ndim == 4:
        return tensor.transpose(0, 2, 3, 1)
    if size == (1, 1):
        return tensor.reshape(tensor.shape[0], 1, 1, -1)
    return tensor.reshape(1, *size, -1)


def _channels_first(sums: Integers, layer: NetworkLayer) -> Integers:
    """Sums (images, O1, O2, maps) as the layer's output has them."""
    if len(layer.output_shape) == 4:
        return sums.transpose(0, 3, 1, 2)
    return sums.reshape(layer.output_shape)
