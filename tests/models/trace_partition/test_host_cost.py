"""What the host takes is part of every cost: the program stops until it is done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.arch.snowflake import Energy, Host, SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.cost import evaluate, layer_cost
from mapper.models.trace_partition.host_cost import host_cycles
from mapper.models.trace_partition.lowering.layer import HostLayer, TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import Partition
from mapper.models.trace_partition.partition_cost import PartitionCost
from tests.arch.snowflake_machine import machine
from tests.models.trace_partition.example import layer_of, whole

ONE = Configuration(1, 1, 1)


def _layer(size: int = 8, channels: int = 16, kernel: int = 3) -> TraceLayer:
    """A convolution whose padding keeps the size."""
    pad = kernel // 2
    return layer_of(
        size,
        size,
        channels,
        channels,
        kernel,
        output=TensorView("out", size, size, channels, channels),
        pads=((pad, pad), (pad, pad)),
        macs=(size * channels * kernel) ** 2,
    )


def _network(hosted: int, macs: int = 0) -> TraceNetwork:
    layer = _layer()
    calls = tuple(
        HostLayer(f"lrn{at}", "", "LRN", (layer.output,), layer.output, 1000, "has no square roots", macs)
        for at in range(hosted)
    )
    views = (layer.input, layer.output)
    tensors = tuple((view.tensor, view.height * view.width * view.pitch) for view in views)
    return TraceNetwork("one", (layer, *calls), tensors, (("in", views[0]),), (("out", views[1]),))


def _cost(
    network: TraceNetwork, configuration: Configuration = ONE, on: SnowflakeMachine | None = None
) -> PartitionCost:
    return evaluate(network, on or machine(), configuration, Partition((whole(_layer()),)))


def test_each_operator_takes_its_elements_and_products_at_the_hosts_speeds() -> None:
    host = HostLayer("x", "", "Conv", (), _layer().output, 500, "", 3000)
    slow = machine().model_copy(update={"host": Host(elements_per_second=1e6, macs_per_second=2e6)})
    assert host_cycles(host, slow, ONE) == 200 * 500 + 100 * 3000


def test_a_networks_cycles_are_its_layers_and_the_hosts_one_after_another() -> None:
    bare, hosted = _cost(_network(0)), _cost(_network(2))
    waited = 2 * 1000 * 200 // 100  # 200 MHz, 100 elements a microsecond
    assert hosted.cycles == bare.cycles + waited
    assert hosted.accelerator_cycles == bare.cycles
    assert hosted.total.causes["host"] == waited and bare.total.causes["host"] == 0
    assert sum(hosted.total.causes.values()) == hosted.cycles


def test_shares_of_the_time_say_what_the_host_takes_of_the_whole() -> None:
    cost = _cost(_network(2))
    assert [one.cycles for one in cost.hosted] == [2000, 2000]
    assert sum(one.share_of_time for one in cost.hosted) == pytest.approx(4000 / cost.cycles)


def test_frames_per_second_include_the_host() -> None:
    cost = _cost(_network(3, macs=1_000_000))
    assert cost.total.throughput_fps == pytest.approx(2e8 / cost.cycles)
    assert cost.total.throughput_fps is not None
    assert cost.total.throughput_fps < 1 / (3 * 1_000_000 / machine().host.macs_per_second)


def test_a_batch_of_rows_has_a_frame_for_each() -> None:
    one, batch = _cost(_network(1)), _cost(replace(_network(1), frames=32))
    assert batch.cycles == one.cycles
    assert batch.total.throughput_fps == pytest.approx(32 * 2e8 / one.cycles)
    assert batch.layers[0].throughput_fps == pytest.approx(32 * 2e8 / one.layers[0].cycles)


def test_one_host_has_the_images_of_all_accelerators_one_after_another() -> None:
    one, two = _cost(_network(1)), _cost(_network(1), Configuration(2, 2, 1))
    assert two.total.causes["host"] == 2 * one.total.causes["host"]
    assert two.accelerator_cycles == one.accelerator_cycles
    assert two.total.throughput_fps is not None and one.total.throughput_fps is not None
    assert two.total.throughput_fps < 2 * one.total.throughput_fps


def test_energy_includes_the_hosts_and_that_of_clusters_that_wait() -> None:
    prices = Energy(mac=0, buffer_word=0, dram_byte=0, cluster_cycle=2.0, host_element=0.5, host_mac=0.25)
    dear = machine().model_copy(update={"energy_pj": prices})
    bare, hosted = _cost(_network(0), on=dear), _cost(_network(1, macs=100), on=dear)
    waiting = 2 * (hosted.cycles - bare.cycles)
    assert hosted.energy_pj - bare.energy_pj == 1000 / 2 + 100 / 4 + waiting


def test_efficiency_counts_no_products_with_padding_and_never_passes_one() -> None:
    layer = _layer()
    cost = layer_cost(layer, whole(layer), machine(), ONE)
    # Of the three rows of a window two lie on the map at its edges.
    assert cost.products == (6 * 3 + 2 * 2) ** 2 * 16 * 16
    assert cost.products < cost.macs
    assert cost.efficiency == pytest.approx(cost.products / 256 / cost.cycles)
    free = machine().model_copy(update={"bandwidth_gb_s": 1e3})
    padded = _layer(2, 256, 5)
    quick = layer_cost(padded, whole(padded), free, ONE).efficiency
    assert quick is not None and quick <= 1
