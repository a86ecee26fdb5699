"""Functions of the C files in a folder, whole: cycles, their bound, and whether a simulated run is the compiler's and
the model's.

PolyBench/C: ``python -m bench.modulo_schedule.whole_suite FOLDER --functions 'kernel_*' --without utilities
--include FOLDER/utilities --define DATA_TYPE_IS_FLOAT --define MINI_DATASET --define POLYBENCH_USE_SCALAR_LB``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import mapper
from bench.measure import measure, show
from bench.modulo_schedule.suite import arguments, reading_of, texts
from mapper.api.search import Search
from mapper.kind.part import Options
from mapper.workloads.document import InputError

HEADING = ("function", "loops", "starts", "iterations", "cycles", "bound", "proven", "CPU s", "run")


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
    parser = arguments(__doc__, 20.0, "limit of one function's search")
    parser.add_argument("--nest", default="host")
    given = parser.parse_args()
    options = Options(source=reading_of(given), fix={"nest": given.nest})
    lines, refused = [], []
    found = [
        f"{file}:{one}"
        for file, _, functions in texts(given)
        if not isinstance(functions, InputError)
        for one in functions
    ]
    for workload in found:
        try:
            lines.append(line(workload, given.arch, options, given.seconds))
        except InputError as error:
            refused.append(str(error))
    show(f"Whole functions of {given.folder.name} on {given.arch}, nest {given.nest}:", HEADING, lines)
    for reason in refused:
        print(f"refused: {reason}")


if __name__ == "__main__":
    main()
