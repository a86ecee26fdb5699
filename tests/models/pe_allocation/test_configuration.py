"""Programs, address generators and ways of an allocation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.pe_allocation.calculus import position_cycles
from mapper.models.pe_allocation.configuration.address import Affine
from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.configuration.interconnect import shortest_route
from mapper.models.pe_allocation.configuration.wiring import wiring
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation, Placement
from mapper.models.pe_allocation.mapping_file import allocation_from_json
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.workloads.document import InputError
from tests.sim.pe_allocation.example import Net, allocated, array, network_called

MNIST = network_called("mnist-tcpa")
FIGURE_6 = Placement(
    (
        ((0, 0), (0, 1), (1, 0), (1, 1)),
        ((0, 2),),
        ((0, 3), (1, 3), (1, 2), (2, 0), (2, 1), (2, 2), (2, 3), (3, 3)),
        ((3, 2),),
        ((3, 0), (3, 1)),
    )
)
PAPER = allocated(MNIST, 4, 1, 8, 1, 2, placement=FIGURE_6)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 8), st.integers(1, 4))
def test_the_pes_of_a_layer_issue_every_product_once(filters: int, depth: int, pes: int, delta: int) -> None:
    network = Net((3, 4), depth).convolution(filters, 2).network()
    allocation = allocated(network, pes, delta=delta)
    layer = configure(network, array(), allocation, "calculus").layers[0]
    taken: list[int] = []
    for program in layer.pes:
        assert program.weights is not None
        k1, k2, n, m = program.loops
        for index in np.ndindex(*program.weights.counts):
            values = [loop.first + loop.step * at for loop, at in zip((k1, k2, n, m), index[:4], strict=True)]
            if values[2] + index[4] < n.limit and values[3] < m.limit:
                taken.append(int(program.weights.addresses()[index]))
        assert program.work == position_cycles(network.layers[0], pes, delta)
    assert sorted(taken) == list(range(filters * depth * 4))


def test_pe_p_has_the_filters_p_and_every_pth_after_it() -> None:
    layer = configure(MNIST, array(), PAPER, "calculus").layers[0]
    loops = [program.loops[3] for program in layer.pes]
    assert [(loop.first, loop.step, loop.count, loop.limit) for loop in loops] == [
        (p, 4, 6, 24) for p in range(4)
    ]
    assert [program.at for program in layer.pes] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_lanes_take_filters_in_place_of_maps() -> None:
    allocation = allocated(MNIST, *((16,) * 5), mode="layer-by-layer")
    layers = configure(MNIST, array(), allocation, "lanes").layers
    timed = evaluate(MNIST, array(), allocation, "lanes").timed
    assert [layer.scheme for layer in layers] == ["lanes", "lanes", "depth", "lanes", "depth"]
    assert [layer.cycles for layer in layers] == [timing.z_out for timing in timed]


@pytest.mark.parametrize("model", ["calculus", "streaming"])
def test_start_times_and_idle_cycles_are_those_of_the_model(model: str) -> None:
    configuration = configure(MNIST, array(), PAPER, model)  # type: ignore[arg-type]
    timed = evaluate(MNIST, array(), PAPER, model).timed  # type: ignore[arg-type]
    assert [layer.start for layer in configuration.layers] == [timing.start for timing in timed]
    assert [layer.cycles for layer in configuration.layers] == [54, 216, 324, 1296, 1296]
    assert [layer.idle for layer in configuration.layers] == list(PAPER.throttle)


def test_the_ways_of_all_streams_are_as_long_as_the_wiring() -> None:
    streams = configure(MNIST, array(), PAPER, "calculus").streams
    links = sum(len(stream.route) - 1 for stream in streams)
    assert links == wiring(MNIST, array(), FIGURE_6.regions, range(5))
    near = array().neighbours
    for stream in streams:
        assert all(
            after in near[before] for before, after in zip(stream.route, stream.route[1:], strict=False)
        )


def test_streams_start_and_end_where_their_layers_stand() -> None:
    streams = {
        (stream.kind, stream.source, stream.target): stream.route
        for stream in configure(MNIST, array(), PAPER, "calculus").streams
    }
    assert streams["maps", "conv0", "pool1"] == ((0, 1), (0, 2))
    assert streams["frame", None, "conv0"] == ((0, 0),)
    assert streams["result", "conv4", None][-1] in array().border_pes
    assert ("result", "conv0", None) not in streams


def test_without_a_placement_streams_have_no_route() -> None:
    configuration = configure(MNIST, array(), allocated(MNIST), "calculus")
    assert {stream.route for stream in configuration.streams} == {()}
    assert {program.at for layer in configuration.layers for program in layer.pes} == {None}


def test_runs_store_their_maps_between_them() -> None:
    allocation = allocated(MNIST, mode="mixed", segments=(0, 2), on_chip=(True,))
    configuration = configure(MNIST, array(), allocation, "calculus")
    stored = [(s.source, s.target) for s in configuration.streams if s.kind == "stored"]
    assert stored == [("pool1", None), (None, "conv2")]
    assert configuration.stored == (1,)
    assert configuration.layers[2].sources[0].words == 24 * 14 * 14


def test_a_shortest_route_around_a_torus_crosses_the_edge() -> None:
    fields = array().model_dump(by_alias=True) | {"links": ["torus"]}
    torus = type(array()).model_validate(fields)
    assert shortest_route(torus, [(0, 0)], [(0, 3)]) == ((0, 0), (0, 3))
    assert len(shortest_route(array(), [(0, 0)], [(0, 3)])) == 4


def test_addresses_run_fastest_in_the_last_index() -> None:
    affine = Affine(("a", "b"), (2, 3), (10, 1), 5)
    assert affine.addresses().ravel().tolist() == [5, 6, 7, 15, 16, 17]


def test_maps_of_another_size_are_refused() -> None:
    net = Net().convolution(2)
    made = net.convolution(2).layers
    odd = StreamNetwork("odd", (made[0], made[0].__class__(**{**vars(made[1]), "size": (9, 9)})), ())
    with pytest.raises(InputError, match="makes 4x5"):
        configure(odd, array(), allocated(odd), "calculus")


@pytest.mark.parametrize("wrong", [((0, 2), (0, 3)), ((9, 9),)])
def test_a_layer_that_stands_on_pes_that_there_are_not_is_refused(wrong: tuple[tuple[int, int], ...]) -> None:
    placement = Placement((FIGURE_6.regions[0], wrong, *FIGURE_6.regions[2:]))
    with pytest.raises(InputError, match=r"placement\.pool1"):
        configure(MNIST, array(), allocated(MNIST, 4, 1, 8, 1, 2, placement=placement), "calculus")


def test_idle_cycles_of_a_gate_by_eq_9_are_read_back() -> None:
    # Paces multiply from one gate to the next.
    allocation = Allocation("layer-parallel", (1,), (1 << 40,), (2,))
    fields = json.loads(json.dumps(allocation.to_json(("mul1",))))
    assert allocation_from_json(fields, ("mul1",), "net.json") == allocation
