"""The orders of loops within a tile among which a best one is, and mappings made of them.

Fix the innermost loop, whose iterations are joined to words. What the order of the others changes is how far apart the
additions to one sum are, which delays the next tile of a sum and is least where the summing loops are inside all
others, and how much earlier a tile that is smaller ends, which is most where the loops that are laid out are outside.
Both are best at once: laid out loops that do not sum, then loops that are neither, then laid out ones that sum, then
the rest. (A summing loop that is laid out never gains from standing further out: the next tile's start is delayed by
at least what the last, smaller tile saves.) What remains is the order of two loops that are laid out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.schedule import with_least_starts
from mapper.models.pe_allocation.nest.work import reductions

Axes = tuple[str | None, str | None]


def orders(problem: NestProblem, axes: Axes, tile: dict[str, int]) -> Iterator[tuple[str, ...]]:
    """Orders, outer to inner, of which one is best for these tiles; the one that is pinned."""
    if problem.pins.order is not None:
        yield problem.pins.order
        return
    summing = reductions(problem.nest)
    # Loops of one iteration a tile change nothing and stand outside.
    idle = [loop for loop in problem.nest.loops if tile[loop] == 1]
    busy = [loop for loop in problem.nest.loops if tile[loop] > 1]
    innermost: list[str | None] = [*sorted(busy, key=lambda loop: loop not in summing)]
    if idle and problem.machine.link_words is not None:
        # Words of one iteration take longer, and less of the links.
        innermost.append(idle[-1])
    for last in innermost or [None]:
        rest = [loop for loop in busy if loop != last]
        split = [loop for loop in rest if loop in axes and loop not in summing]
        chained = [loop for loop in rest if loop in axes and loop in summing]
        plain = [loop for loop in rest if loop not in axes and loop not in summing]
        inside = [loop for loop in rest if loop not in axes and loop in summing]
        end = [] if last is None else [last]
        for outside in permutations(split):
            for between in permutations(chained):
                yield (*(loop for loop in idle if loop != last), *outside, *plain, *between, *inside, *end)


def mapping_of(problem: NestProblem, axes: Axes, tile: dict[str, int], order: tuple[str, ...]) -> NestMapping:
    """The mapping with the least starts of tiles."""
    nest, work = problem.nest, problem.work
    bare = NestMapping(
        nest.loops,
        tuple(tile[loop] for loop in nest.loops),
        order,
        work.interval,
        work.lanes,
        (0,) * len(nest.loops),
        *axes,
    )
    return with_least_starts(nest, problem.grid, bare)
