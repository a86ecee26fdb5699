"""Brute force: every factorisation, every permutation of both orders, each checked by the referee.

It is the oracle that the searches are compared with: it knows no bound, no dominance and no unique orders,
and costs every mapping through the model. All it leaves out are permutations that move only loops which run
once at that level: Algorithm 1 passes over those, so all of them are the same mapping in
other words, and the lexicographically least of them stands for the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product

from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import (
    ARRAY_AXES,
    PES,
    PINNED,
    REDUCTION,
    RF_WORDS,
    SPACE,
    SPM_BANKS,
    verify,
)
from mapper.models.tiling.mapping import LEVELS, ORDERED_LEVELS, TilingMapping
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError

MOST_EVALUATIONS = 2_000_000
MOST_DIVISOR_SEARCH = 1 << 24
MOST_PADDINGS = 1 << 10

Factors = tuple[int, int, int, int]
Axes = tuple[tuple[int, int], ...]


def brute_force(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
    """The best mapping of all; of equal ones the lexicographically least (factors, DRAM order, SPM order).

    Raises: InputError if there are more than `MOST_EVALUATIONS` mappings.
    """
    nest = problem.nest
    tilings = _tilings(problem)
    best: tuple[tuple[int, ...], tuple[object, ...], TilingMapping] | None = None
    value: int | float | None = None
    evaluations = 0
    stop = None
    for factors in product(*tilings):
        stop = effort.stopped()
        if stop is not None:
            break
        axes = next((axes for axes in _axes(problem, factors) if not _hopeless(problem, factors, axes)), None)
        if axes is None:
            continue
        for dram_order, spm_order in product(*(_orders(problem, factors, level) for level in ORDERED_LEVELS)):
            mapping = TilingMapping(nest.loops, factors, dram_order, spm_order, axes=axes)
            mapping = mapping.over(nest.trip_counts)
            verdict = verify(problem, mapping)
            evaluations += 1
            if verdict.broken or verdict.cost is None:
                continue
            key = problem.rank(verdict.cost), (factors, dram_order, spm_order)
            if best is None or key < best[:2]:
                best, value = (*key, mapping), problem.value(verdict.cost)
                effort.report(Progress(value, bound_of(problem), evaluations))
    mapping_found = best[2] if best else None
    if stop is not None:
        return Outcome.bounded(mapping_found, value, bound_of(problem), stop, evaluations=evaluations)
    return Outcome.ended(mapping_found, value, value, "complete", proven=True, evaluations=evaluations)


def _hopeless(problem: TilingProblem, factors: tuple[Factors, ...], axes: Axes) -> bool:
    """Whether the tiling breaks a rule that does not look at orders, or on these axes of the array one that does not
    look at anything else."""
    loops = problem.nest.loops
    mapping = TilingMapping(loops, factors, loops, loops, axes=axes).over(problem.nest.trip_counts)
    verdict = verify(problem, mapping)
    return any(
        broken.rule in (PES, RF_WORDS, SPM_BANKS, SPACE, ARRAY_AXES, REDUCTION)
        or (broken.rule == PINNED and broken.place in ("spatial.rows", "spatial.columns"))
        for broken in verdict.broken
    )


def _axes(problem: TilingProblem, factors: tuple[Factors, ...]) -> Iterator[Axes]:
    """Every way to divide the factors in space between rows and columns; what they cost is the same."""
    if not problem.machine.rules.array_axes:
        yield ()
        return
    for rows in product(*(_divisors(in_space) for *_, in_space in factors)):
        yield tuple((row, in_space // row) for row, (*_, in_space) in zip(rows, factors, strict=True))


def _tilings(problem: TilingProblem) -> list[list[Factors]]:
    """The factorisations of each bound into four, and of all bounds that it may grow to.

    Raises: InputError if, with their orders, they are too many.
    """
    nest = problem.nest
    product_of_bounds = math.prod(bound for _, bound in nest.bounds)
    ranges = [problem.padding.range_of(*one) for one in nest.bounds]
    tilings = []
    size = math.inf
    if (
        max(most for _, most in ranges) <= MOST_DIVISOR_SEARCH
        and sum(most - least for least, most in ranges) <= MOST_PADDINGS
    ):
        tilings = [
            sorted(row for bound in range(least, most + 1) for row in _factorisations(bound))
            for least, most in ranges
        ]
        size = _size(tilings)
    if size > MOST_EVALUATIONS:
        count = f"{product_of_bounds} iterations have" if math.isinf(size) else f"{size:.0f} mappings are"
        remedy = f"{count} too many for brute-force (most {MOST_EVALUATIONS}); use branch-and-bound"
        raise InputError(nest.name or "nest", "loops", remedy)
    return tilings


def _size(tilings: list[list[Factors]]) -> int:
    """Tilings times orders, counted by how many loops run more than once at DRAM and at SPM."""
    counts = Counter({(0, 0): 1})
    for options in tilings:
        grown: Counter[tuple[int, int]] = Counter()
        for (outer, inner), count in counts.items():
            for dram, spm, _, _ in options:
                grown[outer + (dram > 1), inner + (spm > 1)] += count
        counts = grown
    orders = math.factorial
    return sum(count * orders(outer) * orders(inner) for (outer, inner), count in counts.items())


def _factorisations(bound: int) -> Iterator[Factors]:
    for dram in _divisors(bound):
        for spm in _divisors(bound // dram):
            for rf in _divisors(bound // dram // spm):
                yield dram, spm, rf, bound // dram // spm // rf


def _divisors(number: int) -> list[int]:
    small = [divisor for divisor in range(1, math.isqrt(number) + 1) if number % divisor == 0]
    return [*small, *(number // divisor for divisor in reversed(small) if divisor * divisor < number)]


def _orders(problem: TilingProblem, factors: tuple[Factors, ...], level: str) -> Iterator[tuple[str, ...]]:
    """Permutations of the loops that run more than once at ``level``, before the pinned innermost loops."""
    innermost = problem.pins.innermost(level)
    position = LEVELS.index(level)
    free = [loop for loop in problem.nest.loops if loop not in innermost]
    counts = {loop: row[position] for loop, row in zip(problem.nest.loops, factors, strict=True)}
    for moving in permutations(sorted(loop for loop in free if counts[loop] > 1)):
        yield (*_merged(list(moving), sorted(loop for loop in free if counts[loop] == 1)), *innermost)


def _merged(moving: list[str], still: list[str]) -> list[str]:
    """The lexicographically least order that keeps ``moving`` in sequence; ``still`` is sorted."""
    merged = []
    while moving and still:
        merged.append(moving.pop(0) if moving[0] < still[0] else still.pop(0))
    return merged + moving + still


BRUTE_FORCE: Method[TilingProblem, TilingMapping] = Method(
    "brute-force",
    True,
    f"every factorisation and every order, at most {MOST_EVALUATIONS} mappings",
    brute_force,
)
