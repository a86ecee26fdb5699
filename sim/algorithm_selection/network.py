"""Whole networks in integers: by the control sequence on the overlay's layouts, and by onnxruntime's convolution."""

from __future__ import annotations

from collections.abc import Iterator
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
from mapper.models.algorithm_selection.control.sequence import requantisation_shift as shift_of
from mapper.sim.algorithm_selection.address import Integers, reads_held, to_map, to_matrix
from mapper.sim.algorithm_selection.beside import beside, requantised
from mapper.sim.algorithm_selection.convolution import convolve
from mapper.sim.algorithm_selection.data import Parameters, given, parameters
from mapper.sim.algorithm_selection.onnx_convolution import integer_convolution
from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer
from mapper.workloads.reference.layer import stored

Tensors = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class LayerRun:
    """What a layer of the array made: ``sums`` (images, O1, O2, maps) before requantisation, of ``data`` (images, H1,
    H2, channels). ``lost``: its stored input lacks a position that one of its windows covers."""

    step: ConvolutionStep
    data: Integers
    sums: Integers
    lost: bool


def reference(network: LayerNetwork, seed: int) -> Tensors:
    """Every tensor (images, channels, ...) with onnxruntime's convolutions."""
    memory = {name: given(name, network.operators.tensors[name], seed) for name in network.operators.inputs}
    for layer in network.layers:
        inputs = [stored(one, memory) for one in layer.inputs]
        own = parameters(layer, seed)
        if layer.work in ("convolution", "fully_connected"):
            shape = layer_shape(layer)
            images = _images(inputs[0], shape.input_size)
            sums = integer_convolution(shape, images, own.kernels)
            products = own.kernels[..., 0].size
            made: tuple[npt.NDArray[Any], ...] = (
                requantised(layer, _channels_first(sums, layer), own, shift_of(products)),
            )
        else:
            made = beside(layer, inputs, own)
        memory |= {name: one for (name, _), one in zip(layer.outputs, made, strict=True)}
    return memory


class Overlay:
    """A network at work on the overlay: ``memory`` holds every tensor as its region says, image by image."""

    def __init__(self, network: LayerNetwork, control: Control, seed: int) -> None:
        self.network, self.control, self.seed = network, control, seed
        self.memory: dict[str, list[Integers]] = {}
        self.results: Tensors = {}
        for name in network.operators.inputs:
            self._store(name, given(name, network.operators.tensors[name], seed))

    def run(self) -> Iterator[LayerRun]:
        """Run all steps, handing out what each layer of the array did."""
        for step, layer in zip(self.control.steps, self.network.layers, strict=True):
            own = parameters(layer, self.seed)
            if not isinstance(step, ConvolutionStep) and layer.work == "fully_connected":
                self._store(layer.output, self._product(layer, own))
                continue
            if not isinstance(step, ConvolutionStep) or layer.work == "average_pool":
                made = beside(layer, [self._restored(one)[0] for one in layer.inputs], own)
                for (name, _), one in zip(layer.outputs, made, strict=True):
                    self._store(name, one)
                continue
            matrices, images, lost = self._loaded(step, layer)
            sums = np.stack([convolve(step, matrix, own.kernels) for matrix in matrices])
            yield LayerRun(step, images, sums, lost)
            self._store(step.output, requantised(layer, _channels_first(sums, layer), own, step.shift))

    def _product(self, layer: NetworkLayer, own: Parameters) -> Integers:
        """A fully connected layer beside the array."""
        shape = layer_shape(layer)
        step = convolution_step(layer.name, shape, Choice("im2col", "NS"))
        images = _images(self._restored(layer.inputs[0])[0], shape.input_size)
        sums = np.stack([convolve(step, to_matrix(step.walk, image), own.kernels) for image in images])
        return requantised(layer, _channels_first(sums, layer), own, step.shift)

    def _loaded(self, step: ConvolutionStep, layer: NetworkLayer) -> tuple[list[Integers], Integers, bool]:
        """The Input Buffer's matrices, image by image, the maps they are of, and whether a position is missing."""
        tensor, held = self._restored(layer.inputs[0])
        images = _images(tensor, step.shape.input_size)
        if step.load == "copy":
            return self.memory[step.input], images, False
        same = held.shape == step.shape.input_size
        # Whole rows and tiles reach beyond the windows; what is there has no part in a result.
        windows = input_walk(step.shape, Choice("im2col", "NS"))
        lost = not (reads_held(windows, held) if same else held.all())
        return [to_matrix(step.walk, image) for image in images], images, lost

    def _store(self, name: str, tensor: npt.NDArray[Any]) -> None:
        self.results[name] = tensor
        region = self.control.region(name)
        images = _images(tensor, (region.walk.height, region.walk.width))
        self.memory[name] = [to_matrix(region.walk, image) for image in images]

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
