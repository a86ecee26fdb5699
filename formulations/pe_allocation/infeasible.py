"""Why a problem has no allocation, in one sentence with its numbers; and which layer limits the throughput.

All of it is exact, from the closed form (``bound``) and the model's storage. None does not promise an allocation where
layers share PEs, or in mixed mode: there the search decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mapper.formulations.pe_allocation.bound import caps, fewest_pes, is_exact, least_interval, most_interval
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import choices, offered
from mapper.formulations.pe_allocation.program.delay import least_line_buffers
from mapper.formulations.pe_allocation.program.sequential.closed_form import sequential_allocation
from mapper.formulations.pe_allocation.reach import why_unreachable
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.storage import fused_words, sequential_words
from mapper.models.pe_allocation.word.need import shortage


@dataclass(frozen=True)
class Bottleneck:
    """The layer that keeps the frames' ``interval`` from being shorter: ``pes`` it has, ``needs`` it would have to
    have (None: no number helps), and ``all_pes`` that all layers would then need."""

    layer: str
    interval: int
    pes: int
    needs: int | None
    all_pes: int | None


def bottleneck(problem: AllocationProblem) -> Bottleneck | None:
    """What limits the throughput of the layer-parallel mode on the PEs there are: of several layers that would have
    to be faster the one that needs most PEs for it. None if there is no allocation."""
    interval = least_interval(problem, problem.most_pes)
    if interval is None:
        return None
    now, faster = caps(problem, interval)[1], caps(problem, interval - 1)[1]
    slow: list[tuple[float, int]] = []
    for position, (one, other) in enumerate(zip(now, faster, strict=True)):
        assert one is not None
        more = math.inf if other is None else other.pes - one.pes
        slow.append((more, -position))
    more, position = max(slow)
    if more <= 0:
        return None
    layer, has, needs = problem.network.layers[-position], now[-position], faster[-position]
    assert has is not None
    total = fewest_pes(problem, interval - 1)
    return Bottleneck(layer.name, interval, has.pes, None if needs is None else needs.pes, total)


def why_infeasible(problem: AllocationProblem) -> str | None:
    """Why ``problem`` has no allocation; None if nothing here speaks against one."""
    said = _pins(problem) or why_unreachable(problem) or why_unfit(problem)
    if said is not None or problem.mode == "mixed":
        return said
    said = why_no_room(problem)
    if said is not None:
        return said
    return _sequential(problem) if problem.mode == "layer-by-layer" else _pes(problem) or _pace(problem)


def why_unfit(problem: AllocationProblem) -> str | None:
    """Why a PE has room for no program of some layer, on any number of PEs; None if it has."""
    if problem.mode == "layer-by-layer":
        return None
    pe = problem.machine.processing_element
    for layer in problem.network.layers:
        left = offered(problem, layer)
        if left and not choices(problem, layer):
            most = left[-1]
            short = shortage(layer, most.pes, most.delta, pe)
            assert short is not None
            counts = f"{left[0].pes:,}" if len(left) == 1 else f"{left[0].pes:,} to {most.pes:,}"
            field = f" ({short.field})" if short.field != "latency" else ""
            said = short.said.split(";")[0]
            return (
                f"no program of {layer.name} fits the PEs of {problem.machine.name}: on {counts} PEs, of {most.pes:,} "
                f"it {said}{field}; raise the limits in processing_element, or give units of shorter latency"
            )
    return None


def _pins(problem: AllocationProblem) -> str | None:
    for layer in problem.network.layers:
        pin = problem.pin(layer)
        if pin.pes is not None and not 1 <= pin.pes <= problem.most_pes:
            return f"{layer.name} is pinned to {pin.pes:,} PEs, and there are {problem.most_pes:,}"
        if pin.delta is not None and not 1 <= pin.delta <= problem.units(layer):
            units = problem.units(layer)
            return f"{layer.name} is pinned to {pin.delta:,} functional units, and a PE has {units:,} for it"
        if pin.throttle is not None and pin.throttle < 0:
            return f"{layer.name} is pinned to {pin.throttle:,} idle cycles, which cannot be negative"
    return None


def why_no_room(problem: AllocationProblem) -> str | None:
    """Why the buffers that there are hold no allocation of one run, whatever its paces; None if nothing says so."""
    most, width = problem.most_bytes, problem.machine.word_bytes
    if most is None:
        return None
    network = problem.network
    if problem.mode == "layer-by-layer":
        largest = max(network.layers, key=lambda layer: sequential_words(network, layer))
        words, what = sequential_words(network, largest), f"{largest.name} alone needs"
    else:
        weights, values = fused_words(network, range(len(network.layers)))
        if problem.model == "streaming":
            values = least_line_buffers(network)
        words = weights + values
        what = (
            f"weights ({weights * width:,}) and intermediate values ({values * width:,}) of all layers need"
        )
        if problem.model == "streaming":
            what += " at least"
    if words * width <= most:
        return None if problem.mode == "layer-by-layer" else _line_buffers(problem, most)
    return f"{what} {words * width:,} bytes of buffers, and there are {most:,}"


def _line_buffers(problem: AllocationProblem, most: int) -> str | None:
    """The calculus counts less than raster order asks for at any paces."""
    network, width = problem.network, problem.machine.word_bytes
    weights, _ = fused_words(network, range(len(network.layers)))
    words = weights + least_line_buffers(network)
    if words * width <= most:
        return None
    return (
        f"weights ({weights * width:,}) and line buffers in raster order need {words * width:,} bytes at least as they "
        f"are configured, and there are {most:,}"
    )


def _pes(problem: AllocationProblem) -> str | None:
    layers, most = problem.network.layers, problem.most_pes
    fewest = [min(choice.pes for choice in choices(problem, layer)) for layer in layers]
    if problem.sharing:
        pinned = sum(pes for pes in fewest if pes > 1)
        needs = pinned + (1 if 1 in fewest else 0)
    else:
        needs = sum(fewest)
    if needs <= most:
        return None
    if needs == len(layers):
        return f"{needs:,} layers work at once and need a PE each, and there are {most:,} PEs"
    asked = "that are pinned" if problem.pins else "that their programs ask for (processing_element)"
    return f"{len(layers):,} layers with the PEs {asked} need {needs:,} PEs, and there are {most:,}"


def _pace(problem: AllocationProblem) -> str | None:
    if least_interval(problem, problem.most_pes) is None:
        return _starved(problem)
    found, asked = bottleneck(problem), problem.longest_interval
    if asked is None or found is None or found.interval <= asked:
        return None
    most = "no more than" if not is_exact(problem) else "the most possible is"
    if found.needs is None:
        more = f"which no more PEs make faster than it is with {found.pes:,}"
    else:
        more = f"which has {found.pes:,} PEs and would need {found.needs:,}"
        if found.all_pes is not None and found.all_pes > problem.most_pes:
            more += f" ({found.all_pes:,} in all)"
    return (
        f"on {problem.most_pes:,} PEs {most} {_rate(problem, found.interval)}, and at least "
        f"{_rate(problem, asked)} is asked for: the bottleneck is {found.layer}, {more}"
    )


def _starved(problem: AllocationProblem) -> str:
    """Pinned idle cycles leave a layer too fast at any interval, or need more PEs than there are."""
    interval = most_interval(problem)
    limits, chosen = caps(problem, interval)
    for position in reversed(range(len(chosen))):
        if chosen[position] is None:
            layer = problem.network.layers[position]
            fastest = min(c.cycles for c in choices(problem, layer)) + (problem.pin(layer).throttle or 0)
            return (
                f"{layer.name} takes {fastest:,} cycles for a position at least, and the idle cycles that are "
                f"pinned after it leave no more than {limits[position]:,} (Eq. 9)"
            )
    fewest = fewest_pes(problem, interval)
    return f"with the pinned idle cycles {fewest:,} PEs are needed, and there are {problem.most_pes:,}"


def _sequential(problem: AllocationProblem) -> str | None:
    asked = problem.longest_interval
    fastest = sequential_allocation(problem, problem.most_pes)
    cost = evaluate(problem.network, problem.machine, fastest, problem.model)
    if asked is None or cost.interval <= asked:
        return None
    slowest, layer = max(
        (timing.latency, layer.name) for timing, layer in zip(cost.timed, problem.network.layers, strict=True)
    )
    return (
        f"layer by layer on {problem.most_pes:,} PEs the most possible is {_rate(problem, cost.interval)}, and at "
        f"least {_rate(problem, asked)} is asked for: the longest layer is {layer} with {slowest:,} cycles"
    )


def _rate(problem: AllocationProblem, interval: int) -> str:
    if interval == 0:
        return f"{problem.machine.clock_hz:,} frames per second (less than a cycle a frame)"
    frames = problem.machine.clock_hz / interval
    return f"{frames:,.3f} frames per second ({interval:,} cycles a frame)"
