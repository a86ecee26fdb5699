"""Every method of the kind: those that schedule one kernel, and those that tune the layers of a network."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.limit import GRACE
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.catalogue import AUTOMATIC
from mapper.solver.modulo_schedule.catalogue import METHODS as KERNEL_METHODS
from mapper.solver.modulo_schedule.heuristic.iterative import AT_ONCE, ITERATIVE, search_at_once
from mapper.solver.modulo_schedule.network.exact.loop_proof import tuned_and_decided, tuned_and_tightened
from mapper.solver.modulo_schedule.network.heuristic.tuning import (
    algorithm_1,
    exhaustive,
    sums_in_memory,
    unoptimised,
)
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError

Problem = ModuloProblem | LayerProblem
Found = Outcome[Any]
AnyMethod = Method[Any, Any]


def _automatic(problem: Problem, effort: Effort) -> Found:
    if not isinstance(problem, LayerProblem):
        return AUTOMATIC.search(problem, effort)
    if effort.deadline is not None:
        # Covers are listed in Python, which asks no clock between them.
        effort = replace(effort, deadline=effort.deadline - GRACE)
    return tuned_and_tightened(problem, _in_time(problem, effort), effort)


def _in_time(problem: LayerProblem, effort: Effort) -> Found:
    """Against the clock the baseline has come before, so that nothing need be made when it is over."""
    return exhaustive(problem, effort, last_resort=effort.deadline is None)


def _at_once(problem: Problem, effort: Effort) -> Found:
    if isinstance(problem, LayerProblem):
        brief = replace(effort, deadline=time.monotonic() + AT_ONCE)
        return replace(unoptimised(problem, brief), method="baseline")
    return search_at_once(problem, effort)


def _tuner(problem: Problem, effort: Effort) -> Found:
    return _in_time(_layer("tuner", problem), effort)


def _exact(problem: Problem, effort: Effort) -> Found:
    return tuned_and_decided(_layer("exact", problem), effort)


def _algorithm_1(problem: Problem, effort: Effort) -> Found:
    return algorithm_1(_layer("algorithm-1", problem), effort)


def _baseline(problem: Problem, effort: Effort) -> Found:
    return unoptimised(_layer("baseline", problem), effort)


def _in_memory(problem: Problem, effort: Effort) -> Found:
    return sums_in_memory(_layer("baseline-in-memory", problem), effort)


def _layer(name: str, problem: Problem) -> LayerProblem:
    if isinstance(problem, LayerProblem):
        return problem
    raise InputError(
        "--method", name, "tunes the layers of a network; a kernel has auto, cp-sat or iterative"
    )


def _of_kernels(method: Method[ModuloProblem, ModuloSchedule]) -> AnyMethod:
    def search(problem: Problem, effort: Effort) -> Found:
        if isinstance(problem, LayerProblem):
            remedy = "schedules one kernel; a network has tuner, exact, algorithm-1 and baseline"
            raise InputError("--method", method.name, remedy)
        return method.search(problem, effort)

    return Method(method.name, method.exact, method.summary, search, method.prepare)


_TUNERS = (
    (
        "tuner",
        False,
        "networks: all unroll vectors for a proven bound; the best ones are scheduled",
        _tuner,
    ),
    ("exact", False, "networks: tuner, then CP-SAT on every chosen loop that is above its MII", _exact),
    ("algorithm-1", False, "networks: the paper's pruned search by MII * iterations", _algorithm_1),
    (
        "baseline",
        False,
        "networks: matrix products as written, sums in registers, nothing unrolled",
        _baseline,
    ),
    (
        "baseline-in-memory",
        False,
        "networks: the same with every sum going through memory, as the paper's Fig. 3(a) is written",
        _in_memory,
    ),
)

_AT_ONCE: AnyMethod = Method(ITERATIVE.name, False, "what is there at once", _at_once)

METHODS: dict[str, AnyMethod] = {
    method.name: method
    for method in (
        Method(
            "auto",
            True,
            f"kernels: {AUTOMATIC.summary}; networks: tuner, then CP-SAT briefly on loops above MII",
            _automatic,
            AUTOMATIC.prepare,
            _AT_ONCE,
        ),
        *(_of_kernels(method) for method in KERNEL_METHODS.values() if method is not AUTOMATIC),
        *(Method(*tuner, ITERATIVE.prepare, _AT_ONCE) for tuner in _TUNERS),
    )
}
