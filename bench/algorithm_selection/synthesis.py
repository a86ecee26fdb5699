"""The overlay's Verilog under Yosys (synth_xilinx, UltraScale+): cells and memories of every module, beside what
`overlay.json` counts from the parameters."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping

from bench.measure import show
from mapper.codegen.algorithm_selection.overlay import verilog
from mapper.codegen.algorithm_selection.program import Parameters, log_banks
from mapper.codegen.algorithm_selection.resource import resources
from mapper.sim.algorithm_selection.rtl.synthesis import MISSING, Synthesised, synthesise, yosys

WHOLE = ("4x4", "8x8", "16x16")
BY_MODULE = "95x64"
HEAD = ["module", "times", "LUT", "LUT as memory", "flip-flops", "carry", "DSP", "BRAM36", "URAM"]
PARTS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("pe_row", {}),
    ("linear_lane", {"KIND": 1}),
    ("linear_lane", {"KIND": 2}),
    ("linear_lane", {"KIND": 3}),
    ("requantise", {"SINGLE": 1}),
    ("max_pool", {}),
    ("layout_unit", {}),
    ("banked_buffer", {}),
    ("pad_accumulate", {}),
    ("controller", {}),
    ("registers", {}),
)


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
        sizes = parameters((rows, columns))
        counted = resources(sizes)
        title = f"{name}; counted: {counted.dsp:,} DSP, {counted.bram36:,} BRAM36, {counted.uram:,} URAM"
        show(title, HEAD, by_module(sizes) if name == BY_MODULE else whole(sizes))


def parameters(array: tuple[int, int]) -> Parameters:
    """Buffers that a network of some size needs."""
    deep = 4096 if max(array) > 16 else 1024
    return Parameters(*array, log_banks(array), deep, deep, deep, 2, 64, 16, 1024, pool_line=64)


def whole(sizes: Parameters) -> list[list[str]]:
    """Every module of the whole, and all of them."""
    found = synthesise(verilog(sizes), "overlay_top")
    lines = [_line(name, times, cells) for name, (times, cells) in sorted(found.modules.items()) if cells]
    return [*lines, _line("all", 1, found.cells)]


def by_module(sizes: Parameters) -> list[list[str]]:
    """One of each of the modules of which there are many."""
    own = {
        "pe_row": {"P2": sizes.p2},
        "max_pool": {"LANES": 1, "WIDTH": 16, "LINE": sizes.pool_line},
        "layout_unit": {"LOG_LANES": sizes.log_banks},
        "banked_buffer": {"WIDTH": 16, "LOG_BANKS": sizes.log_banks, "DEPTH": sizes.input_depth},
        "pad_accumulate": {"LANES": 1 << sizes.log_banks},
        "registers": {"P1": sizes.p1, "P2": sizes.p2},
    }
    lines = []
    for module, given in PARTS:
        found: Synthesised = synthesise(verilog(sizes), module, {**own.get(module, {}), **given})
        said = "".join(f" {name}={value}" for name, value in given.items())
        lines.append(_line(module + said, 1, found.cells))
    return lines


def _line(name: str, times: int, cells: Mapping[str, int]) -> list[str]:
    kinds: Counter[str] = Counter()
    for cell, number in cells.items():
        kinds[_kind(cell)] += number
    blocks = kinds["BRAM36"] + -(-kinds["BRAM18"] // 2)
    return [
        name,
        f"{times:,}",
        *(f"{kinds[one]:,}" for one in ("LUT", "memory", "flip-flop", "carry", "DSP")),
        f"{blocks:,}",
        f"{kinds['URAM']:,}",
    ]


def _kind(cell: str) -> str:
    for kind, begin in (
        ("LUT", ("LUT", "INV")),
        ("memory", ("RAM32", "RAM64", "RAM128", "RAM256", "RAM512", "SRL")),
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
