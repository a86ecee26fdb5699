"""Accesses of one tensor where last passes are smaller: the rules of `access` and `delivery`, counted pass by pass.

Which loops let a tile stay, and which move it on by a part of itself, is decided by the loops as in `delivery`, whether
or not they turn in some last pass. What is counted is exact: a tile has the words that its pass runs over, a moment at
which no instance runs is none, and instances that run out of iterations take nothing. Loops are cut independently of
each other, so that moments, instances and sizes of tiles multiply.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from mapper.arch.hierarchy import HierarchyMachine
from mapper.models.hierarchy.access import Accesses
from mapper.models.hierarchy.delivery import never_meet
from mapper.models.hierarchy.imperfect.digit import AGAIN, ALL, LOCAL, Chain, State, chains
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.tile import Step
from mapper.workloads.nest.loop_nest import Operand

Given = Mapping[str, Mapping[int, int]]
"""Of each loop the digits in space that say which instance is meant."""
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Event:
    """Moments at which tiles are brought: when the loop in time at ``turns`` goes on (None: at the first moment of all,
    or, of ``every``, at any), and all inside it begin again. Of ``kept`` steps, a tile keeps the words that it has had
    before it moved by ``offset``; None where it is brought whole."""

    turns: int | None
    offset: tuple[int, ...] | None = None
    every: bool = False


@dataclass(frozen=True)
class Link:
    """A tensor's way from a level that keeps it to the next one inside that does (the number of levels: units)."""

    operand: Operand
    outer: int
    inner: int
    chains: Mapping[str, Chain]
    shared: tuple[bool, ...]
    reused: bool

    @cached_property
    def order(self) -> list[tuple[int, str]]:
        """The loops in time outside, outer to inner, as (place, loop)."""
        return sorted(
            (digit.place, loop) for loop, own in self.chains.items() for digit in own.digits if not digit.axis
        )

    def _offset(self, loop: str, place: int) -> tuple[int, ...]:
        stride = next(one.stride for one in self.chains[loop].digits if one.place == place)
        return tuple(dict(one.coefficients).get(loop, 0) * stride for one in self.operand.index)

    @cached_property
    def events(self) -> list[Event]:
        """When tiles are brought, by the rules of `delivery.visits`; those that bring nothing are left out."""
        if not self.reused:
            return [Event(None, every=True)]
        found = [Event(None)]
        inside = (0,) * len(self.operand.index)
        inmost: tuple[int, ...] | None = None
        for place, loop in reversed(self.order):
            own = self._offset(loop, place)
            moved = tuple(by - back for by, back in zip(own, inside, strict=True))
            inside = tuple(by + back for by, back in zip(own, inside, strict=True))
            inmost = moved if inmost is None else inmost
            if moved != inmost or self._shrinks(loop, place):
                found.append(Event(place))
            elif any(inmost):
                found.append(Event(place, inmost))
        return found

    def _asked(self, loop: str, event: Event, given: Mapping[int, int], instances: bool) -> list[int]:
        """What is asked of each digit of a loop: the moments of an event, instances outside as given, and those between
        the two levels, or of those that share words only the first."""
        found = []
        for k, digit in enumerate(self.chains[loop].digits):
            if k in given:
                found.append(given[k])
            elif digit.axis:
                alone = loop in self.operand.loops or not self.shared[digit.level]
                found.append(LOCAL if instances and alone else 0)
            elif event.every or (event.turns is not None and digit.place < event.turns):
                found.append(ALL)
            else:
                found.append(AGAIN if digit.place == event.turns else 0)
        return found

    def _shrinks(self, loop: str, place: int) -> bool:
        """Whether the tile that lay one step behind, when ``loop`` goes on at a place and others inside it begin again,
        may have been a smaller one, or none at all: then nothing of it can be counted on."""
        inside = {other for at, other in self.order if at > place and other in self.operand.loops} - {loop}
        return any(not self.chains[other].is_whole for other in inside)

    def words(self, given: Given, instances: bool) -> int:
        """Words that cross: to all ``instances`` inside the outer one that is given, those that share some counted
        once; else to the inner one that is given."""
        total = 0
        for event in self.events:
            states = {
                loop: own.states(self._asked(loop, event, given.get(loop, {}), instances))
                for loop, own in self.chains.items()
            }
            often = math.prod(
                sum(one.moments * one.active for one in own)
                for loop, own in states.items()
                if loop not in self.operand.loops
            )
            if often:
                own = {loop: one for loop, one in states.items() if loop in self.operand.loops}
                meet = instances and self._may_meet
                total += often * (self._together(event, own) if meet else self._apart(event, own))
        return total

    def _apart(self, event: Event, states: Mapping[str, Sequence[State]]) -> int:
        """New words of all tiles, none of which is another's."""
        options = []
        for loop, own in states.items():
            chain = self.chains[loop]
            last = sum(one.moments for one in own if one.ends)
            whole = sum(one.moments * one.active for one in own) - last
            options.append(
                [(loop, size, many) for size, many in ((chain.chunk, whole), (chain.rest, last)) if many]
            )
        total = 0
        for row in product(*options):
            key = event.turns, tuple(size for _, size, _ in row)
            if key not in self._known:
                self._known[key] = self._new({loop: size for loop, size, _ in row}, event)
            total += math.prod([many for _, _, many in row]) * self._known[key]
        return total

    @cached_property
    def _known(self) -> dict[tuple[int | None, tuple[int, ...]], int]:
        """New words by event and sizes of the loops that move the tensor, in the order of ``chains``."""
        return {}

    def _new(self, sizes: Sizes, event: Event) -> int:
        """Words of a tile of these sizes that its instance did not have before."""
        box = self.box(sizes)
        if event.offset is None:
            return math.prod(box)
        whole = {
            loop: self.chains[loop].chunk if place >= (event.turns or 0) else sizes[loop]
            for place, loop in self.order
            if loop in sizes
        }
        before = self.box({**sizes, **whole})
        kept = [
            max(0, min(now, old - abs(by))) for now, old, by in zip(box, before, event.offset, strict=True)
        ]
        return math.prod(box) - math.prod(kept)

    def box(self, sizes: Sizes) -> list[int]:
        return [
            1 + sum(abs(by) * (sizes[loop] - 1) for loop, by in dimension.coefficients)
            for dimension in self.operand.index
        ]

    @cached_property
    def _may_meet(self) -> bool:
        """Whether instances may take the same words because several loops move the same dimension."""
        for level in range(self.outer, self.inner):
            steps = [
                Step(digit.trips, offset, digit.axis)
                for loop, own in self.chains.items()
                for digit in own.digits
                if digit.axis and digit.level == level
                for offset in [self._moved(loop, digit.stride)]
                if any(offset)
            ]
            if self.shared[level] and not never_meet(steps):
                return True
        return False

    def _moved(self, loop: str, by: int) -> tuple[int, ...]:
        return tuple(dict(one.coefficients).get(loop, 0) * by for one in self.operand.index)

    def _together(self, event: Event, states: Mapping[str, Sequence[State]]) -> int:
        """New words of all tiles, those that several instances take at one moment counted once."""
        total = 0
        for row in product(*([(loop, one) for one in own] for loop, own in states.items())):
            tiles: dict[object, int] = {}
            for taken in product(*(self._tiles(loop, one) for loop, one in row)):
                sizes = {loop: size for (loop, _), (size, _) in zip(row, taken, strict=True)}
                where: dict[int, list[int]] = {}
                for (loop, _), (_, digits) in zip(row, taken, strict=True):
                    for level, key in digits:
                        self._place(where, loop, level, key)
                box = (*self._low(sizes), *self.box(sizes))
                spots = tuple((level, tuple(spot)) for level, spot in sorted(where.items()))
                tiles[spots, box] = self._new(sizes, event)
            total += math.prod(one.moments for _, one in row) * sum(tiles.values())
        return total

    def _tiles(self, loop: str, state: State) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Size of the tile, and where it lies at each level, of each instance that runs."""
        chain = self.chains[loop]
        local = [one for one in chain.digits if one.axis and self.outer <= one.level < self.inner]
        for number in range(state.active):
            rest, where = number, []
            for digit in reversed(local):
                rest, own = divmod(rest, digit.trips)
                where.append((digit.level, own * digit.stride))
            ends = state.ends and number == state.active - 1
            yield chain.rest if ends else chain.chunk, where

    def _place(self, where: dict[int, list[int]], loop: str, level: int, by: int) -> None:
        """Move a tile by iterations of a loop; where words are not shared, every instance lies elsewhere."""
        if self.shared[level]:
            spot = where.setdefault(level, [0] * len(self.operand.index))
            for dimension, moved in enumerate(self._moved(loop, by)):
                spot[dimension] += moved
        else:
            where.setdefault(level, []).append(by)

    def _low(self, sizes: Sizes) -> list[int]:
        return [
            sum(min(0, by) * (sizes[loop] - 1) for loop, by in dimension.coefficients)
            for dimension in self.operand.index
        ]

    def share(self, given: Given) -> int:
        """Words of the whole tensor for which an instance is responsible."""
        words = 1
        for loop, own in self.chains.items():
            if loop in self.operand.loops:
                asked = [
                    given.get(loop, {}).get(k, LOCAL if digit.axis else ALL)
                    for k, digit in enumerate(own.digits)
                ]
                states = own.states(asked)
                chunks = sum(one.moments * one.active for one in states)
                short = sum(one.moments for one in states if one.ends)
                words *= chunks * own.chunk - short * (own.chunk - own.rest)
        return words


def uneven_accesses(
    operand: Operand,
    mapping: HierarchyMapping,
    bounds: Mapping[str, int],
    kept: Sequence[bool],
    machine: HierarchyMachine,
) -> tuple[Accesses | None, ...]:
    """What a tensor costs at each level, outer to inner; None where it is bypassed."""
    shared = tuple(
        level.fanout.reduction if operand.writes else level.fanout.multicast for level in machine.levels
    )
    levels = [level for level, keeps in enumerate(kept) if keeps]
    ends = [*levels[1:], len(kept)]
    links = [
        Link(operand, outer, inner, chains(mapping, bounds, inner), shared, inner < len(kept))
        for outer, inner in zip(levels, ends, strict=True)
    ]
    found: list[Accesses | None] = [None] * len(kept)
    for number, link in enumerate(links):
        found[link.outer] = _at(link, links[number - 1] if number else None, machine)
    return tuple(found)


def _at(link: Link, above: Link | None, machine: HierarchyMachine) -> Accesses:
    """Accesses at the level at which ``link`` begins and ``above`` ends, of its instances, the first of which has
    most."""
    alike = {loop: own.alike(link.outer) for loop, own in link.chains.items()}
    words = math.prod(link.box({loop: _chunk(own, link.outer) for loop, own in link.chains.items()}))
    rows: dict[tuple[int, int, int], int] = {}
    for row in product(*alike.values()):
        given = {loop: digits for loop, (_, digits) in zip(alike, row, strict=True)}
        counts = _counts(link, above, given, machine)
        rows[counts] = rows.get(counts, 0) + math.prod(many for many, _ in row)
    (first, many), *others = rows.items()
    return Accesses(words, *first, many, tuple((number, *counts) for counts, number in others))


def _chunk(chain: Chain, level: int) -> int:
    """Iterations of a whole tile at a level."""
    return min(chain.bound, chain.chunk * math.prod(one.trips for one in chain.digits if one.level >= level))


def _counts(link: Link, above: Link | None, given: Given, machine: HierarchyMachine) -> tuple[int, int, int]:
    """Words that an instance reads, fills and updates."""
    operand, rules = link.operand, machine.rules
    served = link.words(given, True)
    taken = above.words(given, False) if above else 0
    if not operand.writes:
        return served, taken, 0
    zero = link.share(given) if operand.zero_initialised else 0
    reads = served - (zero if rules.first_read == "elided" else 0)
    fills = taken - (zero if above and rules.first_fill == "elided" else 0)
    return max(0, reads), max(0, fills), served
