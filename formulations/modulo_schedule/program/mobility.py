"""Modulo scheduling at one initiation interval as clauses over issue times: the kernel mobility schedule [Tirelli2023].

Every operation has a window of issue times, from as soon as possible to as late as possible and some slack. A value is
stated in the same time, from its producer's window to its last reader's, so that nothing but literals is left: a search
by clauses finds a schedule far sooner than in `ModuloProgram`, which counts each value's time by itself. Schedules
outside the windows are left out, so that finding none is no proof. Unlike there, values may be handed on by moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from mapper.arch.cgra import Pe
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.formulations.modulo_schedule.program.reach import ReachProgram
from mapper.formulations.modulo_schedule.program.route import Solution
from mapper.formulations.modulo_schedule.program.value import Cell, Reading

Precedence = tuple[int, int, int]
"""Operations v, w and the least cycles from v to w in one iteration, which may be negative."""


class MobilityProgram(ReachProgram):
    """The program of one instance, with windows that are ``slack`` cycles longer than the shortest schedule of the
    dependences leaves them. Rounds are counted from cycle 0 for all values."""

    title = "Modulo scheduling in windows of issue times, as clauses"

    def __init__(self, instance: ModuloInstance, slack: int, named: bool = False) -> None:
        self.precedences = precedences(instance)
        self.window = windows(instance, self.precedences, slack)
        cells = {u: self._cells(instance, u) for u in instance.values}
        super().__init__(instance, cells, named)
        self.issue = {}
        self.at: list[dict[int, Any]] = []
        self.on: list[dict[Pe, Any]] = []

    def _cells(self, of: ModuloInstance, u: int) -> list[Cell]:
        last = max(
            self.window[demand.destination][-1] + demand.distance * of.ii
            for demand in of.demands
            if demand.source == u
        )
        return [divmod(time, of.ii) for time in range(self.window[u][0] + of.latency[u], last + 1)]

    @index_set(r"\{(v, t) : t \in W_v\}")
    def mobility(self) -> int:
        """Operations and the cycles of their windows W, from as soon as possible to as late as possible and the
        slack."""
        return sum(map(len, self.window))

    @variables(r"x_{v,q,t},\ y_{v,t},\ z_{v,q} \in \{0,1\} \quad t \in W_v")
    def placements(self) -> None:
        """Operation v issues on PE q in cycle t of iteration 0 (x), in cycle t on any PE (y), on PE q in any
        cycle (z)."""
        for v, (able, window) in enumerate(zip(self.of.able, self.window, strict=True)):
            self.at.append({t: self.literal("y", v, t) for t in window})
            self.on.append({q: self.literal("z", v, q) for q in able})
            self.issue |= {(v, q, t): self.literal("x", v, q, t) for q, t in product(able, window)}

    @variables(r"l_{v,t} \in \{0,1\} \quad t \in W_v")
    def ends(self) -> None:
        """Operation v issues in cycle t or before."""
        self.by = [{t: self.literal("l", v, t) for t in window[:-1]} for v, window in enumerate(self.window)]

    @family(r"\sum_{q,t} x_{v,q,t} = 1 \quad \forall v")
    def assignment(self) -> None:
        """Every operation issues on one PE in one cycle."""
        for v, (at, on) in enumerate(zip(self.at, self.on, strict=True)):
            self.model.add_exactly_one(list(at.values()))
            self.model.add_exactly_one(list(on.values()))
            for t, literal in at.items():
                self.model.add_exactly_one([~literal, *(self.issue[v, q, t] for q in on)])
            for q, literal in on.items():
                self.model.add_exactly_one([~literal, *(self.issue[v, q, t] for t in at)])

    @family(r"y_{v,t} \Leftrightarrow l_{v,t} \wedge \neg l_{v,t-1}")
    def order(self) -> None:
        """An operation that issues in a cycle has issued from then on, and not before."""
        for at, by in zip(self.at, self.by, strict=True):
            for t, literal in at.items():
                now, before = by.get(t), by.get(t - 1)
                either = [literal]
                if now is not None:
                    self.model.add_implication(literal, now)
                    either.append(~now)
                if before is not None:
                    self.model.add_implication(literal, ~before)
                    either.append(before)
                if now is not None and before is not None:
                    self.model.add_implication(before, now)
                self.model.add_bool_or(either)

    @family(r"l_{w,t} \Rightarrow l_{v,t-\lambda} \quad \forall (v, w, \lambda)")
    def dependences(self) -> None:
        """What depends on an operation issues no earlier than its latency after it."""
        for v, w, latency in self.precedences:
            for t in self.window[w]:
                if v == w or t - latency >= self.window[v][-1]:
                    continue
                after = [] if t == self.window[w][-1] else [~self.by[w][t]]
                before = [self.by[v][t - latency]] if t - latency in self.by[v] else []
                self.model.add_bool_or([*after, *before])

    @family(
        r"x_{w,q,t} \Rightarrow r_{u,g,q,s} \vee \bigvee_{q' \to q} o_{u,g,q',s}\; [\vee\, p_{u,g,s}: q \in P],"
        r"\quad t + \delta\,II = g\,II + s"
    )
    def demanded_values(self) -> None:
        """Wherever and whenever an operation issues, every value that it reads is within reach."""
        self.bring_within_reach()

    @family(r"\sum_{v \in V_{mem}} \sum_{t \equiv s} y_{v,t} \le \text{ports} \quad \forall s")
    def memory_ports(self) -> None:
        """The loads and stores issued in a cycle modulo II are no more than the memory has ports."""
        self.limit_memory()

    @family(
        r"x_{w,q,t} \Rightarrow f_d \vee \bigvee_{q' \to q} o_{u,g,q',s}\; [\vee\, p_{u,g,s}: q \in P],"
        r"\quad \sum_{d = (\cdot, w, \cdot)} f_d \le \text{ports} \quad \forall w"
    )
    def read_ports(self) -> None:
        """The operands that an operation reads from its PE's own registers are no more than the file has read
        ports."""
        self.limit_reads()

    @objective(r"\text{find any; } II \text{ is minimised by solving from } MII \text{ upwards}")
    def least_interval(self) -> None:
        """The II is given: any schedule is an answer."""

    def issues_in(self, v: int, s: int) -> list[Any]:
        return [literal for t, literal in self.at[v].items() if t % self.of.ii == s]

    def readings(self, d: int) -> Iterator[Reading]:
        demand = self.of.demands[d]
        reader = demand.destination
        for q, t in product(self.of.able[reader], self.window[reader]):
            yield [~self.issue[reader, q, t]], q, divmod(t + demand.distance * self.of.ii, self.of.ii)

    def issued(self, u: int, cell: Cell, q: Pe) -> list[Any]:
        g, s = cell
        issue = self.issue.get((u, q, g * self.of.ii + s - self.of.latency[u]))
        return [] if issue is None else [issue]

    def extract(self, value_of: Callable[[Any], int]) -> Solution:
        """Placements, moves and what is held where."""
        placed = {v: (q, t) for (v, q, t), issue in self.issue.items() if value_of(issue)}
        placements = tuple(placed[v] for v in range(len(placed)))
        ready = {u: (placed[u][1] + self.of.latency[u]) // self.of.ii for u in self.of.values}
        return Solution(
            self.of,
            placements,
            frozenset((u, g - ready[u], q, s) for (u, g, q, s), move in self.move.items() if value_of(move)),
            frozenset(
                (u, g - ready[u], q, s) for (u, g, q, s), held in self.output.items() if value_of(held)
            ),
            {(u, g - ready[u], q, s): c for ((u, g, q, s), c), kept in self.kept.items() if value_of(kept)},
            {(u, g - ready[u], s): copy for (u, g, s), copy in self.shared_values(value_of).items()},
            frozenset((u, g - ready[u], s) for (u, g, s), w in self.shared_write.items() if value_of(w)),
            self.is_named,
        )


def precedences(of: ModuloInstance) -> tuple[Precedence, ...]:
    """What every schedule keeps: edges, and results that are read only when they are ready."""
    edges = {(e.source, e.destination, of.edge_latency(e) - e.distance * of.ii) for e in of.graph.edges}
    read = {(d.source, d.destination, of.latency[d.source] - d.distance * of.ii) for d in of.demands}
    return tuple(sorted(edges | read))


def windows(of: ModuloInstance, given: tuple[Precedence, ...], slack: int) -> tuple[range, ...]:
    """The cycles in which each operation may issue, if the first issue in cycle 0 and the last as soon as
    dependences allow, and ``slack`` cycles more. The II is at least RecMII, so that these settle."""
    count = range(len(of.graph.operations))
    soonest, latest = [0 for _ in count], [0 for _ in count]
    for _ in count:
        for v, w, latency in given:
            soonest[w] = max(soonest[w], soonest[v] + latency)
            latest[v] = min(latest[v], latest[w] - latency)
    end = max(soonest, default=0) + slack
    return tuple(range(first, end + last + 1) for first, last in zip(soonest, latest, strict=True))
