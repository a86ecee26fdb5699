"""No mapping of a layer costs less than the bounds say, and where nothing is wasted they are nearly met."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.bound import layer_bound, option_bound
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.cost import layer_cost
from mapper.models.trace_partition.mapping import LayerMapping, Tile
from mapper.models.trace_partition.residency import obstacle
from tests.arch.snowflake_machine import machine
from tests.models.trace_partition.example import layer_of, layers, mappings, whole

ONE = Configuration(1, 1, 1)
CONFIGURATIONS = (ONE, ONE, Configuration(1, 1, 2), Configuration(1, 2, 2), Configuration(1, 1, 4))


def changed(**fields: float) -> SnowflakeMachine:
    return machine().model_copy(update=fields)


@settings(derandomize=True, deadline=None, max_examples=120)
@given(st.data())
def test_no_mapping_costs_less_than_the_bounds(data: st.DataObject) -> None:
    layer = data.draw(layers())
    configuration = data.draw(st.sampled_from(CONFIGURATIONS))
    if layer.groups % configuration.sharing:
        configuration = ONE
    on = changed(bandwidth_gb_s=data.draw(st.sampled_from((0.1, 4.5, 100.0))))
    layer = replace(layer, macs=data.draw(st.integers(0, 10**6)))
    mapping = data.draw(mappings(layer, configuration.sharing))
    cost = layer_cost(layer, mapping, on, configuration)
    option = option_bound(layer, on, configuration, mapping.mode, mapping.unit_split)
    any_mapping = layer_bound(layer, on, configuration)
    assert any_mapping.cycles <= option.cycles <= cost.cycles
    assert any_mapping.dram_bytes <= option.dram_bytes <= cost.dram_bytes
    assert any_mapping.energy_pj <= option.energy_pj <= cost.energy_pj


def test_a_layer_without_waste_comes_close_to_its_bound() -> None:
    layer = layer_of(34, 34, 64, 256, 3)
    tile = {"rows": 32, "columns": 32, "out_channels": 64}
    mapping = whole(layer, mode="indp", unit_split="rows", order="maps_stationary", tile=tile)
    cost = layer_cost(layer, mapping, machine(), ONE)
    bound = layer_bound(layer, machine(), ONE)
    assert (
        bound.cycles == 32 * 32 * 9 * 64 + machine().timing.memory_latency + machine().timing.vector_latency
    )
    assert bound.cycles < cost.cycles < 1.05 * bound.cycles


def test_positions_of_the_window_beyond_the_edge_are_not_counted() -> None:
    inside = layer_of(8, 8, 64, 256, 3)
    padded = replace(inside, input=replace(inside.input, height=6, width=6), pads=((1, 1), (1, 1)))
    assert layer_bound(padded, machine(), ONE).cycles < layer_bound(inside, machine(), ONE).cycles


def test_too_little_bandwidth_bounds_the_cycles_by_the_bytes() -> None:
    layer = layer_of(8, 8, 64, 64, 1)
    slow = changed(bandwidth_gb_s=0.1)
    bound = layer_bound(layer, slow, ONE)
    assert bound.dram_bytes == 2 * (8 * 8 * 64 * 2 + 64 * 64)
    assert bound.cycles == bound.dram_bytes * 2


@pytest.mark.parametrize(("stays", "saved"), [((True, False), 5 * 4), ((False, True), 5 * 7)])
def test_maps_that_stay_in_buf_cross_no_port(stays: tuple[bool, bool], saved: int) -> None:
    layer = layer_of(5, 1, 4, 7, 1)
    stored = layer_bound(layer, machine(), ONE).dram_bytes
    assert stored - layer_bound(layer, machine(), ONE, *stays).dram_bytes == 2 * saved


def test_maps_that_stay_are_no_cheaper_than_their_bound() -> None:
    first, second = layer_of(16, 1, 32, 64, 1), layer_of(16, 1, 64, 32, 1)
    tile = Tile(16, 1, 32, 64)
    before = LayerMapping("indp", tile, "maps_stationary", "rows", output_resident=True)
    after = LayerMapping("indp", Tile(16, 1, 64, 32), "maps_stationary", "rows", input_resident=True)
    assert obstacle(first, before, second, after) is None
    for layer, mapping, stays in ((first, before, (False, True)), (second, after, (True, False))):
        cost = layer_cost(layer, mapping, machine(), ONE)
        bound = layer_bound(layer, machine(), ONE, *stays)
        assert bound.cycles <= cost.cycles
        assert bound.dram_bytes <= cost.dram_bytes
