"""The referee of ways: whether every stream has one, and no link and no border PE is asked for more than it has.

Counts of its own, in fractions of words a cycle; without ways in the mapping those are judged that the configuration
takes.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.verdict import BrokenRule
from mapper.models.pe_allocation.configuration.interconnect import shortest_ways
from mapper.models.pe_allocation.cost import AllocationCost
from mapper.models.pe_allocation.mapping import Allocation, Pe, Placement

CONNECTED_WAYS = "every stream has one way over the links, from where it begins to where it ends"
CARRIED = "no link carries more words a cycle than it can"
HELD = "no border PE is given more buffers than it reaches"

Ends = tuple[str, int | None, int | None]
Loads = defaultdict[tuple[object, object], Fraction]


def verify_ways(
    problem: AllocationProblem, allocation: Allocation, cost: AllocationCost, runs: Sequence[range]
) -> Iterator[BrokenRule]:
    """Faults of the ways of an allocation whose regions stand on PEs of the array, each in one piece."""
    placed, machine = allocation.placement, problem.machine
    if placed is None or not (placed.ways or machine.has_limits):
        return
    given = placed.ways or shortest_ways(problem.network, machine, placed.regions, runs)
    ways: dict[Ends, tuple[Pe, ...]] = {}
    for way in given:
        key: Ends = (way.kind, way.source, way.target)
        if key in ways:
            yield BrokenRule(CONNECTED_WAYS, _named(problem, key), 2)
        ways[key] = way.pes
    wanted = [key for members in runs for key in _streams(problem, members)]
    for key in sorted(set(wanted) ^ set(ways), key=str):
        yield BrokenRule(CONNECTED_WAYS, _named(problem, key), 1)
    broken = [key for key in wanted if key in ways and _astray(machine, placed, key, ways[key])]
    for key in broken:
        yield BrokenRule(CONNECTED_WAYS, _named(problem, key), len(ways[key]))
    if broken or set(wanted) != set(ways):
        return
    for members in runs:
        judge = _Judge(problem, placed, cost, members, ways)
        yield from judge.overloaded()


def verify_buffers(problem: AllocationProblem, runs: Sequence[range]) -> Iterator[BrokenRule]:
    """Buffers of layers without places that are more than all border PEs reach."""
    held, border = problem.machine.border.buffers, problem.machine.border_pes
    layers = problem.network.layers
    if held is None:
        return
    for members in runs:
        count = pairs = 0
        for kind, _, target in _streams(problem, members):
            if kind == "weights" and target is not None:
                has_line_buffer = not set(layers[target].feeds).isdisjoint(members)
                has_weights = layers[target].operation == "convolution"
                count += has_line_buffer + has_weights
                pairs += has_line_buffer and has_weights
            elif kind != "maps":
                count += 1
        # What a layer needs two of is at one border PE.
        excess = max(count - held * len(border), 2 * (pairs - held // 2 * len(border)))
        if excess > 0:
            yield BrokenRule(HELD, layers[members[0]].name, excess)


def _streams(problem: AllocationProblem, members: range) -> Iterator[Ends]:
    layers = problem.network.layers
    for at in members:
        yield "weights", None, at
        for feed in layers[at].feeds:
            if feed in members:
                yield "maps", feed, at
        if not layers[at].feeds:
            yield "frame", None, at
        elif not set(layers[at].feeds) <= set(members):
            yield "stored", None, at
        readers = {reader for reader, layer in enumerate(layers) if at in layer.feeds}
        if not readers:
            yield "result", at, None
        elif not readers <= set(members):
            yield "stored", at, None


def _astray(machine: TcpaMachine, placed: Placement, key: Ends, way: Sequence[Pe]) -> bool:
    _, source, target = key
    border = machine.border_pes
    first = border if source is None else placed.regions[source]
    last = border if target is None else placed.regions[target]
    return (
        not way
        or way[0] not in first
        or way[-1] not in last
        or len(set(way)) < len(way)
        or any(two not in machine.neighbours.get(one, ()) for one, two in itertools.pairwise(way))
    )


def _named(problem: AllocationProblem, key: Ends) -> str:
    count = len(problem.network.layers)
    kind, *ends = key
    named = ["buffers" if at is None or not 0 <= at < count else problem.network.names[at] for at in ends]
    return f"{kind}: {named[0]} to {named[1]}"


class _Judge:
    """The links and border PEs of one run, loaded stream by stream."""

    def __init__(
        self,
        problem: AllocationProblem,
        placed: Placement,
        cost: AllocationCost,
        members: range,
        ways: dict[Ends, tuple[Pe, ...]],
    ) -> None:
        self.layers, self.machine, self.members = problem.network.layers, problem.machine, members
        self.regions, self.cost, self.ways = placed.regions, cost, ways
        self.words: Loads = defaultdict(Fraction)
        self.buffers: defaultdict[Pe, int] = defaultdict(int)
        for key in _streams(problem, members):
            self._carry(key)

    def overloaded(self) -> Iterator[BrokenRule]:
        """What is asked for more than it has, with the excess."""
        most, held = self.machine.link_words, self.machine.border.buffers
        if most is not None:
            for (one, other), words in sorted(self.words.items(), key=str):
                at = one if other == "buffers" else other if one == "buffers" else None
                links = 1 if at is None else len(self.machine.sides_of(at))  # type: ignore[arg-type]
                if words > most * links:
                    yield BrokenRule(
                        CARRIED, f"{_place(one)} to {_place(other)}", float(words - most * links)
                    )
        if held is not None:
            for pe, count in sorted(self.buffers.items()):
                if count > held:
                    yield BrokenRule(HELD, _place(pe), count - held)

    def _made(self, at: int) -> Fraction:
        """Words a cycle that a layer makes."""
        return Fraction(self.layers[at].maps, self.cost.timed[at].z_out)

    def _carry(self, key: Ends) -> None:
        kind, source, target = key
        way = self.ways[key]
        if source is not None:
            made = self._made(source)
            self._along(way, made)
            self._gather(source, way[0], made)
            if target is None:
                self.words[way[-1], "buffers"] += made
                self.buffers[way[-1]] += 1
            else:
                # On to where the layer that reads them reaches its line buffers.
                hub = self.ways["weights", None, target][-1]
                self._along(_up(self._parents(target, hub), way[-1]), made)
            return
        assert target is not None
        layer = self.layers[target]
        inner = [feed for feed in layer.feeds if feed in self.members]
        outer = [feed for feed in layer.feeds if feed not in self.members]
        if kind == "frame":
            maps = layer.channels
        else:
            maps = sum(self.layers[feed].maps for feed in (inner if kind == "weights" else outer))
        read = Fraction(maps * layer.kernel[0] * layer.kernel[1], self.cost.timed[target].z_out)
        self.words["buffers", way[0]] += read
        self._along(way, read)
        self._spread(target, way[-1], read)
        if kind != "weights":
            self.buffers[way[0]] += 1
            return
        written = sum((self._made(feed) for feed in inner), Fraction(0))
        self.words[way[0], "buffers"] += written
        self._along(way[::-1], written)
        self.buffers[way[0]] += bool(inner) + (layer.operation == "convolution")

    def _along(self, way: Sequence[Pe], words: Fraction) -> None:
        for one, other in itertools.pairwise(way):
            self.words[one, other] += words

    def _gather(self, at: int, hub: Pe, words: Fraction) -> None:
        """The results of a layer's PEs, each with its filters, come together at one of them."""
        for pe, filters in self._filters(at):
            self._along(_up(self._parents(at, hub), pe), words * filters)

    def _spread(self, at: int, hub: Pe, words: Fraction) -> None:
        """Windows go to every PE: whole where its filters read all maps, else each PE's own maps alone."""
        layer, parents = self.layers[at], self._parents(at, hub)
        if layer.operation == "convolution" and (layer.groups == 1 or layer.filters > layer.groups):
            for pe, above in parents.items():
                if above is not None:
                    self.words[above, pe] += words
            return
        for pe, filters in self._filters(at):
            self._along(_up(parents, pe)[::-1], words * filters)

    def _filters(self, at: int) -> list[tuple[Pe, Fraction]]:
        """The share of a layer's filters that each of its PEs has: 0, P, 2P, ... of the first (Algorithm 3)."""
        region, filters = self.regions[at], self.layers[at].filters
        return [
            (pe, Fraction((filters - number - 1) // len(region) + 1, filters))
            for number, pe in enumerate(region[:filters])
        ]

    def _parents(self, at: int, hub: Pe) -> dict[Pe, Pe | None]:
        """A region's breadth-first tree: level by level, PEs in the order in which they were reached, neighbours row by
        row."""
        inside, level = set(self.regions[at]), [hub]
        parents: dict[Pe, Pe | None] = {hub: None}
        while level:
            beyond = []
            for pe in level:
                for near in sorted(self.machine.neighbours[pe]):
                    if near in inside and near not in parents:
                        parents[near] = pe
                        beyond.append(near)
            level = beyond
        return parents


def _up(parents: dict[Pe, Pe | None], pe: Pe) -> list[Pe]:
    """From a PE of a region to its tree's root."""
    way, above = [pe], parents[pe]
    while above is not None:
        way.append(above)
        above = parents[above]
    return way


def _place(at: object) -> str:
    return at if isinstance(at, str) else str(list(at))  # type: ignore[call-overload]
