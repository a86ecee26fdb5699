"""Cycles and their causes (section 4.3.3 of [Dave2019]): pipelining, buffering, networks, reduction, DMA.

The product of 4x8 and 8x4 is small enough to count by hand: with I=J=4 in the register file and the depth of
8 at the scratch-pad there are 8 RF passes of 16 iterations; O (16 words) stays, A and B (4 each) move.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.models.tiling.bound import ideal_cycles
from mapper.models.tiling.cost import TilingCost, evaluate, quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.price import Prices
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest

NestOf = Callable[..., LoopNest]
MachineOf = Callable[..., DataflowMachine]
Tiled = Callable[..., TilingMapping]

FREE_DMA = {"initiation_cycles": 0, "cycles_per_byte": 0}
OUTER_PRODUCT: dict[str, Any] = {"I": {"rf": 4}, "J": {"rf": 4}, "K": {"spm": 8}}


@pytest.fixture
def product() -> LoopNest:
    return matrix_product_nest("product", (), 4, 4, 8)


@pytest.fixture
def cost_of(product: LoopNest, machine_of: MachineOf, tiled: Tiled) -> Callable[..., TilingCost]:
    """Cost of the small product; DMA takes no time unless the machine says so."""

    def cost(levels: dict[str, Any] = OUTER_PRODUCT, **sections: dict[str, Any]) -> TilingCost:
        return evaluate(product, machine_of(**({"dma": FREE_DMA} | sections)), tiled(product, **levels))

    return cost


def networks(*read_widths: int) -> dict[str, Any]:
    reading = [{"carries": "read", "width_words": width} for width in read_widths]
    return {"networks": [*reading, {"carries": "write", "width_words": 1}]}


def test_a_pipelined_pe_issues_an_iteration_a_cycle_and_else_takes_the_latencies(
    product: LoopNest, machine_of: MachineOf
) -> None:
    rf = {"I": 4, "J": 4, "K": 2}
    assert tile.compute_cycles(product, machine_of(), rf) == 32
    assert tile.compute_cycles(product, machine_of(pe_array={"pipelined": False}), rf) == 32 * (2 + 1)
    slow = machine_of(pe_array={"pipelined": False, "latency_cycles": {"multiply": 5, "add": 2}})
    assert tile.compute_cycles(product, slow, rf) == 32 * (5 + 2)


def test_more_factors_take_more_operations(nest_of: NestOf, machine_of: MachineOf) -> None:
    mttkrp = nest_of(
        {"i": 2, "j": 2, "k": 2, "l": 2},
        O=("i j", "update"),
        A=("i k l", "read"),
        B=("k j", "read"),
        C=("l j", "read"),
    )
    assert tile.iteration_cycles(mttkrp, machine_of()) == 2
    assert tile.iteration_cycles(mttkrp, machine_of(pe_array={"pipelined": False})) == 2 * 3


def test_one_pass_of_everything_loads_and_then_computes(cost_of: Callable[..., TilingCost]) -> None:
    everything = {"I": {"rf": 4}, "J": {"rf": 4}, "K": {"rf": 8}}
    assert cost_of(everything).cycles == 4 * 8 + 4 * 4 * 8
    assert cost_of(everything, pe_array={"pipelined": False}).cycles == 4 * 8 + 4 * 4 * 8 * 3


def test_a_double_buffered_register_file_hides_the_network_behind_the_work(
    cost_of: Callable[..., TilingCost],
) -> None:
    hidden, leaving = 8 * 16, 16
    assert cost_of().cycles == hidden + leaving


def test_a_simple_register_file_waits_for_every_word(cost_of: Callable[..., TilingCost]) -> None:
    work, moving, leaving = 8 * 16, 8 * 4, 16 - 4
    cost = cost_of(rf={"double_buffered": False})
    assert cost.cycles == work + moving + leaving
    assert cost.stall_cycles == {"noc": moving + leaving, "dma": 0, "reduction": 0}


def test_operands_on_one_network_move_one_after_another(cost_of: Callable[..., TilingCost]) -> None:
    shared = cost_of(noc=networks(1)).cycles
    assert shared == 8 * 16 + (4 + 4 + 16 - 16) + 16
    assert shared > cost_of(noc=networks(1, 1, 1)).cycles


def test_a_wider_network_moves_more_words_a_cycle(cost_of: Callable[..., TilingCost]) -> None:
    assert cost_of(noc=networks(2)).cycles == 8 * 16 + 16 + (4 // 2 + 4 // 2 + 16 - 16)


def test_networks_are_taken_round_robin_and_the_narrower_one_counts(
    nest_of: NestOf, machine_of: MachineOf
) -> None:
    nest = nest_of(
        {"i": 4}, O=("i", "update"), A=("i", "read"), B=("i", "read"), C=("i", "read"), D=("i", "read")
    )
    read, write, width = tile.networks_of(nest, machine_of(noc=networks(4, 2, 8)))
    assert read == [0, 1, 2, 0, 1]
    assert write == [3, -1, -1, -1, -1]
    assert width == [1, 2, 8, 4, 2]


def test_partial_sums_meet_over_one_bus_or_side_by_side(
    product: LoopNest, machine_of: MachineOf, tiled: Tiled
) -> None:
    mapping = tiled(product, I={"rf": 2, "spatial": 2}, J={"rf": 4}, K={"spatial": 4})
    bus, mesh = (machine_of(noc={"reduction": kind}) for kind in ("bus", "mesh"))
    on_bus, on_mesh = (quantities(product, machine, mapping) for machine in (bus, mesh))
    assert on_bus.reduction_cycles == (8 * (4 - 1) * 2, 0, 0)
    assert on_mesh.reduction_cycles == (8 * (4 - 1), 0, 0)
    assert on_bus.additions == on_mesh.additions == (8 * 3 * 2, 0, 0)
    addition = Fraction("4.955")  # three accesses of 0.96 pJ, a hop of 2 and an operation of 0.075
    steps = int(8 * 3 * 2 * addition * Prices.of(product, machine_of()).per_pj)
    assert on_bus.reduction_energy == on_mesh.reduction_energy == (steps, 0, 0)


def test_reduction_is_a_cause_of_its_own(product: LoopNest, machine_of: MachineOf, tiled: Tiled) -> None:
    mapping = tiled(product, I={"rf": 4}, J={"rf": 4}, K={"spatial": 8})
    cost = evaluate(product, machine_of(dma=FREE_DMA), mapping)
    assert cost.stall_cycles == {"noc": 32, "dma": 0, "reduction": 16 * 7}
    assert cost.cycles == 16 + 32 + 16 * 7


def test_dma_overlaps_with_processing_until_it_takes_longer(cost_of: Callable[..., TilingCost]) -> None:
    """One pass reads A and B and moves O in and out: bursts of 32, 32, 16 and 16 words."""
    processing = cost_of().cycles
    per_word = {"initiation_cycles": 0, "cycles_per_byte": 0.5, "clock_mhz": 500.0}
    words = 32 + 32 + 16 + 16
    assert cost_of(dma=per_word).cycles == max(processing, words) == processing
    slower = cost_of(dma=per_word | {"cycles_per_byte": 5.0})
    assert slower.cycles == 10 * words
    assert slower.stall_cycles == {"noc": 0, "dma": 10 * words - 8 * 16, "reduction": 0}


def test_a_simple_scratch_pad_waits_for_every_burst(cost_of: Callable[..., TilingCost]) -> None:
    per_word = {"initiation_cycles": 0, "cycles_per_byte": 0.5, "clock_mhz": 500.0}
    double, single = cost_of(dma=per_word), cost_of(dma=per_word, spm={"double_buffered": False})
    words = 32 + 32 + 16 + 16
    assert single.cycles == double.cycles + words
    assert single.stall_cycles["dma"] == words


def test_a_partial_sum_leaves_beside_the_next_work_unless_the_rule_exposes_it(
    cost_of: Callable[..., TilingCost],
) -> None:
    """With K in one pass nothing but O moves between passes: 2x4 tiles of it, 8 passes of 8 iterations."""
    levels = {"I": {"spm": 4}, "J": {"spm": 2, "rf": 2}, "K": {"rf": 8}}
    exposed = cost_of(levels)
    buffered = cost_of(levels, rules={"leaving_sums": "buffered"})
    simple = cost_of(levels, rf={"double_buffered": False}, rules={"leaving_sums": "buffered"})
    work, every_pass = 4 * 2 * 16, max(2, 16)
    assert buffered.cycles == 8 * max(16, every_pass)
    assert exposed.cycles == simple.cycles == work + 8 * every_pass


def test_a_tile_that_stays_costs_its_dma_before_and_after_only(
    product: LoopNest, machine_of: MachineOf, tiled: Tiled
) -> None:
    """O stays for the 8 passes that each bring 4 words of A (in bursts of one) and 4 of B."""
    machine = machine_of(dma={"initiation_cycles": 0, "cycles_per_byte": 50.0, "clock_mhz": 500.0})
    mapping = tiled(product, dram="I J K", I={"rf": 4}, J={"rf": 4})
    every_pass, leaving = 100 * (4 + 4), 100 * 16
    cost = evaluate(product, machine, mapping)
    assert cost.cycles == 8 * every_pass + 2 * leaving
    assert cost.stall_cycles == {"noc": 0, "dma": cost.cycles - 8 * 16, "reduction": 0}


def test_ideal_cycles_keep_every_pe_busy(product: LoopNest, machine_of: MachineOf) -> None:
    assert ideal_cycles(product, machine_of()) == 1
    assert ideal_cycles(product, machine_of(pe_array={"rows": 3, "columns": 1})) == 43


def test_latency_follows_the_clock(cost_of: Callable[..., TilingCost]) -> None:
    cost = cost_of()
    assert cost.latency_ms == pytest.approx(cost.cycles / 500e6 * 1e3)
