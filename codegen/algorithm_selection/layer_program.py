"""One step of a control sequence as instructions of the overlay [Meng2021, sec. 3.1]."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mapper.codegen.algorithm_selection.instruction import (
    Call,
    Gemm,
    Instruction,
    Level,
    Move,
    Path,
    Pooling,
    Requantisation,
    at,
)
from mapper.codegen.algorithm_selection.path import (
    counters,
    dram_path,
    grid_path,
    line_path,
    map_path,
    matrix_path,
    tile_path,
)
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep, OtherStep, Region
from mapper.models.algorithm_selection.control.walk import TAP, rounds, tiles
from mapper.models.algorithm_selection.gemm_call import GemmCall
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer

LOWEST, HIGHEST = -128, 127
FACTOR_BITS = 7
"""Factors of maps are in 1/128."""
BELOW_ALL = -(2**31)


def convolution(control: Control, step: ConvolutionStep, scales: int) -> Iterator[Instruction]:
    """Kernels and scales (from address ``scales`` of DRAM), then for every image: input, products, requantised 3-D
    tensor, and its layout in DRAM.

    Raises: InputError if the Verilog has no unit for the step.
    """
    check(step)
    yield _kernels(step)
    maps = step.shape.out_channels
    table = Path(0, (Level(maps, at(1, 0)), Level(2, at(0, 1))))
    yield Move("dram", "scale", line_path(2 * maps, scales), table)
    source, target = control.region(step.input), control.region(step.output)
    for image in range(step.shape.batch):
        yield from _input(step, source, image)
        yield from _products(step)
        yield _finish(step)
        # The rows of a fully connected layer are images of the tensor it makes.
        positions, size = math.prod(step.shape.output_size), target.walk.height * target.walk.width
        for at_once in range(positions // size):
            yield _store(target, image * (positions // size) + at_once, at_once * size, positions)


def max_pool(control: Control, step: OtherStep, layer: NetworkLayer) -> Iterator[Instruction]:
    """A max pool on the pooling unit: the map into the tensor buffer, its pool after it, and that into DRAM."""
    source, target = control.region(step.inputs[0]), control.region(step.outputs[0])
    (images, channels, *size), window = layer.inputs[0].shape, layer.window
    out = layer.output_shape[2:]
    stride = window.strides[0]
    padded = tuple((count - 1) * stride + kernel for count, kernel in zip(out, window.kernel, strict=True))
    corner = (-window.pads[0][0], -window.pads[1][0])
    all_rows = math.prod(size) + math.prod(out)
    taken = Path(
        at(corner[0] * size[1] + corner[1], 0),
        (
            Level(padded[1], at(1, 0), 0, 1),
            Level(padded[0], at(size[1], 0), 1, 0),
            Level(channels, at(0, 1)),
        ),
        (size[0], size[1]),
        corner,
    )
    put = Path(at(math.prod(size), 0), (Level(math.prod(out), at(1, 0)), Level(channels, at(0, 1))))
    pooling = Pooling((window.kernel[0], window.kernel[1]), stride, (padded[0], padded[1]))
    for image in range(images):
        yield _restore(source, image, all_rows)
        yield Move(
            "tensor",
            "tensor",
            taken,
            put,
            "max_pool",
            (all_rows, all_rows),
            pooling=pooling,
            fill=BELOW_ALL,
        )
        yield _store(target, image, math.prod(size), all_rows)


def pools(layer: NetworkLayer) -> bool:
    """Whether the pooling unit can do a layer: a max pool over two axes, one stride, no dilation."""
    if layer.work != "max_pool" or len(layer.window.kernel) != 2:
        return False
    return len(set(layer.window.strides)) == 1 and set(layer.window.dilations) == {1}


def check(step: ConvolutionStep) -> None:
    """Raises: InputError if the Verilog cannot run the step: Winograd tiles of 4, kn2row of outputs wider than the
    input's sub-maps, matrices of more than 65535 rows or columns, sums that may pass 32 bits."""
    if step.m not in (0, 2):
        raise InputError(step.name, step.algorithm, "has no transform in Verilog; take winograd, F(2, 3)")
    if step.algorithm == "kn2row" and _pitch(step) < step.shape.output_size[1]:
        raise InputError(step.name, "kn2row", "gives rows longer than the patch's; take im2col")
    products = math.prod(step.shape.kernel) * step.shape.in_channels // step.shape.groups
    # Wrapped sums come right again in the output transform, so long as 4 times the result fits.
    if products * LOWEST**2 * (4 if step.m else 1) >= 1 << 31:
        raise InputError(step.name, step.algorithm, f"sums {products} products, which may pass 32 bits")
    longest = max(
        step.walk.rows, step.walk.columns, step.weight_rows, step.weight_columns, _result_rows(step)
    )
    if longest > 0xFFFF:
        raise InputError(step.name, step.algorithm, f"needs a matrix of {longest} rows; Verilog has 65535")


def _kernels(step: ConvolutionStep) -> Move:
    """Kernel matrices, through the kernel transform in Winograd."""
    rows, columns = step.weight_rows, step.weight_columns
    if not step.m:
        words = line_path(rows * columns, step.weight_address)
        return Move("dram", "kernel", words, grid_path(rows, columns), rows=(0, rows))
    depth, (taps1, taps2) = step.shape.in_channels // step.shape.groups, step.shape.kernel
    pieces1, pieces2 = rounds(step.shape)
    tap = depth * columns
    taken = Path(
        step.weight_address,
        (
            Level(TAP, tap, 0, 1),
            Level(TAP, taps2 * tap, 1, 0),
            Level(columns, 1),
            Level(depth, columns),
            Level(pieces2, TAP * tap, 0, TAP),
            Level(pieces1, TAP * taps2 * tap, TAP, 0),
        ),
        (taps1, taps2),
    )
    put = tile_path(pieces1 * pieces2, (step.m + TAP - 1) ** 2, depth, columns)
    return Move("dram", "kernel", taken, put, "winograd_kernel", (0, rows))


def _input(step: ConvolutionStep, region: Region, image: int) -> Iterator[Move]:
    """The input in its algorithm's layout, through the input transform in Winograd; first restored to the 3-D tensor
    if it lies in DRAM as another layer reads it."""
    walk, winograd = step.walk, step.m > 0
    order = counters(walk, tiles_innermost=winograd)
    if winograd:
        put = tile_path(
            math.prod(rounds(step.shape)),
            (step.m + TAP - 1) ** 2,
            math.prod(tiles(step.shape, step.m)),
            walk.columns,
        )
    else:
        put = matrix_path(walk, order)
    rows = walk.height * walk.width
    if step.load == "transform":
        stored = region.walk
        if (stored.height, stored.width, stored.channels) != (walk.height, walk.width, walk.channels):
            yield from _flattened(step, region)
            return
        yield _restore(region, image, rows)
    yield Move(
        "dram" if step.load == "copy" else "tensor",
        "input",
        dram_path(order, _address(region, image)) if step.load == "copy" else map_path(walk, order),
        put,
        "winograd_input" if winograd else "none",
        (rows, walk.rows),
    )


def _flattened(step: ConvolutionStep, region: Region) -> Iterator[Move]:
    """Maps as the rows of a fully connected layer, channel by channel."""
    stored, images = region.walk, step.walk.rows
    size = stored.height * stored.width
    if size * stored.channels != step.walk.columns or step.shape.kernel != (1, 1) or step.shape.batch != 1:
        raise InputError(step.name, step.input, "is read in parts, for which the Verilog has no path")
    for image in range(images):
        yield _restore(region, image, size)
        taken = Path(0, (Level(size, at(1, 0)), Level(stored.channels, at(0, 1))))
        put = Path(at(image, 0), (Level(step.walk.columns, at(0, 1)),))
        yield Move("tensor", "input", taken, put, rows=(size, images))


def _products(step: ConvolutionStep) -> Iterator[Instruction]:
    """All calls as one instruction, so that their passes follow one another. The first patch of kn2row to write a group
    must cover its output; where none does, zeros come first."""
    calls: list[Call] = []
    rows = _result_rows(step)
    patched = step.algorithm == "kn2row"
    by_group: dict[int, list[GemmCall]] = {}
    for one in step.calls:
        by_group.setdefault(one.output_column, []).append(one)
    cleared = False
    for group in by_group.values():
        first = next((one for one in group if _covers(step, one)), None) if patched else None
        if patched and first is None and not cleared:
            cleared = True
            nothing = Path(0, (Level(rows * step.output_columns, 0),), (0, 0))
            yield Move("dram", "result", nothing, grid_path(rows, step.output_columns), rows=(0, rows))
        for one in sorted(group, key=lambda call: call is not first):
            adds = one is not first if patched else one.accumulate
            calls.append(
                Call(
                    (one.input_row, one.input_column),
                    (one.weight_row, one.weight_column),
                    (one.output_row, one.output_column),
                    adds,
                    one.shift or (0, 0),
                )
            )
    sizes = step.calls[0]
    yield Gemm(
        step.dataflow,
        sizes.a,
        sizes.b,
        sizes.c,
        tuple(calls),
        (step.walk.rows, step.weight_rows, rows),
        (_pitch(step), *_output(step)) if patched else None,
    )


def _finish(step: ConvolutionStep) -> Move:
    """Sums through the output transform (Winograd) and requantisation into the second group of the output buffer."""
    rows, columns = _output(step)
    channels = step.output_columns
    if step.m:
        tiles1, tiles2 = tiles(step.shape, step.m)
        taken = tile_path(1, (step.m + TAP - 1) ** 2, tiles1 * tiles2, channels)
        put = Path(
            0,
            (
                Level(step.m, at(1, 0), 0, 1),
                Level(step.m, at(columns, 0), 1, 0),
                Level(channels, at(0, 1)),
                Level(tiles2, at(step.m, 0), 0, step.m),
                Level(tiles1, at(step.m * columns, 0), step.m, 0),
            ),
            (rows, columns),
        )
    else:
        pitch = _pitch(step)
        taken = Path(0, (Level(channels, at(0, 1)), Level(columns, at(1, 0)), Level(rows, at(pitch, 0))))
        put = grid_path(rows * columns, channels)
    bits = step.shift + FACTOR_BITS
    return Move(
        "result",
        "tensor",
        taken,
        put,
        "winograd_output" if step.m else "none",
        (_result_rows(step), rows * columns),
        Requantisation(1 << bits >> 1, bits, 0 if step.relu else LOWEST, HIGHEST),
    )


def _store(region: Region, image: int, first: int, all_rows: int) -> Move:
    """A 3-D tensor that begins at row ``first`` of the tensor buffer, into DRAM as its readers want it."""
    order = counters(region.walk)
    taken = map_path(region.walk, order)
    moved = Path(taken.start + first, taken.levels, taken.size, taken.corner)
    return Move("tensor", "dram", moved, dram_path(order, _address(region, image)), rows=(all_rows, 0))


def _restore(region: Region, image: int, all_rows: int) -> Move:
    """The 3-D tensor in the tensor buffer, of whatever layout it has in DRAM: padding is dropped, and what a layout
    holds more than once is written more than once."""
    order = counters(region.walk)
    taken = dram_path(order, _address(region, image))
    return Move("dram", "tensor", taken, map_path(region.walk, order), rows=(0, all_rows))


def _address(region: Region, image: int) -> int:
    return region.address + image * region.walk.rows * region.walk.columns


def _covers(step: ConvolutionStep, call: GemmCall) -> bool:
    """Whether a patch reaches every output position."""
    assert call.patch is not None and call.shift is not None
    return all(
        shift <= 0 and shift + extent >= out
        for shift, extent, out in zip(call.shift, call.patch, step.shape.output_size, strict=True)
    )


def _output(step: ConvolutionStep) -> tuple[int, int]:
    rows, columns = step.shape.output_size
    return rows, columns


def _pitch(step: ConvolutionStep) -> int:
    """Rows of the result matrix from one row of the map to the next: the patch's width in kn2row."""
    patch = step.calls[0].patch
    return patch[1] if patch is not None else step.shape.output_size[1]


def _result_rows(step: ConvolutionStep) -> int:
    if step.algorithm == "kn2row":
        return step.shape.output_size[0] * _pitch(step)
    return step.output_rows
