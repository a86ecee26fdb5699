"""A compiled bound on the cycles that a timeline takes, whichever of the orders with the same reuse it is of.

What a timeline (models/tiling/timeline.py) surely contains, one after another: the first tiles come by DMA and by the
networks; between the beginnings of two passes PEs compute and the later pass's tiles cross, at the same time if they
come ahead, else in turn; between the beginnings of two scratch-pad passes all passes of one go by and the later one's
tiles come by DMA, likewise; the last result is computed, added up, crosses and is written. Tiles that stay longer
change with those that stay shorter, so that what changes says how often it does. Of a result that is read back only the
number of times is known, not in which passes: it is counted with those that it prolongs least. By themselves DMA and
the network of results need their time too.
"""

from __future__ import annotations

from typing import Any

from mapper.models.compiled import compiled
from mapper.models.tiling.timeline import ALWAYS, NEVER
from mapper.models.tiling.transfer import Passes
from mapper.solver.tiling.exact.kernel_table import Array, KernelTable

STAY, LOAD = 0, 1


def _levels(t: KernelTable, stay: Array, busy: Array, shared: bool, levels: Array) -> int:
    """Write rows (``STAY``, ``LOAD``), and say how many: the cycles (``busy`` of each) until all read operands have
    come that stay so many passes or fewer, on networks side by side or (``shared``) in turn; first a row of none."""
    found, every = 1, 0
    levels[0, STAY], levels[0, LOAD] = 1, 0
    while True:
        following = 0
        for k in range(len(busy)):
            if k != t.paths.written and stay[k] > every and (following == 0 or stay[k] < following):
                following = stay[k]
        if following == 0:
            return found
        every = following
        levels[found, STAY], levels[found, LOAD] = every, 0
        for network in range(1 if shared else t.paths.networks):
            load = 0
            for k in range(len(busy)):
                if (
                    k != t.paths.written
                    and stay[k] <= every
                    and (shared or t.paths.read_network[k] == network)
                ):
                    load += busy[k]
            levels[found, LOAD] = max(levels[found, LOAD], load)
        found += 1


def _changes(levels: Array, row: int, rows: int, passes: int, first: int) -> int:
    """In how many of ``passes`` just what is in ``row`` changes, the ``first`` (1 or 0) not counted."""
    stay = levels[row, STAY]
    changes = passes // stay - first if stay <= passes else 0
    if row + 1 < rows and levels[row + 1, STAY] <= passes:
        changes -= passes // levels[row + 1, STAY] - first
    return max(0, changes)


def _least_timeline(
    t: KernelTable, b: int, c: int, passes: Passes, tiles: Array, compute: int, reduction: int, room: Array
) -> int:
    """Cycles that the timeline takes at least in every order with the reuse of ``passes``; ``room``: for intermediate
    results."""
    paths, written, operands = t.paths, t.paths.written, len(t.updated)
    into, dma, all_passes = t.into[:, b], t.dma_cycles[:, c], passes.rf * passes.spm
    out, dma_out = t.noc_cycles[written, b], t.dma_cycles[written, c]
    stay, levels = room[0, :operands, STAY], room[1]
    first_dma, all_dma = 0, 0
    for k in range(operands):
        # What stays through whole scratch-pad passes moves with those that end its reuse at DRAM.
        stay[k] = passes.spm_reuse[k] if passes.spm_reuse[k] < passes.rf else passes.rf * passes.dram_reuse[k]
        if paths.brought[k] == ALWAYS:
            first_dma += dma[k]
        if k != written:
            all_dma += dma[k] * (passes.spm // passes.dram_reuse[k])
    first_load = 0
    for network in range(paths.networks):
        load = 0
        for k in range(operands):
            if paths.brought[k] == ALWAYS and paths.read_network[k] == network:
                load += into[k]
        first_load = max(first_load, load)
    visits, spm_visits = all_passes // stay[written], passes.spm // passes.dram_reuse[written]
    # How often the result's tile is read back, beside the first tiles.
    back, spm_back = 0, 0
    if paths.brought[written] == ALWAYS:
        back, spm_back = visits - 1, spm_visits - 1
        all_dma += dma_out
    elif paths.brought[written] != NEVER:
        back, spm_back = visits - tiles[0, written], spm_visits - tiles[1, written]
    all_dma += dma_out * (spm_back + spm_visits)
    begun, last = first_dma + first_load, reduction + out + dma_out

    # The passes of the PEs; results read back with the longest of them.
    each = compute + (reduction if stay[written] == 1 else 0)
    leaves = out if stay[written] == 1 and not paths.ahead_of_rf else 0
    rows = _levels(t, stay, into, False, levels)
    between, within = 0, 0
    for row in range(rows - 1, -1, -1):
        load = max(levels[row, LOAD], leaves)
        takes = max(each, load) if paths.ahead_of_rf else each + load
        again = into[written] if paths.ahead_of_rf else each + out + into[written]
        here = _changes(levels, row, rows, all_passes, 1)
        between += takes * here + max(0, again - takes) * min(back, here)
        back -= min(back, here)
        within += takes * _changes(levels, row, rows, passes.rf, 0)
    adding = reduction * (visits - 1) if stay[written] > 1 else 0
    processed = begun + max(between, (all_passes - 1) * compute + adding) + compute + last
    if not paths.ahead_of_spm:
        return int(processed + all_dma - first_dma - dma_out)

    # The passes of the scratch-pad; results read back with the shortest of them.
    rows = _levels(t, passes.dram_reuse, dma, True, levels)
    stored = dma_out if passes.dram_reuse[written] == 1 else 0
    back = spm_back if passes.dram_reuse[written] == 1 else 0
    total = 0
    for row in range(rows):
        here = _changes(levels, row, rows, passes.spm, 1)
        takes = max(within, levels[row, LOAD] + stored)
        total += takes * here + (max(within, levels[row, LOAD] + stored + dma_out) - takes) * min(back, here)
        back -= min(back, here)
    if passes.spm > 1:
        # The first result is written when the second has left: nothing is in the first of these passes.
        total -= stored
    moved = begun + total + passes.rf * compute + last
    results = begun + stay[written] * compute + reduction + visits * out + dma_out
    return int(max(processed, moved, all_dma, results))


_levels_compiled, _changes_compiled = compiled(_levels), compiled(_changes)
least_timeline: Any = compiled(_least_timeline, _levels=_levels_compiled, _changes=_changes_compiled)
