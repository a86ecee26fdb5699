"""The event simulator: equal pixels, the streaming model's cycles and words, and faults that it must not miss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation, Placement
from mapper.models.pe_allocation.stream import timing as streaming
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.sim.pe_allocation.data import seeded
from mapper.sim.pe_allocation.reference import reference
from mapper.sim.pe_allocation.report import report
from mapper.sim.pe_allocation.simulation import Run, simulate
from mapper.sim.pe_allocation.violation import BUSY, EARLY, LATE, OCCUPIED, OVERFLOW, UNLINKED
from tests.sim.pe_allocation.example import Net, allocated, array, network_called, problem_of

MNIST = network_called("mnist-tcpa")
PAPER = allocated(MNIST, 4, 1, 8, 1, 2)


def steady(network: StreamNetwork = MNIST, allocation: Allocation = PAPER) -> Configuration:
    return configure(network, array(), allocation, "streaming")


def run(configuration: Configuration, frames: int = 3, seed: int = 0) -> tuple[Run, bool]:
    """The run, and whether its outputs are those of the reference (of the configuration as it was made)."""
    data = seeded(configuration, frames, seed)
    found = simulate(configuration, array(), data, frames)
    expected = reference(configuration, data)
    return found, all(np.array_equal(maps, expected[at]) for at, maps in found.outputs.items())


def changed(configuration: Configuration, at: int, **fields: Any) -> Configuration:
    layers = list(configuration.layers)
    layers[at] = replace(layers[at], **fields)
    return replace(configuration, layers=tuple(layers))


def with_source(layer: LayerProgram, **fields: Any) -> dict[str, Any]:
    first, *others = layer.sources
    return {"sources": (replace(first, **fields), *others)}


def test_the_papers_example_streams_as_the_streaming_model_says() -> None:
    found = report(problem_of(MNIST, PAPER, model="streaming"), PAPER)
    cost = evaluate(MNIST, array(), PAPER, "streaming")
    assert found["outputs_equal"] and found["agrees"] and found["violations"] == []
    assert found["cost_simulated"] == cost.cost_json()
    assert found["physical"]["latency"] == {"model": 85445, "measured": 85445}
    assert found["physical"]["interval"] == {"model": 63504, "measured": 63504}


def test_the_calculus_starts_layers_too_early_and_the_report_says_by_how_much() -> None:
    found = report(problem_of(MNIST, PAPER), PAPER)
    layers = found["physical"]["layers"]
    assert not found["agrees"] and not found["failed"]
    assert layers["conv2"]["first_window_pixels"] == {"calculus": 1, "needed": 16}
    assert layers["conv2"]["start"] == {"model": 432, "measured": 5076, "later_by": 4644}
    assert layers["pool1"]["buffer_words"] == {"calculus": 24, "measured": 1440}
    assert found["cost_simulated"]["throughput_fps"] == pytest.approx(787.352, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "pes"),
    [
        ("mnist-tcpa", (1, 1, 2, 1, 1)),
        ("mnist-tcpa", (24, 1, 24, 1, 16)),
        ("lenet5", ()),
        ("lenet5", (5, 1, 50, 1)),
    ],
)
def test_every_start_latency_and_peak_is_the_streaming_models(name: str, pes: tuple[int, ...]) -> None:
    network = network_called(name)
    allocation = allocated(network, *pes)
    assert report(problem_of(network, allocation, model="streaming"), allocation)["agrees"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alexnet", "squeezenet", "shufflenet", "lightcnn9"])
def test_large_networks_stream_as_the_model_says(name: str) -> None:
    network = network_called(name)
    allocation = allocated(network)
    assert report(problem_of(network, allocation, model="streaming"), allocation)["agrees"]


def test_paces_that_are_not_matched_stream_as_the_model_says() -> None:
    allocation = allocated(MNIST, 2, 1, 24, 1, 16, idle=(0, 7, 0, 1000, 3))
    assert report(problem_of(MNIST, allocation, model="streaming"), allocation)["agrees"]


WINDOWS = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 1), st.integers(1, 2))


@st.composite
def networks(draw: st.DrawFn) -> StreamNetwork:
    """Chains with a branch that is joined again by an addition or a concatenation."""
    net = Net((draw(st.integers(7, 9)), draw(st.integers(7, 9))))
    kernel, stride, pad, dilation = draw(WINDOWS)
    net.convolution(
        2 * draw(st.integers(1, 2)), kernel, strides=(stride, 1), pads=(pad, pad), dilations=(dilation, 1)
    )
    side = min(net.layers[-1].output_size)
    net.pool(min(side, draw(st.integers(2, 3))), strides=(1, draw(st.integers(1, 3))), op="AveragePool")
    maps = net.layers[-1].maps
    net.convolution(maps, 1, 1).convolution(maps, 3, 1, pads=(1, 1), groups=draw(st.sampled_from([1, 2])))
    if draw(st.booleans()):
        net.elementwise(draw(st.sampled_from(["Add", "Mul", "Max", "Sub", "Mean"])), 2, 3)
    else:
        net.convolution(3, 1, 2, 3, merged=("Relu",))
    return net.network()


@settings(derandomize=True, deadline=None, max_examples=40)
@given(networks(), st.data())
def test_any_network_at_any_pace_streams_as_the_model_says(
    network: StreamNetwork, data: st.DataObject
) -> None:
    count = len(network.layers)
    pes = tuple(data.draw(st.integers(1, 3)) for _ in range(count))
    idle = tuple(data.draw(st.integers(0, 30)) for _ in range(count))
    allocation = allocated(network, *pes, delta=data.draw(st.integers(1, 3)), idle=idle)
    problem = problem_of(network, allocation, model="streaming")
    found = report(problem, allocation, data.draw(st.integers(0, 5)))
    assert found["agrees"], (found["violations"], found["physical"])
    # Without start times nothing comes later, and buffers are never fuller than they are large.
    alone = report(problem_of(network, allocation), allocation)
    assert not alone["failed"] and alone["outputs_equal"]
    assert alone["cost_simulated"]["cycles"] <= found["cost_simulated"]["cycles"]


@settings(derandomize=True, deadline=None, max_examples=20)
@given(networks(), st.data())
def test_any_runs_one_after_another_compute_the_same(network: StreamNetwork, data: st.DataObject) -> None:
    count = len(network.layers)
    starts = data.draw(st.lists(st.booleans(), min_size=count - 1, max_size=count - 1))
    segments = (0, *(at + 1 for at, starting in enumerate(starts) if starting))
    stays = tuple(data.draw(st.booleans()) for _ in segments[1:])
    allocation = allocated(network, mode="mixed", segments=segments, on_chip=stays)
    assert not report(problem_of(network, allocation), allocation)["failed"]
    assert report(problem_of(network, allocation, model="streaming"), allocation)["agrees"]
    alone = allocated(network, mode="layer-by-layer")
    found = report(problem_of(network, alone), alone)
    assert found["agrees"]
    assert found["cost_simulated"] == evaluate(network, array(), alone, "calculus").cost_json()


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_start_one_cycle_too_early_reads_a_pixel_that_is_not_there(at: int) -> None:
    configuration = steady()
    early = changed(configuration, at, start=configuration.layers[at].start - 1)
    found, equal = run(early)
    assert EARLY in {violation.rule for violation in found.violations}
    assert not equal


def test_a_buffer_one_word_too_small_overflows() -> None:
    configuration = steady()
    for at in (1, 2, 3, 4):
        words = configuration.layers[at].sources[0].words
        assert words is not None
        small = changed(configuration, at, **with_source(configuration.layers[at], words=words - 1))
        found, _ = run(small)
        assert OVERFLOW in {violation.rule for violation in found.violations}


def test_a_buffer_without_half_of_its_words_loses_pixels() -> None:
    configuration = steady()
    layer = configuration.layers[2]
    words = layer.sources[0].words
    assert words is not None
    assert not run(changed(configuration, 2, **with_source(layer, words=words // 2)))[1]


def test_a_buffer_that_the_model_gives_is_enough() -> None:
    found, equal = run(steady())
    peaks = streaming.line_buffer_peaks(MNIST, evaluate(MNIST, array(), PAPER, "streaming").timed)
    assert tuple(map(sum, found.peaks)) == peaks
    assert equal and not found.violations


def test_weights_in_the_wrong_order_give_other_outputs() -> None:
    configuration = steady()
    layer = configuration.layers[2]
    wrong = []
    for program in layer.pes:
        assert program.weights is not None
        down, across, *others = program.weights.strides
        wrong.append(replace(program, weights=replace(program.weights, strides=(across, down, *others))))
    assert not run(changed(configuration, 2, pes=tuple(wrong)))[1]


def test_a_pe_with_anothers_filters_gives_other_outputs() -> None:
    configuration = steady()
    first, second, *others = configuration.layers[0].pes
    twice = (first, replace(second, loops=first.loops), *others)
    assert not run(changed(configuration, 0, pes=twice))[1]


def test_windows_one_pixel_aside_give_other_outputs() -> None:
    configuration = steady()
    layer = configuration.layers[3]
    read = replace(layer.sources[0].read, base=layer.sources[0].maps)
    assert not run(changed(configuration, 3, **with_source(layer, read=read)))[1]


def test_frames_that_follow_too_fast_find_a_layer_busy() -> None:
    configuration = steady()
    found, _ = run(replace(configuration, interval=configuration.interval - 1))
    assert BUSY in {violation.rule for violation in found.violations}


@pytest.mark.parametrize("model", ["calculus", "lanes"])
def test_layer_by_layer_runs_take_as_long_as_the_model_says(model: Any) -> None:
    allocation = allocated(MNIST, *((16,) * 5), mode="layer-by-layer")
    found = report(problem_of(MNIST, allocation, model=model), allocation)
    assert found["agrees"]
    assert found["cost_simulated"] == evaluate(MNIST, array(), allocation, model).cost_json()


def test_table_1_runs_layer_by_layer_on_all_lanes() -> None:
    allocation = allocated(MNIST, *((16,) * 5), mode="layer-by-layer")
    found = report(problem_of(MNIST, allocation, model="lanes"), allocation)
    assert found["cost_simulated"]["cycles"] == 55_664


def test_runs_of_fused_layers_follow_one_another() -> None:
    allocation = allocated(MNIST, 4, 1, 8, 1, 2, mode="mixed", segments=(0, 2), on_chip=(True,))
    found = report(problem_of(MNIST, allocation), allocation)
    layers = found["physical"]["layers"]
    assert not found["failed"]
    assert layers["conv2"]["start"]["measured"] == sum(
        layers["pool1"][key]["measured"] for key in ("start", "latency")
    )
    assert found["cost_simulated"]["pes"] == 11


def test_runs_of_the_streaming_model_take_as_long_as_the_model_says() -> None:
    allocation = allocated(MNIST, 4, 1, 8, 1, 2, mode="mixed", segments=(0, 2), on_chip=(True,))
    found = report(problem_of(MNIST, allocation, model="streaming"), allocation)
    assert found["agrees"]
    assert found["cost_simulated"] == evaluate(MNIST, array(), allocation, "streaming").cost_json()


def test_a_calculus_that_is_close_to_the_simulation_agrees() -> None:
    """One layer alone starts and ends when the calculus says; beside many weights its line buffer is small."""
    network = Net((4, 4)).convolution(64).network()
    allocation = allocated(network)
    found = report(problem_of(network, allocation), allocation)
    assert found["agrees"] and not found["failed"]


def test_layers_that_share_a_pe_end_in_their_time() -> None:
    allocation = allocated(MNIST, 4, 1, 8, 1, 2, shared=((1, 3),))
    found = report(problem_of(MNIST, allocation, model="streaming"), allocation)
    assert found["agrees"]
    assert found["cost_simulated"]["pes"] == 15


def test_layers_that_share_a_pe_and_have_too_much_work_are_late() -> None:
    allocation = allocated(MNIST, 1, 1, 1, 1, 1, shared=((0, 2),))
    found = report(problem_of(MNIST, allocation, model="streaming"), allocation)
    assert LATE in {violation["rule"] for violation in found["violations"]}
    assert not found["agrees"]


def test_one_number_for_a_whole_map_is_read_by_every_pixel() -> None:
    net = Net((4, 4)).convolution(3).pool(2, op="GlobalAveragePool").elementwise("Mul", 0, 1)
    network = net.network()
    allocation = allocated(network)
    assert network.layers[1].positions == 1
    assert report(problem_of(network, allocation, model="streaming"), allocation)["agrees"]


def test_other_seeds_are_other_frames_and_equal_all_the_same() -> None:
    configuration = steady()
    first, second = (run(configuration, seed=seed) for seed in (1, 2))
    assert first[1] and second[1]
    assert not np.array_equal(first[0].outputs[4], second[0].outputs[4])


FIGURE_6 = Placement(
    (
        ((0, 0), (0, 1), (1, 0), (1, 1)),
        ((0, 2),),
        ((0, 3), (1, 3), (1, 2), (2, 0), (2, 1), (2, 2), (2, 3), (3, 3)),
        ((3, 2),),
        ((3, 0), (3, 1)),
    )
)


def test_the_papers_placement_has_a_way_for_every_stream() -> None:
    assert not run(steady(allocation=replace(PAPER, placement=FIGURE_6)))[0].violations


def test_a_stream_that_jumps_over_a_pe_is_named() -> None:
    configuration = steady(allocation=replace(PAPER, placement=FIGURE_6))
    streams = tuple(
        replace(stream, route=((0, 1), (1, 2))) if stream.target == "pool1" and stream.source else stream
        for stream in configuration.streams
    )
    found, _ = run(replace(configuration, streams=streams))
    assert [(one.rule, one.place) for one in found.violations] == [(UNLINKED, "conv0 to pool1")]


def test_a_layer_without_its_stream_is_named() -> None:
    configuration = steady(allocation=replace(PAPER, placement=FIGURE_6))
    streams = tuple(stream for stream in configuration.streams if stream.kind != "frame")
    found, _ = run(replace(configuration, streams=streams))
    assert [(one.rule, one.place) for one in found.violations] == [(UNLINKED, "buffers to conv0")]


def test_two_layers_on_one_pe_are_named() -> None:
    crowded = Placement((*FIGURE_6.regions[:3], ((0, 2),), FIGURE_6.regions[4]))
    found, _ = run(steady(allocation=replace(PAPER, placement=crowded)))
    assert [(one.rule, one.place) for one in found.violations] == [(OCCUPIED, "pool1, pool3")]
    taking_turns = replace(PAPER, placement=crowded, shared=((1, 3),))
    assert not run(steady(allocation=taking_turns))[0].violations
