"""The largest cost that any mapping of a nest can have, which decides in what numbers costs may be counted.

Searches count cycles in machine words; a problem whose worst mapping would leave them is refused where problems are
made. Energies only say in what steps they can be counted: see ``solver/tiling/exact/kernel_table.py`` and
``formulations/tiling/program/energy.py``.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.models.tiling.price import Prices, burst_cost
from mapper.workloads.nest.loop_nest import LoopNest, Operand

LARGEST_CYCLES = tile.WORD
"""No mapping of a problem takes as many cycles, nor as many bytes in one tile."""


def largest_cycles(nest: LoopNest, machine: DataflowMachine) -> int:
    """Cycles, and bytes of any tile, that no mapping exceeds, whatever fits.

    With n iterations, w the most words a tile has per iteration in it, and a + q words the cycles of a burst:
    computing takes n cycles of an iteration, twice where partial sums leave the array in every pass; every crossing
    of the NoC and every addition between PEs moves one of at most n*w words; DMA moves as many in bursts of one word
    at least, both ways for a partial sum. What a change of the operands that stay adds (two overheads, in at most
    every second pass) is below twice the sum of these, and so is the whole below three times the sum. A timeline in
    which nothing is done beside anything else is below it too.
    """
    fixed, each, whole = burst_cost(machine)
    one_word = -(-(fixed + each) // whole) + 1
    moved = 0
    for operand in nest.operands:
        words = nest.iterations * most_words_an_iteration(operand, nest)
        both_ways = 2 if operand.is_updated else 1
        moved += words * (2 + both_ways * one_word + machine.word_bytes)
    return 3 * (2 * nest.iterations * tile.iteration_cycles(nest, machine) + moved)


def largest_energy(nest: LoopNest, machine: DataflowMachine) -> Fraction:
    """Energy (pJ) that no mapping exceeds: every word of every tile crosses NoC, scratch-pad and DRAM once, twice as
    a partial sum, and is added once."""
    prices = Prices.of(nest, machine)
    accesses = sum(operand.reads + operand.writes for operand in nest.operands)
    steps = nest.iterations * (tile.operations(nest) * prices.operation + accesses * prices.rf)
    for operand in nest.operands:
        words = nest.iterations * most_words_an_iteration(operand, nest)
        steps += words * 2 * (prices.noc + prices.spm + prices.dram)
        steps += words * prices.addition if operand.is_updated else 0
    return Fraction(steps, prices.per_pj)


def most_words_an_iteration(operand: Operand, nest: LoopNest) -> int:
    """The most words that a tile of an operand has for each iteration in it.

    A dimension spans 1 + sum |f| (t - 1) words, at most max(1, sum |f|) times its largest trip count t. Trip counts
    of loops that stand in one dimension alone are iterations; one that stands in several counts again in each.
    """
    most = 1
    places: Counter[str] = Counter()
    for dimension in operand.index:
        most *= max(1, sum(abs(factor) for _, factor in dimension.coefficients))
        places.update(loop for loop, _ in dimension.coefficients)
    again: int = math.prod(nest.trip_counts[loop] ** (count - 1) for loop, count in places.items())
    # The whole tensor has no more words than it has, each of them in one iteration at least.
    return min(most * again, operand.words(nest.trip_counts))
