"""Whole kernels loop by loop: the least II of each, and, where that may not give the fewest cycles, larger ones."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.formulations.modulo_schedule.whole.bound import bound, least_loop_cycles, loop_bound
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.cost import load_cycles
from mapper.models.modulo_schedule.whole.cost import evaluate_whole
from mapper.models.modulo_schedule.whole.mapping import WholeMapping, from_zero
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome

LoopMethod = Method[ModuloProblem, ModuloSchedule]
SEEDS = 4
"""Starts of the search for fewer stages, at each II that may be better."""


@dataclass
class _Loop:
    """What is known of a loop: the best schedule, the least II proven, and how its search for that ended."""

    schedule: ModuloSchedule
    least: int | None
    outcome: Outcome[ModuloSchedule]


def search_whole(method: LoopMethod, problem: WholeProblem, effort: Effort) -> Outcome[WholeMapping]:
    """Every choice that the problem leaves, each with an even share of the time, and the best of them.

    Raises: InputError as ``search_loops``.
    """
    best: Outcome[WholeMapping] | None = None
    for number, choice in enumerate(problem.choices):
        left = effort.seconds_left()
        parts = len(problem.choices) - number
        own = replace(effort, deadline=None if left is None else time.monotonic() + left / parts)
        found = search_loops(method, choice, own)
        best = found if best is None else _best(best, found)
    assert best is not None
    return best


def _best(one: Outcome[WholeMapping], other: Outcome[WholeMapping]) -> Outcome[WholeMapping]:
    """The better of two choices; only what holds for both bounds the whole."""
    answered = [found for found in (one, other) if found.value is not None]
    if not answered or (one.proven and one.mapping is None) or (other.proven and other.mapping is None):
        return answered[0] if answered else one
    chosen = min(answered, key=lambda found: found.value or 0)
    bounds = [found.bound for found in (one, other) if found.bound is not None]
    least = min(bounds) if len(bounds) == 2 else None
    if least == chosen.value:
        return replace(chosen, bound=least, proven=True, stop="complete", restrictions=())
    stop = "heuristic" if chosen.proven else chosen.stop
    left_out = dict.fromkeys((*one.restrictions, *other.restrictions))
    return replace(chosen, bound=least, proven=False, stop=stop, restrictions=tuple(left_out))


def search_loops(method: LoopMethod, problem: WholeProblem, effort: Effort) -> Outcome[WholeMapping]:
    """Every loop by ``method`` for its least II, then each for the fewest cycles of all its starts.

    Raises: InputError if data decide how often loops run, or as the method.
    """
    found: list[_Loop] = []
    for number, loop in enumerate(problem.loops):
        outcome = method.search(loop, _share(problem, number, effort, found))
        if outcome.mapping is None:
            if outcome.proven:
                return Outcome.infeasible(method=outcome.method)
            return Outcome.unknown(effort.stopped() or outcome.stop, bound(problem), method=outcome.method)
        schedule = from_zero(outcome.mapping)
        found.append(_Loop(schedule, outcome.bound if outcome.bound is None else int(outcome.bound), outcome))
    for number, one in enumerate(found):
        one.schedule = _fewer_cycles(method, problem, number, one, effort)
    return _whole(problem, found, effort)


def _share(problem: WholeProblem, number: int, effort: Effort, found: list[_Loop]) -> Effort:
    """An even share of what is left of the time, and whoever listens hears which loop is searched."""
    name = problem.whole.kernels[number].name

    def report(progress: Progress) -> None:
        doing = f"II {progress.value}" if progress.doing is None else progress.doing
        effort.report(Progress(None, None, progress.evaluations, f"{name}: {doing}"))

    left = effort.seconds_left()
    parts = 1 + len(problem.loops) - len(found)  # fewer stages are looked for at the end
    deadline = None if left is None else time.monotonic() + left / parts
    return replace(effort, deadline=deadline, report=report, start=None)


def _cycles(problem: WholeProblem, number: int, schedule: ModuloSchedule) -> int:
    """Cycles of all starts of a loop and of loading it once."""
    tally = problem.tally
    rounds = tally.iterations(number) + tally.starts(number) * (schedule.stages - 1)
    return rounds * schedule.ii + load_cycles(problem.machine, schedule.ii)


def _fewer_cycles(
    method: LoopMethod, problem: WholeProblem, number: int, one: _Loop, effort: Effort
) -> ModuloSchedule:
    """The best schedule of those found at IIs that may take fewer cycles than the known one: the same with other seeds,
    which may have fewer stages, and larger ones."""
    best = one.schedule
    value = _cycles(problem, number, best)
    goal = least_loop_cycles(problem, number, one.least)
    ii = best.ii
    iterations = problem.tally.iterations(number)
    while iterations and value > goal and iterations * ii + load_cycles(problem.machine, ii) < value:
        for seed in range(SEEDS):
            if value <= goal or effort.is_over() or loop_bound(problem, number, ii) >= value:
                break
            pinned = replace(problem.loops[number], fixed_ii=ii)
            own = replace(_share(problem, number, effort, []), seed=effort.seed + 1 + seed)
            mapping = method.search(pinned, own).mapping
            if mapping is None or not verify(pinned, mapping).valid:
                continue
            mapping = from_zero(mapping)
            if _cycles(problem, number, mapping) < value:
                best, value = mapping, _cycles(problem, number, mapping)
        if effort.is_over():
            break
        ii += 1
    return best


def _whole(problem: WholeProblem, found: list[_Loop], effort: Effort) -> Outcome[WholeMapping]:
    mapping = WholeMapping(
        problem.whole.nest, tuple(one.schedule for one in found), tuple(one.least for one in found)
    )
    value = evaluate_whole(problem.whole, problem.machine, problem.tally, mapping.loops).cycles
    least = bound(problem, mapping.least)
    names = dict.fromkeys(one.outcome.method for one in found if one.outcome.method)
    stops: list[Stop] = [one.outcome.stop for one in found]
    cut = [one for one in stops if one in ("time_limit", "interrupted")]
    stop: Stop = effort.stopped() or (cut[0] if cut else "heuristic")
    proven = value == least
    left_out = dict.fromkeys(rule for one in found for rule in one.outcome.restrictions)
    return Outcome.ended(
        mapping,
        value,
        least,
        "complete" if proven else stop,
        proven=proven,
        restrictions=() if proven else tuple(left_out),
        method=" + ".join(names) or None,
    )
