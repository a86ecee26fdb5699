"""Layers one after another: the best allocation in closed form [Heidorn2019, sec. 5.1].

The frame takes the sum of the layers' cycles, and the array is as large as the layer with most PEs needs (Eqs. 3 and
4), so that every layer is decided by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.calculus import lane_cycles, position_cycles
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamLayer

Rule = Callable[[StreamLayer, int, int], int]


def rule_of(problem: AllocationProblem) -> Rule:
    """Cycles of a position for PEs and units: Eq. 6, or units as lanes."""
    return lane_cycles if problem.model == "lanes" else position_cycles


def sequential_allocation(problem: AllocationProblem, pes: int) -> Allocation:
    """The allocation of least cycles on ``pes`` PEs, with the fewest PEs of each layer that are as fast, then with the
    fewest units where these are free; pins are kept."""
    rule = rule_of(problem)
    chosen = [_choice(problem, layer, pes, rule) for layer in problem.network.layers]
    return Allocation(
        "layer-by-layer",
        tuple(count for count, _ in chosen),
        tuple(problem.pin(layer).throttle or 0 for layer in problem.network.layers),
        tuple(delta for _, delta in chosen),
    )


def sequential_cycles(problem: AllocationProblem, pes: int) -> int:
    """The least cycles of a frame on ``pes`` PEs; a layer waits for the drain of the one before."""
    rule = rule_of(problem)
    found = sequential_allocation(problem, pes)
    return sum(
        (rule(layer, count, delta) + idle) * layer.positions
        for layer, count, delta, idle in zip(
            problem.network.layers, found.pes, found.delta, found.throttle, strict=True
        )
    ) + sum(problem.drains)


def best_sequential(problem: AllocationProblem) -> Allocation:
    """The allocation that is best by the problem's objective, if there is one at all."""
    most = problem.most_pes
    if problem.objective == "pes":
        interval = problem.interval_limit(sequential_cycles(problem, 1))
        most = least_array(problem, interval) or most
        pinned = [pin.pes for pin in problem.pins.values() if pin.pes is not None]
        most = max([most, *pinned])
    return sequential_allocation(problem, most)


def least_array(problem: AllocationProblem, interval: int) -> int | None:
    """The fewest PEs on which a frame takes ``interval`` cycles at most; None if there are too few for it."""
    low, high = 1, problem.most_pes
    if sequential_cycles(problem, high) > interval:
        return None
    while low < high:
        middle = (low + high) // 2
        if sequential_cycles(problem, middle) <= interval:
            high = middle
        else:
            low = middle + 1
    return low


def _choice(problem: AllocationProblem, layer: StreamLayer, most: int, rule: Rule) -> tuple[int, int]:
    pin, units = problem.pin(layer), problem.units(layer)
    delta = units if pin.delta is None else pin.delta
    pes = most if pin.pes is None else pin.pes
    least = rule(layer, pes, delta)
    if pin.pes is None:
        pes = _first(most, lambda count: rule(layer, count, delta) == least)
    if pin.delta is None and problem.free_delta:
        delta = _first(units, lambda count: rule(layer, pes, count) == least)
    return pes, delta


def _first(most: int, good: Callable[[int], bool]) -> int:
    """The least count that is good, where more never is worse and ``most`` is good."""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if good(middle):
            high = middle
        else:
            low = middle + 1
    return low
