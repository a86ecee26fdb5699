"""One network on machines of several kinds: a row per machine, and what each figure leaves out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mapper.api.contradicting import refuse_contradicting_solutions
from mapper.api.problem import PosedProblem, pose
from mapper.api.search import Search
from mapper.api.solution import Solution, as_document
from mapper.api.solving import method_named, run
from mapper.arch.source import load_machine
from mapper.kind import kind_of
from mapper.kind.cell import JUDGED, judged_cells
from mapper.kind.kind import AnyKind
from mapper.kind.part import Options
from mapper.kind.shown import Shown
from mapper.models.compiling import CHILD
from mapper.models.plain import on_disk
from mapper.solver.certificate import Certificate
from mapper.store.recall import Kept, answer_fields, kept_answer
from mapper.workloads.document import InputError
from mapper.workloads.network.network import NO_DIMS

SECONDS_PER_MACHINE = 55.0
"""What each machine is given unless a limit is: five of them end, with the start of the program, within 5 minutes."""


@dataclass(frozen=True)
class MachineRow:
    """A network on one machine: the solution, or why the machine cannot run it (``refused``); its use of the
    multipliers, and what its latency leaves out. ``macs``: multiply-accumulates of the network for all images of its
    batch."""

    arch: str
    kind: AnyKind
    macs: int
    solution: Solution | None
    refused: str | None = None

    @property
    def cost(self) -> dict[str, Any] | None:
        return None if self.solution is None else self.solution.cost

    @property
    def certificate(self) -> Certificate:
        """The solution's certificate; if the machine cannot run the network, one with nothing found or proven."""
        if self.solution is None:
            return Certificate("complete", False, None, None, False, self.kind.default_method)
        return self.solution.certificate

    @property
    def utilisation(self) -> float | None:
        """Multiply-accumulates over those that the machine could do in the time; None where that is unknown. A kind
        that counts them itself, without those that it leaves out or to others, says so as ``efficiency``."""
        if self.solution is None or self.cost is None or not self.cost.get("cycles"):
            return None
        if "efficiency" in self.cost:
            used: float | None = self.cost["efficiency"]
            return used
        return self.macs / (self.kind.peak(self.solution.posed.machine) * float(self.cost["cycles"]))

    @property
    def layers(self) -> dict[str, float]:
        """Milliseconds of each layer, as far as they are known."""
        found: dict[str, float] = {}
        if self.solution is None:
            return found
        for posed, part in zip(self.solution.posed.parts, self.solution.parts, strict=True):
            if part.cost is not None:
                found |= self.kind.layer_times(posed.problem, part)
        return found

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the figures of this row do not hold or differ in from others."""
        if self.solution is None:
            return (f"cannot run it: {self.refused}",)
        clock = getattr(self.solution.posed.machine, "clock_mhz", None)
        skipped = self.solution.skipped
        left = sorted({entry["op"] for entry in skipped if not entry["share_of_time"]})
        hosted = sorted({entry["op"] for entry in skipped if entry["share_of_time"]})
        share = self.solution.host_share
        beside = [f"not mapped: {', '.join(left)}"] if left else []
        beside += [f"on the host, {share:.1%} of the time: {', '.join(hosted)}"] if hosted else []
        clocked = ("no clock",) if clock is None else (f"clock {clock:g} MHz",)
        return (*clocked, *self.kind.leaves_out, *beside)

    def to_json(self) -> dict[str, Any]:
        return {
            "arch": self.arch,
            "kind": self.kind.name,
            "method": self.certificate.method,
            "cost": self.cost,
            "utilisation": self.utilisation,
            "certificate": self.certificate.to_json(),
            "leaves_out": list(self.warnings),
            "layers": self.layers,
        }


@dataclass(frozen=True, repr=False)
class SideBySide(Shown):
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
                    "archs": [row.arch for row in self.rows],
                },
                "rows": [row.to_json() for row in self.rows],
            }
        )

    def in_rows(self) -> tuple[str, list[str], list[list[str]]]:
        rows = [
            [row.arch, *judged_cells(row.certificate)]
            if row.solution
            else [row.arch, "–", "–", "cannot", "–"]
            for row in self.rows
        ]
        return f"{self.workload}: {self.objective}", ["arch", *JUDGED], rows


@CHILD.wanted()
def side_by_side(
    workload: str,
    archs: Sequence[str],
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
    finished: Callable[[int, int], None] | None = None,
) -> SideBySide:
    """Map the network to each machine by the default method of its kind, each within its own time limit. Time that some
    machines leave unused goes to those that were cut off. A machine that cannot run the network has a row that says
    why. ``finished`` is told how many machines are done, and of how many. An interrupt keeps the rows already begun.

    Raises: InputError if the workload is not a network, a machine or an option is wrong, or no machine can run it.
    """
    if len(set(archs)) != len(archs) or not all(archs):
        raise InputError("--arch", ",".join(archs)[:80], "must name different machines, separated by commas")
    kind = kind_of(load_machine(archs[0])[0])
    macs = kind.macs(workload, options.batch if options else None, options.dim if options else NO_DIMS)
    posed = {arch: _posed(workload, arch, objective or "latency", options) for arch in archs}
    refusals = [one for one in posed.values() if isinstance(one, InputError)]
    if len(refusals) == len(archs):
        raise refusals[0]
    search = search or Search()
    limit = SECONDS_PER_MACHINE if search.time_limit is None else search.time_limit
    rows: list[MachineRow] = []
    for arch, problem in posed.items():
        if isinstance(problem, InputError):
            rows.append(MachineRow(arch, kind_of(load_machine(arch)[0]), macs, None, str(problem)))
        else:
            # What reads and loads took before counts too, so that all machines together take no more than theirs.
            due = min(time.monotonic() + limit, search.started + (len(rows) + 1) * limit)
            solution = _solved(problem, search, due)
            rows.append(MachineRow(arch, problem.kind, macs, solution))
        if finished is not None:
            finished(len(rows), len(archs))
        if search.interrupt.is_set():
            break
    end = search.started + len(archs) * limit
    return SideBySide(workload, objective or "latency", tuple(_gone_on(rows, search, end)))


def _posed(workload: str, arch: str, objective: str, options: Options | None) -> PosedProblem | InputError:
    """The problem, or why the machine cannot run the network.

    Raises: InputError if the machine or an option is wrong whatever the network is.
    """
    load_machine(arch)
    try:
        return pose(workload, arch, objective, options)
    except InputError as error:
        if error.source.startswith("--"):
            raise
        return error


def _solved(
    problem: PosedProblem, search: Search, due: float, known: Mapping[str, Kept] | None = None
) -> Solution:
    """The solution that is there when it is ``due`` (on ``time.monotonic()``), from what is ``known``."""
    method = problem.kind.default_method
    on_disk(method_named(problem, method).prepare)
    began = time.monotonic()
    limit = max(0.0, due - began)
    return run(problem, replace(search, method=method, time_limit=limit, started=began), kept=known)


def _gone_on(rows: Sequence[MachineRow], search: Search, end: float) -> list[MachineRow]:
    """The rows, of which those that were cut have gone on for a share of what is left of the time until the ``end``."""
    cut = [row.certificate.stop == "time_limit" for row in rows]
    found = []
    for at, row in enumerate(rows):
        now = time.monotonic()
        if cut[at] and row.solution is not None and now < end and not search.interrupt.is_set():
            due = now + (end - now) / sum(cut[at:])
            further = _solved(row.solution.posed, search, due, _known(row.solution))
            refuse_contradicting_solutions(row.solution, further)
            row = replace(row, solution=_after([row.certificate], further))
        found.append(row)
    return found


def _after(searches: Sequence[Certificate], solution: Solution) -> Solution:
    """The solution with the seconds of the searches before it."""
    own = solution.certificate
    seconds = math.fsum(one.seconds for one in (*searches, own))
    cpu_seconds = math.fsum(one.cpu_seconds for one in (*searches, own))
    return replace(solution, certificate=replace(own, seconds=seconds, cpu_seconds=cpu_seconds))


def _known(solution: Solution) -> dict[str, Kept]:
    """What a solution knows of its parts, for a search to go on from: the same one, which draws the same numbers."""
    found = {}
    for posed, part in zip(solution.posed.parts, solution.parts, strict=True):
        if part.mapping is not None and part.same_as is None and part.certificate.verified:
            kind, objective = solution.posed.kind, solution.posed.objective
            kept = kept_answer(kind, posed, objective, *answer_fields(kind, part), part.name)
            found[part.name] = replace(kept, searches=0)
    return found
