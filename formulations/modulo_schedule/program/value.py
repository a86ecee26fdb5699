"""The part of the programs of modulo scheduling that says which places hold a value, whatever time is counted from.

Collisions are stated by slot, that is, by PE and cycle modulo II. The places of a value are stated in cycles (g, s):
the cycle s modulo II, and rounds g of II cycles, which a subclass counts from where it likes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from mapper.arch.cgra import Pe
from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, variables
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance

Cell = tuple[int, int]
"""Rounds of II cycles, and the cycle modulo II."""
Held = tuple[int, int, Pe, int]
"""A value (its operation), rounds, a PE, and a cycle modulo II."""
Reading = tuple[list[Any], Pe, Cell]
"""Literals one of which is true unless an operation on the PE reads a value in the cycle."""


class ValueProgram(CpSatFormulation):
    """Where operations issue and values are. ``cells`` are the cycles in which a value, by its operation, may be
    anywhere. Registers are counted, or with ``named`` told apart.

    A subclass says what these cycles count from, where operations issue (``issue``, by operation, PE and a cycle that
    modulo II is the slot's), and which issue makes a value ready.
    """

    issue: dict[tuple[int, Pe, int], Any]

    def __init__(
        self, instance: ModuloInstance, cells: Mapping[int, list[Cell]], named: bool = False
    ) -> None:
        super().__init__()
        self.of = instance
        self.most_moves = max(0, instance.spare_slots)
        self.cells = cells
        file = instance.machine.register_file
        self.copies = range(0 if file.registers == 0 else file.registers if named else 1)
        shared = instance.machine.shared_register_file if instance.sharing else None
        self.shared_copies = range(0 if shared is None else shared.registers if named else 1)
        self.is_named = named
        self.slots = [(q, s) for q in instance.pes for s in range(instance.ii)]

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

    @variables(r"x_{v,q,s} \in \{0,1\}")
    @abstractmethod
    def placements(self) -> None:
        """Operation v issues on PE q in cycle s (x)."""

    @variables(r"o_{u,g,q,s},\ r_{u,g,q,s},\ m_{u,g,q,s} \in \{0,1\}")
    def holding(self) -> None:
        """In cycle (g, s), the output register of q holds the value of u (o), a register of q holds it (r), or
        a move on q forwards it (m)."""
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

    @family(r"\sum_v x_{v,q,s} + \sum_{u,g} m_{u,g,q,s} \le 1 \quad \forall (q, s)")
    def execution(self) -> None:
        """A PE executes at most one operation or one move in a cycle."""
        issued: dict[tuple[Pe, int], list[Any]] = {place: [] for place in self.slots}
        for (_, q, t), issue in self.issue.items():
            issued[q, t % self.of.ii].append(issue)
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
        for (v, q, t), issue in self.issue.items():
            ready[q, (t + self.of.latency[v]) % ii].append(issue)
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
        for u, q in product(self.of.values, self.of.pes):
            ready = [self.ready(u, cell, q) for cell in self.cells[u]]
            for at, (g, s) in enumerate(self.cells[u]):
                again = [literal for later in ready[at + 1 : at + self.of.ii] for literal in later]
                for copy in self.copies:
                    before = self._kept_before((g, s), u, q, copy)
                    self.model.add_bool_or([~self.kept[(u, g, q, s), copy], *ready[at], *before])
                    if ((u, g + 1, q, s), copy) in self.kept:
                        for literal in ready[at]:
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

    def _kept_before(self, cell: Cell, u: int, q: Pe, copy: int) -> list[Any]:
        """Whether a register of q holds the value of u in the cycle before, where it is stated."""
        g, s = self.later(cell, -1)
        return [self.kept[(u, g, q, s), copy]] if ((u, g, q, s), copy) in self.kept else []

    def literal(self, *name: object) -> Any:
        return self.model.new_bool_var("_".join(map(str, name)))

    @abstractmethod
    def issues_in(self, v: int, s: int) -> list[Any]:
        """Literals of which one is true if v issues in cycle s modulo II."""

    @abstractmethod
    def readings(self, d: int) -> Iterator[Reading]:
        """Where and when demand d may read its value."""

    @abstractmethod
    def issued(self, u: int, cell: Cell, q: Pe) -> list[Any]:
        """The issue of u on q, if any, whose result is ready there then."""

    def ready(self, u: int, cell: Cell, q: Pe) -> list[Any]:
        """What makes the value of u ready on q then: its operation, or a move in the cycle before."""
        g, s = self.later(cell, -1)
        moved = [self.move[u, g, q, s]] if (u, g, q, s) in self.move else []
        return [*moved, *self.issued(u, cell, q)]

    def later(self, cell: Cell, steps: int) -> Cell:
        rounds, s = divmod(cell[1] + steps, self.of.ii)
        return cell[0] + rounds, s
