"""Branch and bound over the whole tiling space: every valid tiling, every order with unique reuse.

A tiling is a chain r | b | c of tiles (register file, PE array, scratch-pad) in the divisor lattice. The
search branches on b first, then on the split of b into PEs and registers, then on c, then on the two orders.

Bounds. Energy is base + inner + outer: operations and register files cost the same everywhere; the inner
part is what crosses between scratch-pad and PEs, the outer part what crosses DRAM.
- inner(b): a tile of b crosses once per RF pass, but for the operands that the order reuses; those cross at
  least once for each of their distinct tiles. Where an order reuses at most one operand, the bound is the
  least over which one that is. It sees the NoC and the scratch-pad.
- outer(c): exact, the least over the orders; least_out(b) is its least over all usable c that b divides,
  found for all b at once by taking minima along each loop of the lattice.
- cycles: the array computes every RF pass and waits for the operands that cross in each of them; DMA moves
  what it must. The larger of the two.
Array tiles are examined by ascending bound, so the first one bounded out ends the search, and the bound of
the next is at every moment a bound for the whole problem.

Dominance. Of the splits of one b only those are kept that no other undercuts in computing cycles, NoC
energy, reduction cycles and energy at once: the model grows in each of them. Of the orders that reuse one
operand the one that reuses it most is kept (OPT 4, here a theorem). Both hold where an order reuses at most
one operand (convolutions, matrix products) and register files are double-buffered; elsewhere every split and
every unique order is examined. docs/kind/tiling.md has the proofs.

Streams (``rules.filling: streams``). What follows a tile, and how much of it is there already, depends on which loop
steps, and on no loop of the window running in space. So orders are told apart by the loop that moves each operand that
slides; splits by the loops that they leave to slide along. On average a tile then takes at least fresh/words +
(1 - fresh/words)/n of what a whole one takes, n being the most often that the loop can step; PEs wait for what does not
slide, each time that it comes. The bounds are in ``stream/bound_kernel.py``, the orders in ``stream/order_kernel.py``.
Sliding never costs more than not sliding, and both rules of dominance hold whatever the buffers: of splits the one that
is undercut leaves no more to slide along, of orders both slide along the same loops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mapper.arch.source import load_machine
from mapper.formulations.tiling.array_axes import on_axes
from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.limit import UnfinishedError
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.exact.incumbent import (
    KNOWN_SLACK,
    MOST_TIES,
    best_of,
    first_incumbent,
    outcome_of,
    steps_of,
)
from mapper.solver.tiling.exact.incumbent_kernel import CYCLES, EVALUATIONS, PRIMARY, TIES
from mapper.solver.tiling.exact.kernel_table import KernelTable, kernel_table
from mapper.solver.tiling.exact.lattice import Floats, Integers, LatticeTooLargeError
from mapper.solver.tiling.exact.pair import Held
from mapper.solver.tiling.exact.pruning import NO_PRUNING, Pruning, pruning_of
from mapper.solver.tiling.exact.search_table import SearchTable, build_table
from mapper.workloads.nest.layer_nest import matrix_product_nest

TILES_PER_SLICE = 256


@dataclass(frozen=True)
class _Bounds:
    """Bounds (pJ, cycles) by array tile, by scratch-pad tile, and of the best scratch-pad tile that an array
    tile divides; the array tiles by ascending bound on the objective, and that bound."""

    energy: Floats
    cycles: Floats
    outer_energy: Floats
    outer_cycles: Floats
    least_out_energy: Floats
    least_out_cycles: Floats
    order: Integers
    primary: Floats


def branch_and_bound(
    problem: TilingProblem, effort: Effort, pruning: Pruning = NO_PRUNING
) -> Outcome[TilingMapping]:
    """Find the least objective over the space left by ``pruning`` and prove it there.

    The answer is proven for the problem if nothing was pruned; a bound of a pruned space is none of the
    problem's, so then it is the bound by argument alone. A mapping that is known is the first incumbent.
    """
    from mapper.solver.tiling.exact import search_kernel

    try:
        table = build_table(problem, pruning)
    except LatticeTooLargeError as error:
        return Outcome.refused(str(error), bound_of(problem))
    known = effort.known(problem)
    mapping = None if known is None else known.mapping
    stop = effort.stopped()
    if stop is not None:
        value = None if known is None else known.value
        bound = bound_of(problem) if value is None else min(value, bound_of(problem))
        return Outcome.bounded(mapping, value, bound, stop, restrictions=table.restrictions, evaluations=0)
    tables = kernel_table(problem, table)
    bounds = _bounds(problem, table, tables)
    incumbent, best = first_incumbent(problem, tables, mapping)
    ties = np.empty((MOST_TIES, 5), dtype=np.int64)
    held = Held(incumbent, best, ties)
    known_bounds = search_kernel.Bounds(
        bounds.energy, bounds.cycles, bounds.outer_energy, bounds.outer_cycles, bounds.least_out_energy,
        bounds.least_out_cycles,
    )  # fmt: skip
    search = search_kernel.search_of(tables)
    turn, total = 0, len(bounds.order)
    # Without array tiles there is no mapping, whatever the time.
    stop = effort.stopped() if total else None
    while turn < total and stop is None:
        last = min(turn + TILES_PER_SLICE, total)
        try:
            reached = search(tables, bounds.order, turn, last, known_bounds, held)
        except UnfinishedError:
            stop = effort.stopped() or "time_limit"
            break
        effort.report(_progress(problem, tables, bounds, reached, incumbent))
        if reached < last:
            break
        turn = reached
        stop = effort.stopped() if turn < total else None
    mapping = best_of(problem, lambda row: _extract(problem, table, row), best, ties, mapping)
    open_values = [float(bounds.primary[turn])] if stop else []
    if best[TIES] > MOST_TIES:
        open_values.append(
            float(incumbent[PRIMARY]) * (1 - KNOWN_SLACK) - tables.per_pj * float(best[CYCLES])
        )
    left = min(open_values) / steps_of(problem, tables) if open_values else None
    return outcome_of(problem, table.restrictions, mapping, stop, left, int(incumbent[EVALUATIONS]))


def count_tilings(problem: TilingProblem, pruning: Pruning) -> int:
    """Valid tilings (not orders) of the space left by ``pruning``: the counts of [Dave2019], Fig. 11.

    Raises: LatticeTooLargeError if the nest has too many tiles.
    """
    from mapper.solver.tiling.exact import bound_kernel

    table = build_table(problem, pruning)
    splits = np.zeros(table.lattice.size, dtype=np.int64)
    bound_kernel.count_splits(kernel_table(problem, table), splits)
    return int(table.lattice.sum_over_divisors(splits)[table.spm_tile_usable].sum())


def _progress(
    problem: TilingProblem, tables: KernelTable, bounds: _Bounds, reached: int, incumbent: Floats
) -> Progress:
    value = float(incumbent[PRIMARY]) if np.isfinite(incumbent[PRIMARY]) else None
    bound = float(bounds.primary[reached]) if reached < len(bounds.primary) else value
    if value is not None and bound is not None:
        bound = min(bound, value)
    steps = steps_of(problem, tables)
    reported = [None if number is None else number / steps for number in (value, bound)]
    return Progress(reported[0], reported[1], int(incumbent[EVALUATIONS]))


def _bounds(problem: TilingProblem, table: SearchTable, tables: KernelTable) -> _Bounds:
    from mapper.solver.tiling.exact import bound_kernel
    from mapper.solver.tiling.stream import bound_kernel as stream_bounds

    size = table.lattice.size
    outer_energy, outer_cycles = np.empty(size), np.empty(size)
    bound_kernel.outer_bounds(tables, outer_energy, outer_cycles)
    least_energy = table.lattice.least_over_multiples(outer_energy)
    least_cycles = table.lattice.least_over_multiples(outer_cycles)
    energy, cycles = np.empty(size), np.empty(size)
    first_bounds = stream_bounds.first_bounds if tables.streams.on else bound_kernel.first_bounds
    first_bounds(tables, least_energy, least_cycles, energy, cycles)
    ranked = {"edp": (energy * cycles, energy), "energy": (energy, cycles), "latency": (cycles, energy)}
    primary, secondary = ranked[problem.objective]
    usable = np.flatnonzero(np.isfinite(energy) & (cycles <= tables.reach_cycles))
    order = usable[np.lexsort((usable, secondary[usable], primary[usable]))]
    return _Bounds(
        energy, cycles, outer_energy, outer_cycles, least_energy, least_cycles, order, primary[order]
    )


def _extract(problem: TilingProblem, table: SearchTable, best: Integers) -> TilingMapping:
    array, spatial, spm = (table.lattice.factors(int(point)) for point in best[:3])
    factors = tuple(
        (bound // c, c // b, b // s, s)
        for (_, bound), b, s, c in zip(problem.nest.bounds, array, spatial, spm, strict=True)
    )
    found = TilingMapping(
        problem.nest.loops,
        factors,
        table.orders["dram"].orders[int(best[4])],
        table.orders["spm"].orders[int(best[3])],
    )
    return on_axes(problem, found)


def _prepare() -> None:
    """Compile the kernels, or read them from disk, on a problem of a few iterations."""
    machine, _ = load_machine("dmazerunner-256")
    problem = TilingProblem(matrix_product_nest("smallest", (), 2, 2, 2), machine, "edp")
    branch_and_bound(problem, Effort())
    count_tilings(problem, NO_PRUNING)


def pruned_method(opt1: bool, opt2: bool, opt3: bool) -> Method[TilingProblem, TilingMapping]:
    """Exact search of the space that the chosen pruning heuristics leave."""
    chosen = [name for name, on in (("opt1", opt1), ("opt2", opt2), ("opt3", opt3)) if on]

    def search(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
        return branch_and_bound(problem, effort, pruning_of(opt1, opt2, opt3))

    return Method(
        "+".join(chosen), False, "exact search of the space that the paper's pruning leaves", search, _prepare
    )


BRANCH_AND_BOUND: Method[TilingProblem, TilingMapping] = Method(
    "branch-and-bound", True, "every valid tiling and every unique order, proven", branch_and_bound, _prepare
)
