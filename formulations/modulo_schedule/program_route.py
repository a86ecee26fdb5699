"""From a solution of the program to a modulo schedule: routes hop by hop, and names for the registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mapper.arch.cgra import Pe
from mapper.formulations.modulo_schedule.program_instance import Demand, ModuloInstance
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route

Held = tuple[int, int, Pe, int]
"""A value (its operation), rounds in its own time, a PE, and a cycle modulo II."""


class NamelessError(Exception):
    """Results kept in one register file overlap nowhere too often and still need more registers: on a circle
    of II cycles that can be."""


@dataclass(frozen=True)
class Event:
    """The value of ``operation`` gets ready on ``pe`` at ``time`` for iteration 0, by its operation or, ``moved``,
    by a move."""

    operation: int
    pe: Pe
    time: int
    moved: bool


@dataclass(frozen=True)
class Solution:
    """Placements (PE, time) by operation; moves; what output registers and registers (by their number, which
    is the register's name if they are ``named``) hold."""

    of: ModuloInstance
    placements: tuple[tuple[Pe, int], ...]
    moves: frozenset[Held]
    outputs: frozenset[Held]
    kept: dict[Held, int]
    is_named: bool

    def schedule(self) -> ModuloSchedule:
        """The schedule, with the first issue in cycle 0; moves that nothing reads are left out.

        Raises: NamelessError if a register file cannot name what it keeps.
        """
        last_read: dict[Event, tuple[int, int]] = {}
        chains = [self._chain(demand, last_read) for demand in self.of.demands]
        registers = self._registers(last_read)
        issues = [time for _, time in self.placements]
        issues += [event.time - 1 for chain in chains for event in chain if event.moved]
        first = min(issues)
        routes: dict[int, Route] = {}
        for demand, chain in zip(self.of.demands, chains, strict=True):
            hops = tuple(_hop(event, registers.get(event), first) for event in chain)
            for edge in demand.edges:
                routes[edge] = Route(edge, hops)
        return ModuloSchedule(
            self.of.ii,
            tuple(Placement(pe, time - first) for pe, time in self.placements),
            tuple(routes.get(edge, Route(edge, ())) for edge in range(len(self.of.graph.edges))),
        )

    @cached_property
    def _ready(self) -> dict[int, int]:
        """When the result of every value's operation gets ready for iteration 0."""
        return {u: self.placements[u][1] + self.of.latency[u] for u in self.of.values}

    def _held(self, u: int, pe: Pe, time: int) -> Held:
        rounds, cycle = divmod(time, self.of.ii)
        return u, rounds - self._ready[u] // self.of.ii, pe, cycle

    def _chain(self, demand: Demand, last_read: dict[Event, tuple[int, int]]) -> list[Event]:
        """The events of a demand's route, first to last; reads from registers go into ``last_read``: the last
        cycle in which an event is read from a register, and the number of that."""
        u, reader = demand.source, self.placements[demand.destination][0]
        time = self.placements[demand.destination][1] + demand.distance * self.of.ii
        chain: list[Event] = []
        while not chain or chain[-1].moved:
            giver = next(
                (pe for pe in self.of.givers[reader] if self._held(u, pe, time) in self.outputs), None
            )
            event = self._last_event(u, reader if giver is None else giver, time)
            if giver is None:
                read = (time, self.kept[self._held(u, reader, time)])
                last_read[event] = max(read, last_read.get(event, read))
            chain.append(event)
            reader, time = event.pe, event.time - 1
        return chain[::-1]

    def _last_event(self, u: int, pe: Pe, time: int) -> Event:
        """What made the value of u ready on ``pe`` last, at ``time`` or before."""
        while self._held(u, pe, time - 1) not in self.moves:
            if self.placements[u][0] == pe and self._ready[u] == time:
                return Event(u, pe, time, False)
            time -= 1
        return Event(u, pe, time, True)

    def _registers(self, last_read: dict[Event, tuple[int, int]]) -> dict[Event, int]:
        """The register of every result that is read from one."""
        if self.is_named:
            return {event: register for event, (_, register) in last_read.items()}
        kept: dict[Pe, dict[int, int]] = {}
        for event, (time, _) in last_read.items():
            kept.setdefault(event.pe, {})[event.time % self.of.ii] = time - event.time + 1
        names = {pe: self._named(lives) for pe, lives in kept.items()}
        return {event: names[event.pe][event.time % self.of.ii] for event in last_read}

    def _named(self, lives: dict[int, int]) -> dict[int, int]:
        names = colour_arcs(lives, self.of.ii, self.of.machine.register_file.registers)
        if names is None:
            raise NamelessError
        return names


def _hop(event: Event, register: int | None, first: int) -> Hop:
    if event.moved:
        return Hop(event.pe, event.time - first, "move", register)
    if register is not None:
        return Hop(event.pe, event.time - first, "register", register)
    return Hop(event.pe, event.time - first, "output", None)


def colour_arcs(lives: dict[int, int], ii: int, colours: int) -> dict[int, int] | None:
    """Colours 0.. for arcs on a circle of ``ii`` cycles, by first cycle, with their lengths in ``lives``, so
    that arcs of a colour are disjoint; None if ``colours`` are too few (every colouring is tried)."""
    arcs = sorted(lives)
    cycles = {arc: frozenset((arc + step) % ii for step in range(lives[arc])) for arc in arcs}

    def extend(position: int, used: tuple[frozenset[int], ...]) -> dict[int, int] | None:
        if position == len(arcs):
            return {}
        arc = arcs[position]
        for colour in range(min(len(used) + 1, colours)):
            taken = used[colour] if colour < len(used) else frozenset()
            if not taken & cycles[arc]:
                rest = extend(position + 1, (*used[:colour], taken | cycles[arc], *used[colour + 1 :]))
                if rest is not None:
                    return {arc: colour, **rest}
        return None

    return extend(0, ())
