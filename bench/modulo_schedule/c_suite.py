"""Every innermost loop of the C files in a folder: accepted or why not, its bounds, and, where asked, its least II and
whether it computes what the system's compiler makes of it.

PolyBench/C: ``python -m bench.modulo_schedule.c_suite FOLDER --functions 'kernel_*' --without utilities
--include FOLDER/utilities --define DATA_TYPE_IS_FLOAT``.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np

import mapper
from bench.measure import measure, show
from bench.modulo_schedule.compiled_loop import (
    Memory,
    Recorded,
    compiled,
    function_text,
    recorded,
    run_compiled,
)
from bench.modulo_schedule.structure_text import NotWrittenError
from bench.modulo_schedule.suite import arguments, reading_of, texts
from mapper.api.search import Search
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.kind.modulo_schedule.kernel_part import pose_kernel
from mapper.kind.part import Options
from mapper.models.modulo_schedule.bound import rec_mii, res_mii
from mapper.sim.modulo_schedule.against import Origins, agreement
from mapper.workloads.c.file import find_loops
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel

SEEDS = (0, 1)
VERDICTS = ("equal", "leaves its arrays", "ends badly", "DIFFERS")
"""Of one seed, the worst last. A compiled loop ends badly that divides by 0 or leaves its arrays on such numbers."""
MOST_SECONDS = 3
"""That a compiled loop may run."""


@dataclass
class Found:
    """One loop; ``refusal`` says why it is none that the machine can run."""

    file: Path
    function: str
    number: int
    loop: Recorded | None = None
    kernel: Kernel | None = None
    refusal: str = ""

    @property
    def name(self) -> str:
        return (
            f"{self.file.stem}:{self.number}"
            if self.function.endswith(self.file.stem.replace("-", "_"))
            else (f"{self.file.stem}:{self.function}:{self.number}")
        )


def loops(given: argparse.Namespace, machine: CgraMachine) -> Iterator[Found]:
    """Every innermost loop of the suite; one for a file or function in which none can be told from another."""
    reading = reading_of(given)
    for file, text, functions in texts(given):
        if isinstance(functions, InputError):
            yield Found(file, "*", 0, refusal=str(functions))
            continue
        for function in functions:
            try:
                count = len(find_loops(text, str(file), function, reading))
            except InputError as error:
                yield Found(file, function, 0, refusal=str(error))
                continue
            yield from (one_loop(file, text, function, number, reading, machine) for number in range(count))


def one_loop(
    file: Path, text: str, function: str, number: int, reading: SourceReading, machine: CgraMachine
) -> Found:
    """A loop and its kernel, or why it has none on the machine."""
    found = Found(file, function, number)
    try:
        found.loop, found.kernel = recorded(text, str(file), function, number, reading)
        pose_kernel(found.kernel, machine, {})
    except InputError as error:
        found.refusal = str(error)
    return found


def compared(accepted: list[Found]) -> dict[str, str]:
    """Per loop whether its graph leaves the memory that the compiled loop leaves, bit by bit, for all seeds; or that
    the loop alone is nothing that can be compiled."""
    equal: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for at, one in enumerate(accepted):
            assert one.loop is not None and one.kernel is not None
            trips = one.kernel.trip_count or one.kernel.assumed_trips
            try:
                own = Path(folder) / str(at)
                own.mkdir()
                library = compiled([function_text(one.loop, "k")], own)
            except (RuntimeError, NotWrittenError):
                equal[one.name] = "not compiled"
                continue
            if trips is None:
                equal[one.name] = "no trip count"
                continue
            found = {_verdict(library, one, seed) for seed in SEEDS}
            equal[one.name] = max(found, key=VERDICTS.index)
    return equal


def _verdict(library: ctypes.CDLL, one: Found, seed: int) -> str:
    """Whether the graph and the compiled loop leave the same words."""
    assert one.loop is not None and one.kernel is not None
    found = agreement(one.kernel, partial(_after, library, one.loop), seed)
    if found.equal:
        return VERDICTS[0]
    if found.leaves is not None:
        return VERDICTS[1]
    return VERDICTS[3] if found.iterations else VERDICTS[2]


def _after(library: ctypes.CDLL, loop: Recorded, memory: Memory, origins: Origins) -> Memory | None:
    """The memory after the compiled loop, of a process of its own: on other words than it is meant for it may never
    end, or leave its arrays."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        signal.alarm(MOST_SECONDS)
        found = run_compiled(library, "k", loop, memory, origins)
        with os.fdopen(writing, "wb") as file:
            for name in memory:
                file.write(found[name].tobytes())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        left = file.read()
    if os.waitpid(process, 0)[1]:
        return None
    ends = list(accumulate(words.nbytes for words in memory.values()))
    return {
        name: np.frombuffer(left[end - words.nbytes : end], words.dtype)
        for end, (name, words) in zip(ends, memory.items(), strict=True)
    }


def main() -> None:
    """Print one line per loop, and the shares."""
    parser = arguments(__doc__, 0.0, "limit of one loop's search; 0: none is made")
    parser.add_argument("--compare", action="store_true", help="with the system's compiler")
    given = parser.parse_args()
    reading = reading_of(given)
    machine, _ = load_machine(given.arch)
    assert isinstance(machine, CgraMachine)
    found = list(loops(given, machine))
    accepted = [one for one in found if not one.refusal]
    equal = compared(accepted) if given.compare else {}
    lines, proven = [], 0
    for one in accepted:
        assert one.kernel is not None
        graph = one.kernel.graph
        line = [one.name, len(graph.operations), res_mii(graph, machine).value, rec_mii(graph, machine).value]
        if given.seconds:
            search = Search("auto", given.seconds)
            text = f"{one.file}:{one.function}:{one.number}"
            options = Options(source=reading)
            run = measure(partial(mapper.solve, text, given.arch, options=options, search=search))
            certificate = run.result.certificate
            proven += certificate.proven
            line += [certificate.value or "–", "yes" if certificate.proven else "no", f"{run.cpu:.1f}"]
        lines.append([*map(str, line), *([equal[one.name]] if equal else [])])
    heading = [
        "loop",
        "operations",
        "ResMII",
        "RecMII",
        *(["II", "proven", "CPU s"] if given.seconds else []),
    ]
    show(
        f"Loops of {given.folder.name} on {given.arch}:", [*heading, *(["compiler"] if equal else [])], lines
    )
    for one in found:
        if one.refusal:
            print(f"refused: {one.name}: {one.refusal}")
    print(f"accepted: {len(accepted)} of {len(found)}" + (f", proven: {proven}" if given.seconds else ""))
    if equal:
        print(f"equal to the compiler: {list(equal.values()).count('equal')} of {len(equal)}")


if __name__ == "__main__":
    main()
