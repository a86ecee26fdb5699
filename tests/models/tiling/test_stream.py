"""Memories filled as streams [Dave2019, sec. 5, "Validation against Eyeriss"], counted by hand and beside the chip.

A row of 10 words is filtered by a 1x3 window: the register file holds the window, 8 positions follow each other at the
scratch-pad. The window comes whole once (3 words) and then word by word (7): 10 words instead of 24.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.tiling.eyeriss import PASSES, buffer_mb, costs, mapping_of, nests, processing_ms
from mapper.arch.dataflow import DataflowMachine
from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.bound import ideal_cycles, least_cycles, least_energy
from mapper.models.tiling.cost import TilingCost, evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling import simulate
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from tests.sim.tiling import small_nest

MachineOf = Callable[..., DataflowMachine]
NestOf = Callable[..., LoopNest]
Tiled = Callable[..., TilingMapping]
SLID, WHOLE = 3 + 7, 8 * 3


@pytest.fixture
def row(nest_of: NestOf) -> LoopNest:
    return nest_of({"Ox": 8, "Fx": 3}, O=("Ox", "update"), I=("Ox+Fx", "read"), W=("Fx", "read"))


@pytest.fixture
def cost_of(row: LoopNest, machine_of: MachineOf, tiled: Tiled) -> Callable[..., TilingCost]:
    """Cost of the row with one register-file buffer and free DMA."""

    def cost(filling: str = "streams", **factors: dict[str, int]) -> TilingCost:
        machine = machine_of(
            rules={"filling": filling, "leaving_sums": "buffered"},
            rf={"double_buffered": False},
            dma={"initiation_cycles": 0, "cycles_per_byte": 0},
        )
        mapping = tiled(row, **(factors or {"Ox": {"spm": 8}, "Fx": {"rf": 3}}))
        run = simulate(row, machine, mapping)
        found = evaluate(row, machine, mapping)
        assert run.outputs_equal and (run.cycles, run.words, run.energy_pj) == (
            found.cycles,
            found.words,
            found.energy_pj,
        )
        return found

    return cost


def test_of_a_window_that_slides_only_the_new_words_come(cost_of: Callable[..., TilingCost]) -> None:
    assert [cost_of(filling).words["I"]["spm"] for filling in ("streams", "tiles")] == [SLID, WHOLE]
    saved = cost_of("tiles").energy_by_resource["spm"] - cost_of("streams").energy_by_resource["spm"]
    assert saved == pytest.approx((WHOLE - SLID) * 13.5)


def test_pes_wait_for_filters_and_not_for_what_slides(cost_of: Callable[..., TilingCost]) -> None:
    # Eight passes of 3 operations; the 3 words of the filter come first, with the window beside them.
    assert cost_of("streams").cycles == 8 * 3 + 3
    # With whole tiles and one buffer, PEs wait for the window's 3 words in every pass.
    assert cost_of("tiles").cycles == 8 * (3 + 3)


def test_pes_wait_for_filters_that_stay_in_the_first_pass_that_has_them(
    nest_of: NestOf, machine_of: MachineOf, tiled: Tiled
) -> None:
    nest = nest_of(
        {"M": 2, "N": 2, "Ox": 4, "Fx": 3},
        O=("M N Ox", "update"),
        I=("N Ox+Fx", "read"),
        W=("M Fx", "read"),
    )
    machine = machine_of(
        rules={"filling": "streams"},
        rf={"double_buffered": False},
        dma={"initiation_cycles": 0, "cycles_per_byte": 0},
    )
    mapping = tiled(nest, dram="M N", Ox={"spm": 4}, Fx={"rf": 3})
    # Sixteen passes of 3 operations; the filter's 3 words come twice, the 3 words of a window beside them.
    expected = 16 * 3 + 2 * 3
    assert evaluate(nest, machine, mapping).cycles == simulate(nest, machine, mapping).cycles == expected


def test_a_window_whose_dimension_runs_in_space_comes_whole(cost_of: Callable[..., TilingCost]) -> None:
    in_space = cost_of(Ox={"spm": 4, "spatial": 2}, Fx={"rf": 3})
    assert in_space.words["I"]["spm"] == 4 * 4


def test_sums_that_go_from_pe_to_pe_take_energy_and_no_cycles(cost_of: Callable[..., TilingCost]) -> None:
    spread = {"Ox": {"spm": 8}, "Fx": {"spatial": 3}}
    streams, tiles = cost_of("streams", **spread), cost_of("tiles", **spread)
    assert (streams.stall_cycles["reduction"], tiles.stall_cycles["reduction"] > 0) == (0, True)
    assert streams.energy_by_resource["mac"] == tiles.energy_by_resource["mac"]


@pytest.mark.parametrize("layer", PASSES)
def test_the_chip_is_met_within_11_percent_in_its_own_mapping(layer: str) -> None:
    one, nest, (machine, _) = PASSES[layer], nests()[layer], load_machine("eyeriss-168")
    mapping = mapping_of(layer, nest)
    assert math.prod(mapping.trip_counts("spatial").values()) == one.active
    assert one.p * one.q * nest.trip_counts["Fx"] <= 224
    assert one.q * nest.trip_counts["Fx"] <= 12 and one.p <= 24
    assert verify(TilingProblem(nest, machine, "latency"), mapping).valid
    cost = costs()[layer]
    assert abs(processing_ms(cost) / one.processing_ms - 1) < 0.11
    assert (cost.processing_cycles or 0) > ideal_cycles(nest, machine)


def test_the_chips_global_buffer_gives_and_takes_what_the_model_says_but_in_conv3() -> None:
    off = {name: buffer_mb(cost) / PASSES[name].buffer_mb - 1 for name, cost in costs().items()}
    assert {name for name, share in off.items() if abs(share) > 0.03} == {"conv3"}


def test_the_total_on_eyeriss_is_nearer_than_the_papers_11_percent() -> None:
    ours = sum(processing_ms(cost) for cost in costs().values())
    chip = sum(one.processing_ms for one in PASSES.values())
    assert abs(ours / chip - 1) < 0.05


@pytest.mark.parametrize("layer", [pytest.param(name, marks=pytest.mark.slow) for name in PASSES] + ["small"])
def test_the_simulator_runs_the_chips_mapping_and_counts_what_the_model_counts(layer: str) -> None:
    name = "conv5" if layer == "small" else layer
    nest, (machine, _) = nests()[name], load_machine("eyeriss-168")
    mapping = mapping_of(name, nest)
    if layer == "small":  # A few filters and channels of it.
        cut = {"M": 64, "C": 12}
        operands = tuple(
            replace(op, extents=tuple(dimension.span(nest.trip_counts | cut) for dimension in op.index))
            for op in nest.operands
        )
        nest = replace(nest, bounds=tuple((nest.trip_counts | cut).items()), operands=operands)
        rows = [
            (size // math.prod(row[1:]), *row[1:])
            for (_, size), row in zip(nest.bounds, mapping.factors, strict=True)
        ]
        mapping = replace(mapping, factors=tuple(rows))
    run, model = simulate(nest, machine, mapping), evaluate(nest, machine, mapping)
    assert run.outputs_equal
    assert (run.cycles, run.processing_cycles, run.words) == (
        model.cycles,
        model.processing_cycles,
        model.words,
    )


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_no_mapping_whose_memories_are_streams_undercuts_the_bounds_by_argument(data: st.DataObject) -> None:
    nest = small_nest.nest_of("strided-convolution")
    drawn = data.draw(small_nest.machines())
    rules = drawn.rules.model_copy(update={"filling": "streams", "timing": "steady"})
    machine = drawn.model_copy(update={"rules": rules})
    cost = evaluate(nest, machine, data.draw(small_nest.mappings(nest)))
    assert least_cycles(nest, machine) <= cost.cycles
    assert least_energy(nest, machine) <= cost.energy_pj * (1 + 1e-12)


def test_a_timeline_knows_no_streams(machine_of: MachineOf) -> None:
    with pytest.raises(InputError, match="a timeline knows whole tiles only"):
        machine_of(rules={"filling": "streams", "timing": "timeline"})
