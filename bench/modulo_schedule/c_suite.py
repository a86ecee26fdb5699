"""Every innermost loop of the C files in a folder: accepted or why not, its bounds, and, where asked, its least II and
whether it computes what the system's compiler makes of it.

PolyBench/C: ``python -m bench.modulo_schedule.c_suite FOLDER --functions 'kernel_*' --include FOLDER/utilities
--define DATA_TYPE_IS_FLOAT``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import mapper
from bench.measure import measure, show
from bench.modulo_schedule.compiled_loop import Recorded, compiled, function_text, recorded, run_compiled
from mapper.api.solving import Search
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.kind.modulo_schedule.kernel_part import pose_kernel
from mapper.kind.part import Options
from mapper.models.modulo_schedule.bound import rec_mii, res_mii
from mapper.workloads.c.file import expanded
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.c.unit import cut
from mapper.workloads.document import InputError, decoded
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import execute
from mapper.workloads.reference.kernel import seeded_memory

SEEDS = (0, 1)


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


def loops(folder: Path, pattern: str, reading: SourceReading, machine: CgraMachine) -> Iterator[Found]:
    """Every innermost loop of every function that matches ``pattern``."""
    for file in sorted(folder.rglob("*.c")):
        try:
            text = decoded(file.read_bytes(), str(file))
            functions = cut(expanded(text, str(file), reading)[0], str(file)).looping
        except InputError as error:
            yield Found(file, "*", 0, refusal=str(error))
            continue
        for function in dict.fromkeys(one for one in functions if fnmatch(one, pattern)):
            number = 0
            while True:
                found = Found(file, function, number)
                try:
                    found.loop, found.kernel = recorded(text, str(file), function, number, reading)
                    pose_kernel(found.kernel, machine, {})
                except InputError as error:
                    if "innermost loops, counted from 0" in str(error):
                        break
                    found.refusal = str(error)
                yield found
                number += 1


def compared(accepted: list[Found]) -> dict[str, bool]:
    """Per loop whether its graph leaves the memory that the compiled loop leaves, bit by bit, for all seeds."""
    equal = {}
    with tempfile.TemporaryDirectory() as folder:
        texts = [function_text(one.loop, f"k{at}") for at, one in enumerate(accepted) if one.loop is not None]
        library = compiled(texts, Path(folder))
        for at, one in enumerate(accepted):
            assert one.loop is not None and one.kernel is not None
            trips = one.kernel.trip_count or one.kernel.assumed_trips
            equal[one.name] = trips is not None and all(
                _same(library, at, one, trips, seed) for seed in SEEDS
            )
    return equal


def _same(library: object, at: int, one: Found, trips: int, seed: int) -> bool:
    assert one.loop is not None and one.kernel is not None
    memory = seeded_memory(one.kernel, seed)
    try:
        mine = execute(replace(one.kernel, trip_count=trips), memory)
    except InputError:
        return False
    theirs = run_compiled(library, f"k{at}", one.loop, memory)  # type: ignore[arg-type]
    return all(words.tobytes() == theirs[name].tobytes() for name, words in mine.items())


def main() -> None:
    """Print one line per loop, and the shares."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--functions", default="*", help="a pattern of their names")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("--arch", default="srp-4x4")
    parser.add_argument(
        "--seconds", type=float, default=0.0, help="limit of one loop's search; 0: none is made"
    )
    parser.add_argument("--compare", action="store_true", help="with the system's compiler")
    given = parser.parse_args()
    reading = SourceReading(tuple(given.include), tuple(given.define))
    machine, _ = load_machine(given.arch)
    assert isinstance(machine, CgraMachine)
    found = list(loops(given.folder, given.functions, reading, machine))
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
        lines.append([*map(str, line), *(["equal" if equal[one.name] else "DIFFERS"] if equal else [])])
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
        print(f"equal to the compiler: {sum(equal.values())} of {len(equal)}")


if __name__ == "__main__":
    main()
