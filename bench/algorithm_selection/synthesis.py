"""The overlay's Verilog under Yosys (synth_xilinx, UltraScale+): cells and memories of every module, beside what
`overlay.json` counts from the parameters."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from bench.measure import show
from mapper.codegen.algorithm_selection.convolution_program import accumulator
from mapper.codegen.algorithm_selection.overlay import verilog
from mapper.codegen.algorithm_selection.program import Parameters, log_banks
from mapper.codegen.algorithm_selection.resource import resources
from mapper.models.algorithm_selection.timing import block_rows
from mapper.sim.algorithm_selection.rtl.synthesis import MISSING, luts, memory_luts, synthesise, yosys

WHOLE = ("4x4", "8x8", "16x16")
BY_MODULE = "95x64"
HEAD = ["module", "times", "LUT", "LUT as memory", "flip-flops", "carry", "DSP", "BRAM36", "URAM"]


def main() -> None:
    """Print a table per array."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arrays", nargs="*", default=[*WHOLE, BY_MODULE])
    given = parser.parse_args()
    if yosys() is None:
        print(f"the Verilog's cells: {MISSING}")
        return
    for name in given.arrays:
        rows, columns = map(int, name.split("x"))
        for large in (0, 1):
            sizes = parameters((rows, columns), large)
            counted = resources(sizes)
            title = (
                f"{name}{', F(4,3)' if large else ''}; counted: {counted.lut:,} LUT, {counted.dsp:,} DSP, "
                f"{counted.bram36:,} BRAM36, {counted.uram:,} URAM"
            )
            show(title, HEAD, by_module(sizes) if name == BY_MODULE else whole(sizes))


def parameters(array: tuple[int, int], large: int = 0) -> Parameters:
    """Buffers that a network of some size needs, and transforms of F(4,3) where ``large``."""
    deep, bits = 4096 if max(array) > 16 else 1024, accumulator(4 * large)
    made = Parameters(
        *array, log_banks(array), deep, deep, deep, 2, 64, 16, 1024, single=1, pool_line=64, wires=2
    )
    return replace(made, large=large, sum=bits)


def whole(sizes: Parameters) -> list[list[str]]:
    """Every module of the whole, and all of them."""
    found = synthesise(verilog(sizes), "overlay_top")
    lines = [_line(name, times, cells) for name, (times, cells) in sorted(found.modules.items()) if cells]
    return [*lines, _line("all", 1, found.cells)]


def by_module(sizes: Parameters) -> list[list[str]]:
    """One of each of the modules that nearly all of a large overlay is made of, times as many as there are, and their
    sum."""
    lines, cells = [], Counter[str]()
    for module, given, times in _parts(sizes):
        found = synthesise(verilog(sizes), module, given).cells
        own = {cell: number * times for cell, number in found.items()}
        said = "".join(f" {name}={given[name]}" for name in ("KIND", "WIDTH") if name in given)
        lines.append(_line(module + said, times, own))
        cells.update(own)
    return [*lines, _line("all of these", 1, cells)]


def _parts(sizes: Parameters) -> Iterator[tuple[str, Mapping[str, int], int]]:
    lanes, banks = 1 << sizes.log_banks, {"LOG_BANKS": sizes.log_banks}
    yield "pe_row", {"P2": sizes.p2, "SUM": sizes.sum}, sizes.p1
    for kind, width in ((1, 16), (2, 16), (3, sizes.sum)):
        yield "linear_lane", {"KIND": kind, "LARGE": sizes.large, "WIDTH": width}, lanes
    yield "requantise", {"SINGLE": sizes.single, "WIDTH": sizes.sum}, lanes
    yield "scale_operand", {"WIDTH": sizes.sum}, lanes
    yield "max_pool", {"LANES": 1, "WIDTH": 16, "LINE": sizes.pool_line}, lanes
    yield "layout_unit", {"LOG_LANES": sizes.log_banks}, 6
    two = {"PIECES": sizes.wires, "APART": block_rows(sizes.p1, sizes.wires)}
    yield "banked_buffer", {"WIDTH": 16, **banks, "DEPTH": sizes.input_depth, **two}, 2
    yield "banked_buffer", {"WIDTH": sizes.sum, **banks, "DEPTH": sizes.result_depth}, 2
    yield "pad_accumulate", {"LANES": lanes}, 1
    yield "controller", {}, 1
    yield "registers", {"P1": sizes.p1, "P2": sizes.p2}, 1


def _line(name: str, times: int, cells: Mapping[str, int]) -> list[str]:
    kinds: Counter[str] = Counter()
    for cell, number in cells.items():
        kinds[_kind(cell)] += number
    blocks = kinds["BRAM36"] + -(-kinds["BRAM18"] // 2)
    return [
        name,
        f"{times:,}",
        f"{luts(cells):,}",
        f"{memory_luts(cells):,}",
        *(f"{kinds[one]:,}" for one in ("flip-flop", "carry", "DSP")),
        f"{blocks:,}",
        f"{kinds['URAM']:,}",
    ]


def _kind(cell: str) -> str:
    for kind, begin in (
        ("flip-flop", ("FD",)),
        ("carry", ("CARRY",)),
        ("DSP", ("DSP",)),
        ("BRAM36", ("RAMB36",)),
        ("BRAM18", ("RAMB18",)),
        ("URAM", ("URAM",)),
    ):
        if cell.startswith(begin):
            return kind
    return "other"


if __name__ == "__main__":
    main()
