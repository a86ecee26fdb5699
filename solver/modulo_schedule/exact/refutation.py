"""Refutations of clauses: that an II has no schedule, step by step, as the checker of proofs reads them.

The checker writes the clauses itself, and its are the ones that are refuted here: they are taken from its file, which
shares nothing with this program. CaDiCaL searches and writes LRAT, of which only what the last step rests on is kept.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from mapper.solver.method import Effort
from mapper.solver.proof import NotCertifiedError

CONFLICTS = 10_000
"""Conflicts after which the solver looks up."""
BRIEF_CONFLICTS = 1_000
"""The same, where it is asked again and again."""
MOST_CONFLICTS = 400_000
"""Conflicts up to which a refutation is sought; a longer one would be too long to be handed on."""
MOST_SECONDS = 60.0
"""Seconds that an II may take, where the effort leaves more."""
Clause = list[int]
Step = list[int]
"""A clause, 0, and the numbers of the clauses that it follows from."""


@cache
def checker() -> ModuleType:
    """The checker of modulo schedules."""
    path = Path(__file__).resolve().parents[3] / "checkers" / "check_modulo_schedule.py"
    spec = importlib.util.spec_from_file_location("check_modulo_schedule", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def statements(problem: dict[str, Any], ii: int) -> list[Clause]:
    """What every schedule of the problem of this document keeps at an II, as the checker writes it.

    Raises: NotCertifiedError if the checker does not take the problem, or it has too many clauses.
    """
    module = checker()
    try:
        found: list[Clause] = module.Loop(problem).statements(ii)
    except module.EndedError as end:
        raise NotCertifiedError(f"no refutation of II {ii}: {end.args[1]}") from None
    return found


def refutation(problem: dict[str, Any], ii: int, effort: Effort) -> list[Step]:
    """Why the problem of this document has no schedule at an II.

    Raises: NotCertifiedError if the clauses are too many, do not contradict each other, or not soon enough.
    """
    clauses = statements(problem, ii)
    return [[0, clauses.index([])]] if [] in clauses else _solved(clauses, ii, effort)


class Contradiction:
    """The clauses of an II, searched for a contradiction again and again: what was learnt is kept. They are stated when
    they are asked for first, which takes about so many ``seconds``."""

    def __init__(self, problem: dict[str, Any], ii: int, seconds: float) -> None:
        self._problem, self._ii, self._seconds = problem, ii, seconds
        self._solver: Any = None
        self._answer: bool | None = None

    def found(self, conflicts: int, effort: Effort) -> bool:
        """Whether the clauses contradict each other, as far as so many conflicts more tell; they are not stated where
        that would take most of the time that is left."""
        left = effort.seconds_left()
        if self._solver is None and (left is None or 2 * self._seconds < left):
            self._state()
        for _ in range(0, conflicts, BRIEF_CONFLICTS):
            if self._solver is None or self._answer is not None or effort.stopped() is not None:
                break
            self._solver.conf_budget(BRIEF_CONFLICTS)
            self._answer = self._solver.solve_limited()
        return self._answer is False

    def _state(self) -> None:
        from pysat.solvers import Cadical195

        self._solver = Cadical195()
        try:
            for clause in statements(self._problem, self._ii):
                self._solver.add_clause(clause)
        except NotCertifiedError:
            self._answer = True  # of what is not stated nothing is contradicted

    def close(self) -> None:
        """Gives the solver's memory back."""
        if self._solver is not None:
            self._solver.delete()


def _solved(clauses: Sequence[Clause], ii: int, effort: Effort) -> list[Step]:
    import pysolvers
    from pysat.solvers import Cadical195

    with tempfile.TemporaryFile() as file, Cadical195() as solver:
        solver.configure({"lrat": 1, "binary": 0})
        trace = pysolvers.cadical195_tracepr(solver.cadical, file)
        for clause in clauses:
            solver.add_clause(clause)
        answer, until = None, time.monotonic() + MOST_SECONDS
        for _ in range(MOST_CONFLICTS // CONFLICTS):
            solver.conf_budget(CONFLICTS)
            answer = solver.solve_limited()
            if answer is not None or effort.stopped() is not None or time.monotonic() > until:
                break
        if answer is not False:
            why = (
                "it rests on registers, their ports, or order"
                if answer
                else "the solver did not find one in time"
            )
            raise NotCertifiedError(f"no refutation of II {ii}: {why}")
        pysolvers.flushpr(trace)
        file.seek(0)
        return trimmed(file.read().decode("ascii"), len(clauses))


def trimmed(lrat: str, clauses: int) -> list[Step]:
    """The steps that the empty clause rests on; numbers count the clauses from 0, and on with the steps.

    The solver numbers clauses and steps as they come, so that clauses have the numbers that no step has.
    Raises: NotCertifiedError if a step is not one of unit propagation.
    """
    lines: dict[int, str] = {}
    last = 0
    for line in lrat.splitlines():
        name, _, rest = line.partition(" ")
        if not rest.startswith("d"):
            last = int(name)
            lines[last] = rest
            if rest.startswith("0"):
                break
    steps: dict[int, tuple[Clause, list[int]]] = {}
    waiting = [last]
    while waiting:
        number = waiting.pop()
        if number not in steps:
            clause, hints = f" {lines[number][:-2]}".split(" 0 ", 1)
            steps[number] = (
                [int(literal) for literal in clause.split()],
                [int(hint) for hint in hints.split()],
            )
            waiting += [hint for hint in steps[number][1] if hint in lines and hint not in steps]
    numbers: dict[int, int] = {}
    for number in range(1, last + 1):
        if len(numbers) < clauses and number not in lines:
            numbers[number] = len(numbers)
    kept = sorted(steps)
    numbers |= {number: clauses + at for at, number in enumerate(kept)}
    if any(hint not in numbers for number in kept for hint in steps[number][1]):
        raise NotCertifiedError("the solver's refutation has steps that no unit propagation follows")
    return [[*steps[number][0], 0, *(numbers[hint] for hint in steps[number][1])] for number in kept]
