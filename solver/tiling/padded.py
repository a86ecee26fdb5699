"""Methods where bounds may grow: what each of them makes of a choice of padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mapper.formulations.tiling.array_axes import on_axes
from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.padding import Padding
from mapper.solver.friendly_size import friendly_size
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

Search = Callable[[TilingProblem, Effort], Outcome[TilingMapping]]
TilingMethod = Method[TilingProblem, TilingMapping]

AS_THEY_ARE = "bounds as they are"
UNTRIED = f"{AS_THEY_ARE}: no padding tried"


def without_padding(method: TilingMethod) -> TilingMethod:
    """A method that searches the bounds as they are, or as they are pinned, and claims nothing of others."""
    return replace(method, search=lambda problem, effort: _least_bounds(method.search, problem, effort))


def with_friendly_bounds(method: TilingMethod, half: TilingMethod) -> TilingMethod:
    """A heuristic that spends half of its budget (as ``half`` does) on bounds that have small factors, if there are
    any beside those as they are."""

    def search(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
        sizes = friendly_bounds(problem)
        if not sizes:
            found = _least_bounds(method.search, problem, effort)
            left = tuple(one for one in found.restrictions if one != UNTRIED)
            return replace(found, restrictions=left)
        plain = _least_bounds(half.search, problem, effort)
        fixed = Padding(tuple((loop, size, size) for loop, size in sizes.items()))
        padded = _least_bounds(half.search, replace(problem, padding=fixed), replace(effort, start=None))
        count = (plain.evaluations or 0) + (padded.evaluations or 0)
        mappings = [one.mapping for one in (plain, padded) if one.mapping is not None]
        if not mappings:
            return Outcome.unknown(padded.stop, bound_of(problem), evaluations=count)
        best = min((lowered(problem, one) for one in mappings), key=lambda one: rank_of(problem, one))
        value = problem.value(evaluate(problem.nest, problem.machine, best))
        return Outcome.bounded(best, value, bound_of(problem), padded.stop, evaluations=count)

    return replace(method, search=search)


def with_covers(method: TilingMethod) -> TilingMethod:
    """Branch and bound: over the bounds as they are, and from there over all paddings."""

    def search(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
        if not problem.padding.is_free:
            return _least_bounds(method.search, problem, effort)
        from mapper.solver.tiling.cover.covering import covering

        plain = _known_plain(method, problem, effort)
        if plain is None:
            plain = method.search(problem.as_it_is(), replace(effort, start=None))
        return covering(problem, effort, plain, _with_small_factors(method, problem, effort))

    def both() -> None:
        from mapper.solver.tiling.cover.covering import prepare

        method.prepare()
        prepare()

    return replace(method, search=search, prepare=both)


def _known_plain(
    method: TilingMethod, problem: TilingProblem, effort: Effort
) -> Outcome[TilingMapping] | None:
    """What this method has found already, in place of its search of the bounds as they are: those are among the
    covers, so that search has nothing but a first mapping to give."""
    known = effort.known(problem)
    if known is None or known.method != method.name:
        return None
    return Outcome.bounded(known.mapping, known.value, None, "complete")


def _with_small_factors(method: TilingMethod, problem: TilingProblem, effort: Effort) -> TilingMapping | None:
    """The best mapping of bounds that have small factors, where those as they are have not: no layer is worth a search
    of all covers below a mapping that is many times too slow."""
    sizes = friendly_bounds(problem)
    if not sizes:
        return None
    fixed = Padding(tuple((loop, size, size) for loop, size in sizes.items()))
    found = _least_bounds(method.search, replace(problem, padding=fixed), replace(effort, start=None)).mapping
    return None if found is None else lowered(problem, found)


def _least_bounds(search: Search, problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
    """Search the least bounds that ``problem`` allows."""
    if not problem.padding.ranges:
        return search(problem, effort)
    plain, bounds = problem.as_it_is(), problem.nest.trip_counts
    known, start = effort.known(problem), None
    if known is not None:
        mapping = known.mapping.over(plain.nest.trip_counts)
        start = None if mapping.padded else replace(known, problem=plain, mapping=mapping)
    found = search(plain, replace(effort, start=start))
    if found.mapping is not None:
        found = replace(found, mapping=found.mapping.over(bounds))
    if not problem.padding.is_free:
        return found
    return found.among_more(bound_of(problem), UNTRIED)


def rank_of(problem: TilingProblem, mapping: TilingMapping) -> tuple[int, int, int, int]:
    """By what ``problem`` prefers mappings."""
    return problem.rank(evaluate(problem.nest, problem.machine, mapping))


def friendly_bounds(problem: TilingProblem) -> dict[str, int]:
    """For loops whose bound has a large prime factor the next one that has none, if padding allows it."""
    sizes = {}
    for loop, least, most in problem.padding.ranges:
        size = friendly_size(least)
        if least < size <= most:
            sizes[loop] = size
    return sizes


def lowered(problem: TilingProblem, mapping: TilingMapping) -> TilingMapping:
    """The mapping with factors lowered one by one, the largest first, as long as bounds stay covered and it gets no
    worse."""
    best, changed = mapping, True
    while changed:
        changed = False
        for loop in range(len(best.loops)):
            for level in sorted(range(4), key=lambda at: -best.factors[loop][at]):
                less = _with_less(problem, best, loop, level)
                if less is not None and rank_of(problem, less) <= rank_of(problem, best):
                    best, changed = less, True
                    break
    return best


def _with_less(problem: TilingProblem, mapping: TilingMapping, loop: int, level: int) -> TilingMapping | None:
    """``mapping`` with one factor less by one; None if that covers too little or pins forbid it."""
    from mapper.formulations.tiling.referee.verify import verify

    row = list(mapping.factors[loop])
    row[level] -= 1
    least, _ = problem.padding.range_of(*problem.nest.bounds[loop])
    if row[level] < 1 or row[0] * row[1] * row[2] * row[3] < least:
        return None
    factors = (*mapping.factors[:loop], (row[0], row[1], row[2], row[3]), *mapping.factors[loop + 1 :])
    less = on_axes(problem, replace(mapping, factors=factors).over(problem.nest.trip_counts))
    return None if verify(problem, less).broken else less
