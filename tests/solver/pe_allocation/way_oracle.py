"""Whether an allocation of single PEs has a placement with ways for all its streams, by trying everything.

Between single PEs there is nothing to spread within regions, so that loads are those of the ways alone.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from tests.solver.pe_allocation.placement_oracle import every_placement

Asked = tuple[Pe | None, Pe | None, Fraction, Fraction, int]
"""Where a stream begins and ends (None: anywhere at the border), words there and back, and buffers."""


def has_ways(network: StreamNetwork, machine: TcpaMachine, paces: tuple[int, ...]) -> bool:
    most, border = machine.border.buffers, len(machine.border_pes)
    if (
        most is not None
        and sum(one[-1] for one in _asked(network, [(0, 0)] * len(paces), paces)) > most * border
    ):
        return False
    return any(
        _fits(
            machine,
            sorted(_asked(network, [region[0] for region in regions], paces), key=_first),
            {},
            Counter(),
        )
        for regions in every_placement(machine, (1,) * len(paces))
    )


def _first(one: Asked) -> Fraction:
    return -one[2] - one[3]


def _asked(network: StreamNetwork, at: list[Pe], paces: tuple[int, ...]) -> Iterator[Asked]:
    for number, layer in enumerate(network.layers):
        made = [Fraction(network.layers[feed].maps, paces[feed]) for feed in layer.feeds]
        read = Fraction(sum(network.layers[feed].maps for feed in layer.feeds) * layer.window, paces[number])
        for feed, words in zip(layer.feeds, made, strict=True):
            yield at[feed], at[number], words, Fraction(0), 0
        yield None, at[number], read, sum(made, Fraction(0)), 1 + bool(layer.feeds)
        if not layer.feeds:
            yield None, at[number], Fraction(layer.channels * layer.window, paces[number]), Fraction(0), 1
        if not network.readers[number]:
            yield at[number], None, Fraction(layer.maps, paces[number]), Fraction(0), 1


def _fits(
    machine: TcpaMachine,
    asked: list[Asked],
    words: Mapping[tuple[Pe | None, Pe | None], Fraction],
    held: Mapping[Pe, int],
) -> bool:
    """Whether the streams that are left find ways beside what links and border PEs have already."""
    if not asked:
        return True
    source, target, there, back, buffers = asked[0]
    ways = list(_ways(machine, source, target))
    if machine.link_words is None or not there + back:
        # Of ways that load nothing the ends alone matter.
        ways = list({(way[0], way[-1]): way for way in ways}.values())
    for way in ways:
        loaded, kept = defaultdict(Fraction, words), Counter(held)
        for one, other in itertools.pairwise(way):
            loaded[one, other] += there
            loaded[other, one] += back
        if source is None:
            loaded[None, way[0]] += there
            loaded[way[0], None] += back
            kept[way[0]] += buffers
        if target is None:
            loaded[way[-1], None] += there
            kept[way[-1]] += buffers
        if _within(machine, loaded, kept) and _fits(machine, asked[1:], loaded, kept):
            return True
    return False


def _within(
    machine: TcpaMachine, words: Mapping[tuple[Pe | None, Pe | None], Fraction], held: Counter[Pe]
) -> bool:
    if machine.link_words is not None:
        for (one, other), load in words.items():
            at = one if other is None else other if one is None else None
            if load > machine.link_words * (1 if at is None else len(machine.sides_of(at))):
                return False
    return machine.border.buffers is None or max(held.values(), default=0) <= machine.border.buffers


def _ways(machine: TcpaMachine, source: Pe | None, target: Pe | None) -> Iterator[tuple[Pe, ...]]:
    """All ways without a PE twice."""
    starts = sorted(machine.border_pes) if source is None else [source]
    ends = machine.border_pes if target is None else {target}

    def grown(way: tuple[Pe, ...]) -> Iterator[tuple[Pe, ...]]:
        if way[-1] in ends:
            yield way
        for near in machine.neighbours[way[-1]]:
            if near not in way:
                yield from grown((*way, near))

    for start in starts:
        yield from grown((start,))
