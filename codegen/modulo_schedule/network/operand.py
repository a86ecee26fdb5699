"""Which words of memory the arrays of a layer's nests are: what each repeat (an image, a group) adds to them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mapper.codegen.modulo_schedule.network.layout import Layout
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.gathering import padded_plane
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.models.modulo_schedule.network.winograd import WINOGRAD, tiling
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer


@dataclass(frozen=True)
class Operand:
    """An array's first word, and words from one image, from one group and, in a transformed tile, from one row of
    points and one point of a row to the next."""

    at: int
    image: int = 0
    group: int = 0
    points: tuple[int, int] = (0, 0)

    def strides(self, repeats: int) -> tuple[int, ...]:
        """Words between repeats: of images and groups, and of points where there are four axes."""
        return (self.image, self.group, *self.points)[:repeats]


@dataclass(frozen=True)
class LayerWords:
    """The arrays of a layer's nests by name. ``repeats``: images and groups; ``points``: rows and columns of points,
    over which the products of Winograd's convolution are repeated too. ``wide``: where rows of sums lie
    before they are cut to the output's width; the output itself where they need not be. ``padded``: where planes with
    their padding lie that the array lays out anew. ``buffer_words`` of the buffer are used."""

    operands: dict[str, Operand]
    repeats: tuple[int, int]
    wide: int
    buffer_words: int
    padded: int = 0
    points: tuple[int, int] = (1, 1)

    def repeats_of(self, nest: Nest) -> tuple[int, ...]:
        """The axes along which ``nest`` is repeated, outer to inner."""
        return self.repeats if nest.repeats == math.prod(self.repeats) else (*self.repeats, *self.points)


def words_of(layer: NetworkLayer, algorithm: Algorithm, layout: Layout) -> LayerWords:
    """Where the arrays of the nests lie.

    Raises: InputError for a product of data whose factors are broadcast.
    """
    output = layout.tensors[layer.output]
    constants = {
        array: layout.constants[layer.name, array]
        for array in ("a", "b", "bias", "start", "factor", "shift", "zero")
        if (layer.name, array) in layout.constants
    }
    if algorithm.name in WINOGRAD:
        return _winograd(layer, algorithm, layout, constants)
    if layer.work == "convolution":
        return _convolution(layer, algorithm, layout, constants)
    if layer.op in ("Gemm", "MatMul"):
        return _product(layer, algorithm, layout, constants)
    if layer.work in ("max_pool", "average_pool"):
        source = layout.buffer if algorithm.copied_words else layout.place(layer.inputs[0])
        operands = {"in": Operand(source), "out": Operand(output), "start": Operand(constants["start"])}
        return LayerWords(operands, (1, 1), output, algorithm.copied_words)
    if layer.work == "batch_normalization":
        image = math.prod(layer.output_shape[1:])
        operands = {
            "in": Operand(layout.place(layer.inputs[0]), image),
            "out": Operand(output, image),
            "factor": Operand(constants["factor"]),
            "shift": Operand(constants["shift"]),
        }
        return LayerWords(operands, (algorithm.nests[0].repeats, 1), output, 0)
    operands = {
        name: Operand(layout.place(one)) for name, one in zip(("in", "other"), layer.inputs, strict=False)
    }
    return LayerWords(operands | {"out": Operand(output)}, (1, 1), output, 0)


def _convolution(
    layer: NetworkLayer, algorithm: Algorithm, layout: Layout, constants: dict[str, int]
) -> LayerWords:
    shape, nest = layer.convolution, algorithm.nests[algorithm.main]
    images, groups, filters = shape.batch, shape.groups, shape.out_channels // shape.groups
    plane = math.prod(layer.inputs[0].shape[2:]) * (shape.in_channels // groups)
    positions = math.prod(layer.output_shape[2:])
    area = nest.output.stride("i")
    used = algorithm.words["buffer"]
    wide = layout.tensors[layer.output]
    if algorithm.sliding is not None:
        # Windows that straddle the end of the last row read a little beyond what im2row has laid out.
        assert nest.window is not None
        used += nest.window[0] * nest.window[1]
        if area != positions:
            wide = layout.buffer + used
            used += images * shape.out_channels * area
    laid = algorithm.words["buffer"] // (images * groups)
    data = Operand(layout.buffer, laid * groups, laid)
    if not algorithm.words["buffer"]:
        data = Operand(layout.place(layer.inputs[0]), plane * groups, plane)
    source = Operand(layout.place(layer.inputs[0]), plane * groups, plane)
    padded = layout.buffer + used
    if algorithm.words.get("padded"):
        used += algorithm.words["padded"]
        size = math.prod(padded_plane(layer, algorithm.sliding)) * (shape.in_channels // groups)
        source = Operand(padded, size * groups, size)
    operands = {
        "in": source,
        "a": Operand(constants["a"], 0, filters * math.prod(shape.kernel) * (shape.in_channels // groups)),
        "b": data,
        "bias": Operand(constants["bias"], 0, filters),
        "c": Operand(wide, filters * area * groups, filters * area),
    }
    return LayerWords(operands, (images, groups), wide, used, padded)


def _winograd(
    layer: NetworkLayer, algorithm: Algorithm, layout: Layout, constants: dict[str, int]
) -> LayerWords:
    cut = tiling(layer, WINOGRAD[algorithm.name])
    assert cut is not None
    images, groups, words = layer.convolution.batch, layer.convolution.groups, cut.words
    output, plane = layout.tensors[layer.output], cut.filters * math.prod(cut.outputs)
    data, weights, sums = cut.channels * cut.count, cut.filters * cut.channels, cut.filters * cut.count
    given = cut.channels * math.prod(cut.given)
    operands = {
        "in": Operand(layout.place(layer.inputs[0]), given * groups, given),
        "out": Operand(output, plane * groups, plane),
        "a": Operand(constants["a"], 0, words**2 * weights, (weights, words * weights)),
        "bias": Operand(constants["bias"], 0, words**2 * cut.filters, (words * cut.filters, cut.filters)),
        "zero": Operand(constants["zero"]),
    }
    # Points stand row by row in the sums, column by column in the data and the weights.
    points = {"b": (data, words * data), "c": (words * sums, sums)}
    at = layout.buffer
    for name, size in cut.buffers.items():
        operands[name] = Operand(at, size * groups, size, points.get(name, (0, 0)))
        at += size * cut.repeats
    return LayerWords(operands, (images, groups), output, at - layout.buffer, points=(words, words))


def _product(
    layer: NetworkLayer, algorithm: Algorithm, layout: Layout, constants: dict[str, int]
) -> LayerWords:
    output = layout.tensors[layer.output]
    nest = algorithm.nests[algorithm.main]
    if layer.work == "fully_connected":
        operands = {"a": Operand(constants["a"]), "b": Operand(layout.place(layer.inputs[0]))}
    else:
        operands, data = {}, iter(layer.inputs)
        for array, name in zip(("a", "b"), layer.operator.operands, strict=False):
            if array in constants:
                operands[array] = Operand(
                    constants[array], _apart(layer, nest, dict(layer.operator.weights)[name])
                )
            else:
                one = next(data)
                operands[array] = Operand(layout.place(one), _apart(layer, nest, one.shape))
    size = math.prod(layer.output_shape) // nest.repeats
    operands |= {"bias": Operand(constants["bias"]), "c": Operand(output, size)}
    return LayerWords(operands, (nest.repeats, 1), output, 0)


def _apart(layer: NetworkLayer, nest: Nest, shape: tuple[int, ...]) -> int:
    """Words from one factor of a batch of products to the next."""
    lead, size = math.prod(shape[:-2]), math.prod(shape[-2:])
    if lead == nest.repeats:
        return size
    if lead == 1:
        return 0
    raise InputError(layer.name, "operands", "are broadcast along some axes; repeat them before")
