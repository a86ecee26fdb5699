"""A network's own numbers as the array's words: what each layer is configured with so that it computes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.pe_allocation.configuration.arithmetic import Arithmetic
from mapper.models.pe_allocation.configuration.layer_data import Integers, LayerData
from mapper.models.pe_allocation.configuration.program import Configuration, Rule
from mapper.models.pe_allocation.number.fraction import FIXED, fraction, fractions, room
from mapper.models.pe_allocation.number.origin import Origin, origins
from mapper.models.pe_allocation.number.rule import LayerRule, layer_rule
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork
from mapper.models.scale import factor_and_shift, turned
from mapper.models.word import MOST_BITS, words
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator
from mapper.workloads.network.work import ACTIVATIONS
from mapper.workloads.reference.elementwise import activation, elementwise

Tensors = Mapping[str, npt.NDArray[Any]]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LayerPlan:
    """``rule``, ``shift``, ``arithmetic`` and ``data`` of a layer's programs; bits of the fraction of each operand and
    of what is made, and where the operands' maps come from."""

    rule: Rule
    shift: int
    arithmetic: Arithmetic
    data: LayerData
    operands: tuple[int, ...]
    made: int
    origins: tuple[Origin, ...]


@dataclass(frozen=True, eq=False)
class NumberPlan:
    """``layers`` as ``streams`` has them; ``weights``: the network's constants by name."""

    network: LayerNetwork
    streams: StreamNetwork
    weights: Tensors
    bits: int
    layers: tuple[LayerPlan, ...]

    def configured(self, configuration: Configuration) -> Configuration:
        """``configuration`` with the rules and shifts of these numbers."""
        layers = (
            replace(layer, rule=plan.rule, shift=plan.shift, rectified=False, arithmetic=plan.arithmetic)
            for layer, plan in zip(configuration.layers, self.layers, strict=True)
        )
        return replace(configuration, layers=tuple(layers))


def word_bits(word_bytes: int) -> int:
    """Bits of a word's number."""
    return min(8 * word_bytes, MOST_BITS)


def wanted_tensors(network: LayerNetwork, streams: StreamNetwork) -> tuple[str, ...]:
    """The tensors whose largest numbers ``number_plan`` has to know.

    Raises: UnknownNumbersError as ``number_plan``.
    """
    found: dict[str, None] = {}
    for stream in streams.layers:
        layer = network.layer(stream.name)
        found |= dict.fromkeys((layer.output, layer_rule(layer, stream).before))
        found |= dict.fromkeys(one.tensor for one in layer.inputs)
    return tuple(found)


def number_plan(
    network: LayerNetwork, streams: StreamNetwork, weights: Tensors, largest: Mapping[str, float], bits: int
) -> NumberPlan:
    """The numbers of ``network`` with its ``weights`` (by tensor name) in words of ``bits`` bits. Scales are folded in
    double precision; then every constant is rounded once.

    Raises: UnknownNumbersError if something in the network is computed by nothing here.
    """
    found = origins(network, streams)
    rules = tuple(layer_rule(network.layer(stream.name), stream) for stream in streams.layers)
    given = fractions(network, streams, rules, found, largest, bits)
    layers = []
    for stream, rule, own, (read, made) in zip(streams.layers, rules, found, given, strict=True):
        making = _Making(network.layer(stream.name), stream, rule, weights, bits, read, made)
        layers.append(making.plan(own, largest[rule.before]))
    return NumberPlan(network, streams, weights, bits, tuple(layers))


@dataclass(frozen=True)
class _Making:
    layer: NetworkLayer
    stream: StreamLayer
    rule: LayerRule
    weights: Tensors
    bits: int
    read: tuple[int, ...]
    made: int

    def plan(self, found: tuple[Origin, ...], before: float) -> LayerPlan:
        end = fraction(before, self.bits) if self.rule.tabled else self.made
        limits = self._limits()
        data, now, lifts, scaled = self._constants(end)
        arithmetic = Arithmetic(
            self.bits,
            *limits,
            lifts,
            scaled,
            self.rule.tabled,
            self.rule.rule == "average" and not self.layer.window.count_pads,
        )
        if self.rule.tabled:
            data = replace(data, table=self._table(end))
        return LayerPlan(self.rule.rule, now - end, arithmetic, data, self.read, self.made, found)

    def _limits(self) -> tuple[int, int]:
        """The least and the largest result, ReLU and Clip considered."""
        ends = np.array([-np.inf, np.inf], np.float32)
        if self.rule.activation is not None and not self.rule.tabled:
            ends = activation(self.rule.activation, ends, self._scalars(self.rule.activation))
        low, high = words(np.asarray(ends, np.float64), self.made, self.bits).tolist()
        return int(low), int(high)

    def _table(self, end: int) -> Integers:
        """What becomes of every word with ``end`` bits of fraction."""
        operator = self.rule.activation
        assert operator is not None
        half = 1 << (self.bits - 1)
        numbers = (np.arange(-half, half) / 2.0**end).astype(np.float32)
        if operator.op in ACTIVATIONS:
            exact = activation(operator, numbers, self._scalars(operator))
        else:
            exact = elementwise(operator, [numbers])
        return words(np.nan_to_num(exact.astype(np.float64)), self.made, self.bits).astype(np.int64)

    def _scalars(self, operator: NetworkOperator) -> dict[str, npt.NDArray[Any]]:
        return {name: self.weights[name].reshape(()) for name, _ in operator.weights}

    def _constants(self, end: int) -> tuple[LayerData, int, tuple[int, ...], bool]:
        """The constants, the fraction of what is shifted at last, lifts of the operands, and whether it is scaled."""
        none = np.zeros(0, dtype=np.int64)
        maps = self.stream.maps
        factor, offset = np.ones(maps), np.zeros(maps)
        for operator in self.rule.scales:
            times, more = factor_and_shift(operator, self.weights.__getitem__, maps)
            factor, offset = factor * times, offset * times + more
        if self.rule.rule == "convolution":
            kernel, bias = self._kernel()
            kernel, bias = kernel * factor[:, None, None, None], bias * factor + offset
            own = fraction(float(np.abs(kernel).max(initial=0)), self.bits)
            now = self.read[0] + own
            data = LayerData(
                words(kernel, own, self.bits).astype(np.int64), self._added(bias, now), none, none
            )
            return data, now, (), False
        lifts, now = self._lifts()
        if not self.rule.scales:
            return LayerData(none, none, none, none), now, lifts, False
        own = fraction(float(np.abs(factor).max(initial=0)), self.bits)
        scale = words(factor, own, self.bits).astype(np.int64)
        return LayerData(none, none, scale, self._added(offset, now + own)), now + own, lifts, True

    def _added(self, numbers: Doubles, now: int) -> Integers:
        """What is added to sums of the fraction ``now``: words of 16 bits, shifted left."""
        largest = float(np.abs(numbers).max(initial=0))
        own = min(now, FIXED.get(self.bits, room(largest, MOST_BITS)))
        return words(numbers, own).astype(np.int64) << (now - own)

    def _lifts(self) -> tuple[tuple[int, ...], int]:
        """Bits by which operands are shifted left, and the fraction of what the rule makes of them."""
        rule, read = self.rule.rule, self.read
        if rule == "average":
            more = max(0, self.made - read[0])
            return (more,), read[0] + more
        if rule == "product":
            return (), sum(read)
        common = max(read)
        return tuple(common - one for one in read) if len(set(read)) > 1 else (), common

    def _kernel(self) -> tuple[Doubles, Doubles]:
        """[m][n][k1][k2] of the convolution, that of a transposed one turned round, and the bias."""
        operator, (name, _) = self.layer.operator, self.layer.weight or ("", ())
        kernel = self.weights[name].astype(np.float64)
        if operator.op == "ConvTranspose":
            kernel = turned(kernel, self.layer.window.groups)
        bias = self.layer.bias
        zeros = np.zeros(self.stream.filters)
        return kernel, zeros if bias is None else self.weights[bias[0]].reshape(-1) + zeros
