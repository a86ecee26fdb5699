"""The simulator's own count against the model, and its result against numpy."""

from __future__ import annotations

import math
from random import Random

import pytest

from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, TemporalLoop
from mapper.sim.hierarchy import dataflow, report, walk
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import convolution_nest, matrix_product_nest, square_convolution
from tests.sim.hierarchy.drawn import drawn_machine, drawn_mapping, drawn_nest, preset_machine

PRESETS = (
    "eyeriss-like",
    "simba-like",
    "gemmini-16",
    "simple-output-stationary",
    "simple-weight-stationary",
    "tpu-v4i",
)


@pytest.mark.parametrize("block", range(10))
def test_every_mapping_computes_the_reference_and_costs_what_the_model_says(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        random = Random(seed)
        nest, machine = drawn_nest(random), drawn_machine(random)
        mapping = drawn_mapping(random, nest, machine)
        found = report(nest, machine, mapping, seed)
        assert (found["outputs_equal"], found["disagreements"]) == (True, []), seed


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("links", [False, True])
def test_every_preset_costs_what_the_model_says(preset: str, links: bool) -> None:
    machine = preset_machine(preset)
    machine = machine.model_copy(update={"rules": machine.rules.model_copy(update={"link_transfers": links})})
    nest = convolution_nest("conv", square_convolution(2, 8, 6, 4, 3, 2, 8, 1))
    for seed in range(4):
        found = report(nest, machine, drawn_mapping(Random(seed), nest, machine), seed)
        assert (found["outputs_equal"], found["disagreements"]) == (True, [])


def test_a_tile_that_is_brought_whole_once_too_often_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "_fresh", lambda size, moved: math.prod(size))
    machine = preset_machine("gemmini-16")
    nest = matrix_product_nest("product", (), 8, 8, 8)
    mapping = drawn_mapping(Random(1), nest, machine)
    found = report(nest, machine, mapping)
    assert found["outputs_equal"]
    assert "accesses" in found["disagreements"]


def test_a_loop_that_reads_the_wrong_words_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataflow, "shift", lambda operand, loop: (0,) * len(operand.index))
    machine = preset_machine("gemmini-16")
    nest = matrix_product_nest("product", (), 8, 8, 8)
    found = report(nest, machine, drawn_mapping(Random(1), nest, machine))
    assert not found["outputs_equal"]
    assert not found["disagreements"]


def test_many_turns_one_after_another_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataflow, "MOST_WORDS", 8)
    for seed in range(20):
        random = Random(seed)
        nest, machine = drawn_nest(random), drawn_machine(random)
        assert report(nest, machine, drawn_mapping(random, nest, machine), seed)["outputs_equal"], seed


def test_a_run_of_too_many_tiles_is_refused_in_a_line() -> None:
    machine = preset_machine("gemmini-16")
    nest = matrix_product_nest("product", (), 1 << 11, 1 << 11, 1 << 11)
    loops = tuple(TemporalLoop(loop, bound) for loop, bound in nest.bounds)
    names = tuple(operand.name for operand in nest.operands)
    levels = [
        LevelMapping(level.name, names, loops if not n else ()) for n, level in enumerate(machine.levels)
    ]
    with pytest.raises(InputError, match="tiles to walk through at one level, more than 268435456; lower"):
        report(nest, machine, HierarchyMapping(tuple(levels)))
