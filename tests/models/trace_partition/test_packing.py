"""Weights lie in memory as the machine's transfers deal them out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mapper.models.trace_partition.data.packing import packed
from mapper.models.trace_partition.data.quantisation import LayerData
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer
from mapper.models.trace_partition.steps.plan import plan_layer
from tests.arch.snowflake_machine import machine
from tests.models.trace_partition.example import data_of, layer_of, whole


def _numbered(layer: TraceLayer) -> LayerData:
    """Weights 1, 2, ... in the order of the kernel, biases -1, -2, ..."""
    shape = (layer.filters, *layer.kernel, layer.group_inputs)
    kernel = np.arange(1, 1 + np.prod(shape), dtype=np.int16).reshape(shape)
    return LayerData(kernel, -np.arange(1, 1 + layer.filters, dtype=np.int16))


def test_traces_of_a_filter_begin_at_lines_in_coop() -> None:
    layer = layer_of(3, 3, 3, 4, 3, output=TensorView("out", 1, 1, 4, 4))
    data = _numbered(layer)
    weights, biases = packed(layer, whole(layer, unit_split="rows"), machine(), data)
    filters = weights.reshape(4, 3, 16)
    assert np.array_equal(filters[..., :9], data.kernel.reshape(4, 3, 9))
    assert not filters[..., 9:].any()
    assert biases.tolist() == [-1, -2, -3, -4]


def test_units_that_share_channels_have_their_filters_dealt_out() -> None:
    layer = layer_of(1, 1, 16, 20)
    data = _numbered(layer)
    weights, biases = packed(layer, whole(layer), machine(), data)
    # A unit has 8 filters, 2 of each vMAC: blocks of 4, each for every unit, lie one after the other.
    pieces = weights.reshape(2, 4, 4, 16)
    assert np.array_equal(pieces[0, 1], data.kernel.reshape(20, 16)[8:12])
    assert np.array_equal(pieces[1, 1], data.kernel.reshape(20, 16)[12:16])
    assert np.array_equal(pieces[0, 2], data.kernel.reshape(20, 16)[16:20])
    assert not pieces[1, 2:].any()
    assert not pieces[0, 3].any()
    assert biases.reshape(4, 8)[2].tolist() == [-17, -18, -19, -20, 0, 0, 0, 0]


def test_lanes_hold_a_filter_each_in_indp() -> None:
    layer = layer_of(1, 1, 5, 20)
    data = _numbered(layer)
    weights, _ = packed(layer, whole(layer, mode="indp", unit_split="rows"), machine(), data)
    # 20 filters take two of four vMACs; nothing is stored for the others.
    vmacs = weights.reshape(2, 5, 16)
    assert np.array_equal(vmacs[0], data.kernel.reshape(20, 5)[:16].T)
    assert np.array_equal(vmacs[1, :, :4], data.kernel.reshape(20, 5)[16:].T)
    assert not vmacs[1, :, 4:].any()


def test_mfm_has_first_halves_before_second_halves_in_each_unit() -> None:
    layer = layer_of(1, 1, 16, 16, mfm=True)
    _, biases = packed(layer, whole(layer), machine(), _numbered(layer))
    assert biases.reshape(4, 8)[1].tolist() == [-5, -6, -7, -8, -21, -22, -23, -24]


def test_clusters_that_share_rows_read_equal_words() -> None:
    layer = layer_of(8, 8, 6, 40, 3)
    mapping, data = whole(layer, cluster_split="rows"), data_of(layer, 1)
    first, second = (packed(layer, mapping, machine(), data, 2, cluster) for cluster in range(2))
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])


def test_clusters_that_share_channels_read_their_own_filters() -> None:
    layer = layer_of(1, 1, 16, 32)
    mapping, data = whole(layer, unit_split="rows"), _numbered(layer)
    alone = packed(layer, mapping, machine(), data)
    shared = replace(mapping, cluster_split="out_channels")
    parts = [packed(layer, shared, machine(), data, 2, cluster) for cluster in range(2)]
    assert np.array_equal(alone[0], np.concatenate([part[0] for part in parts]))
    assert np.array_equal(alone[1], np.concatenate([part[1] for part in parts]))


def test_maximum_pools_have_nothing_packed() -> None:
    layer = layer_of(work="max")
    weights, biases = packed(layer, whole(layer), machine(), data_of(layer, 1))
    assert (len(weights), len(biases)) == (0, 0)
    plan = plan_layer(layer, whole(layer), machine())
    assert (plan.vmac_words, plan.weight_words, plan.bias_words) == (0, 0, 0)
