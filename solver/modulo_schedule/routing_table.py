"""The modulo reservation table with routes: slots, output registers and registers in use at one II.

Every value is a tree of places. Its root is the producer's result, every other place is written by a move that
reads its parent; edges of one source share places. All cycles are taken modulo II; sets of cycles are integers
with one bit per cycle.
"""

from __future__ import annotations

from typing import TypeAlias

from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route
from mapper.solver.modulo_schedule.instance import Instance


class Place:
    """A result on ``pe``, ready at ``time`` (absolute, iteration 0). ``reads``: who reads it (an edge of the
    graph, or the place a move writes), as PE, cycle, and whether from ``register``. ``held``: the cycles after
    ``time`` in which the output register must not be written."""

    __slots__ = ("held", "net", "parent", "pe", "reads", "register", "register_last", "time")

    def __init__(self, net: int, pe: int, time: int, parent: Place | None) -> None:
        self.net, self.pe, self.time, self.parent = net, pe, time, parent
        self.reads: dict[Reader, tuple[int, int, bool]] = {}
        self.held = 0
        self.register, self.register_last = -1, time


Reader: TypeAlias = "int | Place"
Path: TypeAlias = tuple[tuple[int, int], ...]
"""PE and ready time of every place of a route, from the root on."""


class RoutingTable:
    """Operations and routes at ``ii``, each addition checked against all that is there."""

    def __init__(self, instance: Instance, ii: int) -> None:
        self.instance, self.ii = instance, ii
        pes = len(instance.pes)
        self.full = (1 << ii) - 1
        self.slot: list[list[Reader | None]] = [[None] * ii for _ in range(pes)]
        self.result: list[list[Place | None]] = [[None] * ii for _ in range(pes)]
        self.ready = [0] * pes
        self.hold = [0] * pes
        self.occupied = [[0] * instance.registers for _ in range(pes)]
        self.ports = [[0] * ii for _ in range(pes)]
        self.memory = [0] * ii
        self.pe = [-1] * instance.operations
        self.time = [0] * instance.operations
        self.nets: list[dict[tuple[int, int], Place]] = [{} for _ in range(instance.operations)]
        self.routed: dict[int, Place] = {}
        self.moves = 0

    def arc(self, first: int, last: int) -> int:
        """The cycles ``first`` to ``last`` modulo II, as bits."""
        length = last - first + 1
        if length >= self.ii:
            return self.full
        if length <= 0:
            return 0
        bits = ((1 << length) - 1) << (first % self.ii)
        return (bits | bits >> self.ii) & self.full

    def last_output(self, pe: int, time: int) -> int:
        """The last cycle in which a result of ``pe`` ready at ``time`` stands in its output register."""
        start = (time + 1) % self.ii
        ready = self.ready[pe] | 1 << (time % self.ii)
        turned = ready >> start | ready << (self.ii - start)
        return time + (turned & -turned).bit_length() - 1

    def free_register(self, pe: int, place: Place | None, time: int, last: int) -> int:
        """A register that can hold a value from ``time`` to ``last``, or -1."""
        if last - time >= self.ii:
            return -1
        wanted = self.arc(time, last)
        occupied = self.occupied[pe]
        own = -1
        if place is not None and place.register >= 0:
            own = place.register
            if not (occupied[own] & ~self.arc(time, place.register_last)) & wanted:
                return own
        for register, cycles in enumerate(occupied):
            if register != own and not cycles & wanted:
                return register
        return -1

    def can_write(self, pe: int, cycle: int) -> bool:
        """Whether a result on ``pe`` may become ready in ``cycle``."""
        return not (self.ready[pe] | self.hold[pe]) >> (cycle % self.ii) & 1

    def can_issue(self, operation: int, pe: int, time: int) -> bool:
        """Whether ``operation`` fits there without moving anything."""
        cycle = time % self.ii
        ports = self.instance.memory_ports
        return (
            self.slot[pe][cycle] is None
            and self.can_write(pe, time + self.instance.latency[operation])
            and not (ports and self.instance.is_memory[operation] and self.memory[cycle] >= ports)
        )

    def place(self, operation: int, pe: int, time: int) -> None:
        """Put ``operation`` there; `can_issue` holds."""
        self.slot[pe][time % self.ii] = operation
        self.memory[time % self.ii] += self.instance.is_memory[operation]
        self.pe[operation], self.time[operation] = pe, time
        ready = time + self.instance.latency[operation]
        self._write(Place(operation, pe, ready, None))

    def remove(self, operation: int) -> None:
        """Take ``operation`` and the routes of all its edges away."""
        for edge in self.instance.incident[operation]:
            self.unroute(edge)
        pe, time = self.pe[operation], self.time[operation]
        self.slot[pe][time % self.ii] = None
        self.memory[time % self.ii] -= self.instance.is_memory[operation]
        self._erase(self.nets[operation][pe, time + self.instance.latency[operation]])
        self.pe[operation] = -1

    def root(self, operation: int) -> Place:
        """The result of a placed operation."""
        return self.nets[operation][
            self.pe[operation], self.time[operation] + self.instance.latency[operation]
        ]

    def _write(self, place: Place) -> None:
        self.nets[place.net][place.pe, place.time] = place
        self.result[place.pe][place.time % self.ii] = place
        self.ready[place.pe] |= 1 << (place.time % self.ii)

    def _erase(self, place: Place) -> None:
        del self.nets[place.net][place.pe, place.time]
        self.result[place.pe][place.time % self.ii] = None
        self.ready[place.pe] &= ~(1 << (place.time % self.ii))

    def reading_ends(self, edge: int) -> tuple[int, int]:
        """The PE and the cycle in which the consumer of ``edge`` reads."""
        consumer = self.instance.destination[edge]
        return self.pe[consumer], self.time[consumer] + self.instance.distance[edge] * self.ii

    def earliest(self, edge: int) -> int:
        """The first cycle in which the value, or the turn, that ``edge`` stands for is there."""
        return self.time[self.instance.source[edge]] + self.instance.delay[edge]

    def is_late(self, edge: int) -> bool:
        """Whether the consumer of ``edge`` issues too early."""
        return self.reading_ends(edge)[1] < self.earliest(edge)

    def commit(self, edge: int, path: Path) -> bool:
        """Route ``edge`` along ``path``, the first place of which is its root; False leaves all as it was."""
        source = self.instance.source[edge]
        place = self.root(source)
        net, made = self.nets[source], None
        for pe, time in path[1:]:
            known = net.get((pe, time))
            if known is not None:
                if made is not None:
                    self._drop(made)
                place, made = known, None
                continue
            cycle = (time - 1) % self.ii
            fits = self.slot[pe][cycle] is None and self.can_write(pe, time)
            child = Place(source, pe, time, place)
            if not fits or not self._read(place, child, pe, time - 1):
                if made is not None:
                    self._drop(made)
                return False
            self.slot[pe][cycle] = child
            self.moves += 1
            self._write(child)
            made = place = child
        if not self._read(place, edge, *self.reading_ends(edge)):
            if made is not None:
                self._drop(made)
            return False
        self.routed[edge] = place
        return True

    def unroute(self, edge: int) -> Path:
        """Take the route of ``edge`` away, with the moves that nobody else needs; its path, () if none."""
        place = self.routed.pop(edge, None)
        if place is None:
            return ()
        path = self.path(place)
        self._forget(place, edge)
        self._drop(place)
        return path

    def path(self, place: Place) -> Path:
        """The way to ``place`` from its root."""
        found = []
        here: Place | None = place
        while here is not None:
            found.append((here.pe, here.time))
            here = here.parent
        return tuple(reversed(found))

    def _drop(self, place: Place) -> None:
        """Erase a place nobody reads, unless it is a root, and then those only it read."""
        while not place.reads and place.parent is not None:
            parent = place.parent
            self.slot[place.pe][(place.time - 1) % self.ii] = None
            self.moves -= 1
            self._erase(place)
            self._forget(parent, place)
            place = parent

    def _read(self, place: Place, reader: Reader, pe: int, cycle: int) -> bool:
        """Let ``reader`` read ``place`` if it is held; a PE's own registers first, since they block nothing."""
        if cycle < place.time:
            return False
        ports = self.instance.read_ports
        own = pe == place.pe
        if ports and own and self.ports[pe][cycle % self.ii] >= ports:
            return False
        if own and cycle > place.time:
            last = max(cycle, place.register_last)
            register = self.free_register(pe, place, place.time, last)
            if register >= 0:
                place.reads[reader] = (pe, cycle, True)
                self._keep(place, register, last)
                self.ports[pe][cycle % self.ii] += 1
                return True
        if not self.instance.reads[pe][place.pe] or cycle > self.last_output(place.pe, place.time):
            return False
        place.reads[reader] = (pe, cycle, False)
        self.ports[pe][cycle % self.ii] += own
        held = self.arc(place.time + 1, cycle)
        place.held |= held
        self.hold[place.pe] |= held
        return True

    def _keep(self, place: Place, register: int, last: int) -> None:
        occupied = self.occupied[place.pe]
        if place.register >= 0:
            occupied[place.register] &= ~self.arc(place.time, place.register_last)
        if register >= 0:
            occupied[register] |= self.arc(place.time, last)
        place.register, place.register_last = register, last

    def _forget(self, place: Place, reader: Reader) -> None:
        pe, cycle, from_register = place.reads.pop(reader)
        self.ports[pe][cycle % self.ii] -= pe == place.pe
        if from_register:
            kept = [read[1] for read in place.reads.values() if read[2]]
            self._keep(place, place.register if kept else -1, max(kept, default=place.time))
        else:
            last = max((read[1] for read in place.reads.values() if not read[2]), default=place.time)
            self.hold[place.pe] &= ~place.held
            place.held = self.arc(place.time + 1, last)
            self.hold[place.pe] |= place.held

    def edges_through(self, place: Place) -> list[int]:
        """The edges whose routes need ``place``."""
        found: list[int] = []
        for reader in place.reads:
            found.extend([reader] if isinstance(reader, int) else self.edges_through(reader))
        return found

    def clear(self, operation: int, pe: int, time: int) -> dict[int, Path]:
        """Take away the routes, not the operations, that keep ``operation`` from issuing there: their edges,
        with the paths they had."""
        ready = time + self.instance.latency[operation]
        blocking = [self.slot[pe][time % self.ii], self.result[pe][ready % self.ii]]
        if self.hold[pe] >> (ready % self.ii) & 1:
            earlier = (self.result[pe][(ready - back) % self.ii] for back in range(1, self.ii))
            blocking.append(next((place for place in earlier if place is not None), None))
        taken: dict[int, Path] = {}
        for number, place in enumerate(blocking):
            if isinstance(place, Place) and (number == 2 or place.parent is not None):
                for edge in self.edges_through(place):
                    taken[edge] = self.unroute(edge)
        return taken

    def schedule(self) -> ModuloSchedule:
        """The complete schedule, shifted so that the earliest issue is in stage 0."""
        instance = self.instance
        issued = [*self.time, *(time - 1 for net in self.nets for (_, time), p in net.items() if p.parent)]
        shift = -(min(issued, default=0) // self.ii) * self.ii
        placements = tuple(
            Placement(instance.pes[pe], time + shift) for pe, time in zip(self.pe, self.time, strict=True)
        )
        routes = tuple(
            Route(edge, self._hops(edge, shift) if carries else ())
            for edge, carries in enumerate(instance.carries)
        )
        return ModuloSchedule(self.ii, placements, routes)

    def _hops(self, edge: int, shift: int) -> tuple[Hop, ...]:
        hops: list[Hop] = []
        reader: Reader = edge
        here: Place | None = self.routed[edge]
        while here is not None:
            pe, time = self.instance.pes[here.pe], here.time + shift
            register = here.register if here.register >= 0 else None
            if here.parent is not None:
                hops.append(Hop(pe, time, "move", register))
            elif here.reads[reader][2]:
                hops.append(Hop(pe, time, "register", register))
            else:
                hops.append(Hop(pe, time, "output"))
            reader, here = here, here.parent
        return tuple(reversed(hops))
