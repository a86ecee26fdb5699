"""Yosys takes the overlay's Verilog. Slow tests, since `make test` asks for nothing beside Python and a compiler."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.codegen.algorithm_selection.overlay import RTL, verilog
from mapper.sim.algorithm_selection.rtl.synthesis import MISSING, elaborate, synthesise, yosys
from tests.sim.algorithm_selection.rtl.overlay_bench import sizes

needs_yosys = pytest.mark.skipif(yosys() is None, reason=MISSING)
pytestmark = pytest.mark.slow
FEW = {"input_depth": 64, "kernel_depth": 64, "result_depth": 64, "tensor_depth": 64, "calls": 8}
SMALL = replace(sizes((2, 3)), **FEW, wires=2)
LEAST = replace(sizes((1, 2)), **FEW, pool_line=8, scale_depth=8)
WHOLE = ("overlay", "overlay_top")


@needs_yosys
def test_yosys_reads_every_module_and_builds_the_whole() -> None:
    elaborate(verilog(replace(SMALL, large=0, single=0, sum=32)), "overlay_top")


@needs_yosys
def test_an_element_takes_a_dsp_slice() -> None:
    found = synthesise(verilog(SMALL), "systolic_array", {"P1": 2, "P2": 3})
    assert found.cells["DSP48E2"] == 6
    assert found.modules["pe_row"][0] == 2


@needs_yosys
def test_a_buffer_that_gives_two_rows_has_two_memories_a_bank() -> None:
    for pieces in (1, 2):
        given = {"PIECES": pieces, "APART": 3, "DEPTH": 4096}
        found = synthesise(verilog(SMALL), "banked_buffer", given)
        assert found.modules["bank"][0] == 4 * pieces


@needs_yosys
def test_yosys_makes_cells_of_the_whole() -> None:
    assert synthesise(verilog(LEAST), "overlay_top").cells["DSP48E2"] > 0


# The control memory is what a file says, which is empty here.
@needs_yosys
@pytest.mark.parametrize("name", sorted({path.stem for path in RTL.rglob("*.sv")} - {"control_rom", *WHOLE}))
def test_yosys_makes_cells_of_every_module(name: str) -> None:
    assert synthesise(verilog(SMALL), name).cells
