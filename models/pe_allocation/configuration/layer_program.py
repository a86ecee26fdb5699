"""What the PEs of a layer run, wherever they stand and whatever is around them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from mapper.models.pe_allocation.configuration.address import Affine
from mapper.models.pe_allocation.configuration.arithmetic import Arithmetic
from mapper.models.pe_allocation.configuration.program import LayerProgram, Loop, Pe, PeProgram, Rule, Scheme
from mapper.models.pe_allocation.stream.layer import StreamLayer

RULES: dict[str, Rule] = {
    "MaxPool": "max", "GlobalMaxPool": "max", "AveragePool": "average", "GlobalAveragePool": "average",
    "Add": "sum", "Sum": "sum", "Mean": "mean", "Mul": "product", "Max": "largest", "Min": "smallest",
    "Sub": "difference", "BatchNormalization": "scale", "Relu": "rectify", "Clip": "rectify",
}  # fmt: skip
"""What pools and element-wise layers compute; operators that are not here pass their first operand on."""

RECTIFIERS = frozenset({"Relu", "Clip"})
WEIGHT_SPREAD = 5376
"""Variance of weights drawn evenly from -127 to 127: (255^2 - 1) / 12."""


SHIFTS: dict[Rule, int] = {"product": 7, "scale": 6}
"""Products of two maps have seven bits of fraction more than they are given, scales of normalisations six."""


def bare_program(
    layer: StreamLayer, pes: int, delta: int, scheme: Scheme = "depth", places: Sequence[Pe] | None = None
) -> LayerProgram:
    """``layer`` on so many PEs and units, without idle cycles, start time, sources and borders."""
    return LayerProgram(
        name=layer.name,
        rule=rule_of(layer),
        rectified=bool(RECTIFIERS & set(layer.merged)),
        shift=_shift(layer),
        filters=layer.maps if scheme == "lanes" and layer.operation == "pool" else layer.filters,
        depth=layer.depth,
        group_filters=max(1, layer.filters // layer.groups),
        size=layer.size,
        output_size=layer.output_size,
        kernel=layer.kernel,
        strides=layer.strides,
        dilations=layer.dilations,
        pads=layer.pads,
        operands=layer.depth if layer.operation == "elementwise" else 1,
        channels=layer.channels,
        maps=layer.maps,
        scheme=scheme,
        delta=delta,
        idle=0,
        start=0,
        run=0,
        sources=(),
        calculus_words=0,
        weight_words=layer.weight_words,
        weight_border=None,
        output=None,
        output_border=None,
        pes=tuple(
            _pe_program(layer, number, pes, delta, scheme, places[number] if places else None)
            for number in range(pes)
        ),
        spread=layer.spread,
        arithmetic=Arithmetic(scaled=rule_of(layer) == "scale"),
    )


def rule_of(layer: StreamLayer) -> Rule:
    if layer.operation == "convolution":
        return "convolution"
    without = "max" if layer.operation == "pool" else "sum" if layer.depth > 1 else "pass"
    return RULES.get(layer.op, without if not layer.op else "pass")  # type: ignore[arg-type]


def _shift(layer: StreamLayer) -> int:
    """Bits that bring a sum of N*K^2 products with random weights, and other products, back to the size of a pixel."""
    if layer.operation != "convolution":
        return SHIFTS.get(rule_of(layer), 0)
    return isqrt(WEIGHT_SPREAD * layer.depth * layer.window).bit_length() - 1


def _pe_program(
    layer: StreamLayer, number: int, pes: int, delta: int, scheme: Scheme, place: Pe | None
) -> PeProgram:
    high, wide = layer.kernel
    window = (Loop("k1", 0, 1, high, high), Loop("k2", 0, 1, wide, wide))
    filter_words = layer.depth * layer.window
    if scheme == "lanes":
        pooled = layer.operation == "pool"
        filters, depth = (layer.maps, 1) if pooled else (layer.filters, layer.depth)
        lanes = pes * delta
        inner = (
            Loop("n", 0, 1, depth, depth),
            Loop("m", number * delta, lanes, -(-filters // lanes), filters),
        )
        strides = (layer.window, lanes * filter_words, filter_words)
        base = number * delta * filter_words
    else:
        steps, share = -(-layer.depth // delta), -(-layer.filters // pes)
        inner = (Loop("n", 0, delta, steps, layer.depth), Loop("m", number, pes, share, layer.filters))
        strides = (delta * layer.window, pes * filter_words, layer.window)
        base = number * filter_words
    loops = (*window, *inner)
    weights = None
    if layer.weight_words:
        # Weights lie as [m][n][k1][k2].
        weights = Affine(
            ("k1", "k2", "n", "m", "d"),
            (*(loop.count for loop in loops), delta),
            (wide, 1, *strides),
            base,
        )
    return PeProgram(number, place, loops, weights)
