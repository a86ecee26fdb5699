"""Functions of the C files in a folder, whole: cycles, their bound, and whether a simulated run is the compiler's and
the model's.

PolyBench/C: ``python -m bench.modulo_schedule.whole_suite FOLDER --functions 'kernel_*' --include FOLDER/utilities
--define DATA_TYPE_IS_FLOAT --define MINI_DATASET --define POLYBENCH_USE_SCALAR_LB``.
"""

from __future__ import annotations

import argparse
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import mapper
from bench.measure import measure, show
from mapper.api.solving import Search
from mapper.kind.part import Options
from mapper.workloads.c.file import expanded
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.c.unit import cut
from mapper.workloads.document import InputError, decoded

HEADING = ("function", "loops", "starts", "iterations", "cycles", "bound", "proven", "CPU s", "run")


def functions(folder: Path, pattern: str, reading: SourceReading) -> list[str]:
    """The functions with loops that match, as workloads."""
    found = []
    for file in sorted(folder.rglob("*.c")):
        try:
            text = decoded(file.read_bytes(), str(file))
            looping = cut(expanded(text, str(file), reading)[0], str(file)).looping
        except InputError:
            continue
        found += [f"{file}:{one}" for one in dict.fromkeys(looping) if fnmatch(one, pattern)]
    return found


def line(workload: str, arch: str, options: Options, seconds: float) -> list[str]:
    """What there is to say of one function.

    Raises: InputError if it cannot be mapped whole.
    """
    search = Search("auto", seconds, workers=2)
    run = measure(partial(mapper.solve, workload, arch, options=options, search=search))
    document: dict[str, Any] = run.result.to_json()
    part = document["parts"][0]
    name = workload.rpartition(":")[2]
    if part["mapping"] is None:
        return [name, *["–"] * 3, "none in time", *["–"] * (len(HEADING) - 5)]
    loops, certificate = part["mapping"]["loops"], part["certificate"]
    found = mapper.simulate(document)
    equal = "equal" if found["outputs_equal"] and found["agrees"] else "DIFFERS"
    reference = found["parts"][0]["reference"]
    return [
        name,
        str(len(loops)),
        f"{sum(loop['starts'] for loop in loops):,}",
        f"{sum(loop['iterations'] for loop in loops):,}",
        f"{certificate['value']:,}",
        f"{certificate['bound']:,}",
        "yes" if certificate["proven"] else "no",
        f"{run.cpu:.1f}",
        f"{equal} ({reference})",
    ]


def main() -> None:
    """Print one line per function, and why others have none."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--functions", default="*", help="a pattern of their names")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("--arch", default="srp-4x4")
    parser.add_argument("--nest", default="host")
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of one function's search")
    given = parser.parse_args()
    reading = SourceReading(tuple(given.include), tuple(given.define))
    options = Options(source=reading, fix={"nest": given.nest})
    lines, refused = [], []
    for workload in functions(given.folder, given.functions, reading):
        try:
            lines.append(line(workload, given.arch, options, given.seconds))
        except InputError as error:
            refused.append(str(error))
    show(f"Whole functions of {given.folder.name} on {given.arch}, nest {given.nest}:", HEADING, lines)
    for reason in refused:
        print(f"refused: {reason}")


if __name__ == "__main__":
    main()
