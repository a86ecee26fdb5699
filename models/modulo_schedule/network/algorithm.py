"""How a layer can run: its algorithms, each as loop nests on the array and words copied in VLIW mode [Bae2018, IV].

A convolution of 1x1 is a matrix product as it lies; a larger one is im2col and a matrix product, or im2row and
optCGRA where the values that optCGRA keeps in registers, 2k^2 - k, are fewer than half of the array's registers.
Sums start with the bias, and the activation is written out in a nest of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.network.gathering import gathering
from mapper.models.modulo_schedule.network.nest import Access, Nest, Operation
from mapper.models.modulo_schedule.network.winograd import WINOGRAD, tiling, winograd_nests
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator

GEMM, IM2COL, IM2ROW, POOL = "gemm", "im2col+gemm", "im2row+optcgra", "pool"
ARRAY_IM2COL, ARRAY_IM2ROW = "array-im2col+gemm", "array-im2row+optcgra"
REGISTERS = "+registers"
"""Ends the names of algorithms that keep a block of sums in registers."""
MERGED_POOL, DIRECT, VLIW = "merge+pool", "direct", "vliw"
WHOLE_WINDOW = 16
"""Words of a pool's window up to which its copies stand in the body."""
FAR_BELOW = -3.4028234663852886e38


@dataclass(frozen=True)
class Algorithm:
    """One way to run a layer. ``nests`` run on the array in this order, the first of the largest work being
    ``main``; ``copied_words`` are moved and ``elements`` computed in VLIW mode; ``words`` are those of the
    operands in memory, by name."""

    name: str
    nests: tuple[Nest, ...]
    main: int = 0
    copied_words: int = 0
    elements: int = 0
    words: dict[str, int] = field(default_factory=dict, hash=False)

    @property
    def im2col(self) -> Literal["driver", "array"] | None:
        """Who lays a convolution's input out for its sums, im2row being one way of im2col; None where nobody has to."""
        name = self.name.removesuffix(REGISTERS)
        if name in (ARRAY_IM2COL, ARRAY_IM2ROW):
            return "array"
        return "driver" if name in (IM2COL, IM2ROW) else None

    @property
    def sliding(self) -> Nest | None:
        """The nest whose window slides in registers, if it has one."""
        main = self.nests[self.main] if self.nests else None
        return main if main is not None and main.window is not None else None


def algorithms(layer: NetworkLayer, machine: CgraMachine) -> tuple[Algorithm, ...]:
    """Every way to run ``layer`` on ``machine``, the one that the paper's rule takes first [Bae2018, V-B1].

    Raises: InputError if the layer's sizes are not those of its kind.
    """
    if layer.work == "convolution" and layer.op == "Conv" and len(layer.window.kernel) <= 2:
        return _convolution(layer, machine)
    if layer.work in ("fully_connected", "matrix_product") and layer.op in ("Gemm", "MatMul"):
        return (_product(layer),)
    if layer.work in ("max_pool", "average_pool") and len(layer.window.kernel) == 2 and _is_plain(layer):
        return _pool(layer)
    if layer.work in ("elementwise", "activation", "batch_normalization") and (direct := _direct(layer)):
        return (direct,)
    return (_vliw(layer),)


def is_in_place(layer: NetworkLayer) -> bool:
    """Whether a layer is a concatenation of whole stretches of memory, which takes no time: what makes its inputs
    writes them next to each other."""
    if layer.work != "concatenation":
        return False
    axis = layer.operator.integer("axis", 1)
    return all(size == 1 for size in layer.output_shape[: axis % len(layer.output_shape)])


def uses_registers(kernel: int, machine: CgraMachine) -> bool:
    """The paper's rule for optCGRA: 2k^2 - k below half of all data registers [Bae2018, V-B1]."""
    return kernel > 1 and 2 * (2 * kernel * kernel - kernel) < machine.registers


def _convolution(layer: NetworkLayer, machine: CgraMachine) -> tuple[Algorithm, ...]:
    shape = layer.convolution
    kernel, strides = _two(shape.kernel), _two(shape.strides)
    dilations = _two(shape.dilations)
    rows, columns = _two(shape.output_size)
    filters, channels = shape.out_channels // shape.groups, shape.in_channels // shape.groups
    repeats, positions, taps = shape.batch * shape.groups, rows * columns, kernel[0] * kernel[1]
    depth = channels * taps
    words = {
        "input": math.prod(layer.inputs[0].shape),
        "weights": shape.out_channels * depth,
        "output": math.prod(layer.output_shape),
    }
    is_matrix = taps == 1 and strides == (1, 1) and not any(map(sum, shape.pads))
    output = Access("c", (("i", positions), ("j", 1)))
    product = Nest(
        "gemm",
        (("i", filters), ("j", positions), ("k", depth)),
        "multiply_add",
        output,
        (Access("a", (("i", depth), ("k", 1))), Access("b", (("k", positions), ("j", 1)))),
        repeats,
    )
    ends = _ends(layer, filters, positions, repeats, output)
    copied = 0 if is_matrix else repeats * depth * positions
    gemm = Algorithm(
        GEMM if is_matrix else IM2COL,
        (ends[0], product, *ends[1:]),
        1,
        copied,
        _unmapped(layer),
        words | {"buffer": copied},
    )
    few = tuple(filter(None, (_winograd(layer, name) for name in WINOGRAD)))
    square = kernel[0] == kernel[1] and strides[0] == strides[1] and dilations == (1, 1)
    gathered = () if is_matrix else (_on_array(layer, gemm, ARRAY_IM2COL),)
    if taps == 1 or not square or not uses_registers(kernel[0], machine):
        return gemm, *gathered, *few
    # Rows are padded to whole steps, and a step more where the window reaches beyond the last one.
    pitch = -(-(_two(tuple(map(sum, shape.pads)))[1] + _two(shape.input_size)[1]) // strides[1])
    area = rows * pitch
    plane = area * strides[1] * kernel[0]
    sliding = Nest(
        "optcgra",
        (("i", filters), ("j", channels), ("l", area)),
        "window",
        Access("c", (("i", area), ("l", 1))),
        (Access("b", (("j", plane), ("l", strides[1] * kernel[0]))),),
        repeats,
        window=(kernel[0], kernel[1], strides[1]),
    )
    ends = _ends(layer, filters, area, repeats, Access("c", (("i", area), ("j", 1))))
    buffer = repeats * channels * plane
    # Rows of the sums are as wide as those of im2row; what reads the layer finds them side by side.
    copied = buffer + (repeats * filters * positions if pitch != columns else 0)
    optcgra = Algorithm(
        IM2ROW, (ends[0], sliding, *ends[1:]), 1, copied, _unmapped(layer),
        words | {"output": repeats * filters * area, "buffer": buffer},
    )  # fmt: skip
    return optcgra, gemm, _on_array(layer, optcgra, ARRAY_IM2ROW), *gathered, *few


def _on_array(layer: NetworkLayer, driven: Algorithm, name: str) -> Algorithm:
    """The same with im2col or im2row as loops on the array: VLIW mode copies what padding there is, and cuts rows."""
    nest, padded = gathering(layer, driven.sliding)
    return replace(
        driven,
        name=name,
        nests=(nest, *driven.nests),
        main=driven.main + 1,
        copied_words=driven.copied_words - driven.words["buffer"] + padded,
        words=driven.words | {"padded": padded},
    )


def _winograd(layer: NetworkLayer, name: str) -> Algorithm | None:
    cut = tiling(layer, WINOGRAD[name])
    if cut is None:
        return None
    size, elements = math.prod(layer.output_shape), _unmapped(layer)
    last = layer.merged[-1] if layer.merged else None
    activation = None if last is None else _mapped(last)
    if last is not None and activation is not None and not elements:
        nests, main = winograd_nests(cut, activation, _numbers(last))
    else:
        # What the array lacks comes in between.
        nests, main = winograd_nests(cut)
        place = Access("out", (("j", 1),))
        nests += _activation(layer.merged[-1:], (("j", size // cut.repeats),), place, cut.repeats)
    words = {
        "input": math.prod(layer.inputs[0].shape),
        "weights": layer.convolution.groups * cut.words**2 * cut.filters * cut.channels,
        "output": size,
        "buffer": cut.repeats * sum(cut.buffers.values()),
    }
    return Algorithm(name, nests, main, 0, elements, words)


def _ends(
    layer: NetworkLayer, filters: int, positions: int, repeats: int, output: Access
) -> tuple[Nest, ...]:
    """What comes before and after the sums: filling with the bias, and the activation if there is one."""
    loops = (("i", filters), ("j", positions))
    fill = Nest("bias", loops, "fill", output, (Access("bias", (("i", 1),)),), repeats)
    after = _activation(layer.merged[-1:], (("j", filters * positions),), Access("c", (("j", 1),)), repeats)
    return (fill, *after)


def _activation(
    merged: tuple[NetworkOperator, ...], loops: tuple[tuple[str, int], ...], place: Access, repeats: int
) -> tuple[Nest, ...]:
    if not merged:
        return ()
    operation = _mapped(merged[0])
    if operation is None:
        return ()
    return (Nest("activation", loops, operation, place, (place,), repeats, _numbers(merged[0])),)


def _mapped(operator: NetworkOperator) -> Operation | None:
    """What the array runs for an activation. A leaky ReLU is the larger of x and x times its slope, which holds for
    slopes of 0 to 1."""
    if operator.op == "LeakyRelu" and not 0.0 <= operator.number("alpha", 0.01) <= 1.0:
        return None
    return _ACTIVATIONS.get(operator.op)


_ACTIVATIONS: dict[str, Operation] = {"Relu": "relu", "LeakyRelu": "leaky_relu", "Clip": "clip"}
SCALES = frozenset({"BatchNormalization", "Mul", "Add", "Sub", "Div"})
_ELEMENTWISE: dict[str, Operation] = {
    "Add": "add", "Sum": "add", "Sub": "subtract", "Mul": "multiply", "Max": "larger",
}  # fmt: skip


def _unmapped(layer: NetworkLayer) -> int:
    """Elements of merged operators that the array does not run: functions it lacks, and scales that no weights
    can take up."""
    folded = layer.work in ("convolution", "fully_connected")
    left = [
        operator
        for operator in layer.merged
        if _mapped(operator) is None and not (folded and operator.op in SCALES)
    ]
    return len(left) * math.prod(layer.output_shape)


def _numbers(operator: NetworkOperator) -> tuple[float, ...]:
    if operator.op == "LeakyRelu":
        return (float(operator.number("alpha", 0.01)),)
    if operator.op == "Clip":
        ends = operator.number("min", FAR_BELOW), operator.number("max", -FAR_BELOW)
        return tuple(min(max(float(end), FAR_BELOW), -FAR_BELOW) for end in ends)
    return ()


def _product(layer: NetworkLayer) -> Algorithm:
    """A fully connected layer has its outputs along i and images along j, which lie row by row of an image; other
    products are those of the matrices as they lie."""
    if layer.work == "fully_connected":
        (batch, depth, outputs), repeats = layer.matrix, 1
        output = Access("c", (("i", 1), ("j", outputs)))
        factors = Access("a", (("i", depth), ("k", 1))), Access("b", (("j", depth), ("k", 1)))
    else:
        outputs, depth, batch = _factors(layer)
        repeats = max(1, math.prod(layer.output_shape) // (batch * outputs))
        output = Access("c", (("i", batch), ("j", 1)))
        turned = [layer.op == "Gemm" and bool(layer.operator.integer(name)) for name in ("transA", "transB")]
        factors = (
            Access("a", (("i", 1), ("k", outputs)) if turned[0] else (("i", depth), ("k", 1))),
            Access("b", (("k", 1), ("j", depth)) if turned[1] else (("k", batch), ("j", 1))),
        )
    loops = (("i", outputs), ("j", batch), ("k", depth))
    product = Nest("gemm", loops, "multiply_add", output, factors, repeats)
    words = {
        "input": repeats * batch * depth,
        "weights": depth * outputs,
        "output": repeats * batch * outputs,
        "buffer": 0,
    }
    ends = _ends(layer, outputs, batch, repeats, output)
    return Algorithm(GEMM, (ends[0], product, *ends[1:]), 1, 0, _unmapped(layer), words)


def _factors(layer: NetworkLayer) -> tuple[int, int, int]:
    """Rows, depth and columns of a product of which either factor may be constant; vectors are one row or column."""
    operator, data = layer.operator, iter(layer.inputs)
    constant = dict(operator.weights)
    shapes = [constant[name] if name in constant else next(data).shape for name in operator.operands[:2]]
    left, right = (1, *shapes[0])[-2:], shapes[1][-2:] if len(shapes[1]) > 1 else (*shapes[1], 1)
    if layer.op == "Gemm":
        left = left[::-1] if operator.integer("transA") else left
        right = right[::-1] if operator.integer("transB") else right
    return left[0], left[1], right[1]


def _is_plain(layer: NetworkLayer) -> bool:
    return layer.window.dilations == (1, 1)


def _pool(layer: NetworkLayer) -> tuple[Algorithm, ...]:
    window = layer.window
    batch, channels, *sizes = layer.inputs[0].shape
    rows, columns = layer.output_shape[2:]
    pads = [sum(pad) for pad in window.covering_pads(tuple(sizes), (rows, columns))]
    height, width = (size + pad for size, pad in zip(sizes, pads, strict=True))
    planes, (down, right) = batch * channels, window.strides
    taps = window.kernel[0] * window.kernel[1]
    copied = planes * height * width if any(pads) else 0
    words = {
        "input": math.prod(layer.inputs[0].shape),
        "weights": 0,
        "output": math.prod(layer.output_shape),
        "buffer": copied,
    }
    greatest = layer.work == "max_pool"
    divisor = () if greatest else (float(taps),)
    rim = rim_elements(layer)
    operation: Operation = "max" if greatest else "sum"
    size = (("p", planes * rows * columns),)
    flat = Access("out", (("p", 1),))
    ends = _activation(layer.merged[-1:], size, flat, 1)
    rim += _unmapped(layer)
    if taps <= WHOLE_WINDOW:
        reach = tuple(r * width + c for r in range(window.kernel[0]) for c in range(window.kernel[1]))
        source = Access("in", (("c", height * width), ("y", down * width), ("x", right)), reach)
        output = Access("out", (("c", rows * columns), ("y", columns), ("x", 1)))
        small = (("c", planes), ("y", rows), ("x", columns))
        nests = (Nest("pool", small, operation, output, (source,), 1, divisor), *ends)
        plain = Algorithm(POOL, nests, 0, copied, rim, words)
        jump = down * width - columns * right
        if rows == 1 or jump == 0:
            return (plain,)
        merged = Nest(
            "pool",
            (("c", planes), ("yx", rows * columns)),
            operation,
            Access("out", (("c", rows * columns), ("yx", 1))),
            (Access("in", (("c", height * width), ("yx", right)), reach),),
            1,
            divisor,
            merged=(columns, jump),
        )
        return plain, replace(plain, name=MERGED_POOL, nests=(merged, *ends))
    output = Access("out", (("c", rows * columns), ("y", columns), ("x", 1)))
    strides = (("c", height * width), ("y", down * width), ("x", right), ("r", width), ("q", 1))
    loops = (
        ("c", planes), ("y", rows), ("x", columns), ("r", window.kernel[0]), ("q", window.kernel[1]),
    )  # fmt: skip
    fill = Nest("fill", size, "fill", flat, (Access("start", ()),))
    pool = Nest("pool", loops, operation, output, (Access("in", strides),))
    scale = () if greatest else (Nest("scale", size, "scale", flat, (flat,), 1, divisor),)
    return (Algorithm(POOL, (fill, pool, *scale, *ends), 1, copied, rim, words),)


def rim_elements(layer: NetworkLayer) -> int:
    """Elements of a pool that are mended in VLIW mode: averages that leave padding, or what is beyond it, out divide by
    other numbers at the rim."""
    if layer.work != "average_pool":
        return 0
    window = layer.window
    batch, channels, *sizes = layer.inputs[0].shape
    rows, columns = layer.output_shape[2:]
    pads = [sum(pad) for pad in window.covering_pads(tuple(sizes), (rows, columns))]
    counted = [sum(pad) for pad in window.pads] if window.count_pads else [0, 0]
    return 0 if pads == counted else 2 * batch * channels * (rows + columns)


def _direct(layer: NetworkLayer) -> Algorithm | None:
    """Element by element; None where the array lacks the function or shapes are broadcast."""
    size = math.prod(layer.output_shape)
    output, loops = Access("out", (("p", 1),)), (("p", size),)
    words = {"input": size * len(layer.inputs), "weights": 0, "output": size, "buffer": 0}
    nests: list[Nest] = []
    if layer.work == "batch_normalization":
        batch, channels, *rest = layer.output_shape
        plane = math.prod(rest)
        access = (("i", plane), ("j", 1))
        per_channel = (("i", 1),)
        nests.append(
            Nest(
                "normalisation", (("i", channels), ("j", plane)), "affine", Access("out", access),
                (Access("in", access), Access("factor", per_channel), Access("shift", per_channel)), batch,
            )
        )  # fmt: skip
    elif layer.work == "activation":
        operation = _mapped(layer.operator)
        if operation is None:
            return None
        source = Access("in", (("p", 1),))
        nests.append(Nest("activation", loops, operation, output, (source,), 1, _numbers(layer.operator)))
    else:
        operation = _ELEMENTWISE.get(layer.op)
        same = all(one.shape == layer.output_shape for one in layer.inputs)
        if operation is None or not same or len(layer.inputs) != 2:
            return None
        sources = tuple(Access(name, (("p", 1),)) for name in ("in", "other"))
        nests.append(Nest("elementwise", loops, operation, output, sources))
    nests += _activation(layer.merged[-1:], loops, output, 1)
    return Algorithm(DIRECT, tuple(nests), 0, 0, _unmapped(layer), words)


def _vliw(layer: NetworkLayer) -> Algorithm:
    """What the array cannot run, or what only moves words."""
    size = sum(math.prod(shape) for _, shape in layer.outputs)
    read = sum(math.prod(one.shape) for one in layer.inputs)
    words = {"input": read, "weights": 0, "output": size, "buffer": 0}
    if layer.work in ("movement", "concatenation"):
        return Algorithm(VLIW, (), 0, size, 0, words)
    work = max(size, layer.macs)
    return Algorithm(VLIW, (), 0, 0, work, words)


def _two(sizes: tuple[int, ...]) -> tuple[int, int]:
    """A plane's sizes; a convolution over one axis has a single row."""
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])
