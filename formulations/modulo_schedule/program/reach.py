"""The part of the program of modulo scheduling that says what a PE can read, and the shared register file's.

All PEs that are connected to a shared register file read the same registers, so that only the value and its own
time matter, not who wrote it; and of two shared registers with one value the newer one serves all reads.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from mapper.arch.cgra import Pe
from mapper.formulations.formulation import family, variables
from mapper.formulations.modulo_schedule.program.route import SharedCell, Solution
from mapper.formulations.modulo_schedule.program.value import Cell, ValueProgram


class ReachProgram(ValueProgram):
    """What is held where, in shared registers too, and what PEs can read of it. P: the connected PEs."""

    @variables(r"h_{u,g,s},\ w_{u,g,s},\ p_{u,g,s} \in \{0,1\}")
    def sharing(self) -> None:
        """In cycle (g, s) of the time of u's value, a shared register holds it (h), it is written to one (w),
        or it is read from one (p). Without a shared register file there are none of these; p is h where read
        ports are unlimited."""
        self.shared: dict[tuple[SharedCell, int], Any] = {}
        self.shared_write: dict[SharedCell, Any] = {}
        self.shared_read: dict[SharedCell, Any] = {}
        shared = self.of.machine.shared_register_file
        if shared is None or not self.shared_copies:
            return
        for u in self.of.values:
            for g, s in self.cells[u]:
                self.shared_write[u, g, s] = self.literal("w", u, g, s)
                for copy in self.shared_copies:
                    self.shared[(u, g, s), copy] = self.literal("h", u, g, s, copy)
                self.shared_read[u, g, s] = self.shared[(u, g, s), 0]
                if shared.read_ports is not None or self.is_named:
                    self.shared_read[u, g, s] = self.literal("p", u, g, s)

    @family(
        r"h_{u,g,s} \Rightarrow w_{u,g,s} \vee h_{u,(g,s)-1},\quad w_{u,g,s} \Rightarrow \bigvee_{q \in P}"
        r" ready_{u,g,q,s},\quad p_{u,g,s} \Rightarrow h_{u,g,s}"
    )
    def shared_registers(self) -> None:
        """A shared register holds a value from the cycle in which it becomes ready on a connected PE q in P
        and is written there, for less than II cycles: longer only if the value is written again."""
        ii = self.of.ii
        for (u, g, s), write in self.shared_write.items():
            ready = [literal for q in self.of.sharing for literal in self.ready(u, (g, s), q)]
            self.model.add_bool_or([~write, *ready])
            held = [self.shared[(u, g, s), copy] for copy in self.shared_copies]
            if self.shared_read[u, g, s] is not held[0]:
                self.model.add_bool_or([~self.shared_read[u, g, s], *held])
            later = [(u, *self.later((g, s), step)) for step in range(1, ii + 1)]
            again = [self.shared_write[cell] for cell in later if cell in self.shared_write]
            for copy in self.shared_copies:
                if (later[-1], copy) in self.shared:
                    self.model.add_bool_or([~write, ~self.shared[later[-1], copy], *again])
        for ((u, g, s), copy), held_now in self.shared.items():
            before = self.shared.get(((u, *self.later((g, s), -1)), copy))
            places = [self.shared_write[u, g, s], *([] if before is None else [before])]
            self.model.add_bool_or([~held_now, *places])

    @family(
        r"\sum_{u,g} h_{u,g,s} \le R_P,\quad \sum_{u,g} p_{u,g,s} \le \text{read ports},"
        r"\quad \sum_{u,g} w_{u,g,s} \le \text{write ports} \quad \forall s"
    )
    def shared_file(self) -> None:
        """In every cycle the shared registers keep no more values than there are registers, and their ports
        suffice for all connected PEs together. They are named, or stated one by one, as the PEs' own
        registers are."""
        file = self.of.machine.shared_register_file
        if file is None or not self.shared_copies:
            return
        most = len(self.of.sharing) * self.of.ii
        for s in range(self.of.ii):
            for copy in self.shared_copies:
                held = [literal for (cell, c), literal in self.shared.items() if cell[2] == s and c == copy]
                if self.is_named or file.registers < most:
                    self.model.add(sum(held) <= (1 if self.is_named else file.registers))
            for ports, used in (
                (file.read_ports, self.shared_read),
                (file.write_ports, self.shared_write),
            ):
                if ports is not None:
                    self.model.add(sum(literal for cell, literal in used.items() if cell[2] == s) <= ports)

    @family(
        r"m_{u,g,q,s} \Rightarrow r_{u,g,q,s} \vee \bigvee_{q' \to q} o_{u,g,q',s}"
        r"\; [\vee\, p_{u,g,s}: q \in P]"
    )
    def moved_values(self) -> None:
        """A move forwards a value from a register of its PE, from a shared register, or from an output
        register within reach."""
        for (u, g, q, s), move in self.move.items():
            self.model.add_bool_or([~move, *self.within_reach(u, (g, s), q)])

    def bring_within_reach(self) -> None:
        """State that wherever an operation issues, every value that it reads is within reach."""
        for d, demand in enumerate(self.of.demands):
            for unless, q, cell in self.readings(d):
                self.model.add_bool_or([*unless, *self.within_reach(demand.source, cell, q)])

    def limit_memory(self) -> None:
        """State that the loads and stores of a cycle are no more than the memory has ports."""
        ports = self.of.machine.memory_ports
        memory = [v for v, o in enumerate(self.of.graph.operations) if o.opcode in ("load", "store")]
        if ports is not None and len(memory) > ports:
            for s in range(self.of.ii):
                self.model.add(sum(literal for v in memory for literal in self.issues_in(v, s)) <= ports)

    def limit_reads(self) -> None:
        """State that an operation reads no more of its PE's own registers than the file has read ports."""
        ports = self.of.machine.register_file.read_ports
        if ports is None or not self.copies:
            return
        for v in range(len(self.of.able)):
            reading = [d for d, demand in enumerate(self.of.demands) if demand.destination == v]
            if len(reading) <= ports:
                continue
            from_register = {d: self.literal("f", d) for d in reading}
            self.model.add(sum(from_register.values()) <= ports)
            for d, literal in from_register.items():
                for unless, q, cell in self.readings(d):
                    places = self.beyond_own(self.of.demands[d].source, cell, q)
                    self.model.add_bool_or([*unless, literal, *places])

    def beyond_own(self, u: int, cell: Cell, q: Pe) -> list[Any]:
        """Output registers and shared ones that q can read and that hold the value of u then."""
        g, s = cell
        found = [self.output[u, g, giver, s] for giver in self.of.givers[q]]
        if (u, g, s) in self.shared_read and q in self.of.machine.sharing:
            found.append(self.shared_read[u, g, s])
        return found

    def within_reach(self, u: int, cell: Cell, q: Pe) -> list[Any]:
        """All places that q can read and that hold the value of u then."""
        g, s = cell
        return [*(self.kept[(u, g, q, s), copy] for copy in self.copies), *self.beyond_own(u, cell, q)]

    @abstractmethod
    def extract(self, value_of: Callable[[Any], int]) -> Solution:
        """Placements, moves and what is held where."""

    def shared_values(self, value_of: Callable[[Any], int]) -> dict[SharedCell, int]:
        """What is read from shared registers when, and the number of a register that holds it then."""
        return {
            cell: copy
            for (cell, copy), held in self.shared.items()
            if value_of(held) and value_of(self.shared_read[cell])
        }
