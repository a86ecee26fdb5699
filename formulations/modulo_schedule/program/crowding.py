"""II 1 as a placement: every PE repeats one operation or one move, so that times can be left out.

A relaxation that is far smaller than the program of all schedules: where it has no solution, II 1 has no schedule
(docs/formulation/modulo-schedule.md, Crowding).
"""

from __future__ import annotations

from ortools.sat.python import cp_model

from mapper.arch.cgra import Pe
from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, variables
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.formulations.modulo_schedule.program.symmetry import array_symmetries, orbit_leaders


class CrowdingProgram(CpSatFormulation):
    """The program of one instance. Machines whose PEs share registers have none: there values need no links."""

    title = "II 1 as a placement"

    def __init__(self, problem: ModuloProblem) -> None:
        assert problem.machine.shared_register_file is None
        super().__init__()
        self.of = of = ModuloInstance(problem, 1, problem.machine.all_pes)
        self.reads = sorted(
            {(one.source, one.destination) for one in of.demands if one.source != one.destination}
        )

    def instance(self) -> str:
        graph, machine = self.of.graph, self.of.machine
        return f"{graph.name} ({len(graph.operations)} operations) on {machine.name} at II 1"

    @variables(r"x_{v,q}, m_{v,q} \in \{0, 1\}")
    def repeated(self) -> None:
        """What a PE repeats: an operation, or a move of its value."""
        new, of = self.model.new_bool_var, self.of
        self.operation = {(v, pe): new(f"x{v}_{pe}") for v, able in enumerate(of.able) for pe in able}
        self.move = {(v, pe): new(f"m{v}_{pe}") for v in of.values for pe in of.pes}

    @family(r"\sum_q x_{v,q} = 1")
    def places(self) -> None:
        """Every operation is on one PE that executes it."""
        for v, able in enumerate(self.of.able):
            self.model.add_exactly_one(self.operation[v, pe] for pe in able)

    @family(r"\sum_v x_{v,q} + m_{v,q} \le 1")
    def slots(self) -> None:
        """A PE repeats at most one operation or move."""
        for pe in self.of.pes:
            both = [*self.operation.items(), *self.move.items()]
            self.model.add_at_most_one(variable for (_, at), variable in both if at == pe)

    @family(r"x_{w,q} \Rightarrow \bigvee_{q' \to q} x_{v,q'} \vee m_{v,q'}")
    def operands(self) -> None:
        """What an operation or a move reads is repeated on another PE in reach; to read its own result is an
        operation's alone, and is not stated."""
        for source, reader in self.reads:
            for pe in self.of.able[reader]:
                self.model.add_bool_or(*self._held(source, pe), self.operation[reader, pe].negated())
        for (v, pe), move in self.move.items():
            self.model.add_bool_or(*self._held(v, pe), move.negated())

    @family(r"x_{v,q} = 0")
    def symmetry(self) -> None:
        """The operation with most readers is on one PE of every orbit under the array's symmetries."""
        of = self.of
        count = [sum(v in pair for pair in self.reads) for v in range(len(of.able))]
        first = count.index(max(count))
        leaders = orbit_leaders(array_symmetries(of), of.pes)
        for pe in of.able[first]:
            if pe not in leaders:
                self.model.add(self.operation[first, pe] == 0)

    def _held(self, value: int, pe: Pe) -> list[cp_model.IntVar]:
        """The value stands in the output register of another PE that this one reads."""
        givers = [giver for giver in self.of.givers[pe] if giver != pe]
        return [
            table[value, giver]
            for table in (self.operation, self.move)
            for giver in givers
            if (value, giver) in table
        ]
