"""Brute force: every layout, size, order, word and start, judged by the referee. It is the oracle for small nests and
knows nothing of good orders or least starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.pe_allocation.referee.verify_nest import verify_nest
from mapper.models.pe_allocation.nest.cost import evaluate
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

MOST = 100_000
REFUSED = f"more than {MOST} mappings are not tried"


def search(problem: NestProblem, effort: Effort) -> Outcome[NestMapping]:
    """The best of all mappings; unproven where there are too many to try."""
    best: tuple[tuple[int, ...], NestMapping] | None = None
    tried = 0
    for bare in _shapes(problem):
        last = _last_start(problem, bare)
        for down in range(1 + (last if bare.rows is not None else 0)):
            for across in range(1 + (last if bare.columns is not None else 0)):
                mapping = _at(bare, {bare.rows: down, bare.columns: across})
                tried += 1
                stop = effort.stopped() if tried % 64 == 0 else None
                if stop is not None or tried > MOST:
                    found, value = (None, None) if best is None else (best[1], best[0][0])
                    left_out = () if stop else (REFUSED,)
                    return Outcome.bounded(
                        found, value, None, stop or "heuristic", restrictions=left_out, evaluations=tried
                    )
                rank = problem.rank(evaluate(problem.nest, problem.grid, mapping))
                if best is not None and rank >= best[0]:
                    # Cycles grow with each start, so that later ones are no better.
                    last = last if across else -1
                    break
                if verify_nest(problem, mapping).valid:
                    best = rank, mapping
                    break
            if last < 0:
                break
    if best is None:
        return Outcome.infeasible(evaluations=tried)
    return Outcome.optimal(best[1], best[0][0], evaluations=tried)


def _shapes(problem: NestProblem) -> Iterator[NestMapping]:
    """Every mapping that fits the array, all of whose tiles start at once."""
    nest, machine = problem.nest, problem.machine
    for rows, columns in problem.axes():
        room = {rows: machine.rows, columns: machine.columns}
        sizes = [range(-(-bound // room.get(loop, 1)), bound + 1) for loop, bound in nest.bounds]
        for tile in product(*sizes):
            for order in permutations(nest.loops):
                # Fewer lanes are no sooner, unless it is links that are short of words: then they are not a choice.
                least = 1 if machine.link_words is None else problem.work.lanes
                for lanes in range(least, problem.work.lanes + 1):
                    starts = (0,) * len(nest.loops)
                    interval = problem.work.interval
                    yield NestMapping(nest.loops, tile, tuple(order), interval, lanes, starts, rows, columns)


def _last_start(problem: NestProblem, bare: NestMapping) -> int:
    """A start so late that tiles run one after another."""
    return bare.interval * problem.nest.iterations + sum(problem.grid.to_border.shape) + 2


def _at(bare: NestMapping, starts: dict[str | None, int]) -> NestMapping:
    return replace(bare, outer=tuple(starts.get(loop, 0) for loop in bare.loops))


BRUTE_FORCE: Method[NestProblem, NestMapping] = Method(
    "brute-force", True, f"every mapping of small nests, up to {MOST} of them", search
)
