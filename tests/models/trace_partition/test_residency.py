"""Maps that stay in Buf are where the next layer looks for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.data.packing import packed
from mapper.models.trace_partition.lowering.layer import HostLayer, TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.residency import linked, obstacle, resident_places, resident_words
from mapper.models.trace_partition.steps.plan import plan_layer
from tests.arch.snowflake_machine import machine
from tests.models.trace_partition.example import computed, data_of, layer_of, memory_of, pixels, whole
from tests.models.trace_partition.step_run import StepMachine

ONE = Configuration(1, 1, 1)


def _pair(second: TraceLayer) -> tuple[TraceLayer, TraceLayer]:
    """A convolution of 3x3 to tensor ``mid``, and ``second``, which reads it."""
    view = TensorView("mid", 8, 8, second.input.channels, second.input.channels)
    first = layer_of(8, 8, 5, view.channels, 3, name="first", pads=((1, 1), (1, 1)), output=view)
    return first, replace(second, name="second", input=replace(second.input, tensor="mid"))


def _network(*layers: TraceLayer | HostLayer, outputs: tuple[TensorView, ...] = ()) -> TraceNetwork:
    return TraceNetwork("net", layers, (), (), tuple((view.tensor, view) for view in outputs))


def _staying(before: LayerMapping, after: LayerMapping) -> Partition:
    return Partition((replace(before, output_resident=True), replace(after, input_resident=True)))


POINTWISE = layer_of(8, 8, 24, 40)
AS_COLUMN = layer_of(64, 1, 24, 40)
POOL = layer_of(
    8,
    8,
    32,
    32,
    3,
    work="max",
    stride=(2, 2),
    pads=((1, 0), (1, 0)),
    output=TensorView("out", 4, 4, 32, 32),
)
DEPTHWISE = layer_of(
    8, 8, 48, 48, 3, work="lane", pads=((1, 1), (1, 1)), output=TensorView("out", 8, 8, 48, 48)
)


@pytest.mark.parametrize(
    ("second", "split", "tiles", "sharing"),
    [
        (POINTWISE, "rows", ({"columns": 3, "out_channels": 7}, {"out_channels": 16}), 1),
        (POINTWISE, "rows", ({"in_channels": 2}, {"out_channels": 9}), 2),
        (AS_COLUMN, "rows", ({}, {}), 1),
        (POOL, "out_channels", ({"rows": 3, "columns": 5}, {}), 1),
        (POOL, "out_channels", ({"rows": 3, "in_channels": 3}, {}), 2),
        (DEPTHWISE, "out_channels", ({"rows": 2}, {}), 1),
    ],
)
def test_a_layer_computes_on_what_the_one_before_left_in_the_buffers(
    second: TraceLayer, split: Any, tiles: tuple[dict[str, int], dict[str, int]], sharing: int
) -> None:
    layers = _pair(second)
    shared = {"unit_split": split, "cluster_split": split if sharing > 1 else None}
    partition = _staying(
        *(whole(layer, tile=tile, **shared) for layer, tile in zip(layers, tiles, strict=True))
    )
    configuration = Configuration(1, 1, sharing)
    places = resident_places(_network(*layers), partition, machine(), configuration)
    memory = memory_of(layers[0], 1) | {"out": np.zeros(64 * 48, dtype=np.int64)}
    constants = [data_of(layer, 2 + number) for number, layer in enumerate(layers)]
    between = computed(layers[0], constants[0], memory).reshape(-1)
    expected = computed(layers[1], constants[1], memory | {"mid": between})
    memory["mid"] = np.full(8 * 8 * 48, 12345)
    for cluster in range(sharing):
        buffers = StepMachine(memory, machine().unit_words, machine().vmac_words)
        for layer, mapping, place, data in zip(layers, partition.layers, places, constants, strict=True):
            plan = plan_layer(layer, mapping, machine(), sharing, cluster, *place)
            assert plan.unit_words <= machine().unit_words
            weights, biases = packed(layer, mapping, machine(), data, sharing, cluster)
            memory[f"weights:{layer.name}"] = weights.astype(np.int64)
            memory[f"bias:{layer.name}"] = biases.astype(np.int64)
            buffers.run(plan)
    assert np.array_equal(pixels(layers[1].output, memory), expected)
    assert np.all(memory["mid"] == 12345)


def test_maps_that_stay_are_neither_stored_nor_loaded() -> None:
    first, second = _pair(POINTWISE)
    partition = _staying(whole(first, unit_split="rows"), whole(second, unit_split="rows"))
    assert all(step.store is None for step in plan_layer(first, partition.layers[0], machine()).steps())
    brought = {
        load.operand
        for step in plan_layer(second, partition.layers[1], machine()).steps()
        for load in step.loads
    }
    assert brought == {"weights", "bias"}


def test_maps_that_stay_lie_at_either_end_in_turn() -> None:
    first, second = _pair(POINTWISE)
    third = replace(
        layer_of(8, 8, 40, 8), name="third", input=second.output, output=TensorView("end", 8, 8, 8, 8)
    )
    rows = [whole(layer, unit_split="rows") for layer in (first, second, third)]
    partition = Partition(
        (
            replace(rows[0], output_resident=True),
            replace(rows[1], input_resident=True, output_resident=True),
            replace(rows[2], input_resident=True),
        )
    )
    places = resident_places(_network(first, second, third), partition, machine(), ONE)
    end = machine().unit_words - resident_words(second, rows[1])
    assert [tuple(place) for place in places] == [(None, 0), (0, end), (end, None)]
    assert resident_words(second, rows[1]) == 2 * 8 * 40


def test_only_the_sole_reader_right_behind_may_find_its_input_in_the_buffers() -> None:
    first, second = _pair(POINTWISE)
    again = replace(second, name="again", output=TensorView("end", 8, 8, 40, 40))
    host = HostLayer("lrn", "lrn", "LRN", (first.output,), TensorView("n", 8, 8, 24, 24), 1, "no such unit")
    assert linked(_network(first, second)) == (True, False)
    assert linked(_network(first, second, again)) == (False, False, False)
    assert linked(_network(first, host, second)) == (False, False)
    assert linked(_network(first, second, outputs=(first.output,))) == (False, False)
    assert linked(_network(first, replace(second, residual=first.output))) == (False, False)


@pytest.mark.parametrize(
    ("second", "before", "after", "why"),
    [
        (POINTWISE, {"unit_split": "rows"}, {}, "differently"),
        (POINTWISE, {}, {}, "channel by channel"),
        (POOL, {"unit_split": "rows"}, {"unit_split": "rows"}, "pointwise"),
        (POINTWISE, {"unit_split": "rows", "tile": {"rows": 4}}, {"unit_split": "rows"}, "one tile of rows"),
        (POINTWISE, {"unit_split": "rows"}, {"unit_split": "rows", "tile": {"columns": 4}}, "one tile"),
        (POOL, {"tile": {"out_channels": 16}}, {}, "one tile of output channels"),
        (layer_of(8, 8, 18, 18, work="max"), {}, {}, "hold"),
    ],
)
def test_maps_do_not_stay_where_units_hold_other_parts(
    second: TraceLayer, before: dict[str, Any], after: dict[str, Any], why: str
) -> None:
    first, second = _pair(second)
    found = obstacle(first, whole(first, **before), second, whole(second, **after))
    assert found is not None
    assert why in found
    with pytest.raises(ValueError, match="first"):
        resident_places(
            _network(first, second), _staying(whole(first, **before), whole(second, **after)), machine(), ONE
        )


def test_both_layers_must_say_that_maps_stay() -> None:
    first, second = _pair(POINTWISE)
    mappings = [whole(layer, unit_split="rows") for layer in (first, second)]
    partition = Partition((mappings[0], replace(mappings[1], input_resident=True)))
    with pytest.raises(ValueError, match="second"):
        resident_places(_network(first, second), partition, machine(), ONE)
