"""The compiled search for the ways to split an array tile into PEs and register files (the argument is in
branch_and_bound)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import borrowing, compiled, inlined
from mapper.solver.tiling.exact import bound_kernel, incumbent_kernel
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.kernel_table import Array, KernelTable
from mapper.solver.tiling.stream import bound_kernel as stream_bounds
from mapper.solver.tiling.stream.bound_kernel import Room

_inner_bound: Any = bound_kernel.inner_bound
_surely: Any = bound_kernel.surely
_together: Any = bound_kernel.together
_bounded_out: Any = incumbent_kernel.bounded_out
_of_tile: Any = stream_bounds.of_tile
_least_shares: Any = stream_bounds.least_shares
_streamed_bound: Any = stream_bounds.streamed_bound


class Splits(NamedTuple):
    """Ways to split an array tile into PEs (s) and register files (r): s [n], computing cycles [n], bounds [n][2]
    (energy, cycles), and per operand terms [n][3][k] (words delivered to PEs, cycles and number of additions between
    PEs) and energies [n][2][k] (of the delivery and of the additions); ``held`` [n]: the slots along which tiles can
    follow each other, as bits."""

    spatial: Array
    held: Array
    compute: Array
    bounds: Array
    terms: Array
    energies: Array


def _undercuts(compute: Array, terms: Array, held: Array, one: int, other: int) -> bool:
    """Whether split ``one`` costs no more than ``other`` in every term the model grows in, and its tiles can follow
    each other wherever the other's can."""
    if compute[one] > compute[other] or held[other] & ~held[one]:
        return False
    for term in range(terms.shape[1]):
        for k in range(terms.shape[2]):
            if terms[one, term, k] > terms[other, term, k]:
                return False
    return True


def _price_split(
    t: KernelTable, s: int, r: int, found: int, compute: Array, terms: Array, noc_energy: Array
) -> None:
    """Computing cycles and terms of the split into PEs ``s`` and register files ``r``, in row ``found``."""
    compute[found] = t.all_product[r] * t.iteration_cycles
    for k in range(len(noc_energy)):
        users = t.own_product[k, s] if t.writes[k] else t.all_product[s]
        members = t.all_product[s] // t.own_product[k, s] if t.updated[k] else 1
        additions = t.words[k, r] * (members - 1) * t.own_product[k, s]
        terms[found, 0, k] = t.words[k, r] * users
        terms[found, 1, k] = 0 if t.systolic else t.words[k, r] * (members - 1) if t.mesh else additions
        terms[found, 2, k] = additions
        noc_energy[k] = terms[found, 0, k] * t.noc_unit


def _without_dominated(
    found: int, spatial: Array, compute: Array, bounds: Array, terms: Array, held: Array
) -> int:
    """How many of ``found`` splits and the one behind them are left when none undercuts another."""
    for other in range(found):
        if _undercuts(compute, terms, held, other, found):
            return found
    kept = 0
    for other in range(found + 1):
        if other == found or not _undercuts(compute, terms, held, found, other):
            spatial[kept] = spatial[other]
            held[kept] = held[other]
            compute[kept] = compute[other]
            bounds[kept] = bounds[other]
            terms[kept] = terms[other]
            kept += 1
    return kept


def _held(t: KernelTable, spatial: int) -> int:
    """The slots along which tiles can follow each other if ``spatial`` runs in space, as bits."""
    in_space, held = 0, 0
    for j in range(len(t.counts)):
        if spatial // t.strides[j] % t.counts[j] > 0:
            in_space |= 1 << j
    for slot in range(len(t.streams.along)):
        if t.streams.along[slot] & in_space == 0:
            held |= 1 << slot
    return held


def _with_energies(
    t: KernelTable, spatial: Array, compute: Array, bounds: Array, terms: Array, held: Array
) -> Splits:
    """The splits, with their energies by operand."""
    found, _, operands = terms.shape
    energies = np.empty((found, 2, operands), np.float64)
    for split in range(found):
        for k in range(operands):
            energies[split, 0, k] = terms[split, 0, k] * t.noc_unit
            energies[split, 1, k] = terms[split, 2, k] * t.reduction_unit
    return Splits(spatial, held, compute, bounds, terms, energies)


def _splits(
    t: KernelTable, b: int, out_energy: float, out_cycles: float, incumbent: Array, x: Room
) -> Splits:
    """Ways to split array tile ``b`` that may improve on the incumbent; under dominance only those that no other
    undercuts."""
    loops = len(t.counts)
    operands = len(t.updated)
    room = 256
    spatial, held = np.empty(room, np.int64), np.zeros(room, np.int64)
    compute = np.empty(room, np.int64)
    bounds = np.empty((room, 2), np.float64)
    terms = np.empty((room, 3, operands), np.int64)
    noc_energy = np.empty(operands, np.float64)
    position = np.full(loops, -1, np.int64)
    product = np.ones(loops + 1, np.int64)
    partial = np.zeros(loops + 1, np.int64)
    register = np.zeros(loops + 1, np.int64)
    passes = t.all_product[t.full] // t.all_product[b]
    if t.streams.on:
        _of_tile(t, b, x)
    found = 0
    j = 0
    while j >= 0:
        position[j] += 1
        at = b // t.strides[j] % t.counts[j]
        if position[j] > at or product[j] * t.divisors[j, position[j]] > t.pes:
            position[j] = -1
            j -= 1
            continue
        left = t.quotients[j, at, position[j]]
        if left < 0 or not t.spatial_usable[j, position[j]] or not t.rf_usable[j, left]:
            continue
        product[j + 1] = product[j] * t.divisors[j, position[j]]
        partial[j + 1] = partial[j] + position[j] * t.strides[j]
        register[j + 1] = register[j] + left * t.strides[j]
        if j + 1 < loops:
            j += 1
            continue
        s, r = partial[loops], register[loops]
        taken = 0
        for k in range(operands):
            taken += t.words[k, r]
        if taken > t.rf_capacity or taken < t.least_rf or product[loops] < t.least_pes:
            continue
        if t.axes and not t.has_room[s]:
            continue
        if found == room:
            spatial = np.concatenate((spatial, np.empty(room, np.int64)))
            held = np.concatenate((held, np.zeros(room, np.int64)))
            compute = np.concatenate((compute, np.empty(room, np.int64)))
            bounds = np.concatenate((bounds, np.empty((room, 2), np.float64)))
            terms = np.concatenate((terms, np.empty((room, 3, operands), np.int64)))
            room *= 2
        spatial[found] = s
        if t.streams.on:
            held[found] = _held(t, s)
            _price_split(t, s, r, found, compute, terms, x.noc_energy)
            _least_shares(t, held[found], x)
            energy, cycles = _streamed_bound(t, passes, compute[found], x)
        else:
            _price_split(t, s, r, found, compute, terms, noc_energy)
            energy, cycles = _inner_bound(t, b, compute[found], noc_energy)
        energy = _surely(t, t.operation_energy + t.rf_energy + energy)
        bounds[found, 0] = energy
        bounds[found, 1] = cycles
        if _bounded_out(t, energy + out_energy * SLACK, _together(t, cycles, out_cycles), incumbent):
            continue
        found = _without_dominated(found, spatial, compute, bounds, terms, held) if t.dominance else found + 1
    return _with_energies(t, spatial[:found], compute[:found], bounds[:found], terms[:found], held[:found])


splits = compiled(
    _splits,
    _price_split=inlined(_price_split),
    _without_dominated=compiled(_without_dominated, _undercuts=compiled(_undercuts)),
    _with_energies=compiled(_with_energies),
    _held=borrowing(_held),
)
