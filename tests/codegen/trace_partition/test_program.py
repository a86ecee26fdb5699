"""Programs compute on the functional simulator what the layers mean, and miss no barrier on the cycle simulator."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.snowflake import SnowflakeMachine
from mapper.codegen.trace_partition import compile_program, listing
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.data.quantisation import LayerData
from mapper.models.trace_partition.isa.assembly import assemble
from mapper.models.trace_partition.isa.instruction import Operation
from mapper.models.trace_partition.isa.program import HostCall, Program
from mapper.models.trace_partition.isa.program_file import relocated
from mapper.models.trace_partition.lowering.layer import HostLayer, TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Partition, Tile
from mapper.sim.trace_partition.cycle.simulation import simulate_cycles
from mapper.sim.trace_partition.functional.memory import Memory
from mapper.sim.trace_partition.functional.simulation import run
from mapper.sim.trace_partition.reference import reference
from mapper.workloads.document import InputError
from tests.arch.snowflake_machine import machine
from tests.codegen.trace_partition.random_layer import (
    Words,
    network_of,
    random_chain,
    random_data,
    random_gated,
    random_images,
    random_layer,
    random_mapping,
    random_partition,
)

ONE, SHARED, TWO_IMAGES = Configuration(1, 1, 1), Configuration(1, 1, 2), Configuration(1, 2, 2)


def _agree(
    network: TraceNetwork,
    partition: Partition,
    configuration: Configuration,
    data: Mapping[str, LayerData],
    images: list[dict[str, Words]],
    base: int = 0,
) -> Program:
    """Compiles and runs; every output of every image equals the reference's."""
    on = machine(configuration.clusters)
    program = relocated(compile_program(network, partition, on, configuration, data, ()), base)
    given_images = {
        (number, name): words for number, image in enumerate(images) for name, words in image.items()
    }
    left = run(program, on, given_images)
    for number, image in enumerate(images):
        meant = reference(network, data, (), image)
        for _, view in network.outputs:
            name = view.tensor if len(images) == 1 else f"{number}/{view.tensor}"
            np.testing.assert_array_equal(left.memory[name], meant[view.tensor])
    return program


@pytest.mark.parametrize("configuration", [ONE, SHARED, TWO_IMAGES], ids=lambda one: str(one.name))
@settings(derandomize=True, deadline=None, max_examples=40)
@given(seed=st.integers(0, 1 << 32))
def test_layers_of_every_kind_equal_the_reference_under_any_mapping(
    configuration: Configuration, seed: int
) -> None:
    rng = random.Random(seed)
    layer = random_layer(rng) if rng.random() < 0.8 else random_gated(rng)
    network = network_of(layer)
    on = machine(configuration.clusters)
    mapping = random_mapping(rng, layer, on, configuration.sharing)
    images = [random_images(rng, network) for _ in range(configuration.images)]
    _agree(network, Partition((mapping,)), configuration, {layer.name: random_data(rng, layer)}, images)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(seed=st.integers(0, 1 << 32))
def test_code_waits_for_all_that_it_reads(seed: int) -> None:
    rng = random.Random(seed)
    layer = random_layer(rng) if rng.random() < 0.8 else random_gated(rng)
    configuration = rng.choice([ONE, SHARED])
    on = machine(configuration.clusters)
    mapping = random_mapping(rng, layer, on, configuration.sharing)
    data = {layer.name: random_data(rng, layer)}
    program = compile_program(network_of(layer), Partition((mapping,)), on, configuration, data, ())
    assert simulate_cycles(program, on).hazards == ()


@pytest.mark.parametrize("configuration", [ONE, SHARED], ids=lambda one: str(one.name))
@settings(derandomize=True, deadline=None, max_examples=25)
@given(seed=st.integers(0, 1 << 32))
def test_chains_equal_the_reference_where_maps_stay_in_buf_or_not(
    configuration: Configuration, seed: int
) -> None:
    rng = random.Random(seed)
    network = random_chain(rng)
    on = machine(configuration.clusters)
    partition = random_partition(rng, network, on, configuration)
    data = {layer.name: random_data(rng, layer) for layer in network.traced}
    program = _agree(network, partition, configuration, data, [random_images(rng, network)])
    assert simulate_cycles(program, on).hazards == ()


def _view(name: str, size: int, channels: int) -> TensorView:
    return TensorView(name, size, size, channels, channels)


def _pointwise(name: str, given_view: TensorView, made: TensorView) -> TraceLayer:
    return TraceLayer(name, name, "Conv", "convolution", given_view, made)


def _chain(size: int, *channels: int) -> TraceNetwork:
    """Pointwise convolutions one after another."""
    views = [_view(f"t{place}", size, count) for place, count in enumerate(channels)]
    layers = tuple(
        _pointwise(f"conv{place + 1}", views[place], views[place + 1]) for place in range(len(views) - 1)
    )
    tensors = tuple((view.tensor, size * size * view.pitch) for view in views)
    return TraceNetwork("chain", layers, tensors, (("t0", views[0]),), ((views[-1].tensor, views[-1]),))


def _whole(layer: TraceLayer, **fields: object) -> LayerMapping:
    tile = Tile(layer.rows, layer.columns, layer.group_inputs, layer.group_outputs)
    mapping = LayerMapping("indp", tile, "maps_stationary", "rows")
    return replace(mapping, **fields)  # type: ignore[arg-type]


def _filled(network: TraceNetwork) -> tuple[dict[str, LayerData], dict[str, Words]]:
    rng = random.Random(7)
    data = {layer.name: random_data(rng, layer) for layer in network.traced}
    return data, random_images(rng, network)


@pytest.mark.parametrize("configuration", [ONE, SHARED], ids=lambda one: str(one.name))
def test_maps_that_stay_in_buf_are_neither_stored_nor_loaded(configuration: Configuration) -> None:
    network = _chain(9, 20, 33, 48, 16)
    split = "rows" if configuration.sharing > 1 else None
    mappings = [
        _whole(layer, cluster_split=split, input_resident=place > 0, output_resident=place < 2)
        for place, layer in enumerate(network.traced)
    ]
    data, image = _filled(network)
    program = _agree(network, Partition(tuple(mappings)), configuration, data, [image])
    on = machine(configuration.clusters)
    left = run(program, on, {(0, "t0"): image["t0"]})
    assert not left.memory["t1"].any()
    assert not left.memory["t2"].any()
    assert simulate_cycles(program, on).hazards == ()


def test_clusters_that_share_rows_share_their_weights() -> None:
    network = _chain(6, 16, 32)
    data, image = _filled(network)
    for split, segments in (("rows", 2), ("out_channels", 4)):
        partition = Partition((_whole(network.traced[0], cluster_split=split),))
        program = _agree(network, partition, SHARED, data, [image])
        assert len(program.segments) == segments


def test_clusters_meet_behind_every_layer_that_they_share_only() -> None:
    network = _chain(6, 16, 32, 8)
    data, image = _filled(network)
    shared = Partition(tuple(_whole(layer, cluster_split="rows") for layer in network.traced))
    program = _agree(network, shared, SHARED, data, [image])
    assert [_count(program, cluster, Operation.SYNC) for cluster in range(2)] == [2, 2]
    alone = Partition(tuple(_whole(layer) for layer in network.traced))
    program = _agree(network, alone, TWO_IMAGES, data, [image, image])
    assert [_count(program, cluster, Operation.SYNC) for cluster in range(2)] == [0, 0]
    assert len(program.segments) == 4


def _count(program: Program, cluster: int, operation: Operation) -> int:
    return int(np.count_nonzero(program.clusters[cluster].code >> 28 == operation))


@pytest.mark.parametrize("base", [32, 1 << 16, 123_456_789])
def test_a_program_computes_the_same_at_another_place_in_memory(base: int) -> None:
    network = _chain(6, 16, 32, 8)
    data, image = _filled(network)
    partition = Partition(tuple(_whole(layer) for layer in network.traced))
    _agree(network, partition, ONE, data, [image], base)


@pytest.mark.parametrize("configuration", [ONE, SHARED, TWO_IMAGES], ids=lambda one: str(one.name))
def test_the_host_is_called_between_layers(configuration: Configuration) -> None:
    network = _chain(6, 16, 32, 8)
    first, second = network.traced
    made = _view("h", 6, 32)
    hosted = HostLayer(
        "lrn1", "lrn1", "LRN", (first.output,), made, 1, "is none of the accelerator's operators"
    )
    network = replace(
        network,
        layers=(first, hosted, replace(second, input=made)),
        tensors=(*network.tensors, ("h", 6 * 6 * 32)),
    )
    split = "rows" if configuration.sharing > 1 else None
    partition = Partition(tuple(_whole(layer, cluster_split=split) for layer in network.traced))
    data, image = _filled(network)
    on = machine(configuration.clusters)
    call = HostCall(1, "lrn1", "LRN", hosted.inputs, hosted.output)
    program = compile_program(network, partition, on, configuration, data, (call,))
    images = {(number, "t0"): image["t0"] for number in range(configuration.images)}

    def negated(called: HostCall, memory: Memory) -> None:
        memory.view(called.output)[...] = -memory.view(called.inputs[0])

    left = run(program, on, images, negated)
    meant = reference(_chain(6, 16, 32), data, (), image)["t1"]
    for number in range(configuration.images):
        name = "h" if configuration.images == 1 else f"{number}/h"
        np.testing.assert_array_equal(left.memory[name], -meant)
    assert simulate_cycles(program, on).hazards == ()


def test_a_tile_that_exceeds_the_buffers_is_refused() -> None:
    network = _chain(80, 64, 64)
    data, _ = _filled(network)
    with pytest.raises(ValueError, match=r"conv1: needs \d+ words of each unit's Buf of 32768"):
        compile_program(network, Partition((_whole(network.traced[0]),)), machine(), ONE, data, ())


def test_a_memory_that_is_too_small_is_an_error_that_names_it() -> None:
    network = _chain(150, 16, 32)
    data, _ = _filled(network)
    small = SnowflakeMachine.model_validate({**machine().model_dump(by_alias=True), "memory_bytes": 1 << 20})
    mapping = _whole(network.traced[0], tile=Tile(4, 150, 16, 32))
    with pytest.raises(InputError, match=r"memory_bytes 1048576.*does not hold the network: t1"):
        compile_program(network, Partition((mapping,)), small, ONE, data, ())


def test_the_listing_names_addresses_and_assembles_to_the_code() -> None:
    network = _chain(6, 16, 32, 8)
    data, image = _filled(network)
    program = _agree(network, Partition(tuple(map(_whole, network.traced))), ONE, data, [image])
    text = listing(program)
    assert "; layer conv2" in text
    assert "weights:conv1" in text.partition("; cluster 0")[2]
    np.testing.assert_array_equal(assemble(text), program.clusters[0].code)
