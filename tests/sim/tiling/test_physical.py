"""The timeline without the original tool's shortcuts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from mapper.arch.dataflow import PHYSICAL_RULES, DataflowMachine
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling import simulate, simulate_physical
from tests.sim.tiling.small_nest import SMALL_NESTS, machine_of, machines, mapping_of, mappings, nest_of


@pytest.mark.parametrize("name", ["matmul", "strided-convolution", "mttkrp", "recurrence"])
def test_useful_cycles_and_stalls_add_up_and_nothing_is_faster_than_its_parts(name: str) -> None:
    nest = nest_of(name)

    @settings(max_examples=10, deadline=None, derandomize=True)
    @given(machines(), mappings(nest))
    def holds(machine: DataflowMachine, mapping: TilingMapping) -> None:
        run = simulate_physical(nest, machine, mapping)
        assert run.cycles == run.useful_cycles + sum(run.stall_cycles.values())
        assert min(run.stall_cycles.values()) >= 0
        ruled = machine.model_copy(update={"rules": PHYSICAL_RULES})
        assert run.cycles >= simulate(nest, ruled, mapping).dma_busy_cycles

    holds()


@pytest.mark.parametrize("name", SMALL_NESTS)
def test_words_and_energy_are_the_models_under_physical_rules(name: str) -> None:
    nest = nest_of(name)
    machine = machine_of(rules=PHYSICAL_RULES.model_dump())

    @settings(max_examples=5, deadline=None, derandomize=True)
    @given(mappings(nest))
    def holds(mapping: TilingMapping) -> None:
        run, model = simulate_physical(nest, machine_of(), mapping), evaluate(nest, machine, mapping)
        assert run.words == model.words
        assert run.energy_pj == pytest.approx(model.energy_pj, rel=1e-12)

    holds()


def test_a_single_pass_waits_for_its_data_computes_and_writes_back() -> None:
    # One word bursts of 2 bytes: ceil((291 + 0.48) * 500 / 3200) = 46 cycles; O begins at zero.
    nest = nest_of("bounds-of-one")
    run = simulate_physical(nest, machine_of(), mapping_of(nest))
    assert run.stall_cycles == {"cold_start": 46 + 1, "noc": 0, "dma": 0, "reduction": 0, "drain": 1 + 46}
    assert run.cycles == 47 + 1 + 47


def test_without_a_second_scratch_pad_half_nothing_is_fetched_ahead() -> None:
    nest = nest_of("matmul")
    mapping = mapping_of(nest, dram="I J K", I={"rf": 4}, J={"spatial": 6})
    ahead = simulate_physical(nest, machine_of(), mapping)
    behind = simulate_physical(nest, machine_of(spm={"double_buffered": False}), mapping)
    assert behind.cycles > ahead.cycles
    assert behind.words == ahead.words
