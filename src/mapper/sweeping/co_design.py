"""Co-design: of a grid of machines, those that no machine with as few bytes on chip is as good as.

Machines are gone through by their bytes. One is on the front if it has a mapping below the best value of all before it,
so that its search looks for nothing else; what is known of one machine bounds others (`CoDesigned`).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mapper.api.part.search import effort_of
from mapper.api.part.verification import verified
from mapper.api.problem import PosedProblem
from mapper.api.search import Search
from mapper.api.solution import Solution, as_document, assemble, repeated
from mapper.kind.cell import JUDGED, judged_cells, number
from mapper.kind.part import Options, Part
from mapper.kind.shown import Shown
from mapper.models.compiling import CHILD
from mapper.models.limit import UnfinishedError
from mapper.models.plain import in_time, limited
from mapper.solver.front import CoDesigned
from mapper.solver.method import Progress
from mapper.solver.outcome import Outcome
from mapper.sweeping.sweep import grid
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class Design:
    """A machine of the grid with its bytes on chip, and the solution on it."""

    vary: Mapping[str, Any]
    on_chip_bytes: int
    solution: Solution

    def to_json(self) -> dict[str, Any]:
        parts = {
            part.name: part.mapping.to_json() for part in self.solution.parts if part.mapping is not None
        }
        return {
            "vary": dict(self.vary),
            "arch": self.solution.posed.arch,
            "on_chip_bytes": self.on_chip_bytes,
            "mapping": parts if len(parts) != 1 else next(iter(parts.values())),
            "cost": self.solution.cost,
            "certificate": self.solution.certificate.to_json(),
        }


@dataclass(frozen=True, repr=False)
class DesignFront(Shown):
    """The machines that trade bytes on chip for the objective, ascending by bytes, each with what is proven of it;
    ``posed``: the problem on the first machine of the grid. ``complete``: these are all, and there are no others."""

    points: tuple[Design, ...]
    posed: PosedProblem
    complete: bool

    def to_json(self) -> dict[str, Any]:
        return as_document(
            {
                "schema": "mapper.front/1",
                "problem": self.posed.to_json(),
                "points": [point.to_json() for point in self.points],
                "complete": self.complete,
            }
        )

    def in_rows(self) -> tuple[str, list[str], list[list[str]]]:
        varied = list(self.points[0].vary) if self.points else []
        rows = [
            [
                *(str(point.vary[key]) for key in varied),
                number(point.on_chip_bytes),
                *judged_cells(point.solution.certificate),
            ]
            for point in self.points
        ]
        return str(self.posed), [*varied, "on_chip_bytes", *JUDGED], rows


@CHILD.wanted()
def sweep_front(
    workload: str | None,
    arch: str | None,
    vary: Mapping[str, Sequence[Any]],
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
) -> DesignFront:
    """The machines of the grid that ``vary`` spans of which none with as few bytes on chip is as good.

    Raises: InputError as ``sweep``, and if the kind has no such trade-off; UnfinishedError as ``sweep``.
    """
    search = search or Search()
    points, problems = in_time(lambda: grid(workload, arch, vary, objective, options), search.stopped)
    return swept_front(points, problems, search)


def swept_front(
    points: Sequence[Mapping[str, Any]],
    problems: Sequence[PosedProblem],
    search: Search,
    finished: Callable[[int, int], None] | None = None,
) -> DesignFront:
    """The front over ``points``, with the problem of each; ``finished`` hears how many machines are done.

    Raises: InputError as ``sweep_front``.
    """
    if search.method != "auto":
        raise InputError(
            "--pareto", "", f"a front is proven by one method; leave out --method {search.method}"
        )
    kind = problems[0].kind
    sizes = [kind.on_chip_bytes(problem.machine) for problem in problems]
    going = _Going(problems, search)
    designs: list[Design] = []
    complete = True
    for done, place in enumerate(sorted(range(len(problems)), key=lambda one: (sizes[one], one))):
        try:
            with limited(search.stopped, search.compiling):
                found, decided = going.solved(place)
        except UnfinishedError:
            found, decided = None, False
        if found is not None:
            if designs and designs[-1].on_chip_bytes == sizes[place]:
                designs.pop()
            designs.append(Design(points[place], sizes[place], found))
        complete = complete and decided
        if search.stopped() is not None and not decided:
            break
        search.begun.set()
        if finished is not None:
            finished(done + 1, len(problems))
    return DesignFront(tuple(designs), problems[0], complete)


class _Going:
    """What is known while machines are gone through: the best value so far, and what searches share."""

    def __init__(self, problems: Sequence[PosedProblem], search: Search) -> None:
        self._problems, self._search = problems, search
        self._best = math.inf
        keys = [part.key for part in problems[0].parts]
        self._first = {key: keys.index(key) for key in dict.fromkeys(keys)}
        self._times = Counter(keys)
        self._shared: dict[Hashable, CoDesigned[Any]] = {
            key: problems[0].kind.co_designed([problem.parts[first].problem for problem in problems])
            for key, first in self._first.items()
        }

    def solved(self, place: int) -> tuple[Solution | None, bool]:
        """The solution on a machine if it is better than all before, and whether that is decided."""
        found: dict[Hashable, Part] = {}
        share = {key: self._times[key] * self._least(key, place) for key in self._first}
        for key, first in self._first.items():
            # What the other parts take at least is not left for this one.
            others = math.fsum(share[other] for other in self._first if other != key)
            below = (self._best - others) / self._times[key] if others > -math.inf else math.inf
            part, outcome = self._part(key, first, place, below)
            if outcome.value is None:
                return None, outcome.proven
            found[key] = part
            share[key] = self._times[key] * outcome.value
        posed = self._problems[place]
        parts = [found[part.key] for part in posed.parts]
        firsts = set(self._first.values())
        solution = assemble(
            posed,
            [
                answer if at in firsts else repeated(answer, part.name, part.source, part.merged)
                for at, (part, answer) in enumerate(zip(posed.parts, parts, strict=True))
            ],
        )
        certificate = solution.certificate
        if certificate.value is None or certificate.value >= self._best:
            return None, certificate.proven
        self._best = float(certificate.value)
        return solution, certificate.proven

    def _least(self, key: Hashable, place: int) -> float:
        return self._shared[key].least(place, effort_of(self._search, 1, _unheard))

    def _part(self, key: Hashable, first: int, place: int, below: float) -> tuple[Part, Outcome[Any]]:
        posed, search = self._problems[place], self._search
        part = posed.parts[first]

        def report(progress: Progress) -> None:
            search.listener(part.name, progress)

        began, processor = time.perf_counter(), time.process_time()
        outcome = self._shared[key].best(place, below, effort_of(search, 1, report))
        certificate = replace(
            outcome.certificate("branch-and-bound"),
            seconds=time.perf_counter() - began,
            cpu_seconds=time.process_time() - processor,
            evaluations=outcome.evaluations,
            seed=search.seed,
            workers=search.used_workers,
        )
        answer = verified(posed.kind, part, outcome.mapping, certificate)
        return answer, replace(outcome, proven=outcome.proven and not answer.certificate.broken)


def _unheard(progress: Progress) -> None:
    """Bounds of all machines are no progress of one."""
