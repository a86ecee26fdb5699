"""II 1 as a placement: every PE repeats one operation or one move, so that times can be left out.

A relaxation that is far smaller than the program of all schedules: where it has no solution, II 1 has no schedule
(docs/formulation/modulo-schedule.md, Crowding).
"""

from __future__ import annotations

from ortools.sat.python import cp_model

from mapper.arch.cgra import Pe
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.formulations.modulo_schedule.program.symmetry import array_symmetries, orbit_leaders


class CrowdingProgram:
    """``operation[v, pe]``: v is what ``pe`` repeats; ``move[v, pe]``: it repeats a move of the value of v. Machines
    whose PEs share registers have no such program: there values need no links."""

    def __init__(self, problem: ModuloProblem) -> None:
        assert problem.machine.shared_register_file is None
        self.instance = of = ModuloInstance(problem, 1, problem.machine.all_pes)
        self.model = cp_model.CpModel()
        new = self.model.new_bool_var
        self.operation = {(v, pe): new(f"x{v}_{pe}") for v, able in enumerate(of.able) for pe in able}
        self.move = {(v, pe): new(f"m{v}_{pe}") for v in of.values for pe in of.pes}
        self.reads = sorted(
            {(one.source, one.destination) for one in of.demands if one.source != one.destination}
        )
        self._places()
        self._slots()
        self._operands()
        self._symmetry()

    def _places(self) -> None:
        """Every operation is on one PE that executes it."""
        for v, able in enumerate(self.instance.able):
            self.model.add_exactly_one(self.operation[v, pe] for pe in able)

    def _slots(self) -> None:
        """A PE repeats at most one operation or move."""
        for pe in self.instance.pes:
            both = [*self.operation.items(), *self.move.items()]
            self.model.add_at_most_one(variable for (_, at), variable in both if at == pe)

    def _operands(self) -> None:
        """What an operation or a move reads is repeated on another PE in reach; to read its own result is an
        operation's alone, and is not stated."""
        for source, reader in self.reads:
            for pe in self.instance.able[reader]:
                self.model.add_bool_or(*self._held(source, pe), self.operation[reader, pe].negated())
        for (v, pe), move in self.move.items():
            self.model.add_bool_or(*self._held(v, pe), move.negated())

    def _held(self, value: int, pe: Pe) -> list[cp_model.IntVar]:
        """The value stands in the output register of another PE that this one reads."""
        givers = [giver for giver in self.instance.givers[pe] if giver != pe]
        return [
            table[value, giver]
            for table in (self.operation, self.move)
            for giver in givers
            if (value, giver) in table
        ]

    def _symmetry(self) -> None:
        """The operation with most readers is on one PE of every orbit under the array's symmetries."""
        of = self.instance
        count = [sum(v in pair for pair in self.reads) for v in range(len(of.able))]
        first = count.index(max(count))
        leaders = orbit_leaders(array_symmetries(of), of.pes)
        for pe in of.able[first]:
            if pe not in leaders:
                self.model.add(self.operation[first, pe] == 0)
