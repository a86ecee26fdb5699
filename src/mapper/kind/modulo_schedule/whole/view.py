"""Whole kernels for people: where the cycles go, and a line for every loop."""

from __future__ import annotations

from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.kind.modulo_schedule.whole.part import NamedWhole
from mapper.kind.part import Part
from mapper.kind.text_table import text_table
from mapper.workloads.whole.program import HOST, MIXED

PLAIN = {
    "kernel": "in kernels",
    "fill": "filling pipelines",
    "set_up": "starting loops",
    "exit": "fetching results",
    "host": "between loops",
    "load": "loading configurations",
}


def whole_lines(problem: WholeProblem, part: Part) -> list[str]:
    """Cycles by cause, and a table of the loops."""
    assert isinstance(part.mapping, NamedWhole) and part.breakdown is not None
    spent = ", ".join(
        f"{PLAIN[cause]} {count:,}" for cause, count in part.breakdown["cycles"].items() if count
    )
    chosen = part.mapping.mapping.nest
    around = {
        HOST: "the host runs the loops around them",
        MIXED: "nests are one loop where that takes fewer cycles",
    }
    rows: list[tuple[str | int, ...]] = []
    for entry in part.mapping.to_json()["loops"]:
        certificate = entry["certificate"]
        proven = "yes" if certificate["proven"] else f"from {certificate['bound']} on"
        rows.append(
            (entry["loop"], entry["starts"], entry["iterations"], entry["ii"], proven, entry["stages"])
        )
    heading = ("loop", "starts", "iterations", "II", "least II", "stages")
    table = text_table(heading, rows, words={"loop", "least II"})
    notes = list(problem.whole.notes)
    used, room = sum(part.breakdown["bytes"].values()), problem.machine.sram_bytes
    if room is not None and used > room:
        notes.append(f"{used:,} bytes exceed the SRAM; the cost assumes that they are on the chip")
    if problem.machine.vliw is None:
        notes.append(
            f"{problem.machine.name} says nothing of vliw: to start a loop takes no cycles of its own"
        )
    return [
        f"  nest {chosen}: {around.get(chosen, 'nests are one loop where they can be')}",
        f"  cycles: {spent}",
        "",
        *(f"  {line}" for line in table),
        "",
        *(f"  note     {note}" for note in notes),
    ]
