"""The steps of one tile after another in time, relaxed: what a cluster does at least until its last result is stored,
in machine code.

It follows the steps as `models.trace_partition.timing.step_time` does, for a cluster that has the memory alone, with
less than the model counts: all transfers of an operand are requested at once, a step's computation takes the lines
that its traces have at least and the instructions that its loops have at least; no core waits for its code, which in
the model it does only where the memory owes it much. Each time is a maximum of sums of earlier times and these numbers,
and the memory's grow with what it still owes to instructions, so that with smaller
numbers no time becomes larger.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import TABLE_WORDS
from mapper.models.compiled import compiled

Table = npt.NDArray[np.int64]

# What is the same for all tiles of a family on one cluster.
GROUPS, ROWS_APART, CHANNELS, DEPTH = range(4)
"""Groups; whether units share rows; output and summed channels of a group."""
CONVOLUTION, COOP, RUNS, BIASED, FACTOR, WINDOW = range(4, 10)
"""The work, its mode; whether a row of a window is a trace; filters of a channel; positions or rows of a window."""
WEIGHTS_STAY, INPUT_STAYS, OUTPUT_STAYS, RESIDUAL = range(10, 14)
"""The order; what is not loaded or stored, what is besides."""
FILTER, HIGH, WIDE = range(14, 17)
"""Words of 16 filters in a WBuf whatever the channels (0: they depend on these); the window."""
BYTE, SCALE, LATENCY, VECTOR, CODE = range(17, 22)
"""Time of a byte, of which so many are a cycle; latencies; time of an instruction."""
TABLE = 22
"""Words that the look-up table maps in a cycle, 0 if there is none."""
ACROSS, PITCH = 23, 24
"""Columns of the output, words from one of its pixels to the next."""
EVEN_WEIGHTS, EVEN_INPUT, EVEN_RESIDUAL, EVEN_OUTPUT = range(25, 29)
"""Whether the numbers of these operands' transfers fit their fields, so that there are few transfers."""
CONSTANTS = 29

# Columns of a tile of rows or columns.
BROUGHT, EACH, VALID, TAPS, RANGES, HEIGHTS, SENDERS, KEEPERS, SEVERAL, KEPT, LIVE, FRESH, FIRST = range(13)
"""Positions brought; outputs of a unit, that count; positions of all windows (with FIRST of the ranges: columns whose
ranges differ in width); ranges of windows of equal shape, their widths together; units that get any maps, that have
any outputs; outputs in ranges of several; outputs and ranges whose windows have any position; units whose maps
begin at different places; the first range."""
AXIS = 13
OUT_CHANNELS, FILTERS, BLOCKS, LINES, WIDE_LINES, KINDS, HOLDERS, OWN_LINES, OWN_BLOCKS, OWN = range(10)
"""Columns of a tile of output channels: these; of a unit the filters, their blocks, lines, lines of two words each,
kinds of blocks; units that have any; lines and blocks of 64 of a unit's channels, and these."""
FIELD = 1 << 16
REGISTERS = 30
"""With more new numbers and twice as many that come back with a buffer, the latter are brought in every step."""
LAST = 5
"""Instructions of a turn of the innermost loop that may come after its vector instructions."""
COUNT, WIDTH = range(2)
"""Columns of a range: outputs, positions of each window."""


def _cut(
    given: Any, depth: int, channels: int, columns: Any, ranges: Any, outs: Any, ins: Any, reads: Any
) -> None:
    """What follows from the sizes of the tiles of summed and output channels, of all but the last and of the last:
    ``outs`` as OUT_CHANNELS and so on, ``ins`` channels and words of filters, and ``reads`` lines in a row of the
    windows of each of ``columns``."""
    for last in range(2):
        size = min(channels, given[CHANNELS])
        if last > 0:
            size = given[CHANNELS] - (-(-given[CHANNELS] // channels) - 1) * channels
        own = size
        if given[ROWS_APART] == 0:
            own = -(-size // 16) * 4 if given[COOP] > 0 else -(-size // 4)
        filters = own * given[FACTOR]
        block = 4 if given[COOP] > 0 else 64
        outs[last, OUT_CHANNELS], outs[last, FILTERS], outs[last, BLOCKS] = (
            size,
            filters,
            -(-filters // block),
        )
        outs[last, LINES], outs[last, WIDE_LINES] = -(-filters // 16), -(-2 * filters // 16)
        outs[last, KINDS] = (1 if filters >= block else 0) + (1 if filters % block > 0 else 0)
        outs[last, HOLDERS] = 4 if given[ROWS_APART] > 0 else -(-size // own)
        outs[last, OWN_LINES], outs[last, OWN_BLOCKS], outs[last, OWN] = -(-own // 16), -(-own // 64), own
        deep = min(depth, given[DEPTH])
        if last > 0:
            deep = given[DEPTH] - (-(-given[DEPTH] // depth) - 1) * depth
        ins[last, 0] = deep
        words = given[FILTER]
        if words == 0 and given[CONVOLUTION] > 0:
            if given[COOP] == 0:
                words = 16 * given[HIGH] * given[WIDE] * deep
            elif given[RUNS] > 0:
                words = 16 * given[HIGH] * -(-given[WIDE] * deep // 16)
            else:
                words = 16 * given[HIGH] * given[WIDE] * -(-deep // 16)
        ins[last, 1] = words
        for place in range(columns.shape[0] if given[COOP] > 0 else 0):
            tile = columns[place]
            lines = 0
            for number in range(tile[FIRST], tile[FIRST] + tile[RANGES]):
                width = ranges[number, WIDTH]
                if given[RUNS] > 0:
                    lines += ranges[number, COUNT] * -(-width * deep // 16)
                else:
                    lines += ranges[number, COUNT] * width * -(-deep // 16)
            reads[place, last] = lines


def _work(
    given: Any, tile: Any, wide: Any, o: Any, deep: int, lines: int, number: int, last_in: int
) -> tuple[int, int, int, int, int]:
    """Of the computation of a step: cycles until its last result, of issue, of the vector unit at work; instructions in
    memory; addresses of weights that come back with their buffer, brought into registers before where these are too
    few. ``lines``: those that a row of windows reads."""
    points, live = tile[EACH] * wide[EACH], tile[KEPT] * wide[KEPT]
    traces = tile[TAPS] * (wide[KEPT] if given[RUNS] > 0 else wide[TAPS])
    windows = tile[RANGES] * wide[RANGES]
    begun = 1 if number > 0 else given[RESIDUAL]
    turns = tile[EACH] * wide[SEVERAL]
    also = 2 + begun + (1 if given[RUNS] > 0 or given[WINDOW] == 1 else 0)
    issued = o[BLOCKS] * (2 * traces - live + points * begun + also * turns)
    taken, ending = 0, 0
    if given[CONVOLUTION] == 0:
        taken = o[LINES] * (tile[TAPS] * wide[TAPS] + live)
        ending = o[LINES]
    elif given[COOP] > 0:
        taken = o[BLOCKS] * (tile[TAPS] * lines + live + points * begun)
        ending = 1
    else:
        taken = o[BLOCKS] * tile[TAPS] * wide[TAPS] * deep
        taken += points * (o[WIDE_LINES] if number > 0 else o[LINES] * given[RESIDUAL])
    if given[BIASED] > 0:
        taken += windows * (o[BLOCKS] if given[COOP] > 0 else o[LINES])
        issued += windows * o[BLOCKS]
    ended = max(issued - LAST, taken)
    if given[FACTOR] > 1 and last_in > 0:
        # The larger of two filters: their lines, and those of the result.
        more = points * 3 * o[OWN_LINES]
        ended = max(ended - ending, issued) + more
        taken += more
        issued += o[OWN_BLOCKS] * (3 * points + 2 * (points if wide[EACH] > 1 else 0))
        ended, ending = max(ended, issued - LAST), o[OWN_LINES]
    if given[TABLE] > 0 and last_in > 0:
        more = points * o[OWN] // given[TABLE] + points * o[OWN] // 16
        ended = max(ended - ending, issued) + more
        taken += more
        ending = 4
    # Addresses that a loop changes are brought into registers before.
    begins = 0
    if tile[SEVERAL] + wide[SEVERAL] > 0 and tile[TAPS] * wide[TAPS] > 0:
        begins = 2
    rows = 0
    if windows == 1 and given[RUNS] > 0 and live == points and tile[HEIGHTS] < 16:
        rows = tile[HEIGHTS]
        if o[FILTERS] >= 2 * (4 if given[COOP] > 0 else 64):
            # Blocks one after another: these are changed, too.
            begins, rows = begins + rows, 0
    cycles = ended + 1 + given[VECTOR]
    if windows == 1:
        cycles += begins
        issued += begins
    # Its instructions.
    length = o[KINDS] * windows * (1 + given[BIASED]) + begins
    if given[WINDOW] <= 40:
        narrow = wide[LIVE] if given[RUNS] > 0 else wide[HEIGHTS]
        length = o[KINDS] * (2 * tile[HEIGHTS] * narrow + windows * (given[BIASED] - 1)) + begins
    return cycles, issued, taken - ending, length, max(0, rows - 1)


def _run(
    given: Any, tiles: Any, rows_at: Any, rows: Any, columns_at: Any, columns: Any, ranges: Any, found: Any
) -> Any:
    """``tiles``: int64 [tiles][4]: which size of rows and of columns, summed and output channels; ``rows_at``,
    ``columns_at``: the first tile of each size and one more; ``found``: int64 [tiles][2] receives cycles and bytes.

    In one function because the times of core, vector unit and memory are scalars that every branch changes."""
    scale, byte, code = given[SCALE], given[BYTE], given[CODE]
    units = 1 if given[ROWS_APART] > 0 else 4
    most_columns = 1
    for size in range(columns_at.shape[0] - 1):
        most_columns = max(most_columns, columns_at[size + 1] - columns_at[size])
    reads = np.zeros((most_columns, 2), np.int64)
    outs = np.zeros((2, 10), np.int64)
    ins = np.zeros((2, 2), np.int64)
    stored = np.zeros(2, np.int64)
    for which in range(tiles.shape[0]):
        row_size, column_size, depth, channels = tiles[which]
        row_first, row_count = rows_at[row_size], rows_at[row_size + 1] - rows_at[row_size]
        column_first = columns_at[column_size]
        column_count = columns_at[column_size + 1] - column_first
        in_count, out_count = -(-given[DEPTH] // depth), -(-given[CHANNELS] // channels)
        _cut(
            given,
            depth,
            channels,
            columns[column_first : column_first + column_count],
            ranges,
            outs,
            ins,
            reads,
        )
        steps = given[GROUPS] * row_count * column_count * out_count * in_count
        # Cores and memory, as the model has them; ``owed``: time of the memory for instructions.
        core, vector, coming, computing = 0, 0, 0, 0
        free, owed, moved, instructions, stores = 0, 0, 0, 1, 0
        stored[0], stored[1] = 0, 0
        maps_now, maps_before, weights_now, weights_before = -1, -1, -1, -1
        bias_now, bias_before, out_now, out_before = -1, -1, -1, -1
        cycles, issued, busy, sent, senders, pieces, following = 0, 0, 0, 0, 0, 0, 0
        for step in range(steps + 1):
            following = 0
            next_cycles, next_issued, next_busy, next_sent, next_senders, next_pieces = 0, 0, 0, 0, 0, 0
            if step < steps:
                left = step
                number = left % in_count
                left //= in_count
                if given[WEIGHTS_STAY] > 0:
                    column = left % column_count
                    left //= column_count
                    row = left % row_count
                    left //= row_count
                    out = left % out_count
                    group = left // out_count
                else:
                    out = left % out_count
                    left //= out_count
                    column = left % column_count
                    left //= column_count
                    row = left % row_count
                    group = left // row_count
                tile, wide = rows[row_first + row], columns[column_first + column]
                o = outs[1 if out == out_count - 1 else 0]
                last_in = 1 if number == in_count - 1 else 0
                deep = ins[last_in, 0]
                pixel = (group * row_count + row) * column_count + column
                # Which operands are loaded: words and transfers of each.
                weight_words, bias_words, map_words, residual_words = 0, 0, 0, 0
                key = (group * out_count + out) * in_count + number
                if key != weights_now:
                    if key != weights_before:
                        weight_words = units * (o[FILTERS] if given[COOP] > 0 else o[LINES]) * ins[last_in, 1]
                    weights_before, weights_now = weights_now, key
                key = group * out_count + out
                if key != bias_now:
                    if key != bias_before and given[BIASED] > 0:
                        bias_words = units * o[FILTERS]
                    if step == 0 and given[TABLE] > 0:
                        bias_words += TABLE_WORDS
                    bias_before, bias_now = bias_now, key
                key = pixel * in_count + number if given[CONVOLUTION] > 0 else pixel * out_count + out
                if key != maps_now:
                    if key != maps_before and given[INPUT_STAYS] == 0:
                        map_words = tile[BROUGHT] * wide[BROUGHT]
                        map_words *= deep if given[CONVOLUTION] > 0 else o[OUT_CHANNELS]
                    maps_before, maps_now = maps_now, key
                key = pixel * out_count + out
                results = tile[VALID] * wide[VALID] * o[OUT_CHANNELS]
                if key != out_now:
                    if key != out_before and given[RESIDUAL] > 0:
                        residual_words = results
                    out_before, out_now = out_now, key
                holders = tile[KEEPERS] if units == 1 else o[HOLDERS]
                getters = tile[SENDERS] if units == 1 else (1 if given[CONVOLUTION] > 0 else o[HOLDERS])
                next_cycles, next_issued, next_busy, length, addresses = _work(
                    given, tile, wide, o, deep, reads[column, last_in], number, last_in
                )
                if last_in > 0 and given[OUTPUT_STAYS] == 0:
                    next_sent, next_senders, next_pieces = results, holders, results
                    each = o[OUT_CHANNELS] if units == 1 else o[OWN]
                    if each < given[PITCH] and wide[VALID] < given[ACROSS]:
                        # Pieces of rows that lie apart, and so do the channels of their pixels.
                        next_senders += (holders - 1) * (min(tile[EACH], wide[VALID]) - 1)
                    if given[EVEN_OUTPUT] > 0:
                        next_pieces = min(tile[VALID] * (1 if units == 1 else holders), holders * wide[VALID])
                    length += 2 * holders + 2
                fresh = getters
                if units == 1:
                    fresh = max(1, tile[FRESH])
                elif given[CONVOLUTION] > 0:
                    fresh = 1
                loads, new = 0, holders if next_sent > 0 else 0
                if weight_words > 0:
                    loads += 2
                if bias_words > 0:
                    loads += 2
                if map_words > 0:
                    loads += fresh + getters
                    new += fresh
                if residual_words > 0:
                    loads += 2 * holders
                    new += holders
                if 2 * (new + addresses) > REGISTERS:
                    length += addresses
                    next_cycles += addresses
                    next_issued += addresses
                if loads > 0:
                    length += 2 + loads
                instructions += length
                moved += weight_words + bias_words + map_words + residual_words + next_sent
                owed += length * code
                if loads > 0:
                    if computing > 0:
                        core, computing = max(core, vector) + 1, 0
                    for operand in range(4):
                        words, transfers, most, before = weight_words, 1, weight_words, 1
                        if operand == 0 and given[EVEN_WEIGHTS] > 0 and units * o[FILTERS] < FIELD:
                            most = 1 + units if ins[last_in, 1] < FIELD else words
                        elif operand == 1:
                            words, most = bias_words, 5
                        elif operand == 2:
                            words, transfers, most, before = map_words, getters, map_words, fresh
                            if given[EVEN_INPUT] > 0:
                                most = min(
                                    tile[BROUGHT] * (1 if units == 1 else getters), getters * wide[BROUGHT]
                                )
                        elif operand == 3:
                            words, transfers, most, before = residual_words, holders, residual_words, holders
                            if given[EVEN_RESIDUAL] > 0:
                                most = min(
                                    tile[VALID] * (1 if units == 1 else holders), holders * wide[VALID]
                                )
                        if words == 0:
                            continue
                        core += 1
                        work = 2 * words * byte
                        owed -= min(owed, max(0, core * scale - free))
                        also = min(owed, max(0, (work - 30 * most) // 31))
                        owed -= also
                        free = max(free, core * scale) + work + also
                        core += transfers + before - 1
                    following = -(-free // scale) + given[LATENCY] + 1
            if step > 0:
                if coming > 0:
                    core = max(core, coming - 1) + 1
                buffer = stores % 2
                if sent > 0 and stored[buffer] > 0:
                    core = max(core, stored[buffer]) + 1
                vector = max(core + cycles, vector + busy)
                core, computing = core + issued, 1
                if sent > 0:
                    core, computing = max(core, vector) + 2, 0
                    work = 2 * sent * byte
                    owed -= min(owed, max(0, core * scale - free))
                    also = min(owed, max(0, (work - 30 * pieces) // 31))
                    owed -= also
                    free = max(free, core * scale) + work + also
                    stored[buffer] = -(-free // scale)
                    core += 2 * senders - 1
                    stores += 1
            coming = following
            cycles, issued, busy = next_cycles, next_issued, next_busy
            sent, senders, pieces = next_sent, next_senders, next_pieces
        core = max(max(core, vector), max(stored[0], stored[1])) + 1
        found[which, 0] = max(core, -(-(free + owed) // scale))
        found[which, 1] = 2 * moved + 4 * instructions
    return found


_compiled = compiled(_run, _cut=compiled(_cut), _work=compiled(_work))


def step_run(
    given: Table,
    tiles: Table,
    rows_at: Table,
    rows: Table,
    columns_at: Table,
    columns: Table,
    ranges: Table,
    found: Table,
) -> None:
    """``found``: int64 [tiles][2] receives the cycles and bytes of ``tiles``; see the module."""
    _compiled(given, tiles, rows_at, rows, columns_at, columns, ranges, found)
