"""What is estimated of a kernel before it is made is what the front end then finds in it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import pytest

from bench.modulo_schedule.window_load import (
    im2col_places,
    im2row_places,
    in_corner,
    loaded_words,
    product,
    sliding,
)
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.network import mapping
from mapper.models.modulo_schedule.network.algorithm import IM2ROW, Algorithm
from mapper.models.modulo_schedule.network.baseline import baselines
from mapper.models.modulo_schedule.network.cost import live_ins
from mapper.models.modulo_schedule.network.estimate import Counts, Estimator, counts
from mapper.models.modulo_schedule.network.mapping import kernel_of
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.models.modulo_schedule.network.way.layer import algorithms
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.source import load_layers

NETWORKS = (
    "lenet5",
    "squeezenet",
    "alexnet",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("googlenet", "lightcnn9")),
)
SAMPLES = 50
LARGEST_FACTOR = 4
MOST_PRODUCTS = 120


def machine_of(name: str = "srp-4x4") -> CgraMachine:
    machine = load_machine(name)[0]
    assert isinstance(machine, CgraMachine)
    return machine


@lru_cache(maxsize=8)
def nests_of(network: str) -> tuple[Nest, ...]:
    """The nests of all algorithms of all layers, those of one shape once."""
    found = [
        nest
        for layer in load_layers(network).layers
        for algorithm in (*algorithms(layer, machine_of()), *baselines(layer, machine_of()))
        for nest in algorithm.nests
    ]
    return tuple(dict.fromkeys(found))


def drawn_boxes(network: str, seed: int) -> Iterator[tuple[Nest, Box]]:
    """Every nest of the network at least once, with drawn factors and innermost loops."""
    draw = random.Random(seed)
    nests = nests_of(network)
    for number in range(max(SAMPLES, len(nests))):
        nest = nests[number % len(nests)]
        factors = tuple(draw.randint(1, min(LARGEST_FACTOR, extent)) for _, extent in nest.loops)
        while _products(nest, factors) > MOST_PRODUCTS:
            factors = tuple(max(1, factor - 1) for factor in factors)
        count = tuple(
            extent // factor * factor for (_, extent), factor in zip(nest.loops, factors, strict=True)
        )
        yield nest, Box((0,) * len(count), count, factors, draw.choice(list(nest.innermost())))


def _products(nest: Nest, factors: tuple[int, ...]) -> int:
    """Products of an unrolled body; one whose factors are all 1 is always taken."""
    if max(factors) == 1:
        return 0
    taps = nest.window[0] * nest.window[1] if nest.window else len(nest.inputs[0].taps)
    for factor in factors:
        taps *= factor
    return taps


def estimated(nest: Nest, box: Box, machine: CgraMachine) -> Counts:
    return counts(nest, dict(zip(nest.names, box.unroll, strict=True)), box.innermost, machine)


def opcodes(counted: Counts) -> Counter[str]:
    parts = {"load": counted.loads, "store": counted.stores, "add": counted.pointers}
    return +Counter({**parts, **dict(counted.others)})


def longest_path(kernel: Kernel, machine: CgraMachine) -> int:
    """Cycles from the first issue of an iteration to the issue of its last operation, whatever the resources."""
    graph = kernel.graph
    issue = [0] * len(graph.operations)
    within = [edge for edge in graph.edges if edge.distance == 0]
    for _ in graph.operations:
        before = list(issue)
        for edge in within:
            latency = edge.latency
            if latency is None:
                latency = machine.latency(graph.operations[edge.source].opcode)
            issue[edge.destination] = max(issue[edge.destination], issue[edge.source] + latency)
        if issue == before:
            break
    return max(issue)


@pytest.mark.parametrize(
    "network", [pytest.param(one, marks=pytest.mark.slow) if one == "squeezenet" else one for one in NETWORKS]
)
def test_operations_and_live_ins_are_those_of_the_kernel(network: str) -> None:
    for nest, box in drawn_boxes(network, 1):
        counted, kernel = estimated(nest, box, machine_of()), kernel_of(nest, box)
        assert opcodes(counted) == Counter(one.opcode for one in kernel.graph.operations), (nest.name, box)
        assert counted.live_ins == live_ins(kernel), (nest.name, box)


@pytest.mark.parametrize("array", ["srp-2x2", "srp-3x4", "srp-4x4"])
@pytest.mark.parametrize("network", NETWORKS)
def test_the_estimated_mii_is_that_of_the_kernel(network: str, array: str) -> None:
    machine = machine_of(array)
    estimator = Estimator(machine)
    for nest, box in drawn_boxes(network, 1):
        counted = estimated(nest, box, machine)
        found = mii(kernel_of(nest, box).graph, machine).value
        interval = estimator.least_interval(counted)
        if box.trip_count(nest) > 1:
            assert interval == found, (nest.name, box)
        else:
            # A single iteration carries nothing to a next one; the bound takes its path into account anyway.
            assert found <= interval <= max(found, counted.depth + 1), (nest.name, box)


@pytest.mark.parametrize("network", NETWORKS)
def test_the_depth_in_the_bound_is_no_longer_than_the_kernels_longest_path(network: str) -> None:
    machine = machine_of()
    for nest, box in drawn_boxes(network, 1):
        depth = longest_path(kernel_of(nest, box), machine)
        assert estimated(nest, box, machine).depth <= depth, (nest.name, box)


def test_fewer_accesses_to_a_pointer_add_pointers_and_nothing_else() -> None:
    for nest, box in drawn_boxes("lenet5", 4):
        counted = opcodes(estimated(nest, box, machine_of()))
        found = Counter(one.opcode for one in kernel_of(nest, box, 2).graph.operations)
        pointers = found.pop("add", 0)
        assert pointers >= counted.pop("add", 0)
        assert found == counted


def test_optcgra_loads_the_input_45_times_where_gemm_loads_it_81_times() -> None:
    # 3x3 on 5x5: im2col repeats a word for every window over it, im2row for every row of windows only, and the
    # windows of a row share the columns that stand in registers. 9 outputs of 9 words; 3 rows of 5 columns of 3.
    assert len(im2col_places(product(9, 9))) == 81
    # Windows at positions 3 and 4 of a row straddle its end; 13 reach the last one that counts.
    assert len(im2row_places(sliding(3, 5, 3, 1), 13)) == 45


def test_optcgra_loads_the_3x3_corner_18_times_where_gemm_loads_it_36_times() -> None:
    # A word in row r and column c of the corner lies under (r + 1) * (c + 1) windows: 6 * 6 in all. Without the
    # repeats along a row each of the 3 columns is loaded once for every row of windows: 6 * 3.
    assert in_corner(im2col_places(product(9, 9))) == 36
    assert in_corner(im2row_places(sliding(3, 5, 3, 1), 13)) == 18


def test_beyond_the_input_optcgra_loads_only_what_the_last_straddling_windows_cover() -> None:
    kernel = kernel_of(sliding(3, 5, 3, 1), Box((0, 0, 0), (1, 1, 15), (1, 1, 1), "l"))
    words = loaded_words(kernel, "b")
    assert sorted(words) == list(range(6, 45 + 6))


@pytest.mark.parametrize(("size", "stride"), [(3, 1), (3, 2), (5, 1), (5, 2), (2, 2), (3, 4)])
@pytest.mark.parametrize("unroll", [1, 2, 3])
def test_a_window_that_slides_on_loads_its_new_columns_only(size: int, stride: int, unroll: int) -> None:
    nest = sliding(6, 6, size, stride)
    kernel = kernel_of(nest, Box((0, 0, 0), (1, 1, 36), (1, 1, unroll), "l"))
    loads = [one for one in kernel.graph.operations if one.opcode == "load" and one.array == "b"]
    assert len(loads) == unroll * min(stride, size) * size
    words = loaded_words(kernel, "b")
    assert len(set(words)) == len(words)


def test_gemm_loads_nine_words_of_its_input_for_an_output_and_optcgra_three() -> None:
    slid = estimated(sliding(3, 5, 3, 1), Box((0, 0, 0), (1, 1, 15), (1, 1, 1), "l"), machine_of())
    output = 1
    assert slid.loads - output == 3
    taken = Box((0, 0, 0), (1, 9, 9), (1, 1, 9), "j")
    assert estimated(product(9, 9), taken, machine_of()).loads - output == 9


def test_registers_decide_between_optcgra_and_gemm() -> None:
    # 2k^2 - k below half of 128 registers: 15 and 45 for k = 3 and 5, 91 and 231 for 7 and 11 [Bae2018, V-B1].
    def first(network: str, kernel: int) -> Algorithm:
        layers = (one for one in load_layers(network).layers if one.work == "convolution")
        chosen = next(one for one in layers if one.window.kernel == (kernel, kernel))
        return algorithms(chosen, machine_of())[0]

    assert [first("googlenet", size).name for size in (3, 5)] == [IM2ROW, IM2ROW]
    assert first("googlenet", 1).name == "gemm"
    assert first("googlenet", 7).name == "im2col+gemm"
    assert first("alexnet", 11).name == "im2col+gemm"


def test_a_loop_over_too_many_words_has_the_graph_of_the_whole_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [(nest, box, kernel_of(nest, box)) for nest, box in drawn_boxes("lenet5", 5)]
    monkeypatch.setattr(mapping, "MOST_WORDS", 1)
    kernel_of.cache_clear()
    for nest, box, kernel in whole:
        short = kernel_of(nest, box)
        assert (short.graph, short.trip_count) == (kernel.graph, kernel.trip_count)
    kernel_of.cache_clear()


def test_a_matrix_of_a_hundred_million_words_is_no_obstacle() -> None:
    shape = next(nest for nest in nests_of("vgg19") if nest.name == "gemm" and nest.extents["k"] == 25088)
    whole = Box((0, 0, 0), tuple(extent for _, extent in shape.loops), (1, 1, 1), "i")
    assert kernel_of(shape, whole).trip_count == 4096
