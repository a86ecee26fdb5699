"""The part of the complete program of modulo scheduling that counts time for every value of its own.

A cycle (g, s) of a value's own time is the cycle s modulo II, g rounds of II cycles after the round in which the value
became ready for iteration 0. Issue times are slots and stages, which only the rounds of readers tie to values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from mapper.arch.cgra import Pe
from mapper.formulations.formulation import family, index_set, variables
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.formulations.modulo_schedule.program.reach import ReachProgram
from mapper.formulations.modulo_schedule.program.value import Cell, Reading


class OwnTimeProgram(ReachProgram):
    """Slots, stages and rounds. ``times`` fixes when operations issue, the first of them at 0; without them the
    program is of all schedules, or with ``rounds`` of those whose values live no longer."""

    def __init__(
        self,
        instance: ModuloInstance,
        times: Mapping[int, int] | None = None,
        named: bool = False,
        rounds: int | None = None,
    ) -> None:
        self.times = {} if times is None else dict(times)
        most = instance.most_rounds if rounds is None else rounds
        cells = {u: _cells(instance, self.times, u, most) for u in instance.values}
        super().__init__(instance, cells, named)
        last = max((cells[-1][0] for cells in self.cells.values()), default=0)
        self.horizon = instance.horizon_stages(last) + max(map(abs, self.times.values()), default=0)

    @index_set(
        r"C_u = \{0, \dots, \min(M+1, P)\} \times \{0, \dots, II-1\},"
        r"\quad M = |S| - |V|,\ P = |Q|\,(1 + R) + R_P"
    )
    def own_times(self) -> int:
        """Cycles (g, s) of a value's own time: s is the cycle modulo II, g counts rounds of II cycles since
        the round in which the value became ready. A place holds a value for less than II cycles and a move
        takes one cycle, so M moves end by round g = M + 1; and the P output registers and registers hold one
        value each, so a value that lives for longer than P rounds of II cycles has no place at the end."""
        return sum(map(len, self.cells.values()))

    @variables(r"k_v \in \mathbb{Z},\ n_u \in \{0, \dots, M\},\quad t_v = \sum_s s\,y_{v,s} + II\,k_v")
    def stages(self) -> None:
        """The stage in which v issues for iteration 0, and how many moves the value of u takes."""
        operations = range(len(self.of.able))
        self.stage = [self.model.new_int_var(-self.horizon, self.horizon, f"k_{v}") for v in operations]
        self.time = [
            sum(s * at for s, at in enumerate(self.at[v])) + self.of.ii * self.stage[v] for v in operations
        ]
        self.count = {u: self.model.new_int_var(0, self.most_moves, f"n_{u}") for u in self.of.values}

    @variables(r"b_{d,g} \in \{0,1\}")
    def rounds(self) -> None:
        """Demand d reads its value in round g of the value's time."""
        self.round = [
            {g: self.literal("b", d, g) for g in sorted({g for g, _ in self.cells[demand.source]})}
            for d, demand in enumerate(self.of.demands)
        ]

    @family(r"\sum_{q,s} x_{v,q,s} = 1 \quad \forall v")
    def assignment(self) -> None:
        """Every operation issues on one PE in one cycle modulo II."""
        ii = self.of.ii
        for v, able in enumerate(self.of.able):
            self.model.add_exactly_one(self.at[v])
            self.model.add_exactly_one([self.on[v, q] for q in able])
            for s in range(ii):
                issues = [self.issue[v, q, s] for q in able if (v, q, s) in self.issue]
                self.model.add(sum(issues) == self.at[v][s])
            for q in able:
                issues = [self.issue[v, q, s] for s in range(ii) if (v, q, s) in self.issue]
                self.model.add(sum(issues) == self.on[v, q])

    @variables(r"x_{v,q,s},\ y_{v,s},\ z_{v,q} \in \{0,1\} \quad q \text{ executes } v")
    def placements(self) -> None:
        """Operation v issues on PE q in cycle s modulo II (x), in cycle s on any PE (y), on PE q in any cycle
        (z)."""
        able, ii = self.of.able, self.of.ii
        placed = [(v, q) for v in range(len(able)) for q in able[v]]
        cycles = {v: [self.times[v] % ii] if v in self.times else list(range(ii)) for v in range(len(able))}
        self.issue = {(v, q, s): self.literal("x", v, q, s) for v, q in placed for s in cycles[v]}
        self.at = [[self.literal("y", v, s) for s in range(ii)] for v in range(len(able))]
        self.on = {(v, q): self.literal("z", v, q) for v, q in placed}

    def issues_in(self, v: int, s: int) -> list[Any]:
        return [self.at[v][s]]

    def readings(self, d: int) -> Iterator[Reading]:
        demand, literals = self.of.demands[d], self.round[d]
        for q, (g, s) in product(self.of.able[demand.destination], self.cells[demand.source]):
            issue = self.issue.get((demand.destination, q, s))
            if issue is not None:
                yield [~issue, ~literals[g]], q, (g, s)

    def issued(self, u: int, cell: Cell, q: Pe) -> list[Any]:
        g, s = cell
        issue = self.issue.get((u, q, (s - self.of.latency[u]) % self.of.ii))
        return [issue] if g == 0 and issue is not None else []


def _cells(of: ModuloInstance, times: Mapping[int, int], u: int, rounds: int) -> list[Cell]:
    """The cycles of the value's own time; where all times are fixed, from when it is ready to its last read."""
    ii = of.ii
    reads = [
        times[demand.destination] + demand.distance * ii
        for demand in of.demands
        if demand.source == u and demand.destination in times
    ]
    if u not in times or len(reads) < sum(demand.source == u for demand in of.demands):
        return [(g, s) for g in range(rounds) for s in range(ii)]
    ready = times[u] + of.latency[u]
    return [(time // ii - ready // ii, time % ii) for time in range(ready, max(ready, *reads) + 1)]
