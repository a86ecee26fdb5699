"""Costs are whole numbers that are added exactly, from the decimals that stand in a machine file, at any size."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from mapper.arch.dataflow import DataflowMachine
from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling import tile
from mapper.models.tiling import transfer as cost
from mapper.models.tiling.bound import ideal_cycles
from mapper.models.tiling.cost import evaluate, quantities
from mapper.models.tiling.largest import LARGEST_CYCLES, largest_cycles, largest_energy
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling.footprint import burst_cycles
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from tests.solver.sample import drawn
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.random_tiling import problems
from tests.solver.tiling.small import small_machine

WHOLE = 1 << 62


def machine(**dma: float) -> DataflowMachine:
    return small_machine(dma={"initiation_cycles": 0, "clock_mhz": 500} | dma)


def test_six_bytes_at_a_tenth_of_a_cycle_five_times_as_slow_take_three_cycles() -> None:
    tenths = machine(cycles_per_byte=0.1, clock_mhz=100)
    assert math.ceil(0.1 * 6 * 5) == 4, "floats say more"
    assert tile.burst_cycles(tenths, 3) == 3
    assert tile.burst_cycles(tenths, np.array([1, 2, 3, 4])).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "dma",
    [
        {"cycles_per_byte": 0.1},
        {"cycles_per_byte": 0.3, "initiation_cycles": 0.7},
        {"cycles_per_byte": 0.24, "initiation_cycles": 291, "clock_mhz": 3200},
        {"cycles_per_byte": 1e12, "initiation_cycles": 1e12},
        {"cycles_per_byte": 0.123456789012345, "clock_mhz": 7.3},
        {"cycles_per_byte": 1e-12, "initiation_cycles": 1e-300},
    ],
)
def test_a_burst_takes_what_its_decimals_say_one_by_one_in_arrays_and_in_the_simulator(
    dma: dict[str, float],
) -> None:
    one = machine(**dma)
    fields = one.dma
    faster = Fraction(repr(one.clock_mhz)) / Fraction(repr(fields.clock_mhz))
    words = [1, 2, 3, 5, 15, 16, 450, 99_999, 1_000_003]
    exact = [
        math.ceil(
            (Fraction(repr(fields.initiation_cycles)) + Fraction(repr(fields.cycles_per_byte)) * 2 * n)
            * faster
        )
        for n in words
    ]
    assert [tile.burst_cycles(one, n) for n in words] == exact
    assert tile.burst_cycles(one, np.array(words)).tolist() == exact
    assert [burst_cycles(one, n) for n in words] == exact


@pytest.mark.parametrize("preset", ["dmazerunner-256", "dmazerunner-256-fine", "eyeriss-168-tiles"])
def test_bursts_of_the_presets_take_what_floats_said(preset: str) -> None:
    one, _ = load_machine(preset)
    assert isinstance(one, DataflowMachine)
    words = np.arange(1, 200_000)
    latency = one.dma.initiation_cycles + one.dma.cycles_per_byte * (words * one.word_bytes)
    floats = np.ceil(latency * (one.clock_mhz / one.dma.clock_mhz)).astype(np.int64)
    assert (tile.burst_cycles(one, words) == floats).all()


def outermost(nest: LoopNest) -> TilingMapping:
    """Everything at DRAM: the most passes."""
    return TilingMapping(
        nest.loops, tuple((bound, 1, 1, 1) for _, bound in nest.bounds), nest.loops, nest.loops
    )


def test_cycles_beyond_a_machine_word_do_not_wrap() -> None:
    nest, slow = matrix_product_nest("large", (), 65536, 65536, 65536), machine(cycles_per_byte=1e12)
    found = evaluate(nest, slow, outermost(nest))
    passes = 65536**3
    # A and B change in every pass; C stays over K: fetched and returned beside what is always moved, once in K passes.
    word = 2 * 10**12
    assert found.cycles == passes * 2 * word + 65536**2 * 2 * word > WHOLE
    assert found.edp_pj_cycles == found.energy_pj * found.cycles


def test_the_least_cycles_are_divided_exactly() -> None:
    nest = matrix_product_nest("odd", (), 2**29 - 3, 2**29 - 3, 1)
    three = small_machine(3, 1)
    assert ideal_cycles(nest, three) == -(-((2**29 - 3) ** 2) // 3)
    assert math.ceil((2**29 - 3) ** 2 / 3) != ideal_cycles(nest, three), "floats say something else"


def test_additions_between_pes_are_counted_and_not_divided_out_of_their_energy() -> None:
    nest = matrix_product_nest("deep", (), 2, 2, 8)
    dear = small_machine(
        energy_pj={"mac": 1e12, "noc": 1e-9, "rf": 1e-9, "spm": 0, "dram": 0}, rules={"energy": "exact"}
    )
    spread = TilingMapping(nest.loops, ((2, 1, 1, 1), (2, 1, 1, 1), (2, 1, 1, 4)), nest.loops, nest.loops)
    found, q = evaluate(nest, dear, spread), quantities(nest, dear, spread)
    assert q.additions == (3, 0, 0)
    added = (found.energy_by_resource["mac"] - 32 * 1e12) / 1e12
    assert added == 3 * 4  # whenever one of the four tiles of partial sums leaves the array


@pytest.mark.parametrize(
    ("steps", "per_pj", "pj"),
    [(0, 2, 0), (1, 2, 0), (3, 2, 2), (5, 2, 2), (7, 10, 1), (4, 10, 0), (2**70 + 1, 2, 2**69)],
)
def test_whole_pj_are_the_nearest_and_of_two_the_even_one(steps: int, per_pj: int, pj: int) -> None:
    assert cost.whole_pj(steps, per_pj) == pj == round(Fraction(steps, per_pj))


@drawn(20)
@given(problems())
def test_no_mapping_costs_more_than_the_largest(problem: TilingProblem) -> None:
    nest, anything = problem.nest, problem.machine
    large = anything.model_copy(
        update={
            "pe_array": anything.pe_array.model_copy(update={"rows": 1 << 20, "columns": 1 << 20}),
            "rf": anything.rf.model_copy(update={"bytes": 1 << 39}),
            "spm": anything.spm.model_copy(update={"bytes": 1 << 39}),
        }
    )
    most, dearest = largest_cycles(nest, large), largest_energy(nest, large)
    for mapping in [outermost(nest), *islice(mappings(replace(problem, machine=large)), 0, 500, 37)]:
        found = evaluate(nest, large, mapping)
        assert found.cycles <= most
        # Rounding to whole pJ may add half of one.
        assert Fraction(found.energy_steps, found.steps_per_pj) <= dearest + Fraction(1, 2)
        q = quantities(nest, large, mapping)
        assert max((*q.spm_words, *q.array_words)) * large.word_bytes <= most


SLOW: dict[str, dict[str, Any]] = {
    "pe_array": {"pipelined": False, "latency_cycles": {"multiply": 1 << 20, "add": 1}},
    "dma": {"initiation_cycles": 1e12},
}


@pytest.mark.parametrize("section", SLOW)
def test_costs_beyond_machine_words_are_refused_in_one_line(section: str) -> None:
    nest = matrix_product_nest("large", (), 65536, 65536, 65536)
    slow = small_machine(1, 1, 16, **{section: SLOW[section]})
    with pytest.raises(InputError, match="than the 5e\\+18 that are counted exactly") as refused:
        TilingProblem(nest, slow, "edp")
    assert "\n" not in str(refused.value) and LARGEST_CYCLES == WHOLE


def test_the_presets_take_every_nest_of_their_format() -> None:
    """The largest nest of the format has 10^15 iterations."""
    preset, _ = load_machine("dmazerunner-256")
    assert isinstance(preset, DataflowMachine)
    TilingProblem(matrix_product_nest("largest", (), 100_000, 100_000, 100_000), preset, "edp")
    TilingProblem(matrix_product_nest("cube", (), 65536, 65536, 65536), preset, "edp")
