"""A network's own weights as integers of 8 bits: those of a network in floats per tensor, those of a quantised one as
they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.algorithm_selection.control.sequence import layer_shape
from mapper.models.algorithm_selection.number.fitting import (
    OWN,
    fitted_addition,
    fitted_rescaling,
    meets_halves,
)
from mapper.models.algorithm_selection.number.mantissa import mantissas
from mapper.models.algorithm_selection.number.network_number import (
    HIGHEST,
    LOWEST,
    Format,
    Integers,
    LayerNumbers,
    NetworkNumbers,
    Rounding,
)
from mapper.models.algorithm_selection.number.seeded import SCALES
from mapper.models.algorithm_selection.number.slope import SLOPE_BITS
from mapper.models.algorithm_selection.overlay.running import (
    activates,
    adds,
    averages,
    constant_axes,
    meets_constant,
    requantises,
)
from mapper.models.scale import factor_and_shift
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator
from mapper.workloads.network.quantisation import INTEGER, REQUANTISE, Quantisation
from mapper.workloads.network.work import ACTIVATIONS
from mapper.workloads.reference.elementwise import activation

Tensors = Mapping[str, npt.NDArray[Any]]
Tables = Mapping[str, Integers]
Doubles = npt.NDArray[np.float64]
FACTOR_BITS = 30
SPAN = HIGHEST - LOWEST
CONSTANTS = 4096
"""Numbers that a constant may have which meets integers: each is a table of 256."""
TIMES_BITS = 17


def formats_of(network: LayerNetwork, largest: Mapping[str, float]) -> dict[str, Format]:
    """Formats without zero points that leave room for the ``largest`` magnitude of each tensor; what a maximum, a mean
    or a concatenation hands on keeps its format, so that it costs nothing."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for layer in network.layers:
        if layer.work in ("max_pool", "average_pool", "concatenation", "movement") or activates(layer):
            for one in layer.inputs:
                leader[find(one.memory)] = find(layer.output)
            for name, _ in layer.outputs[1:]:
                leader[find(name)] = find(layer.output)
    groups: dict[str, float] = {}
    for name, size in largest.items():
        groups[find(name)] = max(size, groups.get(find(name), 0.0))
    return {name: Format(float(np.float32((groups[find(name)] or 1.0) / HIGHEST))) for name in largest}


def own_numbers(
    network: LayerNetwork, weights: Tensors, formats: Mapping[str, Format], origin: str
) -> NetworkNumbers:
    """The numbers of a network in floats, with ``weights`` by name, scales folded into them."""
    layers = {
        layer.name: _Layer(network, layer, formats, weights, None).numbers() for layer in network.layers
    }
    return NetworkNumbers(layers, formats, weights, origin)


def quantised_numbers(
    network: LayerNetwork, weights: Tensors, quantisation: Quantisation, origin: str, sums: Tables
) -> NetworkNumbers:
    """The numbers of a network whose tensors and weights are quantised: those that it has. ``sums``: what additions
    make of all pairs of integers from -128 on, and what constants make of all integers, by layer."""
    formats = {
        name: Format(one.scale, one.zero - one.offset, one.offset)
        for name, one in quantisation.tensors.items()
    }
    layers = {
        layer.name: _Layer(network, layer, formats, weights, quantisation, sums).numbers()
        for layer in network.layers
    }
    return NetworkNumbers(layers, formats, weights, origin, exact=True)


def check_constants(network: LayerNetwork) -> None:
    """Raises: InputError if a constant meets maps of a quantised network that are no integers there, or nothing says
    what its result is rounded to, or has more than ``CONSTANTS`` numbers: onnxruntime rounds before and after it in its
    own way, so that neither a bias nor the host's single precision gives its integers."""
    for layer in network.layers:
        if meets_constant(layer) and math.prod(constant_axes(layer)) > CONSTANTS:
            remedy = f"has a constant of {math.prod(constant_axes(layer))} numbers; {CONSTANTS} are read"
            raise InputError(network.name, f"{layer.op} {layer.source!r}", remedy)
        own = (layer.operator,) if layer.work == "elementwise" and layer.op == "Add" else ()
        for operator in (*own, *(one for one in layer.merged if one.op in SCALES)):
            if operator.weights:
                remedy = "has a constant, but no integers on both sides; quantise what it reads and makes"
                raise InputError(network.name, f"{operator.op} {operator.source!r}", remedy)


@dataclass(frozen=True)
class _Layer:
    network: LayerNetwork
    layer: NetworkLayer
    formats: Mapping[str, Format]
    weights: Tensors
    quantisation: Quantisation | None
    sums: Tables = field(default_factory=dict)

    def numbers(self) -> LayerNumbers:
        layer = self.layer
        if layer.work in ("convolution", "fully_connected"):
            return self._product()
        if meets_constant(layer):
            return replace(self._plain(None), table=self.sums[layer.name])
        if requantises(layer):
            return self._table()
        if averages(layer) or (layer.work == "average_pool" and self.quantisation is not None):
            return self._average()
        if adds(layer):
            return self._fitted_addition() if layer.name in self.sums else self._addition()
        if layer.work == "max_pool" or activates(layer):
            return self._plain(self._limits(0))
        return self._plain(None)

    def _plain(self, rounding: Rounding | None) -> LayerNumbers:
        none = np.zeros((0, 0, 0, 1), np.int64)
        return LayerNumbers(none, np.zeros(1, np.int64), np.ones(1, np.int64), rounding)

    def _product(self) -> LayerNumbers:
        kernels, bias, scales = self._integers() if self.quantisation else self._rounded()
        source, target = self._format(self.layer.inputs[0].memory), self._format(self.layer.output)
        # In the order in which onnxruntime computes it.
        real = np.float32(source.scale) * scales.astype(np.float32) / np.float32(target.scale)
        if self.quantisation:
            factor, shift = mantissas(real)
        else:
            shift = FACTOR_BITS - max(0, math.ceil(math.log2(float(real.max()))))
            factor = np.rint(real.astype(np.float64) * 2.0**shift).astype(np.int64)
        most = max(HIGHEST - source.zero, source.zero - LOWEST)
        sums = int((np.abs(kernels).sum((0, 1, 2)) * most + np.abs(bias)).max())
        rounding = self._limits(shift)
        return LayerNumbers(kernels, bias, np.broadcast_to(factor, bias.shape).copy(), rounding, sums)

    def _rounded(self) -> tuple[Integers, Integers, Doubles]:
        """Kernels as integers of 8 bits of the scale that is returned, biases in that of the sums."""
        kernel, bias = self._folded()
        scale = float(np.abs(kernel).max(initial=0)) / HIGHEST or 1.0
        integers = np.rint(kernel / scale).astype(np.int64)
        source = self._format(self.layer.inputs[0].memory).scale or 1.0
        limit = 1 << 30
        added = np.clip(np.rint(bias / (scale * source)), -limit, limit).astype(np.int64)
        return integers, added, np.array([scale])

    def _integers(self) -> tuple[Integers, Integers, Doubles]:
        assert self.quantisation is not None
        own = self.quantisation.weights[self.layer.name]
        kernels = self._shaped(own.integers.astype(np.int64) - own.zero.astype(np.int64))
        maps = kernels.shape[-1]
        bias = np.zeros(maps, np.int64) if own.bias is None else own.bias.astype(np.int64).reshape(-1)
        return kernels, bias, np.broadcast_to(own.scale.reshape(-1), (maps,))

    def _shaped(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A kernel or a matrix as (k1, k2, channels of a group, maps)."""
        shape = layer_shape(self.layer)
        depth, maps = shape.in_channels // shape.groups, shape.out_channels
        if self.layer.work == "fully_connected":
            turned = self.layer.op == "Gemm" and self.layer.operator.integer("transB")
            return (values.T if turned else values).reshape(1, 1, depth, maps)
        return values.reshape(maps, depth, *shape.kernel).transpose(2, 3, 1, 0)

    def _folded(self) -> tuple[Doubles, Doubles]:
        layer, weights = self.layer, self.weights
        assert layer.weight is not None
        kernel = self._shaped(weights[layer.weight[0]].astype(np.float64))
        maps = kernel.shape[-1]
        bias = np.zeros(maps)
        if layer.bias is not None:
            bias = np.broadcast_to(weights[layer.bias[0]].astype(np.float64).reshape(-1), (maps,))
        if layer.op == "Gemm":
            kernel, bias = (
                kernel * layer.operator.number("alpha", 1.0),
                bias * layer.operator.number("beta", 1.0),
            )
        for operator in layer.merged:
            if operator.op in SCALES:
                factor, shift = factor_and_shift(operator, weights.__getitem__, maps)
                kernel, bias = kernel * factor, bias * factor + shift
        return kernel, bias

    def _average(self) -> LayerNumbers:
        """onnxruntime multiplies the sum of a whole map by one number; pixels of other windows it adds as numbers of
        single precision, whose rounding decides where a mean lies between two integers: then it is the host's."""
        source, target = self._format(self.layer.inputs[0].memory), self._format(self.layer.output)
        if self.quantisation is None:
            return self._plain(self._limits(0))
        count = math.prod(self.layer.window.kernel)
        whole = not any(one for pads in self.layer.window.pads for one in pads) and not self.layer.window.ceil
        if not whole:
            return self._plain(None)
        real = np.float32(source.scale) / (np.float32(target.scale) * np.float32(count))
        if self.layer.op != "GlobalAveragePool" and meets_halves(float(real), SPAN * count):
            return self._plain(None)
        factor, shift = mantissas(np.array([real], np.float32))
        return LayerNumbers(
            np.zeros((0, 0, 0, 1), np.int64), np.zeros(1, np.int64), factor, self._limits(shift)
        )

    def _addition(self) -> LayerNumbers:
        """Operands times factors of 17 bits: sums are off by at most 2^-8 of an integer of 8 bits."""
        scales = [self._format(one.memory).scale or 1.0 for one in self.layer.inputs]
        target = self._format(self.layer.output).scale or 1.0
        ratios = [float(np.float32(one) / np.float32(target)) for one in scales]
        shift = TIMES_BITS - 1 - max(0, math.ceil(math.log2(max(ratios))))
        times = tuple(round(ratio * 2.0**shift) for ratio in ratios)
        rounding = self._limits(shift, single=False)
        none = np.zeros((0, 0, 0, 1), np.int64)
        return LayerNumbers(none, np.zeros(1, np.int64), np.ones(1, np.int64), rounding, times=times)

    def _fitted_addition(self) -> LayerNumbers:
        """As onnxruntime adds, of every pair of integers where there are such factors."""
        first, second = (self._format(one.memory) for one in self.layer.inputs)
        target = self._format(self.layer.output)
        unit, zeros = np.float32(target.scale or 1), (first.zero, second.zero, target.zero)
        ratios = (float(np.float32(first.scale or 1) / unit), float(np.float32(second.scale or 1) / unit))
        fit = fitted_addition(ratios, zeros, self.sums[self.layer.name])
        none, bias, factor = np.zeros((0, 0, 0, 1), np.int64), np.array([fit.bias]), np.array([fit.factor])
        return LayerNumbers(none, bias, factor, fit.rounding, times=fit.times, zeros=(*zeros[:2], fit.zero))

    def _table(self) -> LayerNumbers:
        """Integers of another format, or an activation of them: through the requantisers if these have the whole table,
        else on the host."""
        source, target = self._format(self.layer.inputs[0].memory), self._format(self.layer.output)
        reals, operator = source.values(OWN), self.layer.operator
        if operator.op != REQUANTISE:
            own = replace(operator, op=operator.op.removeprefix(INTEGER))
            reals = activation(own, reals, self._scalars(own))
        table = target.integers(reals).astype(np.int64)
        none, zero = np.zeros((0, 0, 0, 1), np.int64), np.zeros(1, np.int64)
        ratio = float(np.float32(source.scale or 1) / np.float32(target.scale or 1))
        fit = fitted_rescaling(ratio, (source.zero, target.zero), table)
        if fit.wrong or not activates(self.layer):
            return LayerNumbers(none, zero, np.ones(1, np.int64), None, table=table)
        return LayerNumbers(none, zero, np.array([fit.factor]), fit.rounding)

    def _limits(self, shift: int, single: bool | None = None) -> Rounding | None:
        """Limits of the output's format, and of ReLU or Clip; None if something is merged that has no unit."""
        layer, target = self.layer, self._format(self.layer.output)
        lowest, highest, slope = LOWEST - target.zero, HIGHEST - target.zero, 1 << SLOPE_BITS
        own = (layer.operator,) if layer.work == "activation" else ()
        for operator in (*own, *layer.merged):
            if operator.op in ("Relu", "Clip"):
                ends = activation(operator, np.array([-np.inf, np.inf], np.float32), self._scalars(operator))
                low, high = np.rint(np.nan_to_num(ends / np.float32(target.scale), posinf=1e9, neginf=-1e9))
                lowest, highest = max(lowest, int(low)), min(highest, int(high))
            elif operator.op == "LeakyRelu":
                slope = round(operator.number("alpha", 0.01) * (1 << SLOPE_BITS))
            elif operator.op in ACTIVATIONS or operator.op not in SCALES:
                return None
        exact = self.quantisation is not None if single is None else single
        return Rounding(shift, lowest, highest, slope, exact)

    def _scalars(self, operator: NetworkOperator) -> dict[str, npt.NDArray[Any]]:
        return {name: self.weights[name].reshape(()) for name, _ in operator.weights}

    def _format(self, tensor: str) -> Format:
        return self.formats[tensor]
