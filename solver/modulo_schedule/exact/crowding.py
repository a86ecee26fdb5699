"""Whether II 1 is ruled out because the operations that read a value do not all find room beside it."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.modulo_schedule.parity import least_bound
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.solver.method import Effort

MOST_SPARE = 4
"""PEs beyond those of the operations: with more there is room for moves, and nothing is to be expected."""
WORK = 6.0
"""Work spent, about two seconds."""


def may_be_crowded(problem: ModuloProblem) -> bool:
    """Whether it is worth asking: neither MII nor parity rules II 1 out, and hardly any PE is left for moves.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    machine = problem.machine
    spare = len(machine.all_pes) - len(problem.kernel.graph.operations)
    return machine.shared_register_file is None and 0 <= spare <= MOST_SPARE and least_bound(problem) == 1


def is_crowded(problem: ModuloProblem, effort: Effort) -> bool:
    """Whether little work proves that II 1 has no schedule for want of PEs beside each other.

    Raises: InputError as ``may_be_crowded``.
    """
    if not may_be_crowded(problem):
        return False
    from mapper.formulations.modulo_schedule.program.crowding import CrowdingProgram
    from mapper.solver.cp_sat import run_cp_sat

    program = CrowdingProgram(problem)
    program.build()
    alone = replace(effort, workers=1)  # one worker learns in its work what several in turns do not
    return (
        run_cp_sat(program.model, alone, lambda value, bound: None, WORK, clausal=True).answer == "infeasible"
    )
