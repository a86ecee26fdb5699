"""Everything branch and bound looks up: which tiles are usable, what they cost, which orders matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.tiling.array_axes import ArrayAxes
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling import tile
from mapper.models.tiling.mapping import LEVELS
from mapper.models.tiling.order import reuse_ends_alone
from mapper.models.tiling.physical import carried
from mapper.models.tiling.stream import sliding_loops
from mapper.solver.tiling.exact.float_price import FloatPrices
from mapper.solver.tiling.exact.lattice import Floats, Integers, Lattice, LatticeTooLargeError, build_lattice
from mapper.solver.tiling.exact.pruning import Pruning
from mapper.solver.tiling.order_table import OrderTable, order_table
from mapper.solver.tiling.stream.table import fresh_words
from mapper.workloads.nest.loop_nest import Operand

Flags = NDArray[np.bool_]

MOST_TIMED_LOOPS = 8
"""Loops of a nest whose orders are all told apart by what they move when: of eight there are some tens of thousands."""


@dataclass(frozen=True)
class SearchTable:
    """Tables of one problem over its lattice; see Lattice for the shapes."""

    lattice: Lattice
    usable: dict[str, Flags]
    spm_tile_usable: Flags
    has_room: Flags
    prices: FloatPrices
    noc_cycles: Integers
    into: Integers
    least_delivered: Floats
    spm_energy: Floats
    dma_cycles: Integers
    dma_energy: Floats
    fresh: Integers
    orders: dict[str, OrderTable]
    dominance: bool
    least_pes: int
    least_rf: int
    restrictions: tuple[str, ...]


def build_table(problem: TilingProblem, pruning: Pruning) -> SearchTable:
    """Tabulate ``problem`` under ``pruning``.

    Raises: LatticeTooLargeError if the nest has too many tiles, or orders.
    """
    nest, machine = problem.nest, problem.machine
    timed, running = machine.rules.timing == "timeline", sum(bound > 1 for _, bound in nest.bounds)
    if timed and running > MOST_TIMED_LOOPS:
        remedy = f"{running} loops, more than the {MOST_TIMED_LOOPS} whose orders are all timed"
        raise LatticeTooLargeError(f"the nest has {remedy}")
    lattice = build_lattice(nest)
    grid = {
        loop: lattice.axis(lattice.divisors[position, :count], position)
        for position, (loop, count) in enumerate(zip(nest.loops, lattice.counts, strict=True))
    }
    usable, restrictions = _usable_factors(problem, pruning, lattice)
    dma = [tile.dma_words_and_cycles(op, machine, grid, nest.trip_counts) for op in nest.operands]
    noc_cycles = into = _noc_cycles(problem, lattice, grid)
    # An order that reuses one operand alone is judged by that operand; then further reuse never costs.
    best_reuse = not timed and reuse_ends_alone(nest) and (machine.rf.double_buffered or machine.streams)
    sliding = tuple(sliding_loops(op) for op in nest.operands) if machine.streams else None
    if timed:
        noc_cycles, into = _timed_noc_cycles(problem, lattice, grid)
    prices = FloatPrices.of(nest, machine)
    return SearchTable(
        lattice=lattice,
        prices=prices,
        usable=usable,
        has_room=_has_room(problem, lattice),
        spm_tile_usable=_spm_tile_usable(problem, pruning, lattice, grid, usable["dram"]),
        noc_cycles=noc_cycles,
        into=into,
        least_delivered=np.stack(
            [_flat(lattice, least_delivered(problem, op, lattice, grid, usable)) for op in nest.operands]
        ),
        spm_energy=lattice.words.astype(np.float64) * prices.spm,
        dma_cycles=np.stack([_flat(lattice, cycles) for _, cycles in dma]).astype(np.int64),
        dma_energy=np.stack([_flat(lattice, words * prices.dram) for words, _ in dma]),
        fresh=fresh_words(problem, lattice, grid),
        orders={
            level: order_table(
                nest, problem.pins.innermost(level), best_reuse, timed, sliding if level == "spm" else None
            )
            for level in ("spm", "dram")
        },
        dominance=best_reuse or timed or machine.streams,
        least_pes=int(np.ceil(pruning.pe_utilisation * machine.pes)),
        least_rf=int(np.ceil(pruning.rf_utilisation * machine.rf_words)),
        restrictions=(*pruning.restrictions, *restrictions),
    )


def least_delivered(
    problem: TilingProblem, operand: Operand, lattice: Lattice, grid: dict[str, Any], usable: dict[str, Flags]
) -> Floats:
    """The least words of an operand that PEs receive of each array tile, over all its splits: s copies of the words
    that one PE's tile holds, s being the PEs in the loops that the operand depends on. Infinite where none is usable.

    It is not the array tile's box: that has gaps where a loop's stride is longer than what the loops inside it reach,
    and no PE receives a gap that lies between two PEs' tiles. The least over all loops is found loop by loop, which
    is exact for any index expression: min over s1, s2 of s1 * s2 * words(b1/s1, b2/s2) is the min over s1 of s1 times
    that over s2. What a split needs of all operands at once (PEs, words of the register file) is asked of this one.
    The table has one axis per loop, of length 1 for loops that the operand does not depend on.
    """
    machine, loops = problem.machine, problem.nest.loops
    words = tile.words(operand, grid)
    least = np.where(words <= machine.rf_words, words, np.inf)
    least = least.reshape((1,) * (len(loops) - least.ndim) + least.shape)
    for position, loop in enumerate(loops):
        if loop not in operand.loops:
            continue
        count = int(lattice.counts[position])
        least = least + np.where(lattice.axis(usable["rf"][position, :count], position), 0.0, np.inf)
        pes = lattice.divisors[position, :count]
        split = np.full_like(least, np.inf)
        for place in range(count):
            for array in range(place, count):
                within = int(lattice.quotients[position, array, place])
                if within < 0 or not usable["spatial"][position, place] or pes[place] > machine.pes:
                    continue
                to, of = _row(position, array), _row(position, within)
                split[to] = np.minimum(split[to], pes[place] * least[of])
        least = split
    return least


def _noc_cycles(problem: TilingProblem, lattice: Lattice, grid: dict[str, Any]) -> Integers:
    """Cycles of every operand's array tile on the narrowest of its networks."""
    _, _, widths = tile.networks_of(problem.nest, problem.machine)
    rows = [
        _flat(lattice, tile.noc_cycles(op, problem.machine, width, grid))
        for op, width in zip(problem.nest.operands, widths, strict=True)
    ]
    return np.stack(rows).astype(np.int64)


def _timed_noc_cycles(
    problem: TilingProblem, lattice: Lattice, grid: dict[str, Any]
) -> tuple[Integers, Integers]:
    """Cycles of every operand's array tile on the way that it takes in every visit (the result's out of the PEs), and
    into the PEs."""
    nest = problem.nest
    words = [_flat(lattice, tile.words(op, grid)).astype(np.int64) for op in nest.operands]
    read, out = carried(nest, problem.machine, words)
    into = np.stack(read)
    always = [out if operand.writes else into[k] for k, operand in enumerate(nest.operands)]
    return np.stack(always), into


def _row(position: int, place: int) -> tuple[Any, ...]:
    return (slice(None),) * position + (place,)


def _flat(lattice: Lattice, values: Any) -> NDArray[Any]:
    return np.ascontiguousarray(np.broadcast_to(values, lattice.shape)).reshape(-1)


def _usable_factors(
    problem: TilingProblem, pruning: Pruning, lattice: Lattice
) -> tuple[dict[str, Flags], tuple[str, ...]]:
    """Per level the divisors each loop may have (J, D), and what that leaves out of the problem."""
    nest = problem.nest
    usable = {}
    for level in LEVELS:
        flags = np.zeros(lattice.divisors.shape, dtype=np.bool_)
        for position, loop in enumerate(nest.loops):
            for place in range(int(lattice.counts[position])):
                flags[position, place] = problem.pins.allows(
                    loop, level, int(lattice.divisors[position, place])
                )
        usable[level] = flags
    backwards = {loop for v in nest.dependences for loop, d in zip(nest.loops, v, strict=True) if d < 0}
    for position, loop in enumerate(nest.loops):
        if loop in nest.sequential_loops or (pruning.no_spatial_reduction and loop in nest.reduction_loops):
            usable["spatial"][position, 1:] = False
        if pruning.window_loops_whole and loop in nest.window_loops:
            usable["dram"][position, 1:] = False
        if loop in backwards:
            # Within a register file the nest's own order holds, which respects every dependence.
            usable["dram"][position, 1:] = usable["spm"][position, 1:] = False
    if backwards:
        names = ", ".join(sorted(backwards))
        return usable, (f"loops with a negative dependence distance ({names}) stay in the register file",)
    return usable, ()


def _has_room(problem: TilingProblem, lattice: Lattice) -> Flags:
    """Whether the loops of a tile have room along the axes of the array; empty where the machine does not ask."""
    axes = ArrayAxes.of(problem)
    if axes is None:
        return np.zeros(0, np.bool_)
    rooms = np.zeros(lattice.size, np.bool_)
    few = np.flatnonzero(lattice.all_product <= problem.machine.pes)
    places = few[:, None] // lattice.strides % lattice.counts
    rooms[few] = axes.rooms(np.take_along_axis(lattice.divisors, places.T, axis=1).T)
    return rooms


def _spm_tile_usable(
    problem: TilingProblem, pruning: Pruning, lattice: Lattice, grid: dict[str, Any], dram: Flags
) -> Flags:
    nest, machine = problem.nest, problem.machine
    fits = _flat(lattice, tile.banks(nest, machine, grid)) <= machine.spm.visible_banks
    if pruning.spm_utilisation:
        words = _flat(lattice, tile.rf_words(nest, grid))
        fits &= (
            words * machine.word_bytes
            >= pruning.spm_utilisation * machine.spm.visible_banks * machine.spm.bank_bytes
        )
    for position, count in enumerate(lattice.counts):
        left = lattice.quotients[position, count - 1, :count]
        fits &= _flat(lattice, lattice.axis(dram[position, left], position))
    return fits
