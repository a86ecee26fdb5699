"""Generated C, compiled with the system's compiler and run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from mapper.codegen.hierarchy import generate_c
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.sim.hierarchy import simulate
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from tests.codegen.tiling.test_program import compiled
from tests.sim.hierarchy.drawn import (
    drawn_cut_problem,
    drawn_machine,
    drawn_mapping,
    drawn_nest,
    preset_machine,
)


def holds(seed: int, folder: Path, *options: str) -> None:
    """The program of a drawn mapping computes what the simulator computes."""
    random = Random(seed)
    nest, machine = drawn_nest(random), drawn_machine(random)
    mapping = drawn_mapping(random, nest, machine)
    executable = compiled(generate_c(nest, machine, mapping, seed), folder, *options)
    done = subprocess.run([executable], capture_output=True, text=True)
    checksum = simulate(nest, machine, mapping, seed).checksum
    assert (done.returncode, done.stdout, done.stderr) == (0, f"checksum {checksum:016x} OK\n", ""), seed


@pytest.mark.parametrize("seed", range(8))
def test_the_program_computes_what_the_simulator_computes(seed: int, tmp_path: Path) -> None:
    holds(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_no_mapping_reads_or_writes_outside_its_buffers(seed: int, tmp_path: Path) -> None:
    holds(seed, tmp_path, "-O1", "-fsanitize=address,undefined")


@pytest.mark.parametrize("seed", range(4))
def test_last_passes_compute_what_the_simulator_computes(seed: int, tmp_path: Path) -> None:
    problem = next(one for n in range(100) if (one := drawn_cut_problem(100 * seed + n)))
    executable = compiled(generate_c(*problem, seed), tmp_path)
    done = subprocess.run([executable], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"checksum {simulate(*problem, seed).checksum:016x} OK\n")


def product_program(kept: str) -> str:
    """``mapped.c`` of a product whose second level keeps what it is told."""
    machine = preset_machine("simple-weight-stationary")
    nest = matrix_product_nest("product", (), 4, 4, 4)
    outermost = LevelMapping(machine.levels[0].name, ("O", "A", "B"), (TemporalLoop("I", 4),))
    inner = LevelMapping(
        machine.levels[1].name, tuple(kept), (TemporalLoop("K", 4), TemporalLoop("J", 4)), ()
    )
    rest = [LevelMapping(level.name, ()) for level in machine.levels[2:]]
    mapping = HierarchyMapping((outermost, inner, *rest))
    return generate_c(nest, machine, mapping)["mapped.c"]


def test_a_level_has_a_buffer_for_each_tensor_that_it_keeps_and_none_for_others() -> None:
    program = product_program("OA")
    assert "static int64_t l1_O[1][1][4];" in program
    assert "static int32_t l1_A[1][1][4];" in program
    assert "l1_B" not in program
    assert "multiply(l1_A[0][0][t1_K], (*dram_B)[t1_K][t1_J])" in program


def test_factors_that_do_not_divide_end_with_a_smaller_pass(tmp_path: Path) -> None:
    machine = preset_machine("simple-weight-stationary")
    nest = matrix_product_nest("product", (), 13, 5, 7)
    tensors = ("O", "A", "B")
    outermost = LevelMapping(
        machine.levels[0].name,
        tensors,
        (TemporalLoop("I", 4), TemporalLoop("K", 2)),
        (SpatialLoop("J", 3, "x"),),
    )
    inner = LevelMapping(
        machine.levels[1].name,
        tensors,
        (TemporalLoop("K", 4, 3), TemporalLoop("J", 2, 1), TemporalLoop("I", 4, 1)),
    )
    rest = [LevelMapping(level.name, ()) for level in machine.levels[2:]]
    program = generate_c(nest, machine, HierarchyMapping((outermost, inner, *rest)))
    assert "t1_I < 4 && 4 * t0_I + t1_I < 13" in program["mapped.c"]
    done = subprocess.run([compiled(program, tmp_path)], capture_output=True, text=True)
    assert done.stdout.endswith("OK\n"), done.stdout


def test_buffers_that_no_memory_has_are_refused_in_a_line() -> None:
    machine = preset_machine("gemmini-16")
    nest = matrix_product_nest("product", (), 1 << 14, 1 << 14, 4)
    loops = tuple(TemporalLoop(loop, bound) for loop, bound in nest.bounds)
    levels = [LevelMapping(level.name, ("O", "A", "B")) for level in machine.levels]
    levels[-1] = LevelMapping(levels[-1].level, ("O", "A", "B"), loops)
    with pytest.raises(InputError, match="words, more than 134217728; generate a smaller layer"):
        generate_c(nest, machine, HierarchyMapping(tuple(levels)))
