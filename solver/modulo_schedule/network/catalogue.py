"""Every method of the kind: those that schedule one kernel, and those that tune the layers of a network."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.models.limit import GRACE
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.catalogue import AUTOMATIC
from mapper.solver.modulo_schedule.catalogue import METHODS as KERNEL_METHODS
from mapper.solver.modulo_schedule.heuristic.iterative import AT_ONCE, ITERATIVE, search_at_once
from mapper.solver.modulo_schedule.network.exact.loop_proof import tuned_and_decided, tuned_and_tightened
from mapper.solver.modulo_schedule.network.heuristic.tuning import (
    COVERS,
    algorithm_1,
    exhaustive,
    sums_in_memory,
    unoptimised,
)
from mapper.solver.modulo_schedule.whole.loop_by_loop import search_whole
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError

Problem = ModuloProblem | WholeProblem | LayerProblem
Found = Outcome[Any]
AnyMethod = Method[Any, Any]


def _automatic(problem: Problem, effort: Effort) -> Found:
    if isinstance(problem, WholeProblem):
        return search_whole(AUTOMATIC, problem, effort)
    if not isinstance(problem, LayerProblem):
        return AUTOMATIC.search(problem, effort)
    if effort.deadline is not None:
        # Covers are listed in Python, which asks no clock between them.
        effort = replace(effort, deadline=effort.deadline - GRACE)
    return tuned_and_tightened(problem, _in_time(problem, effort), effort)


def _in_time(problem: LayerProblem, effort: Effort, most: int = COVERS, light: bool = False) -> Found:
    """Against the clock the baseline has come before, so that nothing need be made when it is over."""
    return exhaustive(problem, effort, most, last_resort=effort.deadline is None, light=light)


def _lightly(problem: Problem, effort: Effort) -> Found:
    """Of every nest the cover that is expected to be best, with the first schedules that there are."""
    return _in_time(_layer("tuner", problem), effort, most=1, light=True)


def _first_cover(problem: Problem, effort: Effort) -> Found:
    """The same cover with schedules that are searched for."""
    return _in_time(_layer("tuner", problem), effort, most=1)


def _at_once(problem: Problem, effort: Effort) -> Found:
    if isinstance(problem, LayerProblem):
        brief = replace(effort, deadline=time.monotonic() + AT_ONCE)
        return replace(unoptimised(problem, brief), method="baseline")
    if isinstance(problem, WholeProblem):
        return search_whole(Method(ITERATIVE.name, False, "", search_at_once), problem, effort)
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
        if isinstance(problem, WholeProblem):
            return search_whole(method, problem, effort)
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


def _after_first_covers(method: AnyMethod) -> AnyMethod:
    """The method, and before it over all layers the baseline, which takes seconds for a network, and one cover of every
    nest, first with light schedules: a layer without a mapping would void the network's, and most of what is to be
    gained is there before the first nest is searched to its end."""
    rounds = (replace(method, search=search) for search in (_lightly, _first_cover))
    return replace(method, before=(_LAYER_METHODS["baseline"], *rounds))


_KERNELS: dict[str, AnyMethod] = {name: _of_kernels(method) for name, method in KERNEL_METHODS.items()}
_AUTOMATIC: AnyMethod = Method(
    "auto",
    True,
    f"kernels: {AUTOMATIC.summary}; networks: tuner, then CP-SAT briefly on loops above MII",
    _automatic,
    AUTOMATIC.prepare,
    _AT_ONCE,
)
_LAYER_METHODS: dict[str, AnyMethod] = {
    tuner[0]: Method(*tuner, ITERATIVE.prepare, _AT_ONCE) for tuner in _TUNERS
}

METHODS: dict[str, AnyMethod] = _KERNELS | {"auto": _AUTOMATIC} | _LAYER_METHODS
"""Every method, in the order in which they are listed."""

OF_NETWORKS: dict[str, AnyMethod] = METHODS | {
    name: _after_first_covers(METHODS[name]) for name in ("auto", "tuner", "exact")
}
"""The same where the problem is a network: tuning goes over all layers in rounds."""
