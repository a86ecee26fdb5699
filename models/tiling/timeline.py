"""Cycles of one layer from a cold start to its last write, on a timeline of what DMA, networks and PEs do.

The tiles of the next pass are fetched while the present one is worked on, into the other half of a double buffer and no
earlier; with one buffer they are fetched when the work is done. DMA and every network carry one tile after another. A
result that leaves follows when its buffer is needed again, and the PEs wait for the first tiles and for the last write.

Passes are walked through one by one, but for loops whose passes have settled: where two turns of a loop leave
everything as far apart in time as it was, all later turns do, and are counted at once.

The functions are plain arithmetic on integers and small arrays, so that a search may compile them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import compiled

Array = Any
"""A one-dimensional numpy array of integers or flags."""

NEVER, ALWAYS, WITH_VALUE = 0, 1, 2
"""When the tile of an operand is brought: a result only written, an operand read, a sum that starts from zero."""
COLD_START, NOC, DMA, REDUCTION, DRAIN = 0, 1, 2, 3, 4
CAUSES = ("cold_start", "noc", "dma", "reduction", "drain")
"""What PEs wait for, in the order of the array of stalls."""

# When something is done, or was: DMA with all it was told, the present scratch-pad pass begun, and a result (-1: none)
# ready for DMA; within a scratch-pad pass these stand still. PEs done with all they were told, their present pass
# begun, the last result out of the PEs and the one before it, and from ``NETWORKS`` on each network free.
DMA_FREE, SPM_BEGUN, GIVEN_UP, PES_FREE, PASS_BEGUN, LEFT, LEFT_BEFORE, NETWORKS = 0, 1, 2, 3, 4, 5, 6, 7


class Walk(NamedTuple):
    """The loops that run more than once, outer to inner, ``dram`` of them at DRAM: trip counts, the operands (bits)
    whose tiles change when one advances, and whether the result has the same tiles in all its turns. ``around``: the
    operands whose tiles also change from the end of one scratch-pad pass to the beginning of the next."""

    counts: Array
    moved: Array
    again: Array
    dram: int
    around: int


class Loops(NamedTuple):
    """Of every loop of a nest the operands that depend on it, as bits, and whether the result does not."""

    operands: Array
    again: Array


class Times(NamedTuple):
    """Cycles of one pass of the PEs and of adding up what they found; per operand of a tile by DMA and into the PEs; of
    a result out of them."""

    compute: int
    reduction: int
    dma: Array
    read: Array
    write: int


class Paths(NamedTuple):
    """The operand that is written; per operand when it is brought and by which network; the network of results, and how
    many there are; whether tiles come ahead of their pass, and whether an operand is read where the result is."""

    written: int
    brought: Array
    read_network: Array
    write_network: int
    networks: int
    ahead_of_rf: bool
    ahead_of_spm: bool
    reads_result: bool


def walk_of(
    loops: Loops, dram: Array, outer: Array, spm: Array, inner: Array, room: Array, again: Array
) -> Walk:
    """The walk of two orders (loops, outer to inner) and the trip counts of their levels, in the room of two rows and
    of a row of flags, with a place for every loop at each level."""
    at_dram = _places(loops, dram, outer, 0, room, again)
    places = _places(loops, spm, inner, at_dram, room, again)
    around = room[1, at_dram] if places > at_dram else 0
    return Walk(room[0, :places], room[1, :places], again[:places], at_dram, around)


def _places(loops: Loops, order: Array, trips: Array, first: int, room: Array, again: Array) -> int:
    """Write the loops of one level that run more than once behind the ``first`` places, neighbours that move the same
    tiles as one. How many places are then taken."""
    places, moved = first, 0
    for turn in range(len(order) - 1, -1, -1):
        loop = order[turn]
        if trips[loop] == 1:
            continue
        moved |= loops.operands[loop]
        if places > first and room[1, places - 1] == moved and again[places - 1] == loops.again[loop]:
            room[0, places - 1] *= trips[loop]
        else:
            room[0, places], room[1, places], again[places] = trips[loop], moved, loops.again[loop]
            places += 1
    for turn in range((places - first) // 2):
        one, other = first + turn, places - 1 - turn
        room[0, one], room[0, other] = room[0, other], room[0, one]
        room[1, one], room[1, other] = room[1, other], room[1, one]
        again[one], again[other] = again[other], again[one]
    return places


def timeline(walk: Walk, times: Times, paths: Paths, stalls: Array) -> int:
    """Cycles of the layer; ``stalls`` (by cause) are filled."""
    places = len(walk.counts)
    clock = np.zeros(NETWORKS + paths.networks, np.int64)
    clock[GIVEN_UP] = -1
    clocks = np.zeros((places, len(clock)), np.int64)
    stalled = np.zeros((places, len(stalls)), np.int64)
    digit = np.zeros(places, np.int64)
    stalls[:] = 0
    ready = _scratch_pad_pass(walk, times, paths, digit, -1, clock, stalls)
    _pass(walk, times, paths, digit, -1, ready, clock, stalls)
    while True:
        place = places - 1
        while place >= 0 and digit[place] + 1 == walk.counts[place]:
            digit[place] = 0
            place -= 1
        if place < 0:
            break
        digit[place] += 1
        left = walk.counts[place] - 1 - digit[place]
        if left > 0:
            if digit[place] > 1 and _settled(clock, clocks[place], place < walk.dram):
                passed = clock[PASS_BEGUN] - clocks[place, PASS_BEGUN]
                for event in range(0 if place < walk.dram else PES_FREE, len(clock)):
                    if clock[event] >= 0:
                        clock[event] += left * passed
                stalls += left * (stalls - stalled[place])
                digit[place] += left
            else:
                clocks[place] = clock
                stalled[place] = stalls
        if place < walk.dram:
            ready = _scratch_pad_pass(walk, times, paths, digit, place, clock, stalls)
        _pass(walk, times, paths, digit, place, ready, clock, stalls)
    _leave(times, paths, clock, stalls)
    done = clock[PES_FREE]
    if clock[GIVEN_UP] >= 0:
        clock[DMA_FREE] = max(clock[DMA_FREE], clock[GIVEN_UP]) + times.dma[paths.written]
    end = max(clock[DMA_FREE], clock[LEFT], clock[PES_FREE]) + times.dma[paths.written]
    stalls[DRAIN] = end - done
    return int(end)


def _settled(clock: Array, before: Array, all_of_it: bool) -> bool:
    """Whether every time is as far from the present pass as it was a turn ago. What was done before the pass began no
    longer matters; within a scratch-pad pass, what concerns DMA does not."""
    now, then = clock[PASS_BEGUN], before[PASS_BEGUN]
    if all_of_it:
        if (clock[GIVEN_UP] < 0) != (before[GIVEN_UP] < 0):
            return False
        # Transfers are asked for when the scratch-pad's pass begins, and not before.
        for event in range(PES_FREE):
            if max(clock[event], clock[SPM_BEGUN]) - now != max(before[event], before[SPM_BEGUN]) - then:
                return False
    same = True
    for event in range(PES_FREE, len(clock)):
        same = same and max(clock[event], now) - now == max(before[event], then) - then
    return same


def _leave(times: Times, paths: Paths, clock: Array, stalls: Array) -> None:
    """PEs add up their parts, then the result crosses to the scratch-pad."""
    clock[PES_FREE] += times.reduction
    stalls[REDUCTION] += times.reduction
    free = NETWORKS + paths.write_network
    clock[LEFT_BEFORE] = clock[LEFT]
    clock[free] = max(clock[PES_FREE], clock[free]) + times.write
    clock[LEFT] = clock[free]


def _has_value(walk: Walk, digit: Array, places: int) -> bool:
    """Whether the result's tile was there before, as far as the first ``places`` loops say."""
    found = False
    for place in range(places):
        found = found or (walk.again[place] and digit[place] > 0)
    return found


def _scratch_pad_pass(
    walk: Walk, times: Times, paths: Paths, digit: Array, place: int, clock: Array, stalls: Array
) -> int:
    """DMA's part of a scratch-pad pass that begins when the loop at ``place`` (-1: the first) has advanced: when its
    tiles are there."""
    written = paths.written
    first = place < 0
    leaving = -1
    if not first and walk.moved[place] >> written & 1 == 1:
        _leave(times, paths, clock, stalls)
        leaving = max(clock[LEFT], clock[PES_FREE])
    waiting = clock[GIVEN_UP]
    clock[GIVEN_UP] = leaving
    if not paths.ahead_of_spm:
        waiting = leaving
        clock[GIVEN_UP] = -1
    asked = clock[SPM_BEGUN] if paths.ahead_of_spm else clock[PES_FREE]
    if waiting >= 0:
        clock[DMA_FREE] = max(clock[DMA_FREE], asked, waiting) + times.dma[written]
    ready = 0
    has_value = _has_value(walk, digit, walk.dram)
    for k in range(len(times.dma)):
        if not first and walk.moved[place] >> k & 1 == 0:
            continue
        if k == written and waiting >= 0:
            ready = max(ready, clock[DMA_FREE])
        if paths.brought[k] == ALWAYS or (paths.brought[k] == WITH_VALUE and has_value):
            clock[DMA_FREE] = max(clock[DMA_FREE], asked) + times.dma[k]
            ready = clock[DMA_FREE]
    return ready


def _pass(
    walk: Walk, times: Times, paths: Paths, digit: Array, place: int, ready: int, clock: Array, stalls: Array
) -> None:
    """A pass of the PEs: its tiles are delivered, and computed with. ``ready``: when the scratch-pad has them."""
    written, new = paths.written, place < walk.dram
    everything = (1 << len(times.dma)) - 1
    moved = everything if place < 0 else walk.moved[place]
    if place >= 0 and new:
        moved |= walk.around
    left_already = place >= 0 and new and walk.moved[place] >> written & 1 == 1
    if place >= 0 and moved >> written & 1 == 1 and not left_already:
        _leave(times, paths, clock, stalls)
    asked = max(ready, clock[PASS_BEGUN] if paths.ahead_of_rf else clock[PES_FREE])
    if paths.reads_result:
        asked = max(asked, clock[LEFT])
    there = ready
    has_value = _has_value(walk, digit, len(walk.counts))
    for k in range(len(times.dma)):
        if moved >> k & 1 == 0:
            continue
        begin = asked
        if k == written:
            # The other half of the buffer must be empty; without one, the tile itself must have left.
            empty = clock[LEFT_BEFORE] if paths.ahead_of_rf else clock[LEFT]
            begin = max(begin, empty)
            there = max(there, empty if paths.ahead_of_rf else begin)
        if paths.brought[k] == ALWAYS or (paths.brought[k] == WITH_VALUE and has_value):
            free = NETWORKS + paths.read_network[k]
            clock[free] = max(begin, clock[free]) + times.read[k]
            there = max(there, clock[free])
    begun = max(clock[PES_FREE], there)
    waited = begun - clock[PES_FREE]
    if place < 0:
        stalls[COLD_START] += waited
    else:
        for_dma = min(waited, max(0, ready - clock[PES_FREE]))
        stalls[DMA] += for_dma
        stalls[NOC] += waited - for_dma
    clock[PASS_BEGUN] = begun
    clock[PES_FREE] = begun + times.compute
    if new:
        clock[SPM_BEGUN] = begun


walk_compiled = compiled(walk_of, _places=compiled(_places))
timeline_compiled = compiled(
    timeline,
    _settled=compiled(_settled),
    _leave=compiled(_leave),
    _has_value=compiled(_has_value),
    _scratch_pad_pass=compiled(_scratch_pad_pass, _leave=compiled(_leave), _has_value=compiled(_has_value)),
    _pass=compiled(_pass, _leave=compiled(_leave), _has_value=compiled(_has_value)),
)
