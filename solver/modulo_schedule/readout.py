"""The schedule that a finished search's arrays stand for: every read finds its place, and registers get names."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route
from mapper.solver.modulo_schedule.instance import Instance
from mapper.solver.modulo_schedule.reservation import State

NAMINGS = 20_000
"""Assignments looked at for the registers of one PE, at the most."""


@dataclass
class _Place:
    """A result on ``pe``, ready at ``time``; ``parent`` is read by its move. ``last``: the last cycle in which
    it is read from a register; before ``time`` if it is not."""

    pe: int
    time: int
    last: int
    parent: _Place | None = None
    register: int | None = None
    reads: set[int] = field(default_factory=set)


def schedule(instance: Instance, s: State, ii: int, registers: int) -> ModuloSchedule | None:
    """The schedule of a state without conflicts, its earliest issue in stage 0; None if on some PE the values in
    registers, never too many at a time, cannot be named on the circle of cycles."""
    return _Readout(instance, s, ii).schedule(registers)


class _Readout:
    def __init__(self, instance: Instance, s: State, ii: int) -> None:
        self.instance, self.s, self.ii = instance, s, ii
        self.places: list[dict[tuple[int, int], _Place]] = []
        self.final: dict[int, _Place] = {}
        for net in range(instance.operations):
            time = int(s.time[net]) + int(instance.latency[net])
            self.places.append({(int(s.pe[net]), time): _Place(int(s.pe[net]), time, time - 1)})
        edges = [edge for edge, carries in enumerate(instance.carries) if carries]
        for edge in edges:
            known = self.places[int(instance.source[edge])]
            for hop in range(1, int(s.hops[edge])):
                at = int(s.way[edge, hop, 0]), int(s.way[edge, hop, 1])
                known.setdefault(at, _Place(*at, at[1] - 1))
        ready: dict[int, set[int]] = defaultdict(set)
        for known in self.places:
            for pe, time in known:
                ready[pe].add(time % ii)
        self.ready = ready
        for edge in edges:
            self._follow(edge)

    def _follow(self, edge: int) -> None:
        """Let every read of a route find the place that holds the value then."""
        s, net, hops = self.s, int(self.instance.source[edge]), int(self.s.hops[edge])
        known = self.places[net]
        consumer = int(self.instance.destination[edge])
        reader = int(s.pe[consumer])
        until = int(s.time[consumer]) + int(self.instance.iterations[edge]) * self.ii
        for hop in range(hops):
            pe = int(s.way[edge, hop, 0])
            more = hop + 1 < hops
            by = int(s.way[edge, hop + 1, 0]) if more else reader
            cycle = int(s.way[edge, hop + 1, 1]) - 1 if more else until
            made = known[by, cycle + 1] if more else None
            if made is not None and made.parent is not None:
                continue
            # What the value itself overwrote on the way is read where it was written last.
            place = known[pe, max(time for at, time in known if at == pe and time <= cycle)]
            if self._overwritten(place) <= cycle:
                assert by == pe
                place.last = max(place.last, cycle)
                place.reads.add(cycle)
            if made is None:
                self.final[edge] = place
            else:
                made.parent = place

    def _overwritten(self, place: _Place) -> int:
        """The first cycle in which the output register holds something else."""
        gaps = ((phase - place.time - 1) % self.ii for phase in self.ready[place.pe])
        return place.time + 1 + min(gaps)

    def schedule(self, registers: int) -> ModuloSchedule | None:
        used: dict[int, list[_Place]] = defaultdict(list)
        issued = [int(time) for time in self.s.time]
        needed: dict[int, _Place] = {}
        for end in self.final.values():
            place: _Place | None = end
            while place is not None and id(place) not in needed:
                needed[id(place)] = place
                place = place.parent
        for place in needed.values():
            if place.parent is not None:
                issued.append(place.time - 1)
            if place.last >= place.time:
                used[place.pe].append(place)
        if not all(_named(places, self.ii, registers) for places in used.values()):
            return None
        shift = -(min(issued, default=0) // self.ii) * self.ii
        pes = self.instance.pes
        placements = tuple(
            Placement(pes[int(pe)], int(time) + shift)
            for pe, time in zip(self.s.pe, self.s.time, strict=True)
        )
        routes = tuple(
            Route(edge, self._hops(edge, shift) if carries else ())
            for edge, carries in enumerate(self.instance.carries)
        )
        return ModuloSchedule(self.ii, placements, routes)

    def _hops(self, edge: int, shift: int) -> tuple[Hop, ...]:
        consumer = int(self.instance.destination[edge])
        cycle = int(self.s.time[consumer]) + int(self.instance.iterations[edge]) * self.ii
        hops: list[Hop] = []
        place: _Place | None = self.final[edge]
        while place is not None:
            pe, time = self.instance.pes[place.pe], place.time + shift
            kept = place.register if cycle in place.reads else None
            if place.parent is not None:
                hops.append(Hop(pe, time, "move", place.register))
            else:
                hops.append(Hop(pe, time, "output" if kept is None else "register", kept))
            cycle, place = place.time - 1, place.parent
        return tuple(reversed(hops))


def _named(places: list[_Place], ii: int, registers: int) -> bool:
    """Name the registers of one PE, depth first, the longest values first; False if that does not succeed."""
    places.sort(key=lambda place: (place.time - place.last, place.time % ii, place.time))
    cycles = [sum(1 << (cycle % ii) for cycle in range(place.time, place.last + 1)) for place in places]
    occupied = [0] * registers
    chosen = [-1] * len(places)
    position = 0
    for _ in range(NAMINGS):
        if position == len(places):
            for place, register in zip(places, chosen, strict=True):
                place.register = register
            return True
        register = chosen[position]
        if register >= 0:
            occupied[register] &= ~cycles[position]
        # An empty register is as good as the next one.
        stop = registers if register < 0 or occupied[register] else register + 1
        free = next((r for r in range(register + 1, stop) if not occupied[r] & cycles[position]), -1)
        chosen[position] = free
        if free >= 0:
            occupied[free] |= cycles[position]
            position += 1
        elif position == 0:
            return False
        else:
            position -= 1
    return False
