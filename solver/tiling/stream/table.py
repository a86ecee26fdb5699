"""What the compiled searches look up of tiles that follow each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling import tile
from mapper.models.tiling.stream import new_words, sliding_loops, waits
from mapper.solver.tiling.exact.float_price import FloatPrices
from mapper.solver.tiling.exact.lattice import Integers, Lattice, LatticeTooLargeError

Array = Any
"""A numpy array."""


class StreamTable(NamedTuple):
    """``on``: whether memories are filled as streams. Then slots are the pairs of an operand and a loop along which its
    tiles may follow each other: ``slot`` [operands][loops], -1 where there is none; ``along`` [slots]: the loops, as
    bits, that must not run in space; ``fresh`` [slots][tiles]: words of an array tile that the one before it has not
    (of the lattice; where covers are searched nobody looks). Per operand, whether PEs wait for it (``waited``), and the
    ``widths`` of its networks. ``ends`` [orders][operands]: the loop along which tiles follow each other in an order at
    the scratch-pad, or -1. ``spm_unit``: energy of a word there."""

    on: bool
    slot: Array
    along: Array
    fresh: Array
    waited: Array
    widths: Array
    ends: Array
    spm_unit: float


def stream_table(problem: TilingProblem, fresh: Integers, ends: Integers) -> StreamTable:
    """The tables of ``problem``, of which ``fresh`` words and ``ends`` of orders are known."""
    nest, machine, slots = problem.nest, problem.machine, slots_of(problem)
    slot = np.full((len(nest.operands), len(nest.loops)), -1, np.int64)
    along = np.zeros(len(slots), np.int64)
    for place, (k, j) in enumerate(slots):
        slot[k, j] = place
        for dimension in nest.operands[k].index:
            if nest.loops[j] in dict(dimension.coefficients):
                for loop, _ in dimension.coefficients:
                    along[place] |= 1 << nest.loops.index(loop)
    return StreamTable(
        on=machine.streams,
        slot=slot,
        along=along,
        fresh=fresh,
        waited=np.array([waits(op, machine) for op in nest.operands]),
        widths=np.array(tile.networks_of(nest, machine)[2], np.int64),
        ends=ends,
        spm_unit=FloatPrices.of(nest, machine).spm,
    )


def slots_of(problem: TilingProblem) -> tuple[tuple[int, int], ...]:
    """Pairs of an operand and a loop along which its tiles may follow each other, as numbers."""
    nest = problem.nest
    if not problem.machine.streams:
        return ()
    return tuple(
        (k, nest.loops.index(loop))
        for k, operand in enumerate(nest.operands)
        for loop in sorted(sliding_loops(operand), key=nest.loops.index)
    )


def fresh_words(problem: TilingProblem, lattice: Lattice, grid: dict[str, Any]) -> Integers:
    """Words of every array tile that the one before it has not, along each of the slots (S, L).

    Raises: LatticeTooLargeError if tiles hold more words than are counted.
    """
    nest, machine, slots = problem.nest, problem.machine, slots_of(problem)
    most = int(lattice.words[:, -1].max())
    if slots and machine.pes * min(most, machine.rf_words) * most >= tile.WORD:
        raise LatticeTooLargeError("its tiles hold more words than are counted where they follow each other")
    rows = [
        np.broadcast_to(new_words(nest.operands[k], nest.loops[j], grid, grid), lattice.shape).reshape(-1)
        for k, j in slots
    ]
    return np.stack(rows).astype(np.int64) if rows else np.empty((0, 0), np.int64)
