"""Cycles from a cold start to the last write: counted by hand, and equal to those of the simulator's timeline.

The product of 4x8 and 8x4 with I=J=4 in the register file and the depth of 8 outside it has 8 RF passes of 16
iterations; O (16 words) stays, A and B (4 each) move.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.dataflow import PHYSICAL_RULES, DataflowMachine
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.order import orders_by_walk, reuse_factors
from mapper.models.tiling.physical import loops_of
from mapper.sim.tiling.physical import simulate_physical
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from tests.sim.tiling.small_nest import SMALL_NESTS, machine_of, machines, mapping_of, mappings, nest_of

PRODUCT = matrix_product_nest("product", (), 4, 4, 8)
DMA = {"initiation_cycles": 0, "cycles_per_byte": 0.5, "clock_mhz": 500.0}


def physical(**sections: dict[str, Any]) -> DataflowMachine:
    """``dmazerunner-256`` under physical rules, one word a cycle by DMA."""
    return machine_of(**({"dma": DMA} | sections)).model_copy(update={"rules": PHYSICAL_RULES})


def cycles_of(machine: DataflowMachine, **levels: dict[str, int]) -> tuple[int, dict[str, int]]:
    cost = evaluate(PRODUCT, machine, mapping_of(PRODUCT, dram="I J K", spm="I J K", **levels))
    return cost.cycles, cost.stall_cycles


def test_one_scratch_pad_pass_waits_for_its_tiles_and_for_its_result() -> None:
    cycles, stalls = cycles_of(physical(), I={"rf": 4}, J={"rf": 4}, K={"spm": 8})
    fetched, delivered, work, leaving, written = 32 + 32, 4, 8 * 16, 16, 16
    assert cycles == fetched + delivered + work + leaving + written
    assert stalls == {
        "cold_start": fetched + delivered,
        "noc": 0,
        "dma": 0,
        "reduction": 0,
        "drain": leaving + written,
    }


def test_a_simple_register_file_waits_in_every_pass() -> None:
    machine = physical(rf={"double_buffered": False})
    cycles, stalls = cycles_of(machine, I={"rf": 4}, J={"rf": 4}, K={"spm": 8})
    assert cycles == 64 + 8 * (4 + 16) + 16 + 16
    assert stalls["noc"] == 7 * 4


def test_a_simple_scratch_pad_waits_in_every_pass_and_a_double_one_when_dma_is_slower() -> None:
    levels = {"I": {"rf": 4}, "J": {"rf": 4}}
    fetched = 4 + 4
    assert cycles_of(physical(), **levels)[0] == fetched + 4 + 8 * 16 + 16 + 16
    single = physical(spm={"double_buffered": False})
    assert cycles_of(single, **levels)[0] == 8 * (fetched + 4 + 16) + 16 + 16
    slow = physical(dma=DMA | {"cycles_per_byte": 2.0})
    cycles, stalls = cycles_of(slow, **levels)
    # The tiles of a pass are asked for when the pass before begins, and then take 32 cycles of DMA and 4 of the NoC.
    assert cycles == 8 * (4 * fetched + 4) + 16 + 16 + 4 * 16
    assert stalls["dma"] == 7 * (4 * fetched - 16)


@pytest.mark.parametrize("name", SMALL_NESTS)
def test_the_timeline_is_the_simulators(name: str) -> None:
    nest = nest_of(name)

    @settings(max_examples=10, deadline=None, derandomize=True)
    @given(machines(), mappings(nest))
    def holds(machine: DataflowMachine, mapping: TilingMapping) -> None:
        agrees(nest, machine, mapping)

    holds()


LONG = matrix_product_nest("long", (), 24, 16, 36)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(machines(), mappings(LONG))
def test_passes_that_are_counted_at_once_take_what_they_take_one_by_one(
    machine: DataflowMachine, mapping: TilingMapping
) -> None:
    agrees(LONG, machine, mapping)


def agrees(nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping) -> None:
    """Cycles, what PEs wait for, energy and words of the model are those of the simulator."""
    run = simulate_physical(nest, machine, mapping)
    model = evaluate(nest, machine.model_copy(update={"rules": PHYSICAL_RULES}), mapping)
    assert (run.cycles, run.stall_cycles) == (model.cycles, model.stall_cycles)
    assert (run.energy_pj, run.words) == (model.energy_pj, model.words)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(machines(), st.data())
def test_every_order_takes_as_long_as_the_one_that_stands_for_its_walk(
    machine: DataflowMachine, data: st.DataObject
) -> None:
    nest = nest_of(
        data.draw(st.sampled_from(["matmul", "strided-convolution", "mttkrp", "one-tensor-twice"]))
    )
    mapping, timed = data.draw(mappings(nest)), machine.model_copy(update={"rules": PHYSICAL_RULES})
    counts = mapping.trip_counts("dram")
    active = [loop for loop in nest.loops if counts[loop] > 1]
    idle = [loop for loop in nest.loops if counts[loop] == 1]
    loops = loops_of(nest)
    operands = {loop: int(bits) for loop, bits in zip(nest.loops, loops.operands, strict=True)}
    again = frozenset(loop for loop, back in zip(nest.loops, loops.again, strict=True) if back)

    def cost(order: tuple[str, ...]) -> tuple[tuple[int, ...], int]:
        whole = (*idle, *order)
        varied = TilingMapping(mapping.loops, mapping.factors, whole, mapping.spm_order)
        return reuse_factors(nest, whole, counts), evaluate(nest, timed, varied).cycles

    standing = {cost(order) for order in orders_by_walk(operands, again, active)}
    assert {cost(order) for order in permutations(active[:5])} <= standing or len(active) > 5


def test_orders_of_one_walk_are_one() -> None:
    nest = matrix_product_nest("product", (), 4, 4, 8)
    loops = loops_of(nest)
    operands = {loop: int(bits) for loop, bits in zip(nest.loops, loops.operands, strict=True)}
    walks = orders_by_walk(operands, frozenset("K"), nest.loops)
    # I and J commute outside K, where every tile moves; every other order has a reuse of its own.
    assert len(walks) == 5
    assert orders_by_walk(operands, frozenset("K"), nest.loops, innermost=("J", "K")) == (("I", "J", "K"),)
