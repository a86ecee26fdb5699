"""The steps of a mapping compute the layer, whatever the mapping, in no more words than the plan says."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.data.packing import packed
from mapper.models.trace_partition.lowering.layer import TensorView
from mapper.models.trace_partition.steps.plan import LayerPlan, plan_layer
from mapper.models.trace_partition.steps.step import ComputeObject, Transfer
from tests.arch.snowflake_machine import machine
from tests.models.trace_partition.example import (
    computed,
    data_of,
    layer_of,
    layers,
    mappings,
    memory_of,
    pixels,
    whole,
)
from tests.models.trace_partition.step_run import StepMachine


@settings(derandomize=True, deadline=None, max_examples=35)
@given(st.data())
def test_the_steps_of_any_mapping_compute_the_layer(data: st.DataObject) -> None:
    layer = data.draw(layers())
    sharing = data.draw(st.sampled_from((1, 1, 2, 3)))
    if layer.groups % sharing and layer.groups > 1:
        sharing = 1
    mapping = data.draw(mappings(layer, sharing))
    constants, memory = data_of(layer, 1), memory_of(layer, 2)
    expected, before = computed(layer, constants, memory), memory["out"].copy()
    for cluster in range(sharing):
        plan = plan_layer(layer, mapping, machine(), sharing, cluster)
        weights, biases = packed(layer, mapping, machine(), constants, sharing, cluster)
        assert (len(weights), len(biases)) == (plan.weight_words, plan.bias_words)
        constant = {"weights:layer": weights.astype(np.int64), "bias:layer": biases.astype(np.int64)}
        constant["table:layer"] = constants.table.astype(np.int64)
        StepMachine(memory | constant, plan.unit_words, plan.vmac_words, seed=3).run(plan)
    assert np.array_equal(pixels(layer.output, memory), expected)
    untouched = np.ones(len(before), dtype=np.bool_)
    view = layer.output
    places = (
        np.arange(view.height * view.width)[:, None] * view.pitch + np.arange(view.channels) + view.offset
    )
    untouched[places] = False
    assert np.array_equal(memory["out"][untouched], before[untouched])


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.data())
def test_a_class_stands_for_its_steps_but_for_their_addresses(data: st.DataObject) -> None:
    layer = data.draw(layers())
    mapping = data.draw(mappings(layer, 1))
    plan = plan_layer(layer, mapping, machine())
    classes, steps = plan.classes(), list(plan.steps())
    assert len(classes) == len(steps) == plan.count
    for kind, step in zip(classes, steps, strict=True):
        assert [load.operand for load in kind.loads] == [load.operand for load in step.loads]
        for which, load in zip(kind.loads, step.loads, strict=True):
            assert [_moved(t) for t in plan.load(which).transfers] == [_moved(t) for t in load.transfers]
        assert [_timed(o) for o in plan.compute(kind.compute)] == [_timed(o) for o in step.compute]
        assert (kind.store is None) == (step.store is None)
        if kind.store is not None and step.store is not None:
            assert [_moved(t) for t in plan.store(kind.store).transfers] == [
                _moved(t) for t in step.store.transfers
            ]


def _moved(transfer: Transfer) -> Hashable:
    return replace(transfer, local=transfer.local % 16, memory=0)


def _timed(o: ComputeObject) -> Hashable:
    """All of an object that its time depends on."""
    lines: dict[str, Any] = {name: getattr(o, name) % 16 for name in ("maps", "weights", "out")}
    for name in ("bias", "initial"):
        value = getattr(o, name)
        lines[name] = None if value is None else value % 16
    return replace(o, **lines)


def test_an_operand_of_one_tile_is_loaded_once_into_one_buffer() -> None:
    layer = layer_of(outputs=32)
    plan = plan_layer(layer, whole(layer, tile={"rows": 2}), machine())
    loaded = [load for step in plan.steps() for load in step.loads]
    assert [load.operand for load in loaded] == ["weights", "bias", "input", "input", "input"]
    assert [load.buffer for load in loaded if load.operand == "input"] == [0, 1, 0]
    assert plan.vmac_words == plan_layer(layer, whole(layer), machine()).vmac_words


def test_weights_stationary_loads_each_weights_tile_once_and_the_maps_again() -> None:
    layer = layer_of(outputs=48)
    mapping = whole(layer, order="weights_stationary", tile={"rows": 2, "out_channels": 16})
    operands = [load.operand for step in plan_layer(layer, mapping, machine()).steps() for load in step.loads]
    assert (operands.count("weights"), operands.count("input")) == (3, 9)
    operands = [
        load.operand
        for step in plan_layer(layer, replace(mapping, order="maps_stationary"), machine()).steps()
        for load in step.loads
    ]
    assert (operands.count("weights"), operands.count("input")) == (9, 3)


def test_two_tiles_of_input_channels_both_stay_in_their_buffers() -> None:
    layer = layer_of(outputs=48, inputs=8)
    mapping = whole(layer, tile={"in_channels": 4, "out_channels": 16})
    operands = [load.operand for step in plan_layer(layer, mapping, machine()).steps() for load in step.loads]
    assert operands.count("input") == 2


def test_windows_of_one_position_bring_only_what_their_stride_meets() -> None:
    layer = layer_of(9, 9, 16, 16, stride=(2, 2), output=TensorView("out", 5, 5, 16, 16))
    (step,) = plan_layer(layer, whole(layer), machine()).steps()
    (maps,) = (load for load in step.loads if load.operand == "input")
    assert sum(transfer.total_words for transfer in maps.transfers) == 5 * 5 * 16


def test_a_whole_map_comes_in_one_transfer() -> None:
    layer = layer_of(8, 8, 16, 16, 3)
    (step,) = plan_layer(layer, whole(layer), machine()).steps()
    (maps,) = (load for load in step.loads if load.operand == "input")
    assert [(t.units, t.count, t.words) for t in maps.transfers] == [("all", 1, 8 * 8 * 16)]


def test_words_beyond_a_16_bit_field_come_in_several_pieces() -> None:
    layer = layer_of(20, 2, 4096, 16)
    (step,) = plan_layer(layer, whole(layer), machine()).steps()
    (maps,) = (load for load in step.loads if load.operand == "input")
    assert sum(transfer.total_words for transfer in maps.transfers) == 20 * 2 * 4096
    assert all(max(t.count, t.words, t.local_pitch, t.memory_pitch) < 1 << 16 for t in maps.transfers)


def test_filters_beyond_a_16_bit_field_come_in_several_pieces() -> None:
    layer = layer_of(1, 1, 5000, 9)
    mapping = whole(layer, mode="indp", unit_split="rows")
    memory, constants = memory_of(layer, 1), data_of(layer, 1)
    plan = plan_layer(layer, mapping, machine())
    weights, biases = packed(layer, mapping, machine(), constants)
    expected = computed(layer, constants, memory)
    memory |= {"weights:layer": weights.astype(np.int64), "bias:layer": biases.astype(np.int64)}
    StepMachine(memory, plan.unit_words, plan.vmac_words).run(plan)
    assert np.array_equal(pixels(layer.output, memory), expected)


def test_needs_beyond_the_buffers_are_numbers_not_errors() -> None:
    layer = layer_of(56, 56, 512, 512, 3)
    plan = plan_layer(layer, whole(layer), machine())
    assert plan.unit_words > machine().unit_words
    assert plan.vmac_words > machine().vmac_words


def test_a_cluster_left_without_rows_has_no_steps() -> None:
    layer = layer_of(5, 5)
    plan = plan_layer(layer, whole(layer, cluster_split="rows"), machine(), sharing=4, cluster=3)
    assert (plan.count, plan.classes(), list(plan.steps()), plan.weight_words) == (0, (), [], 0)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"tile": {"rows": 7}}, "tile.rows"),
        ({"tile": {"columns": 0}}, "tile.columns"),
        ({"cluster_split": "rows"}, "cluster_split"),
    ],
)
def test_a_mapping_of_another_layer_is_refused(changes: dict[str, Any], why: str) -> None:
    layer = layer_of()
    with pytest.raises(ValueError, match=why):
        plan_layer(layer, whole(layer, **changes), machine())


def test_averages_over_what_lies_inside_need_units_that_share_channels() -> None:
    layer = layer_of(
        kernel=3,
        work="lane",
        average="inside",
        pads=((1, 1), (1, 1)),
        output=TensorView("out", 6, 6, 4, 4),
    )
    with pytest.raises(ValueError, match="average"):
        plan_layer(layer, whole(layer, unit_split="rows"), machine())


def test_a_maximum_over_padding_alone_is_refused() -> None:
    layer = layer_of(work="max", pads=((1, 0), (0, 0)), output=TensorView("out", 7, 6, 4, 4))
    with pytest.raises(ValueError, match="padding alone"):
        plan_layer(layer, whole(layer), machine())


def test_classes_are_few_where_steps_are_many() -> None:
    layer = layer_of(40, 40, 16, 64, 3)
    plan: LayerPlan = plan_layer(
        layer, whole(layer, tile={"rows": 1, "columns": 1, "out_channels": 16}), machine()
    )
    assert plan.count == 38 * 38 * 4
    assert len(set(plan.classes())) < 20
