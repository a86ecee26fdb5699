"""Compiled bounds on what tiles take that follow each other (the argument is in exact/branch_and_bound).

Of a tile that follows along a loop only the fresh words come, and of n tiles at least one comes whole. So on average a
tile takes at least the share fresh + (1 - fresh) / n of its words, n being the most that the loop can step; the least
over the loops along which it may follow holds for every order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import borrowing, compiled
from mapper.solver.tiling.exact import bound_kernel
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.kernel_table import Array, KernelTable

_crossing_bound: Any = bound_kernel.crossing_bound
_surely: Any = bound_kernel.surely
_together: Any = bound_kernel.together
_waited: Any = bound_kernel.waited

ANY = -1
"""All slots, as bits."""


class Room(NamedTuple):
    """Scratch for one array tile: ``most`` [loops], how often each loop steps at the scratch-pad at most; ``fresh``
    [slots]; per operand ``tiles`` in the layer, ``words`` and network cycles of the array's tile, words ``delivered``
    to PEs and what they cost, the words' cost at the scratch-pad; the least share of either cost that a tile takes on
    average, and of its cycles (``flow``). Of one order: how many tiles follow each other (``turns``), cycles of one
    that does (``following``) and its costs, what a whole tile costs more (``whole``), reuse, and cycles that tiles take
    ``between`` scratch-pad passes; ``still``: zeros."""

    most: Array
    fresh: Array
    tiles: Array
    words: Array
    delivered: Array
    noc_cycles: Array
    noc_energy: Array
    spm_energy: Array
    noc_share: Array
    spm_share: Array
    flow: Array
    turns: Array
    following: Array
    following_noc: Array
    following_spm: Array
    whole: Array
    spm_reuse: Array
    dram_reuse: Array
    between: Array
    still: Array


def _room_of(loops: int, operands: int, slots: int) -> Room:
    return Room(
        np.ones(loops, np.int64),
        np.zeros(slots, np.int64),
        np.ones(operands, np.int64),
        np.ones(operands, np.int64),
        np.ones(operands, np.int64),
        np.ones(operands, np.int64),
        np.zeros(operands, np.float64),
        np.zeros(operands, np.float64),
        np.ones(operands, np.float64),
        np.ones(operands, np.float64),
        np.zeros(operands, np.float64),
        np.ones(operands, np.int64),
        np.ones(operands, np.int64),
        np.zeros(operands, np.float64),
        np.zeros(operands, np.float64),
        np.zeros(operands, np.float64),
        np.ones(operands, np.int64),
        np.ones(operands, np.int64),
        np.zeros(operands, np.int64),
        np.zeros(operands, np.int64),
    )


def _least_shares(t: KernelTable, held: int, x: Room) -> None:
    """The shares and flows of ``x``, if tiles may follow each other along the slots ``held`` (bits)."""
    for k in range(len(x.words)):
        share, x.flow[k] = 1.0, float(x.noc_cycles[k])
        for j in range(len(x.most)):
            slot = t.streams.slot[k, j]
            if slot >= 0 and held >> slot & 1 and x.most[j] > 1:
                head = 1.0 / x.most[j]
                fresh = x.fresh[slot] / x.words[k]
                share = min(share, fresh + (1.0 - fresh) * head)
                fewer = -(-x.fresh[slot] // t.streams.widths[k])
                x.flow[k] = min(x.flow[k], (fewer + (x.noc_cycles[k] - fewer) * head) * SLACK)
        x.noc_share[k], x.spm_share[k] = share, share


def _streamed_bound(t: KernelTable, passes: int, compute: int, x: Room) -> tuple[float, float]:
    """Least NoC and scratch-pad energy, and least cycles, of all tilings whose array tile takes this in each of so many
    passes at least.

    A pass takes its work at least, and the sum with what comes where PEs wait for any of that: an operand that they
    wait for adds its own time whenever it comes, also between scratch-pad passes.
    """
    least_energy, least_cycles = np.inf, np.inf
    for reused in range(len(x.words) if t.alone else 1):
        energy, flow, longest, waits = 0.0, 0.0, 0.0, False
        for k in range(len(x.words)):
            stays = k == reused or not t.alone
            cost = x.noc_energy[k] * x.noc_share[k] + x.spm_energy[k] * x.spm_share[k]
            energy += cost * _crossing_bound(t, k, passes, x.tiles[k], stays)
            if t.streams.waited[k]:
                longest = max(longest, float(x.tiles[k] if stays else passes) * x.noc_cycles[k])
                waits = waits or not stays
            if not stays:
                flow = max(flow, x.flow[k])
        work = float(passes) * compute
        cycles = max(work + longest, passes * flow + (work if waits else 0.0))
        least_energy, least_cycles = min(least_energy, energy), min(least_cycles, cycles)
    return least_energy, _waited(least_cycles)


def _of_tile(t: KernelTable, b: int, x: Room) -> None:
    """Into ``x`` what array tile ``b`` of the lattice takes, whatever its split."""
    for j in range(len(x.most)):
        at = b // t.strides[j] % t.counts[j]
        x.most[j] = t.divisors[j, t.quotients[j, t.counts[j] - 1, at]]
    for slot in range(len(x.fresh)):
        x.fresh[slot] = t.streams.fresh[slot, b]
    for k in range(len(x.words)):
        x.tiles[k] = t.own_product[k, t.full] // t.own_product[k, b]
        x.words[k] = t.words[k, b]
        x.noc_cycles[k] = t.noc_cycles[k, b]
        x.spm_energy[k] = t.spm_energy[k, b]


def _first_bounds(
    t: KernelTable, least_out_energy: Array, least_out_cycles: Array, energy_bound: Array, cycles_bound: Array
) -> None:
    """As ``first_bounds`` of exact/bound_kernel."""
    x = _room_of(len(t.counts), len(t.updated), len(t.streams.along))
    for b in range(len(t.all_product)):
        energy_bound[b], cycles_bound[b] = np.inf, np.inf
        if np.isinf(least_out_energy[b]):
            continue
        splits = True
        for k in range(len(t.updated)):
            splits = splits and t.least_delivered[k, b] < np.inf
            x.noc_energy[k] = t.least_delivered[k, b] * t.noc_unit
        if not splits:
            continue
        _of_tile(t, b, x)
        _least_shares(t, ANY, x)
        compute = -(-t.all_product[b] // t.pes) * t.iteration_cycles
        passes = t.all_product[t.full] // t.all_product[b]
        energy, cycles = _streamed_bound(t, passes, compute, x)
        energy_bound[b] = _surely(t, t.operation_energy + t.rf_energy + energy + least_out_energy[b])
        cycles_bound[b] = _together(t, cycles, least_out_cycles[b])


room_of = compiled(_room_of)
least_shares = borrowing(_least_shares)
streamed_bound = borrowing(_streamed_bound)
of_tile = borrowing(_of_tile)
first_bounds = compiled(
    _first_bounds,
    _room_of=room_of,
    _of_tile=of_tile,
    _least_shares=least_shares,
    _streamed_bound=streamed_bound,
)
