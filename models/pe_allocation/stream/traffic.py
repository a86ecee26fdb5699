"""What the streams of layers that work at once carry, and which links they load [Heidorn2019, Fig. 1(a)].

The paper counts neither; this count is the project's. Weights are in the PEs before the first frame. From then on a
layer gets, for each of its positions, the pixels of the window from its line buffers in the border's buffers, and
hands the pixels that are made for it on to them. All rates are those of a layer at work, at its own pace: words of a
position over its cycles.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.mapping import StreamKind, Way
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork

StreamKey = tuple[StreamKind, int | None, int | None]
Link = tuple[Pe | None, Pe | None]
"""From a PE to a PE next to it; None: the buffers that the other one reaches."""


@dataclass(frozen=True)
class Demand:
    """A stream: from the layer at ``source`` to that at ``target`` (positions; None: the buffers). ``down`` words in
    ``Traffic.cycles`` go that way, ``up`` words back, and it takes ``buffers`` at the border."""

    kind: StreamKind
    source: int | None
    target: int | None
    down: int
    up: int
    buffers: int

    @property
    def key(self) -> StreamKey:
        return self.kind, self.source, self.target


@dataclass(frozen=True)
class Traffic:
    """The streams of one run: rates are whole numbers of words in so many ``cycles``."""

    cycles: int
    demands: tuple[Demand, ...]

    @property
    def buffers(self) -> int:
        return sum(demand.buffers for demand in self.demands)


def stream_keys(network: StreamNetwork, members: range) -> Iterator[StreamKey]:
    """The streams of the layers ``members``, which work at once, layer by layer."""
    for at in members:
        layer, readers = network.layers[at], network.readers[at]
        yield "weights", None, at
        if not layer.feeds:
            yield "frame", None, at
        elif any(feed not in members for feed in layer.feeds):
            yield "stored", None, at
        for feed in layer.feeds:
            if feed in members:
                yield "maps", feed, at
        if not readers:
            yield "result", at, None
        elif any(reader not in members for reader in readers):
            yield "stored", at, None


def traffic(network: StreamNetwork, z_out: Sequence[int], members: range) -> Traffic:
    """What these streams carry with ``z_out`` cycles a position (of every layer of the network)."""
    cycles = math.lcm(*(z_out[at] for at in members))
    found = []
    for kind, source, target in stream_keys(network, members):
        down, up, buffers = 0, 0, 1
        if source is not None:
            down = network.layers[source].maps * (cycles // z_out[source])
            buffers = 0 if kind == "maps" else 1
        elif target is not None:
            layer, pace = network.layers[target], cycles // z_out[target]
            made_now = kind == "weights"
            feeds = [network.layers[feed] for feed in layer.feeds if (feed in members) == made_now]
            maps = layer.channels if kind == "frame" else sum(feed.maps for feed in feeds)
            down = maps * layer.window * pace
            if kind == "weights":
                up = sum(
                    network.layers[at].maps * (cycles // z_out[at]) for at in layer.feeds if at in members
                )
                buffers = (layer.weight_words > 0) + (up > 0)
        found.append(Demand(kind, source, target, down, up, buffers))
    return Traffic(cycles, tuple(found))


def fits(plan: Traffic, machine: TcpaMachine) -> bool:
    """Whether nothing by argument alone keeps the streams from the buffers: there are enough of these, the links to
    them carry all streams together, and one of them each alone."""
    buffers, border = machine.border.buffers, machine.border_pes
    if buffers is not None and plan.buffers > buffers * len(border):
        return False
    if machine.link_words is None:
        return True
    widest = max(len(machine.sides_of(pe)) for pe in border) * machine.link_words * plan.cycles
    every = sum(len(machine.sides_of(pe)) for pe in border) * machine.link_words * plan.cycles
    into = [d.down for d in plan.demands if d.source is None]
    out = [d.down for d in plan.demands if d.target is None] + [d.up for d in plan.demands]
    return max(sum(into), sum(out)) <= every and max(*into, *out) <= widest


class Roads:
    """The streams of one run on their ways: which links each of them loads, the ones within regions included.

    Within a region a stream follows the breadth-first tree from the PE where it enters or leaves: pixels of windows
    reach all PEs that need them, and results come together. Pixels of a layer before are handed from where they
    arrive to where the layer's line buffers are reached.
    """

    def __init__(
        self, network: StreamNetwork, machine: TcpaMachine, regions: Mapping[int, Sequence[Pe]], plan: Traffic
    ) -> None:
        self.network, self.machine, self.regions, self.plan = network, machine, regions, plan
        self._trees: dict[tuple[int, Pe], tuple[tuple[Pe, Pe, int], ...]] = {}

    def charges(self, demand: Demand, ways: Mapping[StreamKey, Sequence[Pe]]) -> Iterator[tuple[Link, int]]:
        """Every link that a stream loads, and with how many words in ``plan.cycles``."""
        way, source, target = ways[demand.key], demand.source, demand.target
        for one, other in itertools.pairwise(way):
            yield (one, other), demand.down
            yield (other, one), demand.up
        if source is None:
            yield (None, way[0]), demand.down
            yield (way[0], None), demand.up
        else:
            filters = self.network.layers[source].filters
            for parent, child, below in self.tree(source, way[0]):
                yield (child, parent), -(-demand.down * below // filters)
        if target is None:
            yield (way[-1], None), demand.down
        elif demand.kind == "maps":
            yield from self._handed_on(target, way[-1], ways["weights", None, target][-1], demand.down)
        else:
            layer = self.network.layers[target]
            whole = reads_all(layer)
            for parent, child, below in self.tree(target, way[-1]):
                yield (parent, child), demand.down if whole else -(-demand.down * below // layer.filters)

    def tree(self, at: int, root: Pe) -> tuple[tuple[Pe, Pe, int], ...]:
        """The links of a region's tree, parent and child, with the filters of the PEs that lie beyond."""
        if (at, root) not in self._trees:
            region, filters = self.regions[at], self.network.layers[at].filters
            below = {pe: len(range(number, filters, len(region))) for number, pe in enumerate(region)}
            above: dict[Pe, Pe] = {}
            order = [root]
            for pe in order:
                for near in self.machine.neighbours[pe]:
                    if near in below and near != root and near not in above:
                        above[near] = pe
                        order.append(near)
            for pe in reversed(order[1:]):
                below[above[pe]] += below[pe]
            self._trees[at, root] = tuple((above[pe], pe, below[pe]) for pe in order[1:])
        return self._trees[at, root]

    def _handed_on(self, at: int, start: Pe, root: Pe, words: int) -> Iterator[tuple[Link, int]]:
        above = {child: parent for parent, child, _ in self.tree(at, root)}
        while start != root:
            yield (start, above[start]), words
            start = above[start]


def loading_cycles(network: StreamNetwork, machine: TcpaMachine) -> int | None:
    """Cycles that the weights of all layers take over the links to the buffers at the least; None if these carry any
    number of words."""
    if machine.link_words is None:
        return None
    links = sum(len(machine.sides_of(pe)) for pe in machine.border_pes)
    return -(-sum(layer.weight_words for layer in network.layers) // (machine.link_words * links))


def reads_all(layer: StreamLayer) -> bool:
    """Whether every PE of a layer needs all pixels of a window; else each needs those of its own maps alone."""
    return layer.operation == "convolution" and (layer.groups == 1 or layer.filters > layer.groups)


def sides(machine: TcpaMachine, link: Link) -> int:
    """Links that ``link`` stands for: of one to the buffers one for each side that the PE stands at."""
    one, other = link
    at = one if other is None else other if one is None else None
    return 1 if at is None else len(machine.sides_of(at))


def capacity(machine: TcpaMachine, link: Link) -> int | None:
    """Words a cycle that ``link`` carries; None: any number."""
    return None if machine.link_words is None else machine.link_words * sides(machine, link)


def loads(roads: Roads, ways: Mapping[StreamKey, Sequence[Pe]]) -> dict[Link, int]:
    """Words in ``plan.cycles`` of every link that carries any."""
    found: dict[Link, int] = {}
    for demand in roads.plan.demands:
        for link, words in roads.charges(demand, ways):
            if words:
                found[link] = found.get(link, 0) + words
    return found


def buffers_at(plan: Traffic, ways: Mapping[StreamKey, Sequence[Pe]]) -> dict[Pe, int]:
    """The buffers that the streams take at each border PE."""
    found: dict[Pe, int] = {}
    for demand in plan.demands:
        if demand.buffers:
            way = ways[demand.key]
            border = way[-1] if demand.target is None else way[0]
            found[border] = found.get(border, 0) + demand.buffers
    return found


def by_key(ways: Sequence[Way]) -> dict[StreamKey, tuple[Pe, ...]]:
    """Ways by their streams."""
    return {(way.kind, way.source, way.target): way.pes for way in ways}
