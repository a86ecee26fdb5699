"""From a solution of the program to a modulo schedule: routes hop by hop, and names for the registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mapper.arch.cgra import Pe
from mapper.formulations.modulo_schedule.program.instance import Demand, ModuloInstance
from mapper.formulations.modulo_schedule.program.naming import named
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route

Held = tuple[int, int, Pe, int]
"""A value (its operation), rounds in its own time, a PE, and a cycle modulo II."""
SharedCell = tuple[int, int, int]
"""The same of shared registers, which have no PE."""


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


Kept = tuple[Event, bool]
"""What a read takes: an event, and whether from a shared register."""


@dataclass(frozen=True)
class Solution:
    """Placements (PE, time) by operation; moves; what output registers and registers (by their number, which
    is the register's name if they are ``named``) hold; what shared registers are read for, and when they are
    written."""

    of: ModuloInstance
    placements: tuple[tuple[Pe, int], ...]
    moves: frozenset[Held]
    outputs: frozenset[Held]
    kept: dict[Held, int]
    shared: dict[SharedCell, int]
    shared_writes: frozenset[SharedCell]
    is_named: bool

    def schedule(self) -> ModuloSchedule:
        """The schedule, with the first issue in cycle 0; moves that nothing reads are left out.

        Raises: NamelessError if a register file cannot name what it keeps.
        """
        last_read: dict[Kept, tuple[int, int]] = {}
        chains = [self._chain(demand, last_read) for demand in self.of.demands]
        registers = self._registers(last_read)
        issues = [time for _, time in self.placements]
        issues += [event.time - 1 for chain in chains for event, _ in chain if event.moved]
        first = min(issues)
        routes: dict[int, Route] = {}
        for demand, chain in zip(self.of.demands, chains, strict=True):
            hops = tuple(_hop(link[0], registers.get(link), first) for link in chain)
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

    def _chain(self, demand: Demand, last_read: dict[Kept, tuple[int, int]]) -> list[Kept]:
        """The events of a demand's route, first to last, and whether shared registers are read for them; reads
        from registers go into ``last_read``: the last cycle in which an event is read from a register, and the
        number of that."""
        u, reader = demand.source, self.placements[demand.destination][0]
        time = self.placements[demand.destination][1] + demand.distance * self.of.ii
        chain: list[Kept] = []
        while not chain or chain[-1][0].moved:
            giver = next(
                (pe for pe in self.of.givers[reader] if self._held(u, pe, time) in self.outputs), None
            )
            number = self.shared.get(self._shared_cell(u, time)) if reader in self.of.sharing else None
            if giver is not None or number is None:
                link = self._last_event(u, reader if giver is None else giver, time), False
            else:
                link = self._last_shared(u, time), True
            event = link[0]
            if giver is None:
                read = (time, self.kept[self._held(u, reader, time)] if number is None else number)
                last_read[link] = max(read, last_read.get(link, read))
            chain.append(link)
            reader, time = event.pe, event.time - 1
        return chain[::-1]

    def _last_event(self, u: int, pe: Pe, time: int) -> Event:
        """What made the value of u ready on ``pe`` last, at ``time`` or before."""
        while self._held(u, pe, time - 1) not in self.moves:
            if self.placements[u][0] == pe and self._ready[u] == time:
                return Event(u, pe, time, False)
            time -= 1
        return Event(u, pe, time, True)

    def _shared_cell(self, u: int, time: int) -> SharedCell:
        rounds, cycle = divmod(time, self.of.ii)
        return u, rounds - self._ready[u] // self.of.ii, cycle

    def _last_shared(self, u: int, time: int) -> Event:
        """What got ready when the value of u was last written to a shared register, at ``time`` or before."""
        while self._shared_cell(u, time) not in self.shared_writes:
            time -= 1
        if self.placements[u][0] in self.of.sharing and self._ready[u] == time:
            return Event(u, self.placements[u][0], time, False)
        pe = next(pe for pe in self.of.sharing if self._held(u, pe, time - 1) in self.moves)
        return Event(u, pe, time, True)

    def _registers(self, last_read: dict[Kept, tuple[int, int]]) -> dict[Kept, int]:
        """The register of every result that is read from one; shared ones are numbered after own ones."""
        own = self.of.machine.register_file.registers
        if self.is_named:
            return {link: register + own * link[1] for link, (_, register) in last_read.items()}
        kept: dict[Pe, dict[int, int]] = {}
        for (event, shared), (time, _) in last_read.items():
            if not shared:
                kept.setdefault(event.pe, {})[event.time % self.of.ii] = time - event.time + 1
        names = {pe: self._named(lives) for pe, lives in kept.items()}
        found = {link: names[link[0].pe][link[0].time % self.of.ii] for link in last_read if not link[1]}
        return found | self._shared_registers(
            {link: time for link, (time, _) in last_read.items() if link[1]}
        )

    def _shared_registers(self, last_read: dict[Kept, int]) -> dict[Kept, int]:
        file = self.of.machine.shared_register_file
        if file is None:
            return {}
        lives = [(event.time, last) for (event, _), last in last_read.items()]
        names = named(lives, self.of.ii, file.registers)
        if names is None:
            raise NamelessError
        first = self.of.machine.register_file.registers
        return {link: first + name for link, name in zip(last_read, names, strict=True)}

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
