"""Branch and bound over all paddings at once: every least cover of every bound, every order with unique reuse.

A bound B may grow to any B' < 2B. Each loop has four factors r, s, p, d (register file, space, scratch-pad, DRAM) whose
product is B'. Two mappings whose loops run at the same levels, in the same orders, compare factor by factor: the one
with no larger factor costs no more (docs/kind/tiling.md has the argument). So only least covers matter (`cover`), and
the search branches on t = ceil(B/b) for every loop (b = r*s, the array tile), then on (r, s), then on (p, d), then on
the orders. The bounds are those of ``exact/branch_and_bound.py``, each taken at the smallest tiles of its class, with
at least as many passes as the class has, and for each operand that may stay in the array by itself: what stays is on
its network at least once for each of its tiles, whatever hides it. Array tiles and scratch-pad tiles that cannot be
part of a better mapping are left out block by block of loops, before they are put together (`candidate`). The first
incumbent is the best of the bounds as they are and of those with small factors.

Where PEs wait for sums that leave them, a larger array tile may save cycles, since the sums that come next hide behind
whatever else comes in every pass. Mappings that could be undercut in this way, by an amount that is bounded, are kept;
what is still open at the end is searched upwards from them, one factor at a time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mapper.arch.source import load_machine
from mapper.formulations.tiling.array_axes import on_axes
from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.limit import UnfinishedError
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.largest import LARGEST_CYCLES, largest_cycles
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.padding import NO_PADDING, Padding
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.cover.block import TooManyOpenError
from mapper.solver.tiling.cover.candidate import ArrayTiles, SpmTiles, candidates
from mapper.solver.tiling.cover.cover import classes_of, least_words
from mapper.solver.tiling.cover.exposed import raised
from mapper.solver.tiling.cover.room_kernel import OPEN_CYCLES, OPEN_ENERGY, Opened
from mapper.solver.tiling.cover.table import Covers, CoverTable, cover_table, grid_size
from mapper.solver.tiling.exact.incumbent import (
    KNOWN_SLACK,
    MOST_TIES,
    TIED,
    best_of,
    first_incumbent,
    outcome_of,
    steps_of,
)
from mapper.solver.tiling.exact.incumbent_kernel import (
    ARRAY_TILE,
    CYCLES,
    DRAM_PATTERN,
    EVALUATIONS,
    PRIMARY,
    SPATIAL,
    SPM_PATTERN,
    SPM_TILE,
    TIES,
)
from mapper.solver.tiling.exact.kernel_table import KernelTable, kernel_table
from mapper.solver.tiling.exact.lattice import Floats, Integers
from mapper.solver.tiling.exact.pair import Held
from mapper.solver.tiling.exact.pruning import NO_PRUNING
from mapper.solver.tiling.exact.search_table import build_table
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest

TILES_PER_SLICE = 64
SHORT_SLICE = 0.02
"""Seconds below which the next slice may be twice as long: handing over all tables takes half a millisecond."""
MOST_OPENED = 1 << 14
MOST_COVERS = 1 << 26
"""Tiles that covers may have: to put together that many, less what is left out early, takes seconds."""
TOO_MANY = "bounds as they are: their covers have {found} tiles, more than the {most} that are searched"
MANY_OPEN = "bounds as they are: bounds leave more tiles of their covers open than are kept"
TIMELINE = "bounds as they are: no bound of a timeline is known over all paddings"
TOO_LONG = "bounds as they are: a padded mapping could take more cycles than are counted exactly"
EXPOSED = (
    "more mappings than are kept might hide sums that leave behind other transfers of larger array tiles"
)


@dataclass(frozen=True)
class _Space:
    """What is searched: the covers, what kernels know of the problem and of them, and the best so far."""

    covers: Covers
    tables: KernelTable
    view: CoverTable
    tiles: ArrayTiles
    above: SpmTiles
    held: Held


def covering(
    problem: TilingProblem,
    effort: Effort,
    unpadded: Outcome[TilingMapping],
    friendly: TilingMapping | None = None,
) -> Outcome[TilingMapping]:
    """Find the least objective over all paddings of ``problem``, and prove it; ``unpadded`` is the outcome of a search
    of the bounds as they are, by branch and bound, ``friendly`` a mapping of others, if one is known."""
    argued = bound_of(problem)
    if unpadded.stop != "complete" or unpadded.restrictions:
        return _not_padded(unpadded, argued, unpadded.restrictions)
    if problem.machine.rules.timing == "timeline":
        return _not_padded(unpadded, argued, (TIMELINE,))
    covers, restriction = _covers_of(problem)
    if restriction is not None:
        return _not_padded(unpadded, argued, (restriction,))
    mapping = unpadded.mapping
    for known in (effort.known_mapping(problem), friendly):
        if known is not None and (mapping is None or _rank(problem, known) < _rank(problem, mapping)):
            mapping = known
    if not all(covers) or least_words(problem, covers) > problem.machine.rf_words:
        return Outcome.ended(mapping, unpadded.value, unpadded.value, "complete", proven=True)
    tables, restrictions = _shared_table(problem)
    if restrictions:
        return _not_padded(unpadded, argued, restrictions)
    view = cover_table(problem, covers)
    incumbent, best = first_incumbent(problem, tables, mapping)
    try:
        tiles, above = candidates(tables, view, incumbent, effort.stopped)
    except TooManyOpenError:
        return _not_padded(_with(problem, unpadded, mapping), argued, (MANY_OPEN,))
    except UnfinishedError:
        stop = effort.stopped() or "time_limit"
        return _not_padded(replace(_with(problem, unpadded, mapping), stop=stop), argued, ())
    held = Held(incumbent, best, np.empty((MOST_TIES, 5), dtype=np.int64))
    space = _Space(covers, tables, view, tiles, above, held)
    return _searched(problem, effort, space, mapping, unpadded.evaluations or 0)


def _with(
    problem: TilingProblem, unpadded: Outcome[TilingMapping], mapping: TilingMapping | None
) -> Outcome[TilingMapping]:
    """The outcome with the best mapping that is known."""
    value = None if mapping is None else problem.value(evaluate(problem.nest, problem.machine, mapping))
    return replace(unpadded, mapping=mapping, value=value, proven=False)


def _not_padded(
    unpadded: Outcome[TilingMapping], argued: int | float, restrictions: tuple[str, ...]
) -> Outcome[TilingMapping]:
    """What is known of the bounds as they are; only a bound by argument holds for all paddings."""
    if unpadded.value is not None and unpadded.value <= argued:
        return Outcome.ended(unpadded.mapping, unpadded.value, unpadded.value, "complete", proven=True)
    return Outcome.bounded(
        unpadded.mapping,
        unpadded.value,
        argued,
        unpadded.stop,
        restrictions=restrictions,
        evaluations=unpadded.evaluations,
    )


def _rank(problem: TilingProblem, mapping: TilingMapping) -> tuple[int, int, int, int]:
    return problem.rank(evaluate(problem.nest, problem.machine, mapping))


def _covers_of(problem: TilingProblem) -> tuple[Covers, str | None]:
    """The classes of all loops, and why they are not searched, if they are not."""
    nest = problem.nest
    backwards = frozenset(
        loop for vector in nest.dependences for loop, d in zip(nest.loops, vector, strict=True) if d < 0
    )
    covers = tuple(classes_of(problem, loop, backwards) for loop in nest.loops)
    if not all(covers):
        return covers, None
    if grid_size(covers) > MOST_COVERS:
        return covers, TOO_MANY.format(found=grid_size(covers), most=MOST_COVERS)
    if largest_cycles(nest.padded(problem.padding.most), problem.machine) >= LARGEST_CYCLES:
        return covers, TOO_LONG
    return covers, None


def _shared_table(problem: TilingProblem) -> tuple[KernelTable, tuple[str, ...]]:
    """What machine, rules and orders say to the kernels, whatever the bounds: of the same nest with the least bounds
    that run; and what that leaves out."""
    nest = problem.nest
    small = LoopNest(
        nest.name,
        tuple((loop, min(bound, 2)) for loop, bound in nest.bounds),
        nest.operands,
        nest.operation,
        nest.dependences,
    )
    small_problem = replace(problem, nest=small, padding=NO_PADDING)
    table = build_table(small_problem, NO_PRUNING)
    return kernel_table(small_problem, table), table.restrictions


def _searched(
    problem: TilingProblem,
    effort: Effort,
    space: _Space,
    mapping: TilingMapping | None,
    evaluations: int,
) -> Outcome[TilingMapping]:
    """Examine array tiles from the least bound on; ``mapping`` is known, from so many ``evaluations``."""
    from mapper.solver.tiling.cover import search_kernel

    tiles, held, tables = space.tiles, space.held, space.tables
    opened = Opened(np.empty((MOST_OPENED, 5), np.int64), np.empty((MOST_OPENED, 2)), np.zeros(1, np.int64))
    search = search_kernel.search_of(tables)
    turn, total, step = 0, len(tiles.primary), TILES_PER_SLICE
    stop: Stop | None = effort.stopped() if total else None
    while turn < total and stop is None:
        last, began = min(turn + step, total), time.monotonic()
        try:
            reached = search(tables, space.view, tiles, space.above, turn, last, held, opened)
        except UnfinishedError:
            stop = effort.stopped() or "time_limit"
            break
        effort.report(_progress(problem, tables, tiles, reached, held.incumbent, evaluations))
        if reached < last:
            break
        turn, step = reached, 2 * step if time.monotonic() - began < SHORT_SLICE else step
        stop = effort.stopped() if turn < total else None
    steps = steps_of(problem, tables)
    mapping = best_of(problem, lambda row: _extract(problem, space, row), held.best, held.ties, mapping)
    left, reason = [float(tiles.primary[turn])] if stop else [], TIED
    if held.best[TIES] > MOST_TIES:
        left.append(
            float(held.incumbent[PRIMARY]) * (1 - KNOWN_SLACK) - tables.per_pj * float(held.best[CYCLES])
        )
    if not stop:
        rows = _still_open(problem, opened, held.incumbent)
        mapping, beyond = raised(problem, [_extract(problem, space, row) for row in rows], mapping)
        if opened.count[0] > MOST_OPENED:
            beyond = Fraction(float(tiles.primary[0])) / steps
        if beyond is not None:
            left.append(float(beyond * steps) * (1 - KNOWN_SLACK))
            reason = EXPOSED
    least = min(left) / steps if left else None
    count = evaluations + int(held.incumbent[EVALUATIONS])
    return outcome_of(problem, (), mapping, stop, least, count, reason)


def _still_open(problem: TilingProblem, opened: Opened, incumbent: Floats) -> Integers:
    """Rows of mappings that might be undercut, by those that contain them, below what was found in the end."""
    count = min(int(opened.count[0]), MOST_OPENED)
    energy, cycles = opened.costs[:count, OPEN_ENERGY], opened.costs[:count, OPEN_CYCLES]
    value = {"edp": energy * cycles, "energy": energy, "latency": cycles}[problem.objective]
    still: Integers = opened.rows[:count][value <= incumbent[PRIMARY]]
    return still


def _progress(
    problem: TilingProblem,
    tables: KernelTable,
    tiles: ArrayTiles,
    reached: int,
    incumbent: Floats,
    before: int,
) -> Progress:
    steps = steps_of(problem, tables)
    value = float(incumbent[PRIMARY]) / steps if np.isfinite(incumbent[PRIMARY]) else None
    bound = float(tiles.primary[reached]) / steps if reached < len(tiles.primary) else value
    if value is not None and bound is not None:
        bound = min(bound, value)
    return Progress(value, bound, before + int(incumbent[EVALUATIONS]))


def _extract(problem: TilingProblem, space: _Space, row: Integers) -> TilingMapping:
    """The mapping of a kernel's row: an array tile, and which pairs of its classes."""
    nest, covers, tables = problem.nest, space.covers, space.tables
    turn, inner, outer = int(row[ARRAY_TILE]), int(row[SPATIAL]), int(row[SPM_TILE])
    factors = []
    for j in reversed(range(len(nest.loops))):
        one = covers[j][int(space.tiles.places[turn, j])]
        inner, in_place = divmod(inner, len(one.inner))
        outer, out_place = divmod(outer, len(one.outer))
        (r, s), (p, d) = one.inner[in_place], one.outer[out_place]
        factors.append((d, p, r, s))
    dram, spm = (
        tuple(nest.loops[loop] for loop in rows[int(row[at])])
        for rows, at in ((tables.dram_rows, DRAM_PATTERN), (tables.spm_rows, SPM_PATTERN))
    )
    found = TilingMapping(nest.loops, tuple(reversed(factors)), dram, spm).over(nest.trip_counts)
    return on_axes(problem, found)


def prepare() -> None:
    """Compile the kernels, or read them from disk, on a problem of a few iterations."""
    machine, _ = load_machine("dmazerunner-256")
    nest = matrix_product_nest("smallest", (), 2, 2, 2)
    problem = TilingProblem(nest, machine, "edp", padding=Padding.every(nest))
    covering(problem, Effort(), Outcome.bounded(None, None, None, "complete"))
