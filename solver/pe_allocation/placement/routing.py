"""Ways for the streams of placed layers under the limits of links and border PEs, by negotiation.

Every stream takes a cheapest way; links and border PEs that carry more than they can become dearer, and the streams
over them look for other ways, until nothing is overloaded or the work is done.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.mapping import Way
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.stream.traffic import Demand, Link, Roads, StreamKey, Traffic, capacity

ROUNDS = 40
"""Times that the streams over overloaded links look for other ways."""
PATIENCE = 12
"""Rounds in a row in which nothing gets better before the search ends."""
LENGTH, CROWDED = 16, 48
"""What a link costs, and what it costs more for each stream's worth that it would carry too much; and each round that
found it so."""

Ways = dict[StreamKey, tuple[Pe, ...]]


class Router:
    """Ways of the streams of one run, with what they load. ``over``: what is overloaded, in links and border PEs."""

    def __init__(
        self,
        network: StreamNetwork,
        machine: TcpaMachine,
        regions: Mapping[int, Sequence[Pe]],
        plan: Traffic,
    ) -> None:
        self.machine, self.plan, self.regions = machine, plan, regions
        self.roads = Roads(network, machine, regions, plan)
        self.ways: Ways = {}
        self.load: dict[Link, int] = {}
        self.held: dict[Pe, int] = {}
        self.dear: dict[Link | Pe, int] = {}
        self.arriving: dict[int, list[Demand]] = {}
        for demand in plan.demands:
            if demand.kind == "maps" and demand.target is not None:
                self.arriving.setdefault(demand.target, []).append(demand)

    def routed(self) -> bool:
        """Look for ways; whether nothing is overloaded."""
        order = sorted(self.plan.demands, key=lambda one: (one.kind != "weights", -one.down - one.up))
        for demand in order:
            self._take(demand)
        best, best_ways, idle = self._excess(), dict(self.ways), 0
        for _ in range(ROUNDS):
            if best == 0 or idle == PATIENCE:
                break
            links, pes = self._overloaded()
            crowded: list[Link | Pe] = [*links, *pes]
            for place in crowded:
                self.dear[place] = self.dear.get(place, 0) + CROWDED
            for demand in order:
                if self._touches(demand, links, pes):
                    self._take(demand)
            now, idle = self._excess(), idle + 1
            if now < best:
                best, best_ways, idle = now, dict(self.ways), 0
        self.ways = best_ways
        return best == 0

    def keep(self, ways: Ways) -> bool:
        """Take ``ways`` as they are; whether nothing is overloaded. Else they are given up."""
        self.ways = dict(ways)
        for demand in self.plan.demands:
            self._charge(demand, 1)
        if self._excess() == 0:
            return True
        self.ways, self.load, self.held = {}, {}, {}
        return False

    def found(self) -> tuple[Way, ...]:
        """The ways, in the order of the streams."""
        return tuple(
            Way(demand.kind, demand.source, demand.target, self.ways[demand.key])
            for demand in self.plan.demands
        )

    def _excess(self) -> int:
        links, pes = self._overloaded()
        return sum(links.values()) + self.plan.cycles * sum(pes.values())

    def _overloaded(self) -> tuple[dict[Link, int], dict[Pe, int]]:
        links = {}
        for link, words in self.load.items():
            most = capacity(self.machine, link)
            if most is not None and words > most * self.plan.cycles:
                links[link] = words - most * self.plan.cycles
        most = self.machine.border.buffers
        pes = {} if most is None else {pe: held - most for pe, held in self.held.items() if held > most}
        return links, pes

    def _touches(self, demand: Demand, links: Mapping[Link, int], pes: Mapping[Pe, int]) -> bool:
        if demand.buffers and self._border(demand) in pes:
            return True
        return any(words and link in links for link, words in self.roads.charges(demand, self.ways))

    def _border(self, demand: Demand) -> Pe:
        """The PE at whose buffers a stream begins or ends; of streams between layers the first."""
        return self.ways[demand.key][-1 if demand.target is None else 0]

    def _take(self, demand: Demand) -> None:
        """A new way for one stream, the old one given up. What arrives for a layer is handed on to where its line
        buffers are reached, which a new way of the layer's own may change."""
        moved = [demand]
        if demand.kind == "weights" and demand.target is not None and demand.key in self.ways:
            moved += [one for one in self.arriving.get(demand.target, []) if one.key in self.ways]
        if demand.key in self.ways:
            for one in moved:
                self._charge(one, -1)
        self.ways[demand.key] = self._way(demand)
        for one in moved:
            self._charge(one, 1)

    def _charge(self, demand: Demand, sign: int) -> None:
        for link, words in self.roads.charges(demand, self.ways):
            if words:
                self.load[link] = self.load.get(link, 0) + sign * words
        if demand.buffers:
            border = self._border(demand)
            self.held[border] = self.held.get(border, 0) + sign * demand.buffers

    def _way(self, demand: Demand) -> tuple[Pe, ...]:
        """A cheapest way (Dijkstra), looked for from the region's end to the buffers or the other region."""
        forward = demand.source is not None
        near = self.regions[demand.source if demand.source is not None else demand.target or 0]
        down, up = (demand.down, demand.up) if forward else (demand.up, demand.down)
        ends = self._ends(demand)
        cost = {pe: self._entering(demand, pe) for pe in near}
        before: dict[Pe, Pe] = {}
        waiting = sorted((value, pe, False) for pe, value in cost.items())
        done: set[Pe] = set()
        while waiting:
            value, pe, ended = heapq.heappop(waiting)
            if ended:
                way = [pe]
                while pe in before:
                    pe = before[pe]
                    way.append(pe)
                return tuple(reversed(way) if forward else way)
            if pe in done:
                continue
            done.add(pe)
            if pe in ends:
                heapq.heappush(waiting, (value + ends[pe], pe, True))
            for other in self.machine.neighbours[pe]:
                if other in done:
                    continue
                step = value + LENGTH + self._price((pe, other), down) + self._price((other, pe), up)
                if other not in cost or step < cost[other]:
                    cost[other], before[other] = step, pe
                    heapq.heappush(waiting, (step, other, False))
        raise AssertionError("the PEs of an array are joined by its links")

    def _ends(self, demand: Demand) -> dict[Pe, int]:
        """Where a way may end, with what that costs: at border PEs, or in the reader's region."""
        if demand.source is not None and demand.target is not None:
            return dict.fromkeys(self.regions[demand.target], 0)
        into, out = (demand.down, demand.up) if demand.source is None else (0, demand.down)
        most = self.machine.border.buffers
        found = {}
        for pe in self.machine.border_pes:
            price = self._price((None, pe), into) + self._price((pe, None), out)
            if most is not None and demand.buffers:
                over = self.held.get(pe, 0) + demand.buffers - most
                price += self.dear.get(pe, 0) + CROWDED * max(0, over)
            found[pe] = price
        return found

    def _entering(self, demand: Demand, pe: Pe) -> int:
        """What it costs that a stream enters or leaves a region there, for the links within."""
        at = demand.source if demand.source is not None else demand.target
        if at is None or not self.dear:
            return 0
        leaves = demand.source is not None
        return sum(
            self._price((child, parent) if leaves else (parent, child), demand.down)
            for parent, child, _ in self.roads.tree(at, pe)
        )

    def _price(self, link: Link, words: int) -> int:
        """What ``words`` more cost on a link beside its length."""
        if not words:
            return 0
        most = capacity(self.machine, link)
        if most is None:
            return 0
        over = self.load.get(link, 0) + words - most * self.plan.cycles
        price = self.dear.get(link, 0)
        return price if over <= 0 else price + CROWDED + CROWDED * over // max(1, words)
