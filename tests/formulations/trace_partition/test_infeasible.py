"""A network without a partition is told which layer is in the way, with the words that are lacking."""

from __future__ import annotations

from itertools import product

import pytest

from mapper.formulations.trace_partition.infeasible import why_infeasible
from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.formulations.trace_partition.referee.verify import verify
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Mode, Partition, Split, Tile
from tests.arch.snowflake_machine import machine

ALONE = Configuration(1, 1, 1)
SMALLEST_ROOM, SMALLEST_WEIGHTS = 192, 512


def alone(layer: TraceLayer) -> TraceNetwork:
    tensors = ((layer.input.tensor, 1), (layer.output.tensor, 1))
    return TraceNetwork("net", (layer,), tensors, (("x", layer.input),), (("y", layer.output),))


def pool(side: int) -> TraceLayer:
    """A global average."""
    view, made = TensorView("x", side, side, 16, 16), TensorView("y", 1, 1, 16, 16)
    return TraceLayer("pool1", "n1", "GlobalAveragePool", "lane", view, made, kernel=(side, side))


def small_convolution() -> TraceLayer:
    view, made = TensorView("x", 5, 4, 6, 6), TensorView("y", 5, 4, 9, 9)
    pads = ((1, 1), (1, 1))
    return TraceLayer("conv1", "n1", "Conv", "convolution", view, made, kernel=(3, 3), pads=pads)


def said(network: TraceNetwork, **pins: Pin) -> str | None:
    return why_infeasible(PartitionProblem(network, machine(2), ALONE, "latency", pins))


def test_nothing_is_said_of_what_fits() -> None:
    assert said(alone(pool(32))) is None
    assert said(alone(small_convolution())) is None


def test_a_window_larger_than_a_unit_s_buffer_is_named_with_its_words() -> None:
    # A unit has one channel of 200 x 200 pixels, twice as there are four tiles, two results and two biases.
    reason = said(alone(pool(200)))
    assert reason is not None
    assert reason.startswith(
        "pool1: the smallest tile (1 x 1 outputs of 1 channels from 1, indp, units share "
    )
    assert f"needs {2 * 200 * 200 + 4 * 16} words of a unit's maps buffer, which has 32768" in reason


def test_weights_that_do_not_fit_are_named() -> None:
    # Each of 40 x 40 positions has a line of weights in every vMAC.
    reason = said(alone(pool(40)))
    assert reason is not None and f"{40 * 40 * 16} words of a vMAC's weight buffer, which has 16384" in reason


@pytest.mark.parametrize("room", [128, 176, 192, 256])
@pytest.mark.parametrize("weights", [256, 512])
def test_what_is_called_impossible_has_no_partition_and_nothing_else_is(room: int, weights: int) -> None:
    """Held against every tile of a small layer with a large window, on machines of which some are too small."""
    view, made = TensorView("x", 10, 8, 3, 3), TensorView("y", 2, 2, 5, 5)
    layer = TraceLayer("conv1", "n1", "Conv", "convolution", view, made, kernel=(9, 7))
    small = machine(2, maps_buffer_bytes=room * 8, weight_buffer_bytes=weights * 32)
    problem = PartitionProblem(alone(layer), small, ALONE)
    sizes = (layer.rows, layer.columns, layer.group_inputs, layer.group_outputs)
    splits: tuple[Split, ...] = ("rows", "out_channels")
    modes: tuple[Mode, ...] = ("coop", "indp")
    tiles = [Tile(*tile) for tile in product(*(range(1, size + 1) for size in sizes))]
    ways = [
        LayerMapping(mode, tile, "maps_stationary", split)
        for mode, split, tile in product(modes, splits, tiles)
    ]
    fits = any(verify(problem, Partition((way,))).valid for way in ways)
    assert (why_infeasible(problem) is None) == fits
    assert fits == (room >= SMALLEST_ROOM and weights >= SMALLEST_WEIGHTS)


def test_pins_that_leave_no_tile_are_named() -> None:
    network = alone(small_convolution())
    assert (
        said(network, conv1=Pin(rows=6))
        == "conv1: its pins leave no tile in any mode and split that it may have"
    )
    assert "leave no tile" in (said(alone(pool(4)), pool1=Pin(mode="coop")) or "")
    assert said(network, conv1=Pin(rows=5, mode="indp")) is None


def test_a_pinned_tile_that_does_not_fit_is_named() -> None:
    view, made = TensorView("x", 112, 112, 64, 64), TensorView("y", 112, 112, 64, 64)
    layer = TraceLayer("conv1", "n1", "Conv", "convolution", view, made)
    reason = said(alone(layer), conv1=Pin(rows=112, columns=112, in_channels=64))
    assert reason is not None and "the smallest tile that its pins leave (112 x 112 outputs" in reason


def test_pins_of_what_stays_must_agree() -> None:
    first, view = small_convolution(), TensorView("z", 5, 4, 9, 9)
    second = TraceLayer("conv2", "n2", "Conv", "convolution", first.output, view)
    network = TraceNetwork("net", (first, second), (), (("x", first.input),), (("z", view),))
    assert said(network, conv1=Pin(output_resident=True)) is None
    apart = {"conv1": Pin(output_resident=True), "conv2": Pin(input_resident=False)}
    assert "but not as the input of conv2" in (said(network, **apart) or "")
    apart = {"conv1": Pin(output_resident=False), "conv2": Pin(input_resident=True)}
    assert "but not as the output of conv1" in (said(network, **apart) or "")
    assert "not for the next layer alone" in (said(network, conv2=Pin(output_resident=True)) or "")
    assert "nothing of the layer before" in (said(network, conv1=Pin(input_resident=True)) or "")
