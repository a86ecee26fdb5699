"""The array's own program: DMA transfers, moves over the networks and the code of every PE, run from their text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapper
from mapper.arch.dataflow import DataflowMachine
from mapper.codegen.tiling import generate_c, generate_tables
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling import array_report, simulate
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import convolution_nest, square_convolution
from mapper.workloads.nest.loop_nest import LoopNest
from tests.sim.tiling.small_nest import SMALL_NESTS, machine_of, machines, mapping_of, mappings, nest_of

SHARED = {"recurrence", "product-recurrence", "strided-look-ahead"}
SMALL = sorted(SMALL_NESTS.keys() - SHARED)


def convolution() -> tuple[LoopNest, DataflowMachine, TilingMapping]:
    """A convolution whose sums meet in other PEs, whose result leaves and returns, and whose input's window slides."""
    nest = convolution_nest("conv", square_convolution(2, 8, 6, 4, 3, 1, 4, 1))
    mapping = mapping_of(
        nest,
        dram="N C M Oy",
        spm="C Ox",
        M={"rf": 4, "spatial": 2},
        C={"rf": 1, "spm": 2},
        Ox={"spm": 4},
        Oy={"spatial": 2},
        Fx={"rf": 3},
        Fy={"spatial": 3},
    )
    return nest, machine_of("eyeriss-168", spm={"double_buffered": True}), mapping


@pytest.mark.parametrize("name", SMALL)
def test_what_pes_and_dma_do_computes_the_reference_and_moves_what_the_model_counts(name: str) -> None:
    nest = nest_of(name)

    @settings(max_examples=8, deadline=None, derandomize=True, database=None)
    @given(machines(), mappings(nest), st.integers(0, 9))
    def holds(machine: DataflowMachine, mapping: TilingMapping, seed: int) -> None:
        found = array_report(nest, machine, mapping, generate_tables(nest, machine, mapping), seed)
        assert found["outputs_equal"] and found["agrees"], found["disagreements"]
        usual = simulate(nest, machine, mapping, seed)
        assert (found["checksum"], found["transfers"]) == (f"{usual.checksum:016x}", usual.transfers)

    holds()


def test_a_window_that_slides_is_shifted_in_the_pes_own_register_files() -> None:
    nest, machine, mapping = convolution()
    files = generate_tables(nest, machine, mapping)
    follows = [
        line for line in files["noc.inc"].splitlines() if re.match(r"\{\d+, LOAD, 1, \d+, 0, 1, 0\}", line)
    ]
    assert len(follows) == 2 * 3
    found = array_report(nest, machine, mapping, files)
    assert found["outputs_equal"] and found["agrees"]


def test_a_line_of_dma_says_where_from_where_to_how_many_bytes_and_into_which_half() -> None:
    nest, machine, mapping = convolution()
    lines = generate_tables(nest, machine, mapping)["dma.inc"].splitlines()
    assert lines[0].startswith("/* pass, action, operand, half, DRAM, scratch-pad, bytes")
    transfers = [line for line in lines[1:] if ", CLEAR," not in line]
    model = evaluate(nest, machine, mapping)
    moved = sum(int(line.split(", ")[6]) for line in transfers)
    assert moved == sum(words["dram"] for words in model.words.values()) * machine.word_bytes
    assert {line.split(", ")[3] for line in transfers} == {"0", "1"}
    single = machine_of("eyeriss-168")
    assert {
        line.split(", ")[3] for line in generate_tables(nest, single, mapping)["dma.inc"].splitlines()[1:]
    } == {"0"}


@pytest.mark.parametrize(
    ("table", "line", "change"),
    [
        ("dma.inc", r"LOAD, 1, (\d), (\d+), ", r"LOAD, 1, \1, 1\2, "),
        ("dma.inc", r"\{(\d+), STORE, 0, .*\n", ""),
        ("noc.inc", r"LOAD, 1, (\d+), 0, 0,", r"LOAD, 1, \1, 0, 1,"),
        ("pe.inc", r"\{4, 0, 4, 3, ", "{4, 0, 4, 4, "),
        ("layout.inc", r"\{4, 18, 3\}", "{4, 17, 3}"),
        ("loop.inc", r"\{3, ", "{2, "),
    ],
)
def test_a_wrong_line_gives_wrong_numbers_or_counts(table: str, line: str, change: str) -> None:
    nest, machine, mapping = convolution()
    files = generate_tables(nest, machine, mapping)
    wrong = re.sub(line, change, files[table], count=1)
    assert wrong != files[table]
    found = array_report(nest, machine, mapping, {**files, table: wrong})
    assert not (found["outputs_equal"] and found["agrees"])


def test_what_is_no_table_is_one_line() -> None:
    nest, machine, mapping = convolution()
    files = generate_tables(nest, machine, mapping) | {"dma.inc": "{0, JUMP}\n"}
    with pytest.raises(InputError, match="no table of the array"):
        array_report(nest, machine, mapping, files)


@pytest.mark.parametrize("name", sorted(SHARED))
def test_operands_that_share_a_tensor_have_no_program_for_the_array(name: str) -> None:
    nest = nest_of(name)
    assert "dma.inc" not in generate_c(nest, machine_of(), mapping_of(nest))
    with pytest.raises(InputError, match="--words"):
        generate_tables(nest, machine_of(), mapping_of(nest))


def test_words_run_every_pe_of_a_solution(tmp_path: Path) -> None:
    document = mapper.evaluate("matmul", None, _mapping(tmp_path)).to_json()
    found = mapper.simulate(document, words=True)
    (part,) = found["parts"]
    assert found["outputs_equal"] and found["agrees"] and not found["failed"]
    assert part["programs"]["pes"] == 4 * 64
    assert part["cost_simulated"] == part["cost_model"]


def _mapping(folder: Path) -> Path:
    path = folder / "mapping.yaml"
    path.write_text(
        """
tiling:
  I: {dram: 7, spm: 7, rf: 1, spatial: 4}
  J: {dram: 2, spm: 2, rf: 2, spatial: 64}
  K: {dram: 4, spm: 4, rf: 32, spatial: 1}
order: {dram: [I, J, K], spm: [K, J, I]}
""",
        encoding="utf-8",
    )
    return path
