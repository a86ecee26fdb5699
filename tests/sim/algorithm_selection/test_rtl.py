"""The overlay's Verilog under Verilator computes what numpy and onnxruntime compute, in the cycles of Eq. 9."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mapper.codegen.algorithm_selection.instruction import (
    DATAFLOWS,
    Call,
    Dataflow,
    Gemm,
    Level,
    Move,
    Path,
    Pooling,
    at,
)
from mapper.codegen.algorithm_selection.overlay import verilog
from mapper.codegen.algorithm_selection.path import grid_path, line_path
from mapper.codegen.algorithm_selection.program import dram_words, programs, scale_addresses
from mapper.models.algorithm_selection.choice import Algorithm, Choice
from mapper.sim.algorithm_selection.address import to_matrix
from mapper.sim.algorithm_selection.onnx_convolution import integer_convolution
from mapper.sim.algorithm_selection.rtl.machine import RtlMachine, gemm_cycles, lint
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import Convolution
from tests.sim.algorithm_selection.overlay_bench import layer_control, run, sizes

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
                Move("dram", "input", line_path(a * b, 0), grid_path(a, b), rows=(0, a)),
                Move("dram", "kernel", line_path(b * c, a * b), grid_path(b, c), rows=(0, b)),
                Gemm(dataflow, a, b, c, (Call((0, 0), (0, 0), (0, 0)),), (a, b, a)),
                Move("result", "dram", grid_path(a, c), line_path(a * c, a * b + b * c), rows=(a, 0)),
            ],
            dram,
        )
        assert np.array_equal(done.dram[a * b + b * c :].reshape(a, c), left @ right), (a, b, c)
        assert done.cycles[2] == sum(gemm_cycles(array, dataflow, (a, b, c), 1).values()), (a, b, c)


def test_products_of_one_instruction_follow_each_other_without_a_gap() -> None:
    for dataflow in DATAFLOWS:
        terms = gemm_cycles((4, 4), dataflow, (12, 8, 8), 1)
        again = gemm_cycles((4, 4), dataflow, (12, 8, 8), 5)
        assert again["eq9"] == 5 * terms["eq9"] and again["short_passes"] == 0
        assert sum(again.values()) - sum(terms.values()) == 4 * terms["eq9"]


def run_layer(
    array: tuple[int, int], shape: Convolution, choice: Choice, *, stored: str = "own", relu: bool = False
) -> int:
    """Cycles of the layer's products, after its results were held against onnxruntime's integer convolution."""
    random = np.random.default_rng(7)
    sequence = layer_control(shape, choice, stored=stored, relu=relu)
    (program,), (step,) = programs(sequence), sequence.convolutions
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
    gemms = [
        cycles for cycles, one in zip(done.cycles, program.instructions, strict=True) if isinstance(one, Gemm)
    ]
    call = step.calls[0]
    terms = gemm_cycles(array, choice.dataflow, (call.a, call.b, call.c), len(step.calls))
    assert gemms == [sum(terms.values())] * shape.batch
    return gemms[0]


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
    rows, columns, channels = 9, 8, 3
    maps = np.random.default_rng(3).integers(-128, 128, (channels, rows, columns))
    out = tuple((size - window) // stride + 1 for size, window in zip((rows, columns), kernel, strict=True))
    expected = [
        maps[channel, y * stride : y * stride + kernel[0], x * stride : x * stride + kernel[1]].max()
        for channel in range(channels)
        for y in range(out[0])
        for x in range(out[1])
    ]
    size = ((out[0] - 1) * stride + kernel[0], (out[1] - 1) * stride + kernel[1])
    taken = Path(0, (Level(size[1], 1), Level(size[0], columns), Level(channels, rows * columns)))
    dram = np.concatenate([maps.ravel(), np.zeros(len(expected), np.int64)])
    done = run(
        (4, 4),
        [
            Move(
                "dram",
                "dram",
                taken,
                line_path(len(expected), maps.size),
                "max_pool",
                pooling=Pooling(kernel, stride, size),
            )
        ],
        dram,
    )
    assert done.dram[maps.size :].tolist() == expected


def test_winograd_transforms_are_those_of_the_scaled_matrices() -> None:
    random = np.random.default_rng(5)
    tile, kernel = random.integers(-128, 128, (4, 4)), random.integers(-128, 128, (3, 3))
    b = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
    g = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])
    a = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])
    transformed, scaled = b @ tile @ b.T, g @ kernel @ g.T
    whole = a @ (transformed * scaled) @ a.T
    assert not (whole % 4).any()
    product = (transformed * scaled).ravel()
    dram = np.concatenate([tile.ravel(), kernel.ravel(), product, np.zeros(36, np.int64)])
    done = run(
        (4, 4),
        [
            Move("dram", "dram", line_path(16, 0), line_path(16, 41), "winograd_input"),
            Move("dram", "dram", line_path(9, 16), line_path(16, 57), "winograd_kernel"),
            Move("dram", "dram", line_path(16, 25), line_path(4, 73), "winograd_output"),
        ],
        dram,
    )
    assert done.dram[41:57].tolist() == transformed.ravel().tolist()
    assert done.dram[57:73].tolist() == scaled.ravel().tolist()
    assert done.dram[73:].tolist() == (whole // 4).ravel().tolist()


def test_a_buffer_gives_back_a_matrix_along_its_columns_and_rows() -> None:
    rows, columns = 6, 11
    words = np.arange(rows * columns)
    turned = Path(0, (Level(rows, at(1, 0)), Level(columns, at(0, 1))))
    dram = np.concatenate([words, np.zeros(words.size, np.int64)])
    done = run(
        (3, 5),
        [
            Move("dram", "tensor", line_path(words.size, 0), grid_path(rows, columns), rows=(0, rows)),
            Move("tensor", "dram", turned, line_path(words.size, words.size), rows=(rows, 0)),
        ],
        dram,
    )
    assert np.array_equal(done.dram[words.size :].reshape(columns, rows), words.reshape(rows, columns).T)


def test_an_array_of_more_than_64_pes_is_refused() -> None:
    with pytest.raises(InputError, match="up to 64"):
        RtlMachine((9, 8), {}, 16)


def test_a_sequence_that_does_not_stop_is_cut() -> None:
    with pytest.raises(InputError, match="does not stop within 50 cycles"):
        run((4, 4), [Move("dram", "dram", line_path(99, 0), line_path(99, 0))], np.zeros(99, np.int64), 50)
