"""Random allocations: exact methods agree with trying everything, no heuristic is better, every allocation runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.mapping import Allocation
from mapper.sim.pe_allocation import report
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.catalogue import METHODS
from mapper.solver.pe_allocation.placement.place import place
from tests.solver.conformance import refereed_by
from tests.solver.pe_allocation.random_allocation import problems_of_every_mode
from tests.solver.sample import Sample, counts, drawn

EXACT = frozenset(name for name, method in METHODS.items() if method.exact)


def every(problem: AllocationProblem) -> Iterator[Allocation]:
    """Every allocation of layers that share nothing, with any idle cycles that a pace leaves, else none."""
    choices = []
    for layer in problem.network.layers:
        pin, units = problem.pin(layer), problem.units(layer)
        pes = range(1, problem.most_pes + 1) if pin.pes is None else (pin.pes,)
        delta = range(1 if problem.free_delta else units, units + 1) if pin.delta is None else (pin.delta,)
        slow = has_small_buffers(problem) and problem.longest_interval is not None
        idle = range((problem.longest_interval or 0) // layer.positions + 1 if slow else 1)
        choices.append(list(product(pes, idle if pin.throttle is None else (pin.throttle,), delta)))
    for chosen in product(*choices):
        pes_of, idle_of, delta_of = zip(*chosen, strict=True)
        yield Allocation(problem.mode, pes_of, idle_of, delta_of)


def has_small_buffers(problem: AllocationProblem) -> bool:
    """Whether idle cycles count because line buffers are limited."""
    return problem.most_bytes is not None and problem.mode == "layer-parallel"


def tried(problem: AllocationProblem) -> Outcome[Allocation] | None:
    """The best allocation by trying everything, where the kind's brute force does not: layers one after another, for
    which all methods share one closed form, and buffers that longer idle times may help."""
    if problem.mode == "mixed" or (problem.mode == "layer-parallel" and not has_small_buffers(problem)):
        return None
    verdicts = (verify(problem, allocation) for allocation in every(problem))
    costs = [one.cost for one in verdicts if one.valid and one.cost is not None]
    if not costs:
        return Outcome.infeasible()
    value = problem.value(min(costs, key=problem.rank))
    return Outcome(None, value, value, "complete", True)


def runs(problem: AllocationProblem, allocation: Allocation) -> bool:
    """Pixels equal those of the reference and no rule of the array is broken; under the streaming model and layer by
    layer all times and buffers are the model's."""
    found = report(problem, allocation)
    return bool(found["outputs_equal"] and not found["failed"])


@pytest.fixture
def placed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Placing looks at the allocation alone: what several methods find is placed once, and gives up early."""
    known: dict[tuple[int, Allocation], tuple[AllocationProblem, Allocation]] = {}

    def remembered(problem: AllocationProblem, allocation: Allocation, start: None = None) -> Allocation:
        assert start is None
        key = id(problem), allocation
        if key not in known:
            if len(known) > 20:
                known.clear()
            known[key] = problem, place(problem, allocation)
        return known[key][1]

    monkeypatch.setattr("mapper.solver.pe_allocation.placement.place.place", remembered)
    monkeypatch.setattr("mapper.solver.pe_allocation.placement.arrangement.PATIENCE", 400)


@pytest.mark.usefixtures("placed_once")
@pytest.mark.parametrize("count", counts())
def test_methods_agree_on_random_allocations_and_every_allocation_runs(count: int) -> None:
    kind = refereed_by(verify, AllocationProblem.value, lambda problem: problem.objective == "throughput")
    sample = Sample(kind)

    @drawn(count)
    @given(problems_of_every_mode())
    def holds(problem: AllocationProblem) -> None:
        # Where line buffers are limited, allocations are checked against them, not searched by them.
        proving = frozenset[str]() if has_small_buffers(problem) else EXACT
        sample.examine(problem, tuple(METHODS.values()), proving, runs, tried(problem))

    holds()
    sample.check_telling(unanswered=0.1, missed=0.1)
