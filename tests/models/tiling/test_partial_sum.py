"""Operands that are read and written (last point of section 4.3 of [Dave2019]), under both rules.

The product has 4 output tiles (I and J halved at DRAM) and a depth of 8 in 4 outer passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.cost import TilingCost, evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest

MachineOf = Callable[..., DataflowMachine]
Tiled = Callable[..., TilingMapping]
Cost = Callable[..., TilingCost]

TILE_WORDS, TILES, DEPTH_PASSES = 16, 4, 4
RULES = ("doubled", "first_visit_free")
REVISITED, STAYING = "K I J", "I J K"


@pytest.fixture
def product() -> LoopNest:
    return matrix_product_nest("product", (), 8, 8, 8)


@pytest.fixture
def cost_of(product: LoopNest, machine_of: MachineOf, tiled: Tiled) -> Cost:
    def cost(rule: str, dram: str, at_spm: int = 1, zero_initialised: bool = True) -> TilingCost:
        output = replace(product.operands[0], zero_initialised=zero_initialised)
        nest = replace(product, operands=(output, *product.operands[1:]))
        inner = {"I": {"rf": 4}, "J": {"rf": 4}, "K": {"rf": 2 // at_spm, "spm": at_spm}}
        return evaluate(nest, machine_of(rules={"partial_sums": rule}), tiled(nest, dram=dram, **inner))

    return cost


@pytest.mark.parametrize("rule", RULES)
def test_every_visit_but_the_first_reads_the_sum_back_from_dram(cost_of: Cost, rule: str) -> None:
    crossings = 2 * TILES * DEPTH_PASSES - TILES
    assert cost_of(rule, REVISITED).words["O"]["dram"] == crossings * TILE_WORDS


@pytest.mark.parametrize("rule", RULES)
def test_a_sum_that_stays_is_written_once(cost_of: Cost, rule: str) -> None:
    assert cost_of(rule, STAYING).words["O"]["dram"] == TILES * TILE_WORDS


@pytest.mark.parametrize("rule", RULES)
def test_a_sum_that_does_not_start_at_zero_is_read_at_its_first_visit_too(cost_of: Cost, rule: str) -> None:
    revisited = cost_of(rule, REVISITED, zero_initialised=False).words["O"]
    assert revisited["dram"] == 2 * TILES * DEPTH_PASSES * TILE_WORDS
    assert revisited["noc"] == revisited["spm"] == 2 * TILES * DEPTH_PASSES * TILE_WORDS
    staying = cost_of(rule, STAYING, zero_initialised=False).words["O"]
    assert staying["dram"] == staying["noc"] == 2 * TILES * TILE_WORDS


def test_the_original_moves_a_sum_to_the_array_and_back_at_every_visit(cost_of: Cost) -> None:
    assert cost_of("doubled", REVISITED).words["O"]["noc"] == 2 * TILES * DEPTH_PASSES * TILE_WORDS


def test_physically_a_sum_that_is_still_zero_need_not_move_to_the_array(cost_of: Cost) -> None:
    crossings = 2 * TILES * DEPTH_PASSES - TILES
    assert cost_of("first_visit_free", REVISITED).words["O"]["noc"] == crossings * TILE_WORDS


@pytest.mark.parametrize("rule", RULES)
def test_a_sum_that_stays_through_scratch_pad_passes_only_leaves_the_array(cost_of: Cost, rule: str) -> None:
    assert cost_of(rule, STAYING, at_spm=2).words["O"]["noc"] == TILES * TILE_WORDS


@pytest.mark.parametrize("order", [REVISITED, STAYING])
def test_the_original_never_moves_less(cost_of: Cost, order: str) -> None:
    doubled, physical = (cost_of(rule, order) for rule in RULES)
    assert doubled.energy_pj >= physical.energy_pj
    assert doubled.cycles >= physical.cycles


def test_operands_that_are_only_read_do_not_depend_on_the_rule(cost_of: Cost) -> None:
    doubled, physical = (cost_of(rule, REVISITED) for rule in RULES)
    assert {name: doubled.words[name] for name in "AB"} == {name: physical.words[name] for name in "AB"}


def test_reduction_is_paid_whenever_a_sum_leaves_the_array(
    product: LoopNest, machine_of: MachineOf, tiled: Tiled
) -> None:
    machine, inner = machine_of(), {"I": {"rf": 4}, "J": {"rf": 4}, "K": {"spatial": 2}}
    useful = product.iterations
    for order, visits in ((REVISITED, TILES * DEPTH_PASSES), (STAYING, TILES)):
        energy = evaluate(product, machine, tiled(product, dram=order, **inner)).energy_by_resource
        additions = visits * TILE_WORDS * (2 - 1)
        assert energy["mac"] == pytest.approx((useful + additions) * 0.075)
        assert energy["rf"] == pytest.approx((4 * useful + 3 * additions) * 0.96)


@pytest.mark.parametrize(("rule", "times"), [("doubled", 2), ("first_visit_free", 1)])
def test_dma_reads_a_sum_back_in_a_single_pass_only_by_the_original_rule(
    product: LoopNest, machine_of: MachineOf, tiled: Tiled, rule: str, times: int
) -> None:
    slow = {"initiation_cycles": 0, "cycles_per_byte": 500.0, "clock_mhz": 500.0}
    machine = machine_of(rules={"partial_sums": rule}, dma=slow)
    single = tiled(product, I={"rf": 4, "spm": 2}, J={"rf": 4, "spm": 2}, K={"rf": 2, "spm": 4})
    assert evaluate(product, machine, single).cycles == 1000 * (64 + 64 + times * 64)
