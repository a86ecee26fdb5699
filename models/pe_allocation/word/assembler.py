"""From what iterations do to the words of a PE's program.

Iterations of different age issue operations in the same cycle. A word is needed for every combination of them that
comes up: while a position is worked on, from one position to the next, and from one frame to the next. Iterations that
have the same left to do are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt

from mapper.models.pe_allocation.configuration.program import LayerProgram, PeProgram
from mapper.models.pe_allocation.word.flow import Flow, Step, own_filters
from mapper.models.pe_allocation.word.operation import Operation, Word

Signals = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Controlled:
    """What the loop controller sends: ``table`` [kind of k1, k2, n][m] of signals (``kind_of``); ``done``: what each
    signal from 1 on has its iteration do."""

    table: tuple[tuple[int, ...], ...]
    done: tuple[tuple[tuple[int, Operation], ...], ...]


def kind_of(first_tap: bool, last_tap: bool, first_n: bool, last_n: bool) -> int:
    """The row of the controller's table for the first and last tap of a window and the first and last n."""
    return 8 * first_tap + 4 * last_tap + 2 * first_n + last_n


def controlled(layer: LayerProgram, program: PeProgram, flow: Flow) -> Controlled:
    """Signals for all that iterations of a PE do differently."""
    k1, k2, n, m = (loop.count for loop in program.loops)
    taps, own = k1 * k2, len(own_filters(program))
    apart = layer.rule in ("max", "average")
    known: dict[tuple[tuple[int, Operation], ...], int] = {(): 0}
    table = [[0] * m for _ in range(16)]
    for tap, at in product({0, min(1, taps - 1), taps - 1}, {0, min(1, n - 1), n - 1}):
        ends = (tap == 0, tap == taps - 1, at == 0, at == n - 1)
        # Every n of a pool has sums of its own.
        first, last = ends[0] and (apart or ends[2]), ends[1] and (apart or ends[3])
        slots = min(layer.delta, program.loops[2].limit - at * program.loops[2].step)
        for number in range(own):
            done = tuple(flow.issue(Step(first, last, slots, number)))
            table[kind_of(*ends)][number] = known.setdefault(done, len(known))
    return Controlled(tuple(map(tuple, table)), tuple(known)[1:])


def position_signals(program: PeProgram, table: Sequence[Sequence[int]], depth: int) -> Signals:
    """The signals of a position's cycles of work, with less of what is repeated: no ``depth`` of them that come up one
    after another are left out."""
    k1, k2, n, m = (loop.count for loop in program.loops)
    columns = np.array(table, dtype=np.int32)
    # How many filters before it have the same signals.
    alike = np.concatenate([[False], (columns[:, 1:] == columns[:, :-1]).all(axis=0)])
    since = np.arange(m) - np.maximum.accumulate(np.where(alike, 0, np.arange(m)))
    columns = columns[:, since < 2 + depth]
    m = columns.shape[1]
    n = min(n, 5 + 2 * depth // m)
    taps = min(k1 * k2, 5 + 2 * depth // (n * m))
    tap, at = np.arange(taps)[:, None], np.arange(n)[None, :]
    kinds = 8 * (tap == 0) + 4 * (tap == taps - 1) + 2 * (at == 0) + (at == n - 1)
    return np.asarray(columns[kinds.ravel()].ravel())


def words_of(
    told: Controlled, program: PeProgram, positions: int, idle: int, between: int
) -> tuple[Word, ...]:
    """The words, that of rest first. ``idle`` cycles follow each of a frame's positions, and ``between`` more each
    frame."""
    depth = 1 + max((at for done in told.done for at, _ in done), default=0)
    signals = position_signals(program, told.table, depth)
    rest = np.zeros(depth, np.int32)
    position = np.concatenate([signals, np.zeros(min(idle, depth), np.int32)])
    # So many that nothing new comes up after them; at the end all comes to rest.
    frame = [
        *[position] * min(positions, 2 + depth // len(position)),
        np.zeros(min(between, depth), np.int32),
    ]
    sent = np.concatenate([rest, *frame * (2 + depth // sum(map(len, frame))), rest, rest[:1]])
    ages = np.lib.stride_tricks.sliding_window_view(sent, depth)[:, ::-1].copy()
    left = [_left(told, age) for age in range(depth)]
    for age, own in enumerate(left):
        # Iterations with the same left to do are alike.
        ages[:, age] = np.array([own.index(one) for one in own], np.int32)[ages[:, age]]
    companies, found = np.unique(ages, axis=0, return_inverse=True)
    states: list[int] = found.ravel().tolist()
    # Words in the order in which they first come up, that of rest first.
    order: dict[int, int] = {}
    after: list[dict[int, int]] = [{} for _ in companies]
    for state in states:
        order.setdefault(state, len(order))
    for (state, following), signal in zip(pairwise(states), sent[depth:].tolist(), strict=True):
        after[state][signal] = order[following]
    words = []
    for state in order:
        issued = [
            operation
            for age, signal in enumerate(companies[state].tolist())
            for at, operation in left[age][signal]
            if at == age
        ]
        branches = tuple(sorted(after[state].items()))
        words.append(Word(tuple(sorted(issued, key=lambda one: one.place)), branches))
    return tuple(words)


def _left(told: Controlled, age: int) -> list[tuple[tuple[int, Operation], ...]]:
    """Of every signal what an iteration of this age has still to do, this cycle included."""
    return [tuple(one for one in done if one[0] >= age) for done in ((), *told.done)]
