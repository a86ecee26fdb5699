"""The referee of partitions names every rule that is broken, with its place and size."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.snowflake import SnowflakeMachine
from mapper.formulations.trace_partition.problem import MOST_STEPS, PartitionProblem, Pin
from mapper.formulations.trace_partition.referee import verify as referee
from mapper.formulations.trace_partition.referee.verify import verify
from mapper.formulations.verdict import Verdict
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.lowering.layer import (
    HostLayer,
    TensorView,
    TraceLayer,
    TraceNetwork,
    Work,
)
from mapper.models.trace_partition.mapping import LayerMapping, Partition, Tile
from mapper.models.trace_partition.partition_cost import PartitionCost
from mapper.models.trace_partition.steps.loop_length import LONGEST_LOOP, longest_loop, small_window
from mapper.models.trace_partition.steps.plan import plan_layer
from mapper.models.trace_partition.steps.step_document import step_entries
from tests.arch.snowflake_machine import machine

ALONE, TOGETHER = Configuration(1, 1, 1), Configuration(1, 1, 2)


def network() -> TraceNetwork:
    """A convolution, a pool that overlaps, and two pointwise convolutions."""
    x, a = TensorView("x", 16, 16, 8, 8), TensorView("a", 16, 16, 32, 32)
    b, c, y = TensorView("b", 8, 8, 32, 32), TensorView("c", 64, 1, 32, 32), TensorView("y", 64, 1, 16, 16)
    pads = ((1, 1), (1, 1))
    layers = (
        TraceLayer(
            "conv1", "n1", "Conv", "convolution", x, a, kernel=(3, 3), pads=pads, macs=16 * 16 * 32 * 72
        ),
        TraceLayer(
            "pool1", "n2", "MaxPool", "max", a, b, kernel=(3, 3), stride=(2, 2), pads=((1, 0), (1, 0))
        ),
        TraceLayer(
            "conv2", "n3", "Conv", "convolution", replace(b, height=64, width=1), c, macs=64 * 32 * 32
        ),
        TraceLayer("conv3", "n4", "Conv", "convolution", c, y, macs=64 * 32 * 16),
    )
    tensors = tuple((view.tensor, view.height * view.width * view.pitch) for view in (x, a, b, c, y))
    return TraceNetwork("net", layers, tensors, (("x", x),), (("y", y),))


NETWORK = network()
CHANNELS = LayerMapping("indp", Tile(16, 16, 8, 32), "maps_stationary", "out_channels")
MAPPINGS = (
    replace(CHANNELS, output_resident=True),
    replace(CHANNELS, tile=Tile(8, 8, 1, 32), input_resident=True),
    LayerMapping("coop", Tile(64, 1, 32, 16), "weights_stationary", "rows", output_resident=True),
    LayerMapping("coop", Tile(64, 1, 32, 16), "maps_stationary", "rows", input_resident=True),
)


def verdict_of(
    *mappings: LayerMapping,
    configuration: Configuration = ALONE,
    of: TraceNetwork = NETWORK,
    pins: dict[str, Pin] | None = None,
    on: SnowflakeMachine | None = None,
) -> Verdict[PartitionCost]:
    problem = PartitionProblem(of, on or machine(2), configuration, "latency", pins or {})
    return verify(problem, Partition(mappings))


def broken(verdict: Verdict[PartitionCost]) -> list[tuple[str, str, float]]:
    """Rules without what stands after a colon."""
    return [(rule.rule.partition(": ")[0], rule.place, rule.size) for rule in verdict.broken]


def changed(at: int, **changes: Any) -> list[LayerMapping]:
    return [replace(mapping, **changes) if at == place else mapping for place, mapping in enumerate(MAPPINGS)]


def test_a_partition_that_keeps_the_rules_breaks_none() -> None:
    verdict = verdict_of(*MAPPINGS)
    assert verdict.valid and verdict.cost is not None and verdict.cost.cycles > 0


def test_every_layer_has_a_mapping() -> None:
    assert broken(verdict_of(*MAPPINGS[:3])) == [(referee.LAYERS, "net", 1)]


@pytest.mark.parametrize(
    ("tile", "size"),
    [(Tile(17, 16, 8, 32), 1), (Tile(16, 0, 8, 32), 1), (Tile(16, 16, 12, 32), 4), (Tile(16, 16, 8, -3), 4)],
)
def test_a_tile_that_is_none_of_the_layer_has_no_cost(tile: Tile, size: int) -> None:
    verdict = verdict_of(*changed(0, tile=tile))
    assert broken(verdict) == [(referee.TILED, "conv1", size)] and verdict.cost is None


def test_pools_run_in_mode_indp() -> None:
    assert broken(verdict_of(*changed(1, mode="coop")))[0] == (referee.MODE, "pool1", 1)


def test_clusters_share_layers_where_they_share_the_image_only() -> None:
    assert broken(verdict_of(*changed(2, cluster_split="rows"))) == [(referee.SHARED, "conv2", 1)]
    alone = [replace(mapping, input_resident=False, output_resident=False) for mapping in MAPPINGS]
    verdict = verdict_of(*alone, configuration=TOGETHER)
    assert broken(verdict) == [(referee.SHARED, layer.name, 1) for layer in NETWORK.traced]
    shared = [replace(mapping, cluster_split="rows") for mapping in alone]
    assert verdict_of(*shared, configuration=TOGETHER).valid
    assert verdict_of(*shared, configuration=Configuration(1, 2, 2)).cost is None


def test_groups_are_not_torn_between_clusters() -> None:
    view, made = TensorView("x", 4, 4, 12, 12), TensorView("y", 4, 4, 12, 12)
    layer = TraceLayer("conv1", "n1", "Conv", "convolution", view, made, groups=3)
    grouped = TraceNetwork("grouped", (layer,), (("x", 192), ("y", 192)), (("x", view),), (("y", made),))
    mapping = LayerMapping("coop", Tile(4, 4, 4, 4), "maps_stationary", "rows", "out_channels")
    assert broken(verdict_of(mapping, of=grouped, configuration=TOGETHER)) == [(referee.SHARED, "conv1", 1)]
    assert verdict_of(replace(mapping, cluster_split="rows"), of=grouped, configuration=TOGETHER).valid


def test_rows_of_averages_that_the_edge_clips_are_not_shared_by_units() -> None:
    view, made = TensorView("x", 6, 6, 16, 16), TensorView("y", 6, 6, 16, 16)
    layer = TraceLayer(
        *("pool1", "n1", "AveragePool", "lane", view, made),
        kernel=(3, 3),
        pads=((1, 1), (1, 1)),
        average="inside",
    )
    pooled = TraceNetwork("pooled", (layer,), (("x", 576), ("y", 576)), (("x", view),), (("y", made),))
    mapping = LayerMapping("indp", Tile(6, 6, 1, 16), "maps_stationary", "rows")
    assert broken(verdict_of(mapping, of=pooled)) == [(referee.AVERAGED, "pool1", 2)]
    assert verdict_of(replace(mapping, unit_split="out_channels"), of=pooled).valid


def test_what_does_not_fit_the_buffers_is_counted_in_words_and_still_costed() -> None:
    # A unit holds its quarter of conv1's 16 x 16 x 32 results beside the whole input of 16 x 16 x 8, and 8 biases.
    needed = 16 * 16 * 8 + 16 * 16 * 8 + 16
    verdict = verdict_of(*MAPPINGS, on=machine(2, maps_buffer_bytes=4 * 2 * 4096))
    assert broken(verdict) == [(referee.ROOM, "conv1", needed - 4096)]
    assert verdict.cost is not None
    # Its 8 filters of a unit lie in 16 lanes of a vMAC, 9 * 8 positions of the window each.
    verdict = verdict_of(*MAPPINGS, on=machine(2, weight_buffer_bytes=1024 * 16 * 2))
    assert broken(verdict) == [(referee.WEIGHTS, "conv1", 9 * 8 * 16 - 1024)]


def test_a_loop_that_is_longer_than_a_bank_is_named() -> None:
    """Rows of a window of three apart positions are no run, so that every trace is unrolled."""
    view, made = TensorView("x", 200, 8, 1, 1), TensorView("y", 1, 2, 4, 4)
    layer = TraceLayer(
        "conv1", "n1", "Conv", "convolution", view, made, kernel=(200, 3), stride=(1, 2), dilation=(1, 2)
    )
    tall = TraceNetwork("tall", (layer,), (("x", 1600), ("y", 8)), (("x", view),), (("y", made),))
    rules = broken(verdict_of(LayerMapping("coop", Tile(1, 2, 1, 4), "maps_stationary", "rows"), of=tall))
    assert [rule[:2] for rule in rules] == [(referee.BANKED, "conv1")]


@pytest.mark.parametrize(
    "kernel", [(128, 1), (64, 2), (42, 3), (32, 4), (25, 5), (16, 8), (11, 11), (5, 25), (2, 64)]
)
@pytest.mark.parametrize("work", ["convolution", "lane", "max"])
def test_loops_of_small_windows_fit_a_bank(kernel: tuple[int, int], work: Work) -> None:
    """The referee does not count them."""
    down, across = (2 * side + 1 for side in kernel)
    view, made = TensorView("x", down, across, 5, 5), TensorView("y", 3, 3, 5, 5)
    layer = TraceLayer("one", "one", "Any", work, view, made, made, kernel=kernel, dilation=(2, 2))
    layer = layer if work == "convolution" else replace(layer, residual=None)
    assert small_window(layer)
    for rows, columns, inputs in ((3, 3, 2), (1, 3, 5), (3, 1, 1)):
        for mode in ("coop", "indp") if work == "convolution" else ("indp",):
            inputs = inputs if work == "convolution" else 1
            mapping = LayerMapping(mode, Tile(rows, columns, inputs, 5), "maps_stationary", "out_channels")
            assert longest_loop(plan_layer(layer, mapping, machine(2))) <= LONGEST_LOOP


def test_a_layer_of_too_many_steps_is_not_listed() -> None:
    view, made = TensorView("x", 512, 512, 8, 8), TensorView("y", 512, 512, 8, 8)
    layer = TraceLayer("conv1", "n1", "Conv", "convolution", view, made)
    large = TraceNetwork("large", (layer,), (("x", 1 << 21), ("y", 1 << 21)), (("x", view),), (("y", made),))
    verdict = verdict_of(LayerMapping("coop", Tile(1, 1, 1, 1), "maps_stationary", "rows"), of=large)
    assert broken(verdict) == [(referee.COUNTED, "conv1", 512 * 512 * 64 - MOST_STEPS)]
    assert verdict.cost is None


def test_pins_that_are_not_kept_are_named() -> None:
    verdict = verdict_of(
        *MAPPINGS, pins={"conv2": Pin(mode="indp", rows=64), "pool1": Pin(input_resident=False)}
    )
    assert broken(verdict) == [(referee.PINNED, "pool1", 1), (referee.PINNED, "conv2", 1)]
    assert verdict.broken[1].rule.endswith(": mode")
    assert verdict_of(*MAPPINGS, pins={"conv2": Pin(mode="coop", rows=64)}).valid


def test_what_stays_is_left_and_taken() -> None:
    assert broken(verdict_of(*changed(0, output_resident=False))) == [(referee.PAIRED, "pool1", 1)]
    assert broken(verdict_of(*changed(1, input_resident=False))) == [(referee.PAIRED, "conv1", 1)]
    assert broken(verdict_of(*changed(0, input_resident=True)))[0][0] == referee.KEPT
    pointwise = [*MAPPINGS[:3], replace(MAPPINGS[3], output_resident=True)]
    assert broken(verdict_of(*pointwise)) == [(referee.PAIRED, "conv3", 1)]


def test_what_stays_stays_whole() -> None:
    for at, changes in ((0, {"tile": Tile(16, 16, 8, 16)}), (1, {"tile": Tile(4, 8, 1, 32)})):
        verdict = verdict_of(*changed(at, **changes))
        assert broken(verdict) == [(referee.KEPT, ("conv1", "pool1")[at], 1)] and verdict.cost is None
    # Where units share rows, results may come in several tiles of channels or columns, but not of rows.
    assert verdict_of(*changed(2, tile=Tile(64, 1, 16, 4))).valid
    assert broken(verdict_of(*changed(2, tile=Tile(32, 1, 32, 16))))[0][0] == referee.KEPT


def test_units_have_what_they_need() -> None:
    # COOP deals 32 channels in fours: 8 to each unit, as pool1 has them; 20 of 4 channels each would differ.
    assert verdict_of(*changed(0, mode="coop")).valid
    mapping = replace(CHANNELS, unit_split="rows", tile=Tile(8, 8, 1, 32))
    verdict = verdict_of(MAPPINGS[0], replace(mapping, input_resident=True), *MAPPINGS[2:])
    assert broken(verdict)[0][0] == referee.KEPT
    split = replace(MAPPINGS[2], unit_split="out_channels", tile=Tile(64, 1, 32, 32))
    assert broken(verdict_of(*MAPPINGS[:2], split, MAPPINGS[3])) == [(referee.AGREED, "conv3", 4)]


def test_what_somebody_else_reads_does_not_stay() -> None:
    layers = list(NETWORK.layers)
    assert isinstance(layers[3], TraceLayer)
    residual = replace(layers[3], residual=replace(layers[3].input, channels=16))
    again = replace(NETWORK, layers=(*layers[:3], residual))
    assert broken(verdict_of(*MAPPINGS, of=again)) == [(referee.PAIRED, "conv2", 1)]
    handed = replace(NETWORK, outputs=(*NETWORK.outputs, ("c", NETWORK.traced[2].output)))
    assert broken(verdict_of(*MAPPINGS, of=handed)) == [(referee.PAIRED, "conv2", 1)]
    view = NETWORK.traced[3].output
    host = HostLayer("softmax1", "n9", "Softmax", (view,), replace(view, tensor="z"), 1024, "exponentials")
    between = replace(NETWORK, layers=(*layers[:3], host, layers[3]))
    assert broken(verdict_of(*MAPPINGS, of=between)) == [(referee.PAIRED, "conv2", 1)]
    half = replace(layers[3], input=replace(layers[3].input, channels=16, pitch=32))
    part = replace(NETWORK, layers=(*layers[:3], half))
    narrow = replace(MAPPINGS[3], tile=Tile(64, 1, 16, 16))
    assert broken(verdict_of(*MAPPINGS[:3], narrow, of=part))[0] == (referee.PAIRED, "conv2", 1)


def test_steps_of_a_document_are_those_that_the_decisions_imply() -> None:
    problem = PartitionProblem(NETWORK, machine(2), ALONE)
    steps = tuple(step_entries(plan_layer(NETWORK.traced[2], MAPPINGS[2], problem.machine).steps()))
    given = Partition(MAPPINGS, (None, None, steps, None))
    assert verify(problem, given).valid
    other = (replace(steps[0], buffer=1), *steps[1:])
    for wrong in (other, steps[:-1], (*steps, steps[0])):
        verdict = verify(problem, replace(given, steps=(None, None, wrong, None)))
        assert broken(verdict) == [(referee.STEPS, "conv2", 1)]


MUTATIONS: dict[str, Any] = {
    "mode": ["coop", "indp"],
    "order": ["maps_stationary", "weights_stationary"],
    "unit_split": ["rows", "out_channels"],
    "cluster_split": [None, "rows", "out_channels"],
    "input_resident": [False, True],
    "output_resident": [False, True],
}


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.integers(0, 3),
    st.sampled_from(sorted(MUTATIONS)),
    st.sampled_from(["rows", "columns", "in_channels", "out_channels", None]),
    st.integers(-1, 40),
    st.data(),
)
def test_a_mutated_partition_is_refused_or_can_be_planned_and_fits(
    at: int, name: str, side: str | None, size: int, data: st.DataObject
) -> None:
    changes: dict[str, Any] = {name: data.draw(st.sampled_from(MUTATIONS[name]))}
    if side is not None:
        changes["tile"] = replace(MAPPINGS[at].tile, **{side: size})
    mappings = changed(at, **changes)
    verdict = verdict_of(*mappings)
    small = machine(2, maps_buffer_bytes=4 * 2 * 4608)
    assert set(broken(verdict)) <= set(broken(verdict_of(*mappings, on=small)))
    if verdict.cost is None:
        assert not verdict.valid
        return
    for layer, mapping in zip(NETWORK.traced, mappings, strict=True):
        plan = plan_layer(layer, mapping, small)
        rules = [rule[:2] for rule in broken(verdict_of(*mappings, on=small))]
        assert ((referee.ROOM, layer.name) in rules) == (plan.unit_words > small.unit_words)
