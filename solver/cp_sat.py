"""Running CP-SAT on any formulation: limits, interruption, repeatable search, progress and bounds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ortools.sat.python import cp_model

from mapper.solver.certificate import Stop
from mapper.solver.method import Effort

POLL_SECONDS = 0.1
CLAUSAL = ("no_lp", "quick_restart_no_lp")
"""The solver's own names of searches that learn clauses and use no linear relaxation."""
Answer = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class CpSatResult:
    """``answer``, the objective's ``bound`` as the model counts it (None if the model is infeasible), why the
    search stopped, and ``value_of``, which reads a variable of the best solution if ``found``."""

    answer: Answer
    bound: float | None
    stop: Stop
    value_of: Callable[[Any], int]

    @property
    def found(self) -> bool:
        return self.answer in ("optimal", "feasible")


def run_cp_sat(
    model: cp_model.CpModel,
    effort: Effort,
    report: Callable[[float | None, float | None], None],
    work: float | None = None,
    clausal: bool = False,
    light: bool = False,
) -> CpSatResult:
    """Minimise or maximise ``model`` within ``effort``; ``report`` hears of every better value or bound.

    Workers take turns in a fixed order (interleaved search), so that equal seeds and numbers of workers give
    equal answers unless the clock or an interrupt ends the search. ``work`` ends it after so much work, in the
    solver's own unit (about a second on a fast core), which repeats as well; the answer is then unknown.
    ``clausal``: the model is clauses for the most part, so that linear relaxations are left out. ``light``: a search
    of clauses would be over before the model is probed for more of them, so that it is not.

    Raises: ValueError if the model is malformed.
    """
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = max(1, effort.workers)
    # One worker that searches clauses needs no turns.
    parameters.interleave_search = effort.workers > 1 or not clausal
    parameters.random_seed = effort.seed
    # Its own handler lives in the thread that searches; called in another, as signals are, it aborts the process.
    parameters.catch_sigint_signal = False
    if clausal:
        parameters.linearization_level = 0
        if effort.workers > 1:
            parameters.subsolvers.extend(CLAUSAL)
    if light:
        parameters.max_presolve_iterations = 1
        parameters.cp_model_probing_level = 0
        parameters.symmetry_level = 0
    left = effort.seconds_left()
    if left is not None:
        parameters.max_time_in_seconds = left
    listener = _Listener(report)
    if work is not None:
        parameters.max_deterministic_time = work
    solver.best_bound_callback = listener.on_bound
    finished = threading.Event()
    watch = threading.Thread(target=_stop_on_interrupt, args=(solver, effort, finished), daemon=True)
    watch.start()
    try:
        status = solver.solve(model, listener)
    finally:
        finished.set()
        watch.join()
    if status == cp_model.MODEL_INVALID:
        raise ValueError(f"malformed model: {model.validate()}")
    answers: dict[Any, Answer] = {
        cp_model.OPTIMAL: "optimal",
        cp_model.FEASIBLE: "feasible",
        cp_model.INFEASIBLE: "infeasible",
    }
    answer = answers.get(status, "unknown")
    stop: Stop = "complete" if answer in ("optimal", "infeasible") else effort.stopped() or "time_limit"
    bound = None if answer == "infeasible" else _exact_bound(model, solver, answer != "unknown")
    return CpSatResult(answer, bound, stop, lambda variable: int(solver.value(variable)))


def _exact_bound(model: cp_model.CpModel, solver: cp_model.CpSolver, found: bool) -> float:
    """The bound, from the integer that the solver keeps: a float loses digits beyond 2^53."""
    objective = model.proto.objective
    least = solver.response_proto.inner_objective_lower_bound
    if not found and least == 0:
        # 0 stands for no bound as well; what the domains say holds in any case.
        domains = [list(model.proto.variables[at].domain) for at in objective.vars]
        sides = zip(objective.coeffs, domains, strict=True)
        least = min(0, sum(by * (domain[0] if by > 0 else domain[-1]) for by, domain in sides))
    bound = least + int(objective.offset)
    return bound * (int(objective.scaling_factor) or 1)


class _Listener(cp_model.CpSolverSolutionCallback):
    """Passes on the best value and bound so far."""

    def __init__(self, report: Callable[[float | None, float | None], None]) -> None:
        super().__init__()
        self._report = report
        self._value: float | None = None
        self._bound: float | None = None

    def on_solution_callback(self) -> None:
        self._value, self._bound = self.objective_value, self.best_objective_bound
        self._report(self._value, self._bound)

    def on_bound(self, bound: float) -> None:
        self._bound = bound
        self._report(self._value, bound)


def _stop_on_interrupt(solver: cp_model.CpSolver, effort: Effort, finished: threading.Event) -> None:
    while not finished.wait(POLL_SECONDS):
        if effort.interrupt.is_set():
            solver.stop_search()
