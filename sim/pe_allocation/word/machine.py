"""A PE in machine code: one word a cycle, with its registers, unit latencies, FIFOs, address generators and counters.

In every cycle results whose latency has passed are written first. Then the loop controller sends its signal, the branch
unit takes the word that it leads to, and its operations read their registers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mapper.models.compiled import borrowing
from mapper.models.pe_allocation.word.operation import BANKS, NAMES

RD, FD, ID, IK, RC, OD = range(len(BANKS))
MUL, ADD, SUB, MAX, MIN, ASR, ASL, MOV, TAB = range(len(NAMES))
DONE, NO_WORD, EMPTY, FULL, TOO_MANY, BUSY, BEYOND = range(7)
"""How a run ends: at rest after the last position; or with a fault: no word for a signal, a FIFO that is empty or full,
more results or words than expected, a position that begins before the one before has ended, a number beyond the
table."""
FAULTS = (
    "",
    "no word for a signal",
    "an empty FIFO is read",
    "a full FIFO is written",
    "more words than there are",
    "a position begins within another",
    "a table has no such entry",
    "fewer results than positions have",
)
OUTSIDE = -2


class Program(NamedTuple):
    """The decoded program. ``operations``: name, latency, and bank and number of result and operands; those of word w
    from ``first[w]`` on. ``takes`` [word][input]: whether its word is taken. ``branch`` [word][signal], -1 for none.
    ``rooms`` and ``cyclic`` of FIFOs; ``table``, looked up from its middle."""

    operations: Any
    first: Any
    takes: Any
    branch: Any
    constants: Any
    rooms: Any
    cyclic: Any
    table: Any
    bits: int


class Inputs(NamedTuple):
    """Address generators: for each input its ``source`` (0 weights, 1 pixels, 2 ``values`` of a frame's positions),
    the ``counts`` and ``strides`` of its loops, the first being the outermost, ``offsets`` by the innermost, and its
    ``base``.

    They address ``weights``, and ``windows`` [source][position][tap] of pixels by their numbers, which stand in
    ``pixels``, source by source from ``begin`` on; each map of a window is of the source ``maker`` and has the place
    ``own`` among its ``maps``. Pixels outside the image are ``outside``.
    """

    source: Any
    counts: Any
    strides: Any
    offsets: Any
    base: Any
    weights: Any
    values: Any
    windows: Any
    pixels: Any
    begin: Any
    maps: Any
    maker: Any
    own: Any
    outside: int


class Control(NamedTuple):
    """The loop controller: when positions ``begin``, how often the loops k1, k2, n and m run for each, and the signals
    [kind of k1, k2 and n][m]."""

    begin: Any
    counts: Any
    signals: Any


class State(NamedTuple):
    """Registers, FIFOs (``heads`` and ``held``), results under way by the cycle in which they are written (modulo the
    longest latency), loops and positions of the address generators, and results with their cycles."""

    data: Any
    fifos: Any
    heads: Any
    held: Any
    under_way: Any
    results: Any
    loops: Any
    places: Any
    outputs: Any
    times: Any
    written: Any


def _fetch(at: int, inputs: Any, state: Any) -> int:
    """The word that input ``at`` holds; its position must be one there is."""
    loops = inputs.counts.shape[1]
    address = inputs.base[at] + inputs.offsets[at, state.loops[at, loops - 1]]
    for loop in range(loops):
        address += state.loops[at, loop] * inputs.strides[at, loop]
    if inputs.source[at] == 0:
        return int(inputs.weights[address])
    if inputs.source[at] == 2:
        return int(inputs.values[address, state.places[at] % inputs.values.shape[1]])
    maps = len(inputs.maker)
    maker, own = inputs.maker[address % maps], inputs.own[address % maps]
    pixel = inputs.windows[maker, state.places[at], address // maps]
    if pixel < 0:
        return int(inputs.outside) if pixel == OUTSIDE else 0
    return int(inputs.pixels[inputs.begin[maker] + pixel * inputs.maps[maker] + own])


def _advance(at: int, inputs: Any, state: Any) -> None:
    """The counters of an address generator, the innermost first; after the outermost it goes on with a position."""
    loop = inputs.counts.shape[1] - 1
    while loop >= 0:
        state.loops[at, loop] += 1
        if state.loops[at, loop] < inputs.counts[at, loop]:
            return
        state.loops[at, loop] = 0
        loop -= 1
    state.places[at] += 1


def _compute(name: int, first: int, second: int) -> int:
    if name == MUL:
        return first * second
    if name == ADD:
        return first + second
    if name == SUB:
        return first - second
    if name == MAX:
        return max(first, second)
    if name == MIN:
        return min(first, second)
    if name == ASR:
        return first >> second
    return first << second if name == ASL else first


def _write(bank: int, number: int, value: int, now: int, program: Any, state: Any) -> int:
    """A result comes to its register."""
    if bank == RD:
        state.data[number] = value
    elif bank == FD:
        if state.held[number] == program.rooms[number]:
            return FULL
        state.fifos[number, (state.heads[number] + state.held[number]) % program.rooms[number]] = value
        state.held[number] += 1
    else:
        done = state.written[number]
        if done == state.outputs.shape[1]:
            return TOO_MANY
        state.outputs[number, done] = value
        state.times[number, done] = now
        state.written[number] = done + 1
    return DONE


def _retire(now: int, program: Any, state: Any) -> int:
    """Results that can be read from cycle ``now`` on."""
    turn = now % len(state.under_way)
    for entry in range(state.under_way[turn]):
        bank, number = state.results[turn, entry, 0], state.results[turn, entry, 1]
        fault: int = write(bank, number, state.results[turn, entry, 2], now, program, state)
        if fault != DONE:
            return fault
    state.under_way[turn] = 0
    return DONE


def _read(bank: int, number: int, program: Any, inputs: Any, state: Any) -> int:
    """An operand; a FIFO gives its word away, a cyclic one takes it back at its end."""
    if bank == RD:
        return int(state.data[number])
    if bank == RC:
        return int(program.constants[number])
    if bank == FD:
        head, room = state.heads[number], program.rooms[number]
        value = state.fifos[number, head]
        state.heads[number] = (head + 1) % room
        if program.cyclic[number]:
            state.fifos[number, (head + state.held[number]) % room] = value
        else:
            state.held[number] -= 1
        return int(value)
    word: int = fetch(number, inputs, state)
    return word


def _is_missing(bank: int, number: int, inputs: Any, state: Any) -> bool:
    if bank == FD:
        return bool(state.held[number] == 0)
    if bank in (ID, IK):
        # Weights are read anew for every position.
        return bool(inputs.source[number] == 1 and state.places[number] >= inputs.windows.shape[1])
    return False


def _issue(word: int, now: int, program: Any, inputs: Any, state: Any) -> int:
    """All operations of a word; inputs whose word is taken go on after it."""
    half = 1 << (program.bits - 1)
    for place in range(program.first[word], program.first[word + 1]):
        name, latency = program.operations[place, 0], program.operations[place, 1]
        first, one = program.operations[place, 4], program.operations[place, 5]
        second, other = program.operations[place, 6], program.operations[place, 7]
        if is_missing(first, one, inputs, state) or (name < MOV and is_missing(second, other, inputs, state)):
            return EMPTY
        left = read(first, one, program, inputs, state)
        right = left if name >= MOV else read(second, other, program, inputs, state)
        if name == TAB:
            left += len(program.table) // 2
            if left < 0 or left >= len(program.table):
                return BEYOND
            left = int(program.table[left])
        value = ((compute(name, left, right) + half) & (2 * half - 1)) - half
        turn = (now + latency) % len(state.under_way)
        entry = state.under_way[turn]
        state.results[turn, entry, 0] = program.operations[place, 2]
        state.results[turn, entry, 1] = program.operations[place, 3]
        state.results[turn, entry, 2] = value
        state.under_way[turn] = entry + 1
    for number in range(len(inputs.source)):
        if program.takes[word, number]:
            advance(number, inputs, state)
    return DONE


def _run(program: Any, inputs: Any, control: Any, state: Any) -> tuple[int, int]:
    """Why the run ended, and in which cycle."""
    most_k1, most_k2, most_n, most_m = (
        control.counts[0],
        control.counts[1],
        control.counts[2],
        control.counts[3],
    )
    k1 = k2 = n = m = begun = word = waiting = 0
    is_working = False
    now = control.begin[0]
    while True:
        fault = retire(now, program, state)
        if fault != DONE:
            return fault, now
        if begun < len(control.begin) and control.begin[begun] == now:
            if is_working:
                return BUSY, now
            is_working, begun = True, begun + 1
        signal = 0
        if is_working:
            kind = 8 * (k1 + k2 == 0) + 4 * (k1 == most_k1 - 1 and k2 == most_k2 - 1)
            signal = control.signals[kind + 2 * (n == 0) + (n == most_n - 1), m]
            m += 1
            if m == most_m:
                m, n = 0, n + 1
            if n == most_n:
                n, k2 = 0, k2 + 1
            if k2 == most_k2:
                k2, k1 = 0, k1 + 1
            if k1 == most_k1:
                k1, is_working = 0, False
        word = program.branch[word, signal]
        if word < 0:
            return NO_WORD, now
        fault = issue(word, now, program, inputs, state)
        if fault != DONE:
            return fault, now
        now += 1
        waiting = 0 if word != 0 or is_working else waiting + 1
        if waiting > len(state.under_way):
            # At rest until the next position.
            if begun == len(control.begin):
                return DONE, now
            now = max(now, control.begin[begun])


fetch = borrowing(_fetch)
advance = borrowing(_advance)
compute = borrowing(_compute)
write = borrowing(_write)
retire = borrowing(_retire)
read = borrowing(_read)
is_missing = borrowing(_is_missing)
issue = borrowing(_issue)
run = borrowing(_run)
