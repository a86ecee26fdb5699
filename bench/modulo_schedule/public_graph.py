"""Graphs that others publish, on one array: MII, the II that is proven, by which evidence, and the publisher's own II.

FOLDER holds neura's ``.mlir``, Morpher's ``.xml``, CGRA-ME's ``.dot`` or ``*_edges``. Lines are those of the table in
docs/workload/published-graph.md.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

import mapper
from bench.measure import measure
from mapper.api.search import Search
from mapper.api.solution import Solution
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.models.modulo_schedule.bound import mii
from mapper.proving.certified import certified
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import load_kernel

ENDINGS = (".mlir", ".xml", ".dot", "_edges")


def main() -> None:
    """Print a line for each graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--array", required=True)
    parser.add_argument("--publisher", required=True, help="who published the graphs")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one graph")
    parser.add_argument("--only", default="*", help="a pattern of the files' names")
    given = parser.parse_args()
    machine, _ = load_machine(given.array)
    assert isinstance(machine, CgraMachine)
    files = sorted(one for one in given.folder.rglob(given.only) if one.name.endswith(ENDINGS))
    proven = 0
    for file in files:
        name = file.parent.name if file.stem.startswith("pre-gen") else file.stem
        try:
            graph = load_kernel(str(file))[0].graph
            line = _line(file, given.array, Search(given.method, given.seconds, workers=2))
        except InputError as error:
            print(f"| {name} | {given.publisher} | {given.array} | {error.remedy} | | | | | |", flush=True)
            continue
        proven += line[1] != "–"
        head = [
            name,
            given.publisher,
            given.array,
            str(len(graph.operations)),
            str(mii(graph, machine).value),
        ]
        print("| " + " | ".join([*head, *line]) + " |", flush=True)
    print(f"proven: {proven} of {len(files)}")


def _line(file: Path, array: str, search: Search) -> list[str]:
    """II, proven II, evidence, CPU seconds of the search, and what the file itself claims."""
    run = measure(partial(mapper.solve, str(file), array, search=search))
    found: Solution = run.result
    evidence = "–"
    if found.certificate.proven:
        with tempfile.TemporaryDirectory() as folder:
            found = certified(found, Path(folder) / "proofs.json", search).solution
        evidence = str(found.certificate.to_json()["evidence"])
    own = found.certificate
    value, bound = (str(one) if one is not None else "?" for one in (own.value, own.bound))
    shown = value if own.proven else f"{bound} to {value}"
    return [shown, value if own.proven else "–", evidence, f"{run.cpu:.1f}", _claimed(file, array)]


def _claimed(file: Path, array: str) -> str:
    """The II of the mapping in the file, and whether the referee accepts it here."""
    if file.suffix != ".mlir":
        return "–"
    given = mapper.evaluate(str(file), array, file)
    verdict = "accepted" if given.certificate.verified else "not routable here"
    return f"{(given.cost or {}).get('ii')} ({verdict})"


if __name__ == "__main__":
    main()
