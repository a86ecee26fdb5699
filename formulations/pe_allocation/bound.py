"""What is possible at an interval, in closed form: an exact argument in integers, without a search.

At an interval I between frames a layer may take z_i <= floor(I / positions) cycles a position, and by Eq. 9 no more
than floor(z_r / F_r) for any reader r. These caps, taken from the last layer to the first, do not depend on what
other layers choose as long as each may be throttled up to its own cap. So the fewest PEs at an interval are found
layer by layer, they never rise with the interval, and the least interval for a number of PEs follows by bisection.

It is exact for the calculus and the streaming model (which has no Eq. 9). Where layers share PEs, or where units are
free and idle cycles pinned, it is a bound.
"""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import Choice, allocation_of, choices, paces
from mapper.models.pe_allocation.mapping import Allocation


def is_exact(problem: AllocationProblem) -> bool:
    """Whether the closed form is the truth, and not just a bound."""
    throttled = any(pin.throttle is not None for pin in problem.pins.values())
    return not problem.sharing and not (problem.free_delta and throttled)


LayerChoices = tuple[tuple[Choice, ...], ...]


def layer_choices(problem: AllocationProblem) -> LayerChoices:
    """The choices of every layer."""
    return tuple(choices(problem, layer) for layer in problem.network.layers)


def caps(
    problem: AllocationProblem, interval: int, choices_of: LayerChoices | None = None
) -> tuple[tuple[int, ...], tuple[Choice | None, ...]]:
    """The most cycles a position of every layer may take at ``interval``, and the choice of fewest PEs within them
    (None: there is none)."""
    network, choices_of = problem.network, choices_of or layer_choices(problem)
    limits = [interval // layer.positions for layer in network.layers]
    chosen: list[Choice | None] = [None] * len(limits)
    for position in reversed(range(len(limits))):
        layer = network.layers[position]
        if problem.model != "streaming":
            for reader in network.readers[position]:
                limits[position] = min(limits[position], limits[reader] // network.layers[reader].new_pixels)
        idle = problem.pin(layer).throttle
        fitting = [c for c in choices_of[position] if c.cycles + (idle or 0) <= limits[position]]
        chosen[position] = min(fitting, key=lambda c: (c.pes, -c.cycles), default=None)
        if idle is not None:
            # A layer that may not be throttled further lets those before it take no longer than its own pace.
            limits[position] = max((c.cycles + idle for c in fitting), default=limits[position])
    return tuple(limits), tuple(chosen)


def cheapest(
    problem: AllocationProblem, interval: int, choices_of: LayerChoices | None = None
) -> tuple[Choice, ...] | None:
    """The choice of fewest PEs of every layer at ``interval``; None if a layer cannot keep pace."""
    _, chosen = caps(problem, interval, choices_of)
    kept = tuple(choice for choice in chosen if choice is not None)
    return kept if len(kept) == len(chosen) else None


def fewest_pes(
    problem: AllocationProblem, interval: int, choices_of: LayerChoices | None = None
) -> int | None:
    """The fewest PEs at ``interval``; None if a layer cannot keep pace with any number.

    Where layers share PEs it is a bound: what layers of one PE work in a frame takes at least so many PEs' time.
    """
    choices_of = choices_of or layer_choices(problem)
    chosen = cheapest(problem, interval, choices_of)
    if chosen is None:
        return None
    if not problem.sharing:
        return sum(choice.pes for choice in chosen)
    light = [at for at, choice in enumerate(chosen) if choice.pes == 1]
    layers = problem.network.layers
    work = sum(min(c.cycles for c in choices_of[at] if c.pes == 1) * layers[at].positions for at in light)
    return sum(choice.pes for choice in chosen if choice.pes > 1) + -(-work // interval)


def most_interval(problem: AllocationProblem) -> int:
    """An interval at which nothing is gained by taking longer: one PE a layer, or all layers on one PE."""
    layers = problem.network.layers
    slowest: list[int] = []
    work = 0
    for layer in layers:
        idle = problem.pin(layer).throttle or 0
        cycles = max((c.cycles for c in choices(problem, layer)), default=0)
        work += cycles * layer.positions
        fed = layer.new_pixels * max((slowest[feed] for feed in layer.feeds), default=0)
        slowest.append(max(cycles + idle, fed))
    longest = max(z * layer.positions for z, layer in zip(slowest, layers, strict=True))
    if not problem.sharing:
        return longest
    paced: list[int] = []
    for layer, z in zip(layers, slowest, strict=True):
        fed = layer.new_pixels * max((paced[feed] for feed in layer.feeds), default=0)
        paced.append(max(z, fed, -(-work // layer.positions)))
    return max(z * layer.positions for z, layer in zip(paced, layers, strict=True))


def least_interval(problem: AllocationProblem, pes: int) -> int | None:
    """The least interval between frames with ``pes`` PEs; None if there is none."""
    low, high, choices_of = 1, most_interval(problem), layer_choices(problem)
    if not _fits(problem, high, pes, choices_of):
        return None
    while low < high:
        middle = (low + high) // 2
        if _fits(problem, middle, pes, choices_of):
            high = middle
        else:
            low = middle + 1
    return low


def _fits(problem: AllocationProblem, interval: int, pes: int, choices_of: LayerChoices) -> bool:
    fewest = fewest_pes(problem, interval, choices_of)
    return fewest is not None and fewest <= pes


def paced_allocation(problem: AllocationProblem) -> Allocation | None:
    """An allocation at the least interval that all PEs allow, all layers at once and none sharing a PE: the fewest PEs
    that keep this pace, and what PEs are left to the first layers that they make faster. With fewest PEs as the
    objective these, at the interval that is asked for. None if there is none, or the closed form is only a bound."""
    alone = replace(problem, mode="layer-parallel", sharing=False, segments=None)
    if not is_exact(alone):
        return None
    interval = least_interval(alone, alone.most_pes)
    if interval is not None and alone.objective == "pes":
        interval = max(interval, alone.interval_limit(most_interval(alone)))
    chosen = None if interval is None else cheapest(alone, interval)
    if chosen is None:
        return None
    if alone.objective != "pes":
        chosen = _with_spare(alone, chosen)
    return allocation_of(alone, chosen, paces(alone, chosen))


def _with_spare(problem: AllocationProblem, chosen: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """The choices with the PEs that they leave given out, layer by layer."""
    spare = problem.most_pes - sum(choice.pes for choice in chosen)
    found: list[Choice] = []
    for layer, kept in zip(problem.network.layers, chosen, strict=True):
        best = kept
        if problem.pin(layer).throttle is None:
            within = (one for one in choices(problem, layer) if one.pes <= kept.pes + spare)
            best = min((kept, *within), key=lambda one: (one.cycles, one.pes, one.delta))
        spare -= best.pes - kept.pes
        found.append(best)
    return tuple(found)


def interval_weights(problem: AllocationProblem) -> tuple[int, ...]:
    """For every layer the cycles between frames that each of its cycles for a position asks for: its own positions, or
    those of a layer after it whose pace Eq. 9 ties to it."""
    network = problem.network
    weights = [layer.positions for layer in network.layers]
    if problem.model != "streaming":
        for position in reversed(range(len(weights))):
            for reader in network.readers[position]:
                needed = network.layers[reader].new_pixels * weights[reader]
                weights[position] = max(weights[position], needed)
    return tuple(weights)
