"""What generated overlays take of a board is counted from their parameters."""

from __future__ import annotations

from dataclasses import replace

from mapper.codegen.algorithm_selection.program import Parameters
from mapper.codegen.algorithm_selection.resource import resources
from mapper.sim.algorithm_selection.rtl.synthesis import luts


def test_memories_are_counted_bank_by_bank_and_the_largest_are_ultrarams() -> None:
    sizes = Parameters(4, 4, 2, input_depth=2048, kernel_depth=8192, result_depth=1024)
    without = resources(sizes, 0)
    # 4 banks of 2048 x 16 bits, 4 of 8192 x 16, 8 of 1024 x 32, and a pooling line and tables that registers hold.
    assert without.bram36 == 4 * 1 + 4 * 4 + 8 * 1 and without.uram == 0
    some = resources(sizes, 8)
    assert (some.uram, some.bram36) == (8, 4 + 8)
    assert without.dsp == 16 + 4 * 5 + 11


def test_deeper_buffers_take_more() -> None:
    sizes = Parameters(8, 8, 3, kernel_depth=4096)
    assert resources(replace(sizes, kernel_depth=8192), 0).bram36 > resources(sizes, 0).bram36


def test_a_bank_that_gives_two_words_a_cycle_is_two_memories() -> None:
    sizes = Parameters(4, 4, 2, input_depth=3 * 1024, kernel_depth=2048)
    # 4 banks of 3072 x 16 bits and of 2048; then 8 of 1536, which fill half of their second block, and 8 of 1024.
    assert resources(sizes, 0).bram36 == 4 * 1.5 + 4 * 1
    assert resources(replace(sizes, wires=2), 0).bram36 == 8 * 1 + 8 * 0.5


def test_two_small_luts_share_one_where_their_inputs_fit() -> None:
    assert luts({"LUT6": 3, "LUT5": 2, "LUT1": 1, "DSP48E2": 9}) == 3 + 2
    assert luts({"LUT3": 4, "LUT2": 2}) == 2 + 1
    assert luts({"LUT4": 1, "LUT3": 1, "LUT2": 3}) == 1 + 1 + 1
