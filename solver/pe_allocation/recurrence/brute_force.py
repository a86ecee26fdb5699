"""Brute force: every layout, size, order, interval and start, judged by the referee. It is the oracle for small
recurrences and knows nothing of bounds or least starts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.formulations.pe_allocation.referee.verify_recurrence import verify_recurrence
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

MOST = 20_000
REFUSED = f"more than {MOST} mappings are not tried"


def search(problem: RecurrenceProblem, effort: Effort) -> Outcome[NestMapping]:
    """The best of all mappings; unproven where there are too many to try."""
    best: tuple[tuple[int, ...], NestMapping] | None = None
    tried = 0
    for bare, latest in _shapes(problem):
        for down in range(1 + (latest if bare.rows is not None else 0)):
            for across in range(1 + (latest if bare.columns is not None else 0)):
                mapping = _at(bare, {bare.rows: down, bare.columns: across})
                tried += 1
                stop = effort.stopped() if tried % 64 == 0 else None
                if stop is not None or tried > MOST:
                    found, value = (None, None) if best is None else (best[1], best[0][0])
                    left_out = () if stop else (REFUSED,)
                    return Outcome.bounded(
                        found, value, None, stop or "heuristic", restrictions=left_out, evaluations=tried
                    )
                verdict = verify_recurrence(problem, mapping)
                rank = None if verdict.cost is None else problem.rank(verdict.cost)
                if rank is None or (best is not None and rank >= best[0]):
                    # Cycles grow with each start, so that later ones are no better.
                    latest = latest if across else -1
                    break
                if verdict.valid:
                    best = rank, mapping
                    break
            if latest < 0:
                break
    if best is None:
        return Outcome.infeasible(evaluations=tried)
    return Outcome.optimal(best[1], best[0][0], evaluations=tried)


def _shapes(problem: RecurrenceProblem) -> Iterator[tuple[NestMapping, int]]:
    """Every mapping that fits the array, all of whose tiles start at once, with every interval that may be of use,
    and a start so late that tiles run one after another."""
    recurrence, machine = problem.recurrence, problem.machine
    longest = problem.body.operations + machine.rows + machine.columns
    for rows, columns in problem.axes():
        room = {rows: machine.rows, columns: machine.columns}
        choices = [range(-(-bound // room.get(loop, 1)), bound + 1) for loop, bound in recurrence.bounds]
        for tile in product(*choices):
            for order in permutations(recurrence.loops):
                for interval in range(problem.body.interval, longest + 1):
                    starts = (0,) * len(tile)
                    bare = NestMapping(recurrence.loops, tile, order, interval, 1, starts, rows, columns)
                    yield bare, longest + interval * math.prod(tile)


def _at(bare: NestMapping, starts: dict[str | None, int]) -> NestMapping:
    return replace(bare, outer=tuple(starts.get(loop, 0) for loop in bare.loops))


BRUTE_FORCE: Method[RecurrenceProblem, NestMapping] = Method(
    "brute-force", True, f"every mapping of small recurrences, up to {MOST} of them", search
)
