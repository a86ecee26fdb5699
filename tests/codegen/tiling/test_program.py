"""Generated C, compiled with the system's compiler and run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.codegen.tiling import generate_c
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling import simulate
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import convolution_nest, square_convolution
from mapper.workloads.nest.loop_nest import LoopNest
from tests.sim.tiling.small_nest import SMALL_NESTS, machine_of, mapping_of, mappings, nest_of

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compiled(program: dict[str, str], folder: Path, *options: str) -> Path:
    """The program as an executable; any warning is an error."""
    assert shutil.which("cc"), "no C compiler found: install one (gcc or clang) that answers to `cc`"
    for name, text in program.items():
        (folder / name).write_text(text, encoding="ascii")
    sources = [name for name in program if name.endswith(".c")]
    done = subprocess.run(
        ["cc", *STRICT, *options, "-o", "nest", *sources], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder / "nest"


def run(nest: LoopNest, mapping: TilingMapping, folder: Path, *options: str, seed: int = 0) -> str:
    """What the generated program prints."""
    executable = compiled(generate_c(nest, machine_of(), mapping, seed), folder, *options)
    done = subprocess.run([executable], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", SMALL_NESTS)
def test_the_program_computes_what_the_simulator_computes(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nest = nest_of(name)

    @settings(max_examples=2, deadline=None, derandomize=True, database=None)
    @given(mappings(nest), st.integers(0, 9))
    def holds(mapping: TilingMapping, seed: int) -> None:
        folder = tmp_path_factory.mktemp("program")
        simulated = simulate(nest, machine_of(), mapping, seed)
        assert run(nest, mapping, folder, seed=seed) == f"checksum {simulated.checksum:016x} OK"

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL_NESTS)
def test_no_mapping_reads_or_writes_outside_its_buffers(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nest = nest_of(name)

    @settings(max_examples=8, deadline=None, derandomize=True, database=None)
    @given(mappings(nest))
    def holds(mapping: TilingMapping) -> None:
        folder = tmp_path_factory.mktemp("program")
        assert run(nest, mapping, folder, "-O1", "-fsanitize=address,undefined").endswith("OK")

    holds()


def convolution_mapping() -> tuple[LoopNest, TilingMapping]:
    nest = convolution_nest("conv", square_convolution(2, 8, 6, 4, 3, 2, 8, 1))
    mapping = mapping_of(
        nest,
        dram="N M C",
        spm="M C Fx",
        M={"rf": 2, "spatial": 2},
        C={"rf": 1, "spm": 3},
        Ox={"spatial": 4},
        Oy={"rf": 4},
        Fx={"spm": 3},
        Fy={"spatial": 3},
    )
    return nest, mapping


def test_make_builds_it_without_a_warning_and_runs_it(tmp_path: Path) -> None:
    nest, mapping = convolution_mapping()
    for name, text in generate_c(nest, machine_of(), mapping).items():
        (tmp_path / name).write_text(text, encoding="ascii")
    # A make that this test runs under would lend its job server, whose descriptors are closed here.
    alone = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    done = subprocess.run(
        ["make", "--no-print-directory", "run"], cwd=tmp_path, env=alone, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "-O2 -std=c11 -Wall -Wextra" in done.stdout
    assert done.stdout.strip().endswith("OK")


def test_loops_stand_in_the_mappings_order_and_copies_where_an_operand_changes() -> None:
    nest, mapping = convolution_mapping()
    text = generate_c(nest, machine_of(), mapping)["mapped.c"]
    wanted = [
        "for (long d_N = 0; d_N < 2; d_N++)",
        "for (long d_M = 0; d_M < 2; d_M++)",
        "/* O: next tile from DRAM: begins at zero. */",
        "/* O: next tile into the register files: begins at zero. */",
        "for (long d_C = 0; d_C < 2; d_C++)",
        "/* I: next tile from DRAM. */",
        "for (long s_C = 0; s_C < 3; s_C++)",
        "for (long s_Fx = 0; s_Fx < 3; s_Fx++)",
        "/* I: next tile into the register files. */",
        "for (long r_M = 0; r_M < 2; r_M++)",
        "for (long p_Fy = 0; p_Fy < 3; p_Fy++)",
        "/* O: the tile leaves the register files; PEs add up their parts. */",
        "/* O: the tile goes back to DRAM. */",
    ]
    body = text[text.index("void mapped_nest") :]
    place = 0
    for line in wanted:
        assert line in body[place:], f"{line} is not where it belongs"
        place = body.index(line, place)
    assert body.count("next tile from DRAM") == 3


def test_a_changed_copy_is_reported_as_a_mismatch(tmp_path: Path) -> None:
    nest, mapping = convolution_mapping()
    program = generate_c(nest, machine_of(), mapping)
    right = "for (long s_C = 0; s_C < 3; s_C++)"
    assert right in program["mapped.c"]
    program["mapped.c"] = program["mapped.c"].replace(right, right.replace("s_C < 3", "s_C < 2"))
    done = subprocess.run([compiled(program, tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.strip().endswith("MISMATCH")


def test_the_same_seed_gives_the_same_text() -> None:
    nest, mapping = convolution_mapping()
    texts = [generate_c(nest, machine_of(), mapping, seed) for seed in (1, 1, 2)]
    assert texts[0] == texts[1]
    assert texts[0]["main.c"] != texts[2]["main.c"]


def test_a_hostile_name_stays_inside_its_comment(tmp_path: Path) -> None:
    nest = nest_of("matmul")
    hostile = LoopNest('*/ int x; /* "\n#error', nest.bounds, nest.operands)
    assert run(hostile, mapping_of(nest), tmp_path).endswith("OK")


def test_a_name_that_c_cannot_have_is_refused() -> None:
    nest = nest_of("matmul")
    renamed = LoopNest("bad", (("I-1", 2),), nest.operands)
    with pytest.raises(InputError, match="bad: I-1: is not a name in C"):
        generate_c(renamed, machine_of(), mapping_of(renamed))


@pytest.mark.slow
def test_a_whole_layer_runs(tmp_path: Path) -> None:
    nest = convolution_nest("conv5_1", square_convolution(1, 128, 256, 7, 3, 2, 14, 1))
    levels = {"M": {"rf": 8, "spatial": 16}, "C": {"rf": 4, "spm": 2}, "Ox": {"rf": 7}, "Oy": {"spatial": 7}}
    mapping = mapping_of(nest, dram="M N C", spm="C Fy", **levels, Fx={"rf": 3}, Fy={"spm": 3})
    assert run(nest, mapping, tmp_path, "-O2").endswith("OK")
