"""Operators that the array cannot run, as the processor computes them in VLIW mode."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mapper.models.modulo_schedule.network.way.layer import is_in_place
from mapper.models.modulo_schedule.program.program import Program, Tensor
from mapper.models.modulo_schedule.program.step import Host as Step
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer
from mapper.workloads.reference.layer import applied, layer_results
from mapper.workloads.reference.window import average_pool, counted_positions

Values = npt.NDArray[np.float32]


class Host:
    """The layers of ``network``, computed on the words of a program's memory."""

    def __init__(self, program: Program, network: LayerNetwork) -> None:
        self.layers = {layer.name: layer for layer in network.layers}
        self.tensors = {tensor.name: tensor for tensor in program.tensors}
        self.weights = program.weights
        self.name = program.name

    def is_movement(self, step: Step) -> bool:
        """Whether the step only moves words."""
        return self._layer(step).work in ("movement", "concatenation")

    def run(self, step: Step, memory: Values) -> None:
        """Leaves in memory what the step makes.

        Raises: InputError if an operator has no meaning here.
        """
        layer = self._layer(step)
        weights = {
            one.name: memory[one.at : one.at + math.prod(one.shape)].reshape(one.shape)
            for one in self.weights
        }
        if step.what == "whole":
            results = layer_results(layer, tuple(self._input(one, memory) for one in layer.inputs), weights)
            for (tensor, _), result in zip(layer.outputs, results, strict=True):
                self._words(tensor, memory)[...] = result
            return
        output = self._words(layer.output, memory)
        if step.what == "rim":
            sizes = layer.output_shape[2:]
            whole = average_pool(self._input(layer.inputs[0], memory), layer.window, sizes)
            counted = counted_positions(layer.window, layer.inputs[0].shape[2:], sizes)
            output[...] = np.where(counted == math.prod(layer.window.kernel), output, whole)
            return
        merged = {operator.name: operator for operator in layer.merged}
        for name in step.operators:
            if name not in merged:
                raise InputError(self.name, f"{layer.name}: {name[:60]!r}", "is not merged into this layer")
            output[...] = applied(merged[name], output.copy(), weights)

    def _layer(self, step: Step) -> NetworkLayer:
        if step.layer not in self.layers or is_in_place(self.layers[step.layer]):
            raise InputError(self.name, f"steps: {step.layer[:60]!r}", "is no layer that takes time")
        return self.layers[step.layer]

    def _input(self, one: LayerInput, memory: Values) -> Values:
        own, size = self._tensor(one.memory), math.prod(one.shape)
        if one.offset + size > math.prod(own.shape):
            raise InputError(
                self.name, f"tensors: {one.memory[:60]!r}", "has too few words; generate the program again"
            )
        at = own.at + one.offset
        return memory[at : at + size].reshape(one.shape)

    def _words(self, tensor: str, memory: Values) -> Values:
        own = self._tensor(tensor)
        return memory[own.at : own.at + math.prod(own.shape)].reshape(own.shape)

    def _tensor(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise InputError(
                self.name, f"tensors: {name[:60]!r}", "has no place in memory; generate the program again"
            )
        return self.tensors[name]
