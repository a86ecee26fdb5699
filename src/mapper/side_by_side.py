"""One network on machines of several kinds: a row per machine, and what each figure leaves out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mapper.comparison import SECONDS_PER_METHOD
from mapper.kind.kind import Options
from mapper.posing import Posed, pose
from mapper.solution import Solution, as_document
from mapper.solving import Search, run
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers


@dataclass(frozen=True)
class MachineRow:
    """A network on one machine: the solution, its use of the multipliers, and what its latency leaves out.
    ``macs``: multiply-accumulates of the network for all images of its batch."""

    solution: Solution
    macs: int

    @property
    def posed(self) -> Posed:
        return self.solution.posed

    @property
    def utilisation(self) -> float | None:
        """Multiply-accumulates over those that the machine could do in the time; None where that is unknown."""
        cost = self.solution.cost
        if cost is None or not cost.get("cycles"):
            return None
        return self.macs / (self.posed.kind.peak(self.posed.machine) * float(cost["cycles"]))

    @property
    def layers(self) -> dict[str, float]:
        """Milliseconds of each layer, as far as they are known."""
        found: dict[str, float] = {}
        for posed, part in zip(self.posed.parts, self.solution.parts, strict=True):
            if part.cost is not None:
                found |= self.posed.kind.layer_times(posed.problem, part)
        return found

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the figures of this row do not hold or differ in from others."""
        machine = self.posed.machine
        clock = getattr(machine, "clock_mhz", None)
        skipped = sorted({entry["op"] for entry in self.solution.skipped})
        beside = (f"not mapped: {', '.join(skipped)}",) if skipped else ()
        clocked = ("no clock",) if clock is None else (f"clock {clock:g} MHz",)
        return (*clocked, *self.posed.kind.leaves_out, *beside)

    def to_json(self) -> dict[str, Any]:
        return {
            "arch": self.posed.arch,
            "kind": self.posed.kind.name,
            "method": self.solution.certificate.method,
            "cost": self.solution.cost,
            "utilisation": self.utilisation,
            "certificate": self.solution.certificate.to_json(),
            "leaves_out": list(self.warnings),
            "layers": self.layers,
        }


@dataclass(frozen=True)
class SideBySide:
    """A network on several machines, in the order in which they were named."""

    workload: str
    objective: str
    rows: tuple[MachineRow, ...]

    @property
    def layer_names(self) -> tuple[str, ...]:
        """Layers that at least one machine has a time for, in order of first mention."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.layers))

    def to_json(self) -> dict[str, Any]:
        return as_document(
            {
                "schema": "mapper.comparison/1",
                "problem": {
                    "workload": self.workload,
                    "objective": self.objective,
                    "archs": [row.posed.arch for row in self.rows],
                },
                "rows": [row.to_json() for row in self.rows],
            }
        )


def side_by_side(
    workload: str,
    archs: Sequence[str],
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
) -> SideBySide:
    """Map the network to each machine by its kind's default method, each with its own time limit.

    Raises: InputError if the workload is no network, or a machine cannot run it.
    """
    if len(set(archs)) != len(archs) or not all(archs):
        raise InputError("--arch", ",".join(archs)[:80], "must name different machines, separated by commas")
    macs = load_layers(workload, options.batch if options else None).macs
    problems = [pose(workload, arch, objective or "latency", options) for arch in archs]
    search = search or Search()
    limit = SECONDS_PER_METHOD if search.time_limit is None else search.time_limit
    rows = []
    for posed in problems:
        own = replace(search, method=posed.kind.default_method, time_limit=limit, started=time.monotonic())
        rows.append(MachineRow(run(posed, own), macs))
        if search.interrupt.is_set():
            break
    return SideBySide(workload, objective or "latency", tuple(rows))
