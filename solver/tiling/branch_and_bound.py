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
operand the one that reuses it most is kept (OPT 4, here a theorem). Both hold where an order reuses at most one operand (convolutions, matrix products) and register files are
double-buffered; elsewhere every split and every unique order is examined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling import tile
from mapper.models.tiling.evaluation import evaluate, operation_energy, rf_access_energy
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.order import reuse_ends_alone
from mapper.solver.method import Effort, Method, Outcome, Progress
from mapper.solver.tiling.lattice import LatticeTooLarge
from mapper.solver.tiling.pruning import NO_PRUNING, Pruning, pruning_of
from mapper.solver.tiling.search_table import SearchTable, build_table
from mapper.workloads.layer import matrix_product_nest

OBJECTIVE_CODE = {"edp": 0, "energy": 1, "latency": 2}
TILES_PER_SLICE = 256


@dataclass(frozen=True)
class _Bounds:
    """Bounds by array tile and by scratch-pad tile (pJ, cycles), and the order in which b is examined."""

    energy: Any
    cycles: Any
    outer_energy: Any
    outer_cycles: Any
    least_out_energy: Any
    least_out_cycles: Any
    order: Any
    primary: Any


def branch_and_bound(
    problem: TilingProblem, effort: Effort, pruning: Pruning = NO_PRUNING
) -> Outcome[TilingMapping]:
    """Find the least objective over the space left by ``pruning`` and prove it there.

    The answer is proven for the problem if nothing was pruned; a bound of a pruned space is none of the
    problem's, so then it is the bound by argument alone.
    """
    from mapper.solver.tiling import kernel

    try:
        table = build_table(problem, pruning)
    except LatticeTooLarge:
        return Outcome(
            None, None, problem.bound(), "complete", False, ("the nest has too many tiles to tabulate",)
        )
    bounds = _bounds(problem, table, kernel)
    incumbent = np.asarray([np.inf, np.inf, 0.0])
    best = np.full(6, -1, dtype=np.int64)
    arguments = _search_arguments(problem, table, bounds)
    turn, total = 0, len(bounds.order)
    stop = effort.stopped()
    while turn < total and stop is None:
        last = min(turn + TILES_PER_SLICE, total)
        reached = kernel.search(bounds.order, turn, last, *arguments, incumbent, best)
        effort.report(_progress(problem, bounds, reached, incumbent))
        if reached < last:
            break
        turn = reached
        stop = effort.stopped() if turn < total else None
    evaluations = int(incumbent[2])
    mapping = _extract(problem, table, best) if best[0] >= 0 else None
    value = None if mapping is None else problem.value(evaluate(problem.nest, problem.machine, mapping))
    if stop is None and not table.restrictions:
        return Outcome(mapping, value, value, "complete", True, (), evaluations)
    if table.restrictions:
        return Outcome(
            mapping, value, problem.bound(), stop or "complete", False, table.restrictions, evaluations
        )
    open_bound = float(bounds.primary[turn])
    bound = (
        max(open_bound, problem.bound()) if value is None else min(value, max(open_bound, problem.bound()))
    )
    return Outcome(mapping, value, _whole(problem, bound), stop or "complete", False, (), evaluations)


def count_tilings(problem: TilingProblem, pruning: Pruning) -> int:
    """Valid tilings (not orders) of the space left by ``pruning``: the counts of 001, Fig. 11."""
    from mapper.solver.tiling import kernel

    table = build_table(problem, pruning)
    lattice, machine = table.lattice, problem.machine
    splits = np.zeros(lattice.size, dtype=np.int64)
    kernel.count_splits(
        lattice.all_product, lattice.strides, lattice.counts, lattice.quotients, lattice.divisors,
        table.usable["spatial"], table.usable["rf"], lattice.words, machine.pes, table.least_pes,
        machine.rf_words, table.least_rf, splits,
    )  # fmt: skip
    return int(lattice.sum_over_divisors(splits)[table.spm_tile_usable].sum())


def _whole(problem: TilingProblem, bound: int | float) -> int | float:
    """Bounds of integral objectives round up."""
    if problem.objective == "latency" or problem.machine.rules.energy == "rounded":
        return int(np.ceil(bound - 1e-6 * max(1.0, abs(bound) * 1e-9)))
    return bound


def _progress(problem: TilingProblem, bounds: _Bounds, reached: int, incumbent: Any) -> Progress:
    value = float(incumbent[0]) if np.isfinite(incumbent[0]) else None
    bound = float(bounds.primary[reached]) if reached < len(bounds.primary) else value
    if value is not None and bound is not None:
        bound = min(bound, value)
    return Progress(value, bound, int(incumbent[2]))


def _flags(problem: TilingProblem) -> tuple[Any, Any, Any]:
    operands = problem.nest.operands
    return (
        np.asarray([op.is_updated for op in operands]),
        np.asarray([op.writes for op in operands]),
        np.asarray([op.zero_initialised for op in operands]),
    )


def _bounds(problem: TilingProblem, table: SearchTable, kernel: Any) -> _Bounds:
    nest, machine, lattice = problem.nest, problem.machine, table.lattice
    updated, writes, zero = _flags(problem)
    doubled = machine.rules.partial_sums == "doubled"
    alone = reuse_ends_alone(nest)
    size = lattice.size
    outer_energy, outer_cycles = np.empty(size), np.empty(size)
    dram = table.orders["dram"]
    kernel.outer_bounds(
        size - 1, table.spm_tile_usable, lattice.all_product, lattice.own_product, lattice.strides, lattice.counts,
        lattice.divisors, lattice.quotients, table.dma_cycles, table.dma_energy, updated, zero, doubled, alone,
        dram.start, dram.masks, outer_energy, outer_cycles,
    )  # fmt: skip
    least_energy = lattice.least_over_multiples(outer_energy)
    least_cycles = lattice.least_over_multiples(outer_cycles)
    energy, cycles = np.empty(size), np.empty(size)
    kernel.first_bounds(
        operation_energy(nest, machine) + rf_access_energy(nest, machine), machine.pes,
        tile.iteration_cycles(nest, machine), machine.rules.energy == "rounded", size - 1, lattice.all_product,
        lattice.own_product, lattice.words, table.noc_cycles, machine.energy_pj.noc, table.spm_energy, updated,
        zero, doubled, alone, least_energy, least_cycles, energy, cycles,
    )  # fmt: skip
    if problem.objective == "edp":
        primary, secondary = energy * cycles, energy
    elif problem.objective == "energy":
        primary, secondary = energy, cycles
    else:
        primary, secondary = cycles, energy
    open_tiles = np.flatnonzero(np.isfinite(energy))
    order = open_tiles[np.lexsort((open_tiles, secondary[open_tiles], primary[open_tiles]))]
    return _Bounds(
        energy, cycles, outer_energy, outer_cycles, least_energy, least_cycles, order, primary[order]
    )  # fmt: skip


def _search_arguments(problem: TilingProblem, table: SearchTable, bounds: _Bounds) -> tuple[Any, ...]:
    nest, machine, lattice = problem.nest, problem.machine, table.lattice
    updated, writes, zero = _flags(problem)
    read, write, _ = tile.networks_of(nest, machine)
    base, accesses = operation_energy(nest, machine), rf_access_energy(nest, machine)
    energy = machine.energy_pj
    return (
        OBJECTIVE_CODE[problem.objective], machine.rules.energy == "rounded", base + accesses, base, accesses,
        tile.iteration_cycles(nest, machine), bounds.energy, bounds.cycles, bounds.outer_energy,
        bounds.outer_cycles, bounds.least_out_energy, bounds.least_out_cycles, lattice.size - 1,
        lattice.all_product, lattice.own_product, lattice.strides, lattice.counts, lattice.divisors,
        lattice.quotients, lattice.words, table.usable["spatial"], table.usable["rf"], table.usable["spm"],
        machine.pes, table.least_pes, machine.rf_words, table.least_rf, table.noc_cycles, energy.noc,
        table.spm_energy, 3 * machine.rf_energy_pj + energy.noc + energy.mac, machine.noc.reduction == "mesh",
        table.dma_cycles, table.dma_energy, updated, writes, zero, machine.rules.partial_sums == "doubled",
        reuse_ends_alone(nest), table.dominance, machine.rf.double_buffered, np.asarray(read), np.asarray(write),
        len(machine.noc.networks), table.orders["spm"].start, table.orders["spm"].masks,
        table.orders["dram"].start, table.orders["dram"].masks,
    )  # fmt: skip


def _extract(problem: TilingProblem, table: SearchTable, best: Any) -> TilingMapping:
    array, spatial, spm = (table.lattice.factors(int(point)) for point in best[:3])
    factors = tuple(
        (bound // c, c // b, b // s, s)
        for (_, bound), b, s, c in zip(problem.nest.bounds, array, spatial, spm, strict=True)
    )
    return TilingMapping(
        problem.nest.loops,
        factors,
        table.orders["dram"].orders[int(best[4])],
        table.orders["spm"].orders[int(best[3])],
    )


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
        "+".join(chosen), False, "exact search of the space the paper's pruning leaves", search, _prepare
    )


BRANCH_AND_BOUND: Method[TilingProblem, TilingMapping] = Method(
    "branch-and-bound", True, "every valid tiling and every unique order, proven", branch_and_bound, _prepare
)
