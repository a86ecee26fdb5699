"""Place-and-route annealing: every operation always has a PE and a cycle, and edges without a route cost.

A step takes one operation, most often one with an edge that has no route, to another PE and cycle, where it
swaps places with an operation and displaces routes; then everything without a route is routed again. Restarts
begin with the cycles of the longest paths on random PEs.
"""

from __future__ import annotations

import math
import random

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method, Outcome
from mapper.solver.modulo_schedule.ascent import Trial, searched
from mapper.solver.modulo_schedule.instance import NO_PATH, Instance
from mapper.solver.modulo_schedule.partial_schedule import TimeDistance
from mapper.solver.modulo_schedule.route_search import route
from mapper.solver.modulo_schedule.routing_table import Path, RoutingTable

RESTARTS = 4
STEPS = 300
"""Steps for every operation of the graph in one start."""
HOTTEST, COLDEST = 1.0, 0.08
"""Temperatures, in edges without a route."""
MISSING = 0.3
"""Penalty of a cycle that an edge without a route lacks for its way."""
MOVE = 0.05
"""Cost of a move; moves take slots, so that ways with fewer are better."""
PROPOSALS = 6
"""Targets drawn for a step, of which the one with the least estimate is taken."""


class _Layout:
    """Operations on PEs and cycles; ``open`` holds the edges without a route and their penalties."""

    def __init__(self, instance: Instance, ii: int, rng: random.Random) -> None:
        self.instance, self.ii, self.rng = instance, ii, rng
        self.table = RoutingTable(instance, ii)
        self.open: dict[int, float] = {}

    def fill(self, distance: TimeDistance) -> bool:
        """Place every operation, those with the fewest PEs first; False if one finds no slot."""
        instance, table = self.instance, self.table
        known = [[int(d) for d in row if d > NO_PATH] for row in distance.T]
        order = sorted(range(instance.operations), key=lambda v: (len(instance.able[v]), self.rng.random()))
        for operation in order:
            start = max(known[operation], default=0)
            cells = [(pe, time) for time in range(start, start + self.ii) for pe in instance.able[operation]]
            offset = self.rng.randrange(len(instance.able[operation]))
            turned = cells[offset:] + cells[:offset]
            cell = next((cell for cell in turned if table.can_issue(operation, *cell)), None)
            if cell is None:
                return False
            table.place(operation, *cell)
        self._settle(dict.fromkeys(range(len(instance.source)), 0.0))
        return True

    def cost(self) -> float:
        """Penalties of the edges without a route, and moves."""
        return sum(self.open.values()) + MOVE * self.table.moves

    def step(self, temperature: float) -> None:
        """Try one change, and take it back if it costs too much."""
        operation = self._chosen()
        drawn = [self._target(operation) for _ in range(PROPOSALS)]
        pe, time = min(drawn, key=lambda cell: self._estimate(operation, *cell))
        table = self.table
        here = table.pe[operation], table.time[operation]
        if here == (pe, time):
            return
        occupant = table.slot[pe][time % self.ii]
        other = occupant if isinstance(occupant, int) and occupant != operation else None
        before, old_open, old = self.cost(), dict(self.open), {operation: here}
        lifted = self._lift(operation)
        targets = {operation: (pe, time)}
        if other is not None:
            old[other] = table.pe[other], table.time[other]
            targets[other] = here[0], self._congruent(other, here[1])
            lifted |= self._lift(other)
        placed = []
        for moved, cell in targets.items():
            lifted |= table.clear(moved, *cell)
            if cell[0] not in self.instance.able[moved] or not table.can_issue(moved, *cell):
                break
            table.place(moved, *cell)
            placed.append(moved)
        fits = len(placed) == len(targets)
        if fits:
            self._settle(dict.fromkeys([*lifted, *self._ends(targets)], 0.0) | self.open)
            change = self.cost() - before
            if change <= 0 or self.rng.random() < math.exp(-change / temperature):
                return
        for moved in placed:
            lifted |= dict.fromkeys(self._lift(moved).keys() - lifted.keys(), ())
        for edge in old_open.keys() & table.routed.keys():
            table.unroute(edge)
        for moved, cell in old.items():
            for edge in table.clear(moved, *cell):
                lifted.setdefault(edge, ())
            table.place(moved, *cell)
        self._restore(old_open, lifted)

    def _lift(self, operation: int) -> dict[int, Path]:
        """Take an operation out: the paths of the edges that had one."""
        table = self.table
        paths = {edge: table.unroute(edge) for edge in self.instance.incident[operation]}
        table.remove(operation)
        return {edge: path for edge, path in paths.items() if path}

    def _ends(self, operations: dict[int, tuple[int, int]]) -> list[int]:
        return [edge for operation in operations for edge in self.instance.incident[operation]]

    def _restore(self, old_open: dict[int, float], paths: dict[int, Path]) -> None:
        """Route as before the step; registers may be chosen anew, so what fails is searched or left open."""
        self.open = old_open
        lost = {}
        for edge, path in paths.items():
            if edge not in old_open and edge not in self.table.routed and self.instance.carries[edge]:
                self.table.unroute(edge)
                if not path or not self.table.commit(edge, path):
                    lost[edge] = 0.0
        self._settle(lost)

    def _settle(self, edges: dict[int, float]) -> None:
        """Route these edges in random order; those that fail are open."""
        tried = list(edges)
        self.rng.shuffle(tried)
        fresh = [edge for edge in tried if edge not in self.open or not self._is_far(edge)]
        for edge in tried:
            if edge in self.table.routed or (edge in fresh and route(self.table, edge)):
                self.open.pop(edge, None)
            else:
                self.open[edge] = 1.0 + MISSING * self._lacking(edge)

    def _is_far(self, edge: int) -> bool:
        return self._lacking(edge) > 0

    def _lacking(self, edge: int) -> int:
        """Cycles missing between the value and its read, the way from PE to PE included."""
        table, instance = self.table, self.instance
        end, until = table.reading_ends(edge)
        needed = instance.moves[table.pe[instance.source[edge]]][end] if instance.carries[edge] else 0
        return min(20, max(0, table.earliest(edge) + needed - until))

    def _chosen(self) -> int:
        if self.open and self.rng.random() < 0.8:
            edge = self.rng.choice(list(self.open))
            return self.rng.choice((self.instance.source[edge], self.instance.destination[edge]))
        return self.rng.randrange(self.instance.operations)

    def _congruent(self, operation: int, time: int) -> int:
        """The cycle nearest to that of ``operation`` that takes the same slot as ``time``."""
        now = self.table.time[operation]
        near = now + (time - now) % self.ii
        return near if near - now <= self.ii // 2 else near - self.ii

    def _estimate(self, operation: int, pe: int, time: int) -> float:
        """What the edges of ``operation`` would lack there, and the moves they would need."""
        table, instance, ii = self.table, self.instance, self.ii
        cost = self.rng.random() + (table.slot[pe][time % ii] is not None)
        for edge in instance.incident[operation]:
            u, w = instance.source[edge], instance.destination[edge]
            if u == w:
                continue
            if u == operation:
                slack = table.time[w] + instance.distance[edge] * ii - time - instance.delay[edge]
                needed = instance.moves[pe][table.pe[w]]
            else:
                slack = time + instance.distance[edge] * ii - table.time[u] - instance.delay[edge]
                needed = instance.moves[table.pe[u]][pe]
            if instance.carries[edge]:
                cost += max(0, needed - slack) * 2 + max(needed, slack // ii) * 0.7
            else:
                cost += max(0, -slack) * 2
        return cost

    def _target(self, operation: int) -> tuple[int, int]:
        """A PE, near a neighbour half of the time, and a cycle that the neighbours' cycles leave, if any."""
        table, instance, rng = self.table, self.instance, self.rng
        low, high, near = -(10**9), 10**9, list[int]()
        for edge in instance.incident[operation]:
            u, w = instance.source[edge], instance.destination[edge]
            if u == w:
                continue
            length = instance.delay[edge] - instance.distance[edge] * self.ii
            if w == operation:
                low = max(low, table.time[u] + length)
            else:
                high = min(high, table.time[w] - length)
            near.append(table.pe[u if w == operation else w])
        if low > -(10**9) and high < 10**9:
            if low > high:
                low, high = high, low
            high = min(high, low + 2 * self.ii)
        elif low > -(10**9):
            high = low + self.ii + 1
        elif high < 10**9:
            low = high - self.ii - 1
        else:
            low, high = table.time[operation] - self.ii, table.time[operation] + self.ii
        able = instance.able[operation]
        if near and rng.random() < 0.6:
            close = [pe for pe in instance.readers[rng.choice(near)] if pe in able]
            able = tuple(close) or able
        return rng.choice(able), rng.randint(low, high)


def _at(trial: Trial, ii: int, starts: int) -> ModuloSchedule | None:
    instance = trial.instance
    distance = instance.time_distance(ii, trial.is_over)
    if distance is None:
        return None
    steps = STEPS * instance.operations
    for _ in range(starts):
        layout = _Layout(instance, ii, trial.rng)
        if not layout.fill(distance):
            continue
        for step in range(steps):
            if not layout.open:
                return layout.table.schedule()
            if trial.stopped():
                return None
            layout.step(HOTTEST * (COLDEST / HOTTEST) ** (step / steps))
        if not layout.open:
            return layout.table.schedule()
    return None


def _search(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    return searched(problem, effort, _at, RESTARTS)


ANNEALING: Method[ModuloProblem, ModuloSchedule] = Method(
    "annealing", False, "simulated annealing of places and cycles with routing, restarted", _search
)
