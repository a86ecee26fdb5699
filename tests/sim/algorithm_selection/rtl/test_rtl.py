"""The overlay's Verilog under Verilator computes what numpy and onnxruntime compute, in the cycles of Eq. 9."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from mapper.codegen.algorithm_selection.instruction import (
    DATAFLOWS,
    ENGINES,
    Call,
    Dataflow,
    Gemm,
    Instruction,
    Level,
    Move,
    Path,
    Pooling,
    at,
    unit,
)
from mapper.codegen.algorithm_selection.layout.path import grid_path, lines_path
from mapper.codegen.algorithm_selection.overlay import verilog
from mapper.codegen.algorithm_selection.piece import Limits
from mapper.codegen.algorithm_selection.program import dram_words, programs, scale_addresses
from mapper.codegen.algorithm_selection.timeline import Timeline
from mapper.models.algorithm_selection.choice import Algorithm, Choice
from mapper.models.algorithm_selection.timing import gemm_cycles
from mapper.sim.algorithm_selection.address import to_matrix
from mapper.sim.algorithm_selection.onnx_convolution import integer_convolution
from mapper.sim.algorithm_selection.rtl.machine import RtlRun, lint
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import Convolution
from tests.sim.algorithm_selection.rtl.overlay_bench import layer_control, run, sizes

ARRAYS = [(4, 4), (3, 5)]
PRODUCTS = [(4, 4, 4), (1, 1, 1), (7, 9, 10), (13, 2, 3), (2, 3, 17), (20, 31, 5)]

SAME = Convolution(1, 6, 5, (6, 7), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)))
STRIDED = Convolution(1, 5, 3, (9, 8), (3, 3), (2, 2), (1, 1), ((1, 0), (0, 1)))
LARGE = Convolution(1, 3, 2, (7, 9), (5, 5), (1, 1), (1, 1), ((2, 2), (2, 2)))
GROUPED = Convolution(2, 4, 6, (5, 5), (3, 3), (1, 1), (1, 1), ((0, 0), (0, 0)), 2)
WIDE_PAD = Convolution(1, 2, 2, (4, 5), (3, 3), (1, 1), (1, 1), ((2, 0), (1, 1)))
POINT = Convolution(1, 7, 6, (5, 5), (1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))


@pytest.mark.parametrize("array", ARRAYS)
def test_lint_says_nothing(array: tuple[int, int]) -> None:
    assert lint(verilog(sizes(array))) == []


@pytest.mark.slow
@pytest.mark.parametrize("array", [(1, 1), (1, 6), (7, 2), (8, 8)])
def test_one_pe_and_arrays_of_other_shapes_multiply_matrices(array: tuple[int, int]) -> None:
    for dataflow in DATAFLOWS:
        multiply(array, dataflow)


@pytest.mark.parametrize("dataflow", DATAFLOWS)
@pytest.mark.parametrize("array", ARRAYS)
def test_the_array_multiplies_matrices_with_remainders_in_every_dataflow(
    array: tuple[int, int], dataflow: Dataflow
) -> None:
    multiply(array, dataflow)


def multiply(array: tuple[int, int], dataflow: Dataflow) -> None:
    """Products of every size equal numpy's and take the cycles of Eq. 9 and the named terms."""
    random = np.random.default_rng(1)
    for a, b, c in PRODUCTS:
        left = random.integers(-128, 128, (a, b))
        right = random.integers(-128, 128, (b, c))
        dram = np.concatenate([left.ravel(), right.ravel(), np.zeros(a * c, np.int64)])
        done = run(
            array,
            [
                Move("dram", "input", lines_path(a, b, 0), grid_path(a, b), rows=(0, a)),
                Move("dram", "kernel", lines_path(b, c, a * b), grid_path(b, c), rows=(0, b)),
                Gemm(dataflow, a, b, c, (Call((0, 0), (0, 0), (0, 0)),), (a, b, a)),
                Move("result", "dram", grid_path(a, c), lines_path(a, c, a * b + b * c), rows=(a, 0)),
            ],
            dram,
        )
        assert np.array_equal(done.dram[a * b + b * c :].reshape(a, c), left @ right), (a, b, c)
        terms = gemm_cycles(array, dataflow, (a, b, c), 1, sizes(array).wires)
        assert done.spans[2].cycles == sum(terms.values()), (a, b, c)


def test_products_of_one_instruction_follow_each_other_without_a_gap() -> None:
    for dataflow in DATAFLOWS:
        terms = gemm_cycles((4, 4), dataflow, (12, 8, 8), 1)
        again = gemm_cycles((4, 4), dataflow, (12, 8, 8), 5)
        assert again["eq9"] == 5 * terms["eq9"] and again["short_passes"] == 0
        assert sum(again.values()) - sum(terms.values()) == 4 * terms["eq9"]


def run_layer(
    array: tuple[int, int],
    shape: Convolution,
    choice: Choice,
    *,
    stored: str = "own",
    relu: bool = False,
    count: int = 1,
    parts: tuple[int, int] = (1, 1),
    kept: bool = False,
) -> None:
    """Holds a layer's results, in ``count`` pieces an image and so many ``parts`` of its kernels (its input ``kept``
    for all), against onnxruntime's integer convolution, and the cycles of every instruction against the timeline."""
    random = np.random.default_rng(7)
    sequence = layer_control(shape, choice, stored=stored, relu=relu)
    limits = Limits(parts={"conv1": parts}, kept=frozenset({"conv1"} if kept else ()))
    (program,), (step,) = programs(sequence, cuts={"conv1": count}, limits=limits), sequence.convolutions
    depth = shape.in_channels // shape.groups
    images = random.integers(-128, 128, (shape.batch, *shape.input_size, shape.in_channels), np.int8)
    kernels = random.integers(-128, 128, (*shape.kernel, depth, shape.out_channels), np.int8)
    bias = random.integers(-2000, 2000, shape.out_channels)
    factor = random.integers(64, 192, shape.out_channels)
    dram = np.zeros(dram_words(sequence), np.int64)
    source, target = sequence.regions
    _place(dram, source.address, np.stack([to_matrix(source.walk, one) for one in images]))
    _place(dram, step.weight_address, kernels)
    _place(dram, scale_addresses(sequence)[step.name], np.concatenate([bias, factor]))
    done = run(array, list(program.instructions), dram)
    sums = integer_convolution(shape, images, kernels).astype(np.int64)
    bits = step.shift + 7
    expected = np.clip(((sums + bias) * factor + (1 << bits >> 1)) >> bits, 0 if relu else -128, 127)
    found = done.dram[target.address : target.address + expected.size].reshape(expected.shape)
    assert np.array_equal(found, expected)
    held_against_timeline(array, program.instructions, done)


def held_against_timeline(array: tuple[int, int], instructions: Sequence[Instruction], done: RtlRun) -> None:
    """Every instruction begins and ends in the cycle that the timeline says, counted from the first."""
    built = sizes(array)
    slots = Timeline(array, built.room.lanes, built.dram_latency, built.wires).slots(instructions)
    shift = done.spans[0].start - slots[0].start
    found = [(ENGINES[span.engine], span.start - shift, span.end - shift) for span in done.spans]
    assert found == [(slot.engine, slot.start, slot.end) for slot in slots]


def _place(dram: NDArray[np.int64], address: int, words: NDArray[np.generic]) -> None:
    dram[address : address + words.size] = words.ravel().astype(np.int64)


@pytest.mark.parametrize("dataflow", DATAFLOWS)
@pytest.mark.parametrize("algorithm", ["im2col", "kn2row", "winograd"])
@pytest.mark.parametrize("array", ARRAYS)
def test_a_layer_runs_in_every_algorithm_and_dataflow(
    array: tuple[int, int], algorithm: Algorithm, dataflow: Dataflow
) -> None:
    run_layer(array, SAME, Choice(algorithm, dataflow), relu=True)


@pytest.mark.parametrize("dataflow", DATAFLOWS)
@pytest.mark.parametrize(
    ("shape", "algorithm"),
    [
        (STRIDED, "im2col"),
        (STRIDED, "kn2row"),
        (LARGE, "winograd"),
        (LARGE, "kn2row"),
        (GROUPED, "im2col"),
        (GROUPED, "kn2row"),
        (GROUPED, "winograd"),
        (WIDE_PAD, "kn2row"),
        (POINT, "im2col"),
    ],
)
def test_strides_groups_images_and_large_kernels(
    shape: Convolution, algorithm: Algorithm, dataflow: Dataflow
) -> None:
    run_layer((3, 5), shape, Choice(algorithm, dataflow))


@pytest.mark.parametrize("algorithm", ["im2col", "kn2row", "winograd"])
def test_the_layout_unit_makes_an_algorithms_layout_of_the_3d_tensor(algorithm: Algorithm) -> None:
    run_layer((4, 4), SAME, Choice(algorithm, "WS"), stored="tensor3d")


@pytest.mark.parametrize(("kernel", "stride"), [((3, 3), 2), ((2, 2), 2), ((3, 2), 1), ((1, 3), 3)])
def test_the_pooling_unit_takes_the_maximum_of_every_window(kernel: tuple[int, int], stride: int) -> None:
    rows, columns, channels = 9, 8, 6
    maps = np.random.default_rng(3).integers(-128, 128, (rows, columns, channels))
    out = tuple((size - window) // stride + 1 for size, window in zip((rows, columns), kernel, strict=True))
    expected = [
        maps[y * stride : y * stride + kernel[0], x * stride : x * stride + kernel[1], channel].max()
        for y in range(out[0])
        for x in range(out[1])
        for channel in range(channels)
    ]
    size = ((out[0] - 1) * stride + kernel[0], (out[1] - 1) * stride + kernel[1])
    taken = Path(
        0, (Level(size[1], channels), Level(size[0], columns * channels), Level(channels, 1)), lane=2
    )
    put = Path(maps.size, (Level(math.prod(out), channels), Level(channels, 1)), lane=1)
    dram = np.concatenate([maps.ravel(), np.zeros(len(expected), np.int64)])
    done = run(
        (4, 4),
        [
            Move(
                "dram",
                "dram",
                taken,
                put,
                "max_pool",
                pooling=Pooling(kernel, stride, size),
            )
        ],
        dram,
    )
    assert done.dram[maps.size :].tolist() == expected


MATRICES = {
    2: (
        [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, -1, 0, 1]],
        [[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]],
        [[1, 1, 1, 0], [0, 1, -1, 1]],
        2,
    ),
    4: (
        [
            [4, 0, -5, 0, 1, 0],
            [0, 4, 4, -1, -1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, -2, 1, 2, -1, 0],
            [0, 4, 0, -5, 0, 1],
        ],
        [[6, 0, 0], [1, 1, 1], [1, -1, 1], [1, 2, 4], [1, -2, 4], [0, 0, 6]],
        [[1, 4, -4, 1, -1, 0], [0, 4, 4, 2, 2, 0], [0, 4, -4, 4, -4, 0], [0, 4, 4, 8, 8, 4]],
        24,
    ),
}
"""B^T, G and A^T as the lanes have them, rows scaled and signs moved between them, and what results are divided by
along each direction."""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", MATRICES)
def test_winograd_transforms_are_those_of_the_scaled_matrices(m: int, seed: int) -> None:
    random, (b, g, a, scale) = np.random.default_rng(seed), MATRICES[m]
    side, words = m + 2, (m + 2) ** 2
    # The longest numbers: maps less their zero points, and kernels.
    tile, kernel = random.choice([-255, -1, 0, 254, 255], (side, side)), random.integers(-128, 128, (3, 3))
    transformed, scaled = np.asarray(b) @ tile @ np.transpose(b), np.asarray(g) @ kernel @ np.transpose(g)
    product = transformed * scaled
    direct = [[(tile[y : y + 3, x : x + 3] * kernel).sum() for x in range(m)] for y in range(m)]
    assert np.array_equal(np.asarray(a) @ product @ np.transpose(a), scale**2 * np.array(direct))
    # A tile as the column of a matrix that is multiplied by 1, a kernel as the columns by which units are.
    units = np.eye(words, dtype=np.int64)
    given = [tile.ravel(), kernel.ravel(), np.ones(1, np.int64), product.ravel(), units.ravel()]
    starts = np.cumsum([0, *(one.size for one in given)]).tolist()
    dram = np.concatenate([*given, np.zeros(2 * words + m * m, np.int64)])
    column = Path(0, (Level(words, at(1, 0)), Level(1, at(0, 1))), lane=1)

    def line(words: int, address: int) -> Path:
        return Path(address, (Level(words, 1), Level(1, 0)), lane=1)

    out = starts[5]
    done = run(
        (4, 4),
        [
            Move("dram", "input", line(words, 0), column, unit(m, "input"), (0, words)),
            Move("dram", "kernel", lines_path(1, 1, starts[2]), grid_path(1, 1), rows=(0, 1)),
            Gemm("NS", words, 1, 1, (Call((0, 0), (0, 0), (0, 0)),), (words, 1, words)),
            Move("result", "dram", grid_path(words, 1), lines_path(words, 1, out), rows=(words, 0)),
            Move(
                "dram", "input", lines_path(words, words, starts[4]), grid_path(words, words), rows=(0, words)
            ),
            Move("dram", "kernel", line(9, starts[1]), column, unit(m, "kernel"), (0, words)),
            Gemm("NS", words, words, 1, (Call((0, 0), (0, 0), (0, 0)),), (words, words, words)),
            Move("result", "dram", grid_path(words, 1), lines_path(words, 1, out + words), rows=(words, 0)),
            Move("dram", "dram", line(words, starts[3]), line(m * m, out + 2 * words), unit(m, "output")),
        ],
        dram,
    )
    assert done.dram[out : out + words].tolist() == transformed.ravel().tolist()
    assert done.dram[out + words : out + 2 * words].tolist() == scaled.ravel().tolist()
    assert done.dram[out + 2 * words :].tolist() == np.ravel(direct).tolist()


def test_a_buffer_gives_back_a_matrix_along_its_columns_and_rows() -> None:
    rows, columns = 6, 11
    words = np.arange(rows * columns)
    turned = Path(0, (Level(rows, at(1, 0)), Level(columns, at(0, 1))))
    dram = np.concatenate([words, np.zeros(words.size, np.int64)])
    done = run(
        (3, 5),
        [
            Move("dram", "tensor", lines_path(rows, columns, 0), grid_path(rows, columns), rows=(0, rows)),
            Move("tensor", "dram", turned, lines_path(columns, rows, words.size), rows=(rows, 0)),
        ],
        dram,
    )
    assert np.array_equal(done.dram[words.size :].reshape(columns, rows), words.reshape(rows, columns).T)


def test_a_sequence_that_does_not_stop_is_cut() -> None:
    with pytest.raises(InputError, match="does not stop within 50 cycles"):
        run(
            (4, 4),
            [Move("dram", "dram", lines_path(99, 1, 0), lines_path(99, 1, 0))],
            np.zeros(99, np.int64),
            50,
        )


@pytest.mark.parametrize("stored", ["own", "tensor3d"])
@pytest.mark.parametrize(
    ("shape", "algorithm"),
    [(SAME, "im2col"), (SAME, "kn2row"), (SAME, "winograd"), (STRIDED, "im2col"), (GROUPED, "winograd")],
)
def test_a_layer_cut_into_pieces_overlaps_them_and_computes_the_same(
    shape: Convolution, algorithm: Algorithm, stored: str
) -> None:
    run_layer((4, 4), shape, Choice(algorithm, "WS"), stored=stored, count=3)


def test_pieces_of_a_strided_kn2row_read_the_map_by_rows() -> None:
    run_layer((4, 4), STRIDED, Choice("kn2row", "NS"), stored="tensor3d", count=4)


@pytest.mark.parametrize(
    ("shape", "algorithm", "parts"),
    [
        (Convolution(1, 11, 6, (5, 6), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1))), "im2col", (1, 3)),
        (Convolution(1, 11, 6, (5, 6), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1))), "winograd", (1, 2)),
        (Convolution(1, 9, 23, (1, 1), (1, 1), (1, 1), (1, 1), ((0, 0), (0, 0))), "im2col", (3, 2)),
        (Convolution(1, 6, 9, (4, 3), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1))), "im2col", (3, 2)),
        (Convolution(1, 6, 9, (4, 3), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1))), "kn2row", (3, 2)),
        (Convolution(1, 3, 5, (6, 5), (2, 3), (2, 2), (1, 1), ((0, 1), (1, 0))), "kn2row", (2, 1)),
        (Convolution(1, 6, 9, (5, 6), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)), groups=3), "im2col", (1, 2)),
        (
            Convolution(1, 4, 6, (5, 6), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)), groups=2),
            "winograd",
            (1, 2),
        ),
    ],
)
def test_kernels_are_loaded_in_parts_of_their_depth_and_their_maps(
    shape: Convolution, algorithm: Algorithm, parts: tuple[int, int]
) -> None:
    count = 2 if parts[0] == 1 else 1  # The sums of a single piece stay where they are.
    run_layer((4, 4), shape, Choice(algorithm, "WS"), stored="tensor3d", count=count, parts=parts)


@pytest.mark.parametrize("dataflow", DATAFLOWS)
@pytest.mark.parametrize("parts", [3, *(pytest.param(parts, marks=pytest.mark.slow) for parts in (2, 4))])
@pytest.mark.parametrize("algorithm", ["im2col", "kn2row", "winograd"])
def test_the_input_stays_in_its_buffer_while_parts_of_the_maps_follow_one_another(
    algorithm: Algorithm, parts: int, dataflow: Dataflow
) -> None:
    shape = Convolution(1, 11, 14, (5, 6), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)))
    choice = Choice(algorithm, dataflow)
    run_layer((4, 4), shape, choice, stored="tensor3d", parts=(1, parts), kept=True)


@pytest.mark.parametrize(("shape", "dataflow"), [(SAME, "NS"), (SAME, "WS"), (LARGE, "IS"), (GROUPED, "NS")])
def test_tiles_of_4_x_4_results_run_in_every_dataflow(shape: Convolution, dataflow: Dataflow) -> None:
    run_layer((4, 4), shape, Choice("winograd-4x4", dataflow), relu=True)
