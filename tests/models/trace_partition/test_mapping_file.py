"""Partitions are read from documents as they were written; what does not belong to the network is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Partition, StepEntry, Tile
from mapper.models.trace_partition.mapping_file import partition_from_json, partition_json
from mapper.workloads.document import InputError


def network_of(*names: str) -> TraceNetwork:
    """Pointwise convolutions of 8 by 8 pixels and 16 channels, one after another."""
    views = [TensorView(f"t{place}", 8, 8, 16, 16) for place in range(len(names) + 1)]
    layers = tuple(
        TraceLayer(name, name, "Conv", "convolution", views[place], views[place + 1])
        for place, name in enumerate(names)
    )
    tensors = tuple((view.tensor, 8 * 8 * 16) for view in views)
    return TraceNetwork("net", layers, tensors, (("x", views[0]),), (("y", views[-1]),))


SIZES = st.integers(1, 1 << 16)
MAPPINGS = st.builds(
    LayerMapping,
    st.sampled_from(["coop", "indp"]),
    st.builds(Tile, SIZES, SIZES, SIZES, SIZES),
    st.sampled_from(["maps_stationary", "weights_stationary"]),
    st.sampled_from(["rows", "out_channels"]),
    st.sampled_from([None, "rows", "out_channels"]),
    st.booleans(),
    st.booleans(),
)


def document(**changes: Any) -> dict[str, Any]:
    """One layer's mapping in the form that every kind's documents are agreed on."""
    return {
        "mode": "coop",
        "tile": {"rows": 4, "columns": 8, "in_channels": 16, "out_channels": 16},
        "order": "maps_stationary",
        "resident": {"input": False, "output": False},
        "cluster_split": None,
        **changes,
    }


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(MAPPINGS, min_size=1, max_size=4))
def test_a_partition_is_read_as_it_was_written(mappings: list[LayerMapping]) -> None:
    network = network_of(*(f"conv{place}" for place in range(len(mappings))))
    partition = Partition(tuple(mappings))
    assert partition_from_json(partition_json(partition, network), network, "m.json") == partition


def test_layers_may_stand_in_any_order() -> None:
    network = network_of("conv1", "conv2")
    layers = {"conv2": document(mode="indp"), "conv1": document()}
    read = partition_from_json({"layers": layers}, network, "m.json")
    assert [mapping.mode for mapping in read.layers] == ["coop", "indp"]


def test_the_mapping_of_an_only_layer_may_stand_alone() -> None:
    read = partition_from_json(document(), network_of("conv1"), "m.json")
    assert read.layers[0].tile == Tile(4, 8, 16, 16)


def test_units_share_rows_where_nothing_is_said() -> None:
    network = network_of("conv1")
    assert partition_from_json(document(), network, "m.json").layers[0].unit_split == "rows"
    given = partition_from_json(document(unit_split="out_channels"), network, "m.json")
    assert given.layers[0].unit_split == "out_channels"


def test_steps_are_kept_for_the_referee() -> None:
    step = {"step": "load", "operand": "input", "tile": [0, 1, 0], "buffer": 1}
    network = network_of("conv1", "conv2")
    layers = {"conv1": document(steps=[step]), "conv2": document()}
    read = partition_from_json({"layers": layers}, network, "m.json")
    assert read.steps == ((StepEntry("load", "input", (0, 1, 0), 1),), None)
    assert StepEntry("load", "input", (0, 1, 0), 1).to_json() == step


def test_sizes_that_make_no_tile_are_read_for_the_referee_to_judge() -> None:
    tile = {"rows": 0, "columns": -1, "in_channels": 16, "out_channels": 16}
    read = partition_from_json(document(tile=tile), network_of("conv1"), "m.json")
    assert read.layers[0].tile == Tile(0, -1, 16, 16)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"mode": "both"}, "mode"),
        ({"order": "none"}, "order"),
        ({"colour": "red"}, "colour"),
        ({"tile": {"rows": 4, "columns": 8, "in_channels": 16}}, "tile.out_channels"),
        ({"tile": {"rows": 4.5, "columns": 8, "in_channels": 16, "out_channels": 16}}, "tile.rows"),
        ({"tile": {"rows": 1 << 40, "columns": 8, "in_channels": 16, "out_channels": 16}}, "tile.rows"),
        ({"resident": {"input": 1, "output": False}}, "resident.input"),
        ({"resident": None}, "resident"),
        ({"cluster_split": "columns"}, "cluster_split"),
        ({"steps": [{"step": "load", "operand": "input", "tile": [0], "buffer": 2}]}, "steps.0.buffer"),
        ({"steps": [{"step": "wait", "operand": "input", "tile": [0], "buffer": 0}]}, "steps.0.step"),
    ],
)
def test_what_is_no_mapping_is_refused_by_its_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as error:
        partition_from_json(document(**changes), network_of("conv1"), "m.json")
    assert error.value.field == field


def test_a_missing_key_is_refused() -> None:
    fields = document()
    del fields["cluster_split"]
    with pytest.raises(InputError, match="cluster_split"):
        partition_from_json(fields, network_of("conv1"), "m.json")


@pytest.mark.parametrize("names", [["conv1"], ["conv1", "conv2", "conv3"], ["conv1", "conv3"]])
def test_every_layer_of_the_accelerator_and_no_other_has_a_mapping(names: list[str]) -> None:
    with pytest.raises(InputError, match="every layer"):
        partition_from_json(
            {"layers": {name: document() for name in names}}, network_of("conv1", "conv2"), "m"
        )
