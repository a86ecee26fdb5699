"""The part of the program of modulo scheduling that says where operations issue and where values are.

Collisions are stated by slot, that is, by PE and cycle modulo II. The places of a value are stated in the value's own
time: the cycle modulo II, and the rounds of II cycles since the round in which it became ready.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from mapper.arch.cgra import Pe
from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, variables
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance

Cell = tuple[int, int]
"""A cycle in a value's own time: rounds since it became ready, and the cycle modulo II."""
Held = tuple[int, int, Pe, int]
"""A value (its operation), rounds in its own time, a PE, and a cycle modulo II."""


class ValueProgram(CpSatFormulation):
    """Where operations issue and values are. ``rounds`` limits how long values live, ``times`` fixes when
    operations issue, the first of them at 0; without them the program is of all schedules. Registers are
    counted, or with ``named`` told apart."""

    def __init__(
        self,
        instance: ModuloInstance,
        rounds: int | None = None,
        times: Mapping[int, int] | None = None,
        named: bool = False,
    ) -> None:
        super().__init__()
        self.of = instance
        self.times = {} if times is None else dict(times)
        self.most_moves = max(0, instance.spare_slots)
        self.most_rounds = self.most_moves + 1 if rounds is None else min(rounds, self.most_moves + 1)
        self.cells = {u: self._cells(u) for u in instance.values}
        file = instance.machine.register_file
        self.copies = range(0 if file.registers == 0 else file.registers if named else 1)
        shared = instance.machine.shared_register_file if instance.sharing else None
        self.shared_copies = range(0 if shared is None else shared.registers if named else 1)
        self.is_named = named
        last = max((cells[-1][0] for cells in self.cells.values()), default=0)
        self.horizon = instance.horizon_stages(last) + max(map(abs, self.times.values()), default=0)
        self.slots = [(q, s) for q in instance.pes for s in range(instance.ii)]

    def _cells(self, u: int) -> list[Cell]:
        """The cycles of the value's own time; where all times are fixed, from when it is ready to its last read."""
        ii = self.of.ii
        reads = [
            self.times[demand.destination] + demand.distance * ii
            for demand in self.of.demands
            if demand.source == u and demand.destination in self.times
        ]
        if u not in self.times or len(reads) < sum(demand.source == u for demand in self.of.demands):
            return [(g, s) for g in range(self.most_rounds + 1) for s in range(ii)]
        ready = self.times[u] + self.of.latency[u]
        return [(time // ii - ready // ii, time % ii) for time in range(ready, max(ready, *reads) + 1)]

    @property
    def is_complete(self) -> bool:
        """Whether no schedule is left out that has the times that are fixed."""
        return self.most_rounds > self.most_moves or len(self.times) == len(self.of.able)

    @property
    def clauses(self) -> int:
        """About how many clauses the program has once it is built."""
        of = self.of
        held = len(of.pes) * sum(map(len, self.cells.values()))
        read = sum(len(of.able[d.destination]) * len(self.cells[d.source]) for d in of.demands)
        shared = sum(map(len, self.cells.values())) * 3 * len(self.shared_copies)
        return held * (3 + 2 * len(self.copies)) + shared + read

    def instance(self) -> str:
        graph, machine = self.of.graph, self.of.machine
        return f"{graph.name} ({len(graph.operations)} operations) on {machine.name} at II {self.of.ii}"

    @index_set(r"V")
    def operations(self) -> int:
        """Operations of the loop body."""
        return len(self.of.graph.operations)

    @index_set(r"D = \{(u, w, \delta)\}")
    def demands(self) -> int:
        """Values to be read: the producer u, the reader w, and how many iterations earlier u computed the
        value; edges that agree in all three share a route."""
        return len(self.of.demands)

    @index_set(r"S = Q \times \{0, \dots, II-1\}")
    def places(self) -> int:
        """Slots: each PE q in each cycle s modulo II."""
        return len(self.slots)

    @index_set(r"C_u = \{0, \dots, M+1\} \times \{0, \dots, II-1\},\quad M = |S| - |V|")
    def own_times(self) -> int:
        """Cycles (g, s) of a value's own time: s is the cycle modulo II, g counts rounds of II cycles since
        the round in which the value became ready. A place holds a value for less than II cycles and a move
        takes one cycle, so M moves end by round g = M + 1."""
        return sum(map(len, self.cells.values()))

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

    @variables(r"o_{u,g,q,s},\ r_{u,g,q,s},\ m_{u,g,q,s} \in \{0,1\}")
    def holding(self) -> None:
        """In cycle (g, s) of the time of u's value, the output register of q holds the value (o), a register
        of q holds it (r), or a move on q forwards it (m)."""
        self.output: dict[Held, Any] = {}
        self.kept: dict[tuple[Held, int], Any] = {}
        self.move: dict[Held, Any] = {}
        for u, q in product(self.of.values, self.of.pes):
            for cell in self.cells[u]:
                held = (u, cell[0], q, cell[1])
                self.output[held] = self.literal("o", *held)
                for copy in self.copies:
                    self.kept[held, copy] = self.literal("r", *held, copy)
                if self.most_moves and cell != self.cells[u][-1]:
                    self.move[held] = self.literal("m", *held)

    @variables(r"i_{q,s} \in \{0,1\}")
    def idling(self) -> None:
        """No result becomes ready on PE q in cycle s modulo II, so its output register keeps what it
        holds."""
        self.idle = {(q, s): self.literal("i", q, s) for q, s in self.slots}

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

    @family(r"\sum_v x_{v,q,s} + \sum_{u,g} m_{u,g,q,s} \le 1 \quad \forall (q, s)")
    def execution(self) -> None:
        """A PE executes at most one operation or one move in a cycle."""
        issued: dict[tuple[Pe, int], list[Any]] = {place: [] for place in self.slots}
        for (_, q, s), issue in self.issue.items():
            issued[q, s].append(issue)
        for (_, _, q, s), move in self.move.items():
            issued[q, s].append(move)
        for literals in issued.values():
            self.model.add_at_most_one(literals)

    @family(r"i_{q,s} + \sum_v x_{v,q,s-\lambda_v} + \sum_{u,g} m_{u,g,q,s-1} = 1 \quad \forall (q, s)")
    def getting_ready(self) -> None:
        """A result is ready one latency after its operation issues, or one cycle after a move; at most one
        result becomes ready on a PE in a cycle."""
        ii = self.of.ii
        ready: dict[tuple[Pe, int], list[Any]] = {place: [idle] for place, idle in self.idle.items()}
        for (v, q, s), issue in self.issue.items():
            ready[q, (s + self.of.latency[v]) % ii].append(issue)
        for (_, _, q, s), move in self.move.items():
            ready[q, (s + 1) % ii].append(move)
        for literals in ready.values():
            self.model.add_exactly_one(literals)

    @family(
        r"o_{u,g,q,s} \Rightarrow ready_{u,g,q,s} \vee (o_{u,(g,s)-1,q} \wedge i_{q,s}),"
        r"\quad \sum_{u,g} o_{u,g,q,s} \le 1"
    )
    def output_registers(self) -> None:
        """An output register holds a value from the cycle in which it becomes ready until the next result of
        its PE does."""
        holding: dict[tuple[Pe, int], list[Any]] = {place: [] for place in self.slots}
        for (u, g, q, s), output in self.output.items():
            ready = self.ready(u, (g, s), q)
            earlier, cycle = self.later((g, s), -1)
            before = [held for held in [self.output.get((u, earlier, q, cycle))] if held is not None]
            self.model.add_bool_or([~output, self.idle[q, s], *ready])
            self.model.add_bool_or([~output, *ready, *before])
            holding[q, s].append(output)
        for literals in holding.values():
            self.model.add_at_most_one(literals)

    @family(r"r_{u,g,q,s} \Rightarrow ready_{u,g,q,s} \vee r_{u,(g,s)-1,q}")
    def registers(self) -> None:
        """A register holds a value from the cycle in which it becomes ready on the PE, for less than II
        cycles: longer only if a move makes the value ready there again."""
        for ((u, g, q, s), copy), kept in self.kept.items():
            ready = self.ready(u, (g, s), q)
            earlier, cycle = self.later((g, s), -1)
            before = [held for held in [self.kept.get(((u, earlier, q, cycle), copy))] if held is not None]
            self.model.add_bool_or([~kept, *ready, *before])
            if ((u, g + 1, q, s), copy) in self.kept:
                again = [
                    literal
                    for step in range(1, self.of.ii)
                    for literal in self.ready(u, self.later((g, s), step), q)
                ]
                for literal in ready:
                    self.model.add_bool_or([~self.kept[(u, g + 1, q, s), copy], ~literal, *again])

    @family(r"\sum_{u,g} r_{u,g,q,s} \le R \quad \forall (q, s)")
    def register_pressure(self) -> None:
        """In every cycle a PE keeps no more results in registers than it has registers. Whether the registers
        can be named as well is decided when a schedule is read off; where they cannot, the program states
        each register on its own."""
        most = 1 if self.is_named else self.of.machine.register_file.registers
        if most >= self.of.ii and not self.is_named:
            return
        held: dict[tuple[Pe, int, int], list[Any]] = {}
        for ((_, _, q, s), copy), kept in self.kept.items():
            held.setdefault((q, s, copy), []).append(kept)
        for literals in held.values():
            self.model.add(sum(literals) <= most)

    def literal(self, *name: object) -> Any:
        return self.model.new_bool_var("_".join(map(str, name)))

    def ready(self, u: int, cell: Cell, q: Pe) -> list[Any]:
        """What makes the value of u ready on q then: its operation, or a move in the cycle before."""
        g, s = cell
        before = self.later(cell, -1)
        found = [self.move[u, before[0], q, before[1]]] if (u, before[0], q, before[1]) in self.move else []
        issue = (u, q, (s - self.of.latency[u]) % self.of.ii)
        if g == 0 and issue in self.issue:
            found.append(self.issue[issue])
        return found

    def later(self, cell: Cell, steps: int) -> Cell:
        rounds, s = divmod(cell[1] + steps, self.of.ii)
        return cell[0] + rounds, s
