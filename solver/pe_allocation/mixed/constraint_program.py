"""The exact method that has CP-SAT solve mixed mode, layer by layer."""

from __future__ import annotations

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import choices
from mapper.formulations.pe_allocation.program.mixed.cp_sat import Goal, MixedConstraintProgram
from mapper.formulations.pe_allocation.program.mixed.fused_run import refuse_streaming
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.certificate import Stop
from mapper.solver.cp_sat import run_cp_sat
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.mixed.exact import SHARING, bound_of, with_kept_maps

GOALS: dict[str, tuple[Goal, ...]] = {
    "throughput": ("interval", "cycles", "pes"),
    "latency": ("cycles", "interval", "pes"),
    "pes": ("pes", "interval", "cycles"),
}


def mixed_constraint_program(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of mixed mode, proven, its ties broken as far as the effort reaches; maps stay where the
    buffers have room.

    Raises: InputError for another model than the calculus.
    """
    refuse_streaming(problem)
    limits: dict[Goal, int] = {}
    if problem.longest_interval is not None:
        limits["interval"] = problem.longest_interval
    start = effort.known(problem)
    if start is not None:
        cost = evaluate(problem.network, problem.machine, start.mapping, problem.model)
        first = GOALS[problem.objective][0]
        limits[first] = {"interval": cost.interval, "cycles": cost.cycles, "pes": cost.pes}[first]
    best: Allocation | None = None
    stop: Stop = "complete"
    proven = not all(choices(problem, layer) for layer in problem.network.layers)
    for goal in () if proven else GOALS[problem.objective]:
        program = MixedConstraintProgram(problem, goal, limits)
        program.build()
        result = run_cp_sat(program.model, effort, lambda value, bound: None)
        if result.found:
            best = program.extract(result.value_of)
            cost = evaluate(problem.network, problem.machine, best, problem.model)
            limits[goal] = {"interval": cost.interval, "cycles": cost.cycles, "pes": cost.pes}[goal]
        if goal == GOALS[problem.objective][0]:
            stop = result.stop
            exact = best is None or limits[goal] == result.value_of(program.cost[goal])
            proven = result.answer in ("optimal", "infeasible") and exact
        if result.answer != "optimal":
            break
    proven = proven and not problem.sharing
    restrictions = (SHARING,) if problem.sharing else ()
    if stop == "complete" and not proven:
        stop = "heuristic"
    if best is None:
        return Outcome.ended(None, None, bound_of(problem), stop, proven=proven, restrictions=restrictions)
    best = with_kept_maps(problem, best, problem.most_bytes)
    value = problem.value(evaluate(problem.network, problem.machine, best, problem.model))
    return Outcome.ended(best, value, bound_of(problem), stop, proven=proven, restrictions=restrictions)
