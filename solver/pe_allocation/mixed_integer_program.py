"""The exact method that states mixed mode as an integer linear program over runs of layers and has CBC solve it."""

from __future__ import annotations

from mapper.formulations.pe_allocation.mixed_program import LAST_TIE, MixedGoal, MixedProgram, RunChoice
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.allocation import Allocation
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.segment import leaving
from mapper.models.pe_allocation.storage import entering_words, fused_words, leaving_words, output_words
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Outcome
from mapper.solver.pe_allocation.fused_run import RunPoint
from mapper.solver.pe_allocation.mixed import (
    SHARING,
    bound_of,
    fused_front,
    joined,
    refuse_streaming,
    search_mixed,
)
from mapper.solver.pe_allocation.run_table import run_table

GOALS: dict[str, tuple[MixedGoal, ...]] = {
    "throughput": ("interval", "cycles", "pes", LAST_TIE),
    "latency": ("cycles", "interval", "pes", LAST_TIE),
    "pes": ("pes", "interval", "cycles", LAST_TIE),
}


def mixed_integer_program(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of mixed mode, its ties broken as far as the effort reaches; last by traffic. CBC computes in
    floating point: proven is what the shortest path over the same runs confirms in integers.

    Raises: InputError for another model than the calculus.
    """
    from mapper.solver.cbc import run_cbc

    refuse_streaming(problem)
    offered = run_choices(problem, effort)
    restrictions = (SHARING,) if problem.sharing else ()
    stop: Stop = effort.stopped() or "complete"
    limits: dict[MixedGoal, int] = {}
    if problem.longest_interval is not None:
        limits["interval"] = problem.longest_interval
    start = effort.known(problem)
    if start is not None:
        first = GOALS[problem.objective][0]
        limits[first] = _quantity(problem, start.mapping, first)
    best: Allocation | None = None
    proven = False
    for goal in GOALS[problem.objective]:
        if stop != "complete" or not offered:
            break
        program = MixedProgram(problem, [choice for choice, _ in offered], goal, limits)
        program.build()
        result = run_cbc(program.model, effort)
        if result.found:
            taken, on_chip = program.extract(result.value_of)
            best = joined(problem, [(offered[at][0].first, offered[at][1]) for at in taken], on_chip)
            limits[goal] = _quantity(problem, best, goal)
        if goal == GOALS[problem.objective][0]:
            proven, stop = result.answer in ("optimal", "infeasible"), result.stop
        if result.answer != "optimal":
            break
    value = (
        None
        if best is None
        else problem.value(evaluate(problem.network, problem.machine, best, problem.model))
    )
    proven = (proven or (not offered and stop == "complete")) and not problem.sharing
    bound: int | float | None = bound_of(problem)
    if proven:
        exact = search_mixed(problem, effort)
        proven, bound = exact.proven and exact.value == value, exact.bound
        stop = stop if proven else effort.stopped() or "heuristic"
    if best is None:
        return Outcome(None, None, None if proven else bound, stop, proven, restrictions)
    if problem.sharing:
        return Outcome(best, value, bound, "heuristic", value == bound, restrictions)
    return Outcome(best, value, value if proven else bound, stop, proven, restrictions)


def build(problem: AllocationProblem) -> MixedProgram:
    """The program of the problem's objective with all its runs, built."""
    refuse_streaming(problem)
    runs = [choice for choice, _ in run_choices(problem, Effort())]
    limits: dict[MixedGoal, int] = {}
    if problem.longest_interval is not None:
        limits["interval"] = problem.longest_interval
    program = MixedProgram(problem, runs, GOALS[problem.objective][0], limits)
    program.build()
    return program


def run_choices(problem: AllocationProblem, effort: Effort) -> list[tuple[RunChoice, RunPoint]]:
    """Every trade-off of every run, for the program and in full."""
    network = problem.network
    found: list[tuple[RunChoice, RunPoint]] = []
    table = run_table(problem, effort)
    for begun in table.runs:
        for run in begun:
            members = range(run.first, run.last + 1)
            maps = sum(output_words(network.layers[at]) for at in leaving(network, members))
            read = {feed for at in members for feed in network.layers[at].feeds if feed < run.first}
            fixed = run.traffic - maps - sum(output_words(network.layers[feed]) for feed in read)
            found += [
                (
                    RunChoice(run.first, run.last, point.pes, point.cycles, point.cycles, run.words, fixed),
                    point,
                )
                for point in run.front.points()
            ]
    fused = fused_front(problem, effort)
    every = range(len(network.layers))
    for point in () if fused is None else fused.points():
        words, traffic = (
            sum(fused_words(network, every)),
            entering_words(network, every) + leaving_words(network, every),
        )
        choice = RunChoice(0, every[-1], point.pes, point.interval, point.cycles, words, traffic)
        found.append((choice, point))
    return found


def _quantity(problem: AllocationProblem, allocation: Allocation, goal: MixedGoal) -> int:
    cost = evaluate(problem.network, problem.machine, allocation, problem.model)
    return {
        "interval": cost.interval,
        "cycles": cost.cycles,
        "pes": cost.pes,
        "traffic": cost.traffic_words,
    }[goal]
