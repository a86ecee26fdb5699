"""Pictures of allocations: the grid by layer with its streams, and when the layers work."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from mapper.codegen.pe_allocation.chart import FRAMES, NAMES, WIDTH, chart, chart_lines
from mapper.codegen.pe_allocation.grid_text import grid_lines
from mapper.codegen.pe_allocation.picture import picture
from mapper.models.pe_allocation import calculus
from mapper.models.pe_allocation.cost import AllocationCost, evaluate
from mapper.models.pe_allocation.mapping import Allocation, Placement
from mapper.models.pe_allocation.stream.layer import StreamNetwork, stream_network
from mapper.workloads.source import load_layers
from tests.solver.pe_allocation.placement_oracle import allocation_of, array_of, network_of

SVG = "{http://www.w3.org/2000/svg}"
CHAIN = network_of([], [0], [1])
PLACED = Placement((((0, 0), (1, 0)), ((0, 1),), ((0, 3), (1, 3))))


def drawn(network: StreamNetwork, allocation: Allocation, placement: Placement) -> ElementTree.Element:
    return ElementTree.fromstring(picture(network, array_of(2, 4), allocation, placement))


@pytest.fixture(scope="module")
def example() -> tuple[StreamNetwork, AllocationCost]:
    """The paper's network with the PEs of layer-parallel (1) in Table 1."""
    network = stream_network(load_layers("mnist-tcpa", None))
    pes = (4, 1, 8, 1, 2)
    free = calculus.unthrottled(network, pes, (2,) * 5)
    idle = tuple(matched - z for matched, z in zip(calculus.matched(network, free), free, strict=True))
    given = allocation_of(*pes, throttle=idle)
    return network, evaluate(network, array_of(4, 4), given, "calculus")


def test_every_pe_is_drawn_and_says_whose_it_is() -> None:
    titles = [title.text for title in drawn(CHAIN, allocation_of(2, 1, 2), PLACED).iter(f"{SVG}title")]
    assert titles[:5] == ["[0,0] conv0", "[0,1] conv1", "[0,2] free", "[0,3] conv2", "[1,0] conv0"]
    assert len(titles) == 8


def test_pes_of_one_layer_have_one_colour_and_free_ones_none() -> None:
    fills = [rect.get("fill") for rect in drawn(CHAIN, allocation_of(2, 1, 2), PLACED).iter(f"{SVG}rect")]
    assert fills[0] == fills[4]
    assert fills[2] == fills[5] == "#ffffff"
    assert len({fills[0], fills[1], fills[3]}) == 3


def test_streams_between_layers_have_arrows() -> None:
    arrows = [line for line in drawn(CHAIN, allocation_of(2, 1, 2), PLACED).iter() if line.get("marker-end")]
    assert len(arrows) == 2


def test_names_cannot_break_the_picture() -> None:
    layers = (replace(CHAIN.layers[0], name="<b>&\x07"), *CHAIN.layers[1:])
    root = drawn(replace(CHAIN, layers=layers), allocation_of(2, 1, 2), PLACED)
    assert "[0,0] <b>&?" in [title.text for title in root.iter(f"{SVG}title")]


def test_runs_are_drawn_one_below_the_other() -> None:
    mixed = allocation_of(2, 1, 2, mode="mixed", segments=(0, 2), on_chip=(True,))
    assert len(list(drawn(CHAIN, mixed, PLACED).iter(f"{SVG}title"))) == 16
    assert grid_lines(CHAIN, array_of(2, 4), mixed, PLACED)[:7] == [
        "run 1", "a b . .", "a . . .", "", "run 2", ". . . c", ". . . c",
    ]  # fmt: skip


def test_the_grid_as_text_has_a_sign_for_every_layer() -> None:
    assert grid_lines(CHAIN, array_of(2, 4), allocation_of(2, 1, 2), PLACED) == [
        "a b . c",
        "a . . c",
        "",
        "a conv0 (2)  b conv1 (1)  c conv2 (2)",
    ]


def test_more_layers_than_letters_have_signs_of_two() -> None:
    network = network_of([], *[[at] for at in range(69)])
    placement = Placement(tuple(((at // 10, at % 10),) for at in range(70)))
    lines = grid_lines(network, array_of(8, 10), allocation_of(*[1] * 70), placement)
    signs = " ".join(lines[:7]).split()
    assert len(set(signs)) == 70
    assert lines[7].split() == [".."] * 10


def test_a_bar_begins_at_the_layers_start_and_lasts_its_latency(
    example: tuple[StreamNetwork, AllocationCost],
) -> None:
    network, cost = example
    root = ElementTree.fromstring(chart("mnist-tcpa", network.names, cost))
    bars = [bar for bar in root.iter(f"{SVG}rect")]
    titles = [bar[0].text for bar in bars]
    assert len(bars) == 5 * FRAMES
    # Fig. 7: t_4 = 3,024 and L_4 = 63,504; the next frame comes 63,504 cycles later.
    assert titles[12] == "conv4, frame 0: cycles 3,024 to 66,528"
    assert titles[13] == "conv4, frame 1: cycles 66,528 to 130,032"
    last = bars[-1]
    assert float(last.get("x", 0)) + float(last.get("width", 0)) == pytest.approx(NAMES + WIDTH, abs=0.2)


def test_the_chart_as_text_shows_that_layers_overlap(example: tuple[StreamNetwork, AllocationCost]) -> None:
    network, cost = example
    lines = chart_lines(network.names, cost)
    rows = {line.split(" |")[0].strip(): line[line.index("|") + 1 : -1] for line in lines[:-1]}
    assert list(rows) == list(network.names)
    # Conv2 is the bottleneck: it never waits; Conv0 does, and works on a frame before Conv4 is done with the last.
    assert " " not in rows["conv2"].strip()
    assert " " in rows["conv0"].strip()
    assert any(early == "1" and late == "0" for early, late in zip(rows["conv0"], rows["conv4"], strict=True))
    assert lines[-1].endswith("193,536 cycles")
