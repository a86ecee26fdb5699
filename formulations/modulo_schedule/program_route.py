"""From the events of a solution to a modulo schedule: routes hop by hop, and names for the registers."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.arch.cgra import Pe
from mapper.formulations.modulo_schedule.program_instance import ModuloInstance
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route


class NamelessError(Exception):
    """Results kept in one register file overlap nowhere too often and still need more registers: on a circle
    of II cycles that can be. ``lifetimes``: cycles kept, by the cycle modulo II in which they get ready."""

    def __init__(self, lifetimes: dict[int, int]) -> None:
        super().__init__(lifetimes)
        self.lifetimes = lifetimes


@dataclass(frozen=True)
class Read:
    """A read of the result that gets ready on ``giver`` in cycle ``ready`` modulo II."""

    from_register: bool
    giver: Pe
    ready: int


@dataclass(frozen=True)
class Event:
    """A result that gets ready on ``pe`` at ``time`` for iteration 0; ``read`` is None for an operation's."""

    pe: Pe
    time: int
    read: Read | None


@dataclass(frozen=True)
class RoutedSchedule:
    """Placements (PE, time) by operation, events by PE and cycle modulo II, reads by demand."""

    of: ModuloInstance
    placements: tuple[tuple[Pe, int], ...]
    events: dict[tuple[Pe, int], Event]
    reads: tuple[Read, ...]

    def schedule(self) -> ModuloSchedule:
        """The schedule, with the first issue in cycle 0; moves that nothing reads are left out.

        Raises: NamelessError if a register file cannot name what it keeps.
        """
        chains = [self._chain(read) for read in self.reads]
        registers = self._registers(chains)
        issues = [time for _, time in self.placements]
        issues += [event.time - 1 for chain in chains for event in chain if event.read is not None]
        first = min(issues)
        routes: dict[int, Route] = {}
        for demand, chain in zip(self.of.demands, chains, strict=True):
            hops = tuple(self._hop(event, registers, first) for event in chain)
            for edge in demand.edges:
                routes[edge] = Route(edge, hops)
        return ModuloSchedule(
            self.of.ii,
            tuple(Placement(pe, time - first) for pe, time in self.placements),
            tuple(routes.get(edge, Route(edge, ())) for edge in range(len(self.of.graph.edges))),
        )

    def _chain(self, read: Read) -> list[Event]:
        chain = []
        step: Read | None = read
        while step is not None:
            event = self.events[step.giver, step.ready]
            chain.append(event)
            step = event.read
        return chain[::-1]

    def _hop(self, event: Event, registers: dict[tuple[Pe, int], int], first: int) -> Hop:
        register = registers.get((event.pe, event.time % self.of.ii))
        if event.read is not None:
            return Hop(event.pe, event.time - first, "move", register)
        if register is not None:
            return Hop(event.pe, event.time - first, "register", register)
        return Hop(event.pe, event.time - first, "output", None)

    def _registers(self, chains: list[list[Event]]) -> dict[tuple[Pe, int], int]:
        """The register of every result that is read from one."""
        kept: dict[Pe, dict[int, int]] = {}
        for demand, read, chain in zip(self.of.demands, self.reads, chains, strict=True):
            time = self.placements[demand.destination][1] + demand.distance * self.of.ii
            self._keep(kept, read, time)
            for event in chain:
                if event.read is not None:
                    self._keep(kept, event.read, event.time - 1)
        return {(pe, ready): name for pe, lives in kept.items() for ready, name in self._named(lives).items()}

    def _keep(self, kept: dict[Pe, dict[int, int]], read: Read, time: int) -> None:
        if read.from_register:
            lives = kept.setdefault(read.giver, {})
            cycles = time - self.events[read.giver, read.ready].time + 1
            lives[read.ready] = max(lives.get(read.ready, 0), cycles)

    def _named(self, lives: dict[int, int]) -> dict[int, int]:
        names = colour_arcs(lives, self.of.ii, self.of.machine.register_file.registers)
        if names is None:
            raise NamelessError(lives)
        return names


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
