"""The schedule that a finished search's arrays represent: every read finds its place, and registers get names."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from mapper.formulations.modulo_schedule.program.naming import named
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route
from mapper.solver.modulo_schedule.heuristic.instance import Instance
from mapper.solver.modulo_schedule.heuristic.reservation import State


@dataclass
class _Place:
    """A result on ``pe``, ready at ``time``; ``parent`` is read by its move, from a shared register if
    ``of_shared``. ``last``: the last cycle in which it is read from an own register; before ``time`` if it is
    not; ``last_shared``: from a shared one."""

    pe: int
    time: int
    last: int
    last_shared: int
    parent: _Place | None = None
    of_shared: bool = False
    register: int | None = None
    shared: int | None = None
    reads: set[int] = field(default_factory=set)


def schedule(instance: Instance, s: State, ii: int, registers: int) -> ModuloSchedule | None:
    """The schedule of a state without conflicts, its earliest issue in stage 0; None if on some PE the values in
    registers, never too many at a time, cannot be named on the circle of cycles."""
    return _Readout(instance, s, ii).schedule(registers)


class _Readout:
    def __init__(self, instance: Instance, s: State, ii: int) -> None:
        self.instance, self.s, self.ii = instance, s, ii
        self.places: list[dict[tuple[int, int], _Place]] = []
        self.final: dict[int, tuple[_Place, bool]] = {}
        for net in range(instance.operations):
            time = int(s.time[net]) + int(instance.latency[net])
            self.places.append({(int(s.pe[net]), time): _Place(int(s.pe[net]), time, time - 1, time - 1)})
        # What is written to shared registers, by value: when it gets ready, and on which PE.
        self.written: dict[int, set[tuple[int, int]]] = defaultdict(set)
        edges = [edge for edge, carries in enumerate(instance.carries) if carries]
        for edge in edges:
            net = int(instance.source[edge])
            for hop in range(int(s.hops[edge])):
                pe, time, kept = (int(entry) for entry in s.way[edge, hop])
                self.places[net].setdefault((pe, time), _Place(pe, time, time - 1, time - 1))
                if kept == 2:
                    self.written[net].add((time, pe))
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
            linked = bool(self.instance.linked[pe, by])
            shared = int(s.way[edge, hop, 2]) == 2 and not (linked and cycle < self._overwritten(place))
            if shared:
                time, pe = max(write for write in self.written[net] if write[0] <= cycle)
                place = known[pe, time]
                place.last_shared = max(place.last_shared, cycle)
            elif self._overwritten(place) <= cycle:
                assert by == pe
                place.last = max(place.last, cycle)
                place.reads.add(cycle)
            if made is None:
                self.final[edge] = place, shared
            else:
                made.parent, made.of_shared = place, shared

    def _overwritten(self, place: _Place) -> int:
        """The first cycle in which the output register holds something else."""
        gaps = ((phase - place.time - 1) % self.ii for phase in self.ready[place.pe])
        return place.time + 1 + min(gaps)

    def schedule(self, registers: int) -> ModuloSchedule | None:
        used: dict[int, list[_Place]] = defaultdict(list)
        issued = [int(time) for time in self.s.time]
        needed: dict[int, _Place] = {}
        for end, _ in self.final.values():
            place: _Place | None = end
            while place is not None and id(place) not in needed:
                needed[id(place)] = place
                place = place.parent
        for place in needed.values():
            if place.parent is not None:
                issued.append(place.time - 1)
            if place.last >= place.time:
                used[place.pe].append(place)
        for places in used.values():
            names = named([(place.time, place.last) for place in places], self.ii, registers)
            if names is None:
                return None
            for place, name in zip(places, names, strict=True):
                place.register = name
        shared = [place for place in needed.values() if place.last_shared >= place.time]
        lives = [(place.time, place.last_shared) for place in shared]
        names = named(lives, self.ii, self.instance.shared_registers)
        if names is None:
            return None
        for place, name in zip(shared, names, strict=True):
            place.shared = registers + name
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
        place: _Place | None
        place, shared = self.final[edge]
        while place is not None:
            pe, time = self.instance.pes[place.pe], place.time + shift
            if place.parent is not None:
                hops.append(Hop(pe, time, "move", place.shared if shared else place.register))
            else:
                kept = place.shared if shared else place.register if cycle in place.reads else None
                hops.append(Hop(pe, time, "output" if kept is None else "register", kept))
            cycle, shared, place = place.time - 1, place.of_shared, place.parent
        return tuple(reversed(hops))
