"""The referee of allocations: checks every rule of a problem by itself [Heidorn2019, secs. 5 and 6].

It shares no code with the program or the searches. Cost comes from the model; rates, sharing, runs, pins and the
placement are checked here with counts of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify_ways import verify_buffers, verify_ways
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.pe_allocation.cost import AllocationCost, evaluate
from mapper.models.pe_allocation.mapping import Allocation, Pe
from mapper.models.pe_allocation.needed import needed_bytes
from mapper.models.pe_allocation.word.need import shortage

ALLOCATED = "every layer has at least one PE, and at least one unit, up to those of a PE"
IDLE = "idle cycles are not negative"
FEWEST = "no more PEs than there are"
FED = "no layer works faster than its pixels come (Eq. 9)"
STORED = "buffers, as they are configured, hold weights, intermediate values and maps (Eq. 15)"
PACE = "frames come as often as asked for"
PINNED = "pinned decisions are kept"
UNITS = "a layer uses all units of its PEs"
PROGRAMMED = "every PE has room for its layer's program, at any pace"
SHARED = "layers that share a PE are light: their work of a frame fits each one's time"
RUNS = "runs of fused layers follow the order of the layers"
MODE = "the allocation is of the mode that is asked for"
PLACED = "every layer stands on PEs of its own, as many as it has"
CONNECTED = "a layer's PEs are connected"
GENERATED = "every stream from or to the outside has an address generator"


def verify(problem: AllocationProblem, allocation: Allocation) -> Verdict[AllocationCost]:
    """Check ``allocation`` against every rule of ``problem`` and have the model recompute its cost.

    Sizes are in PEs, units, cycles or bytes beyond the limit.
    """
    unreadable = (*_allocated(problem, allocation), *_shaped(problem, allocation))
    if unreadable:
        return Verdict(unreadable, None)
    cost = evaluate(problem.network, problem.machine, allocation, problem.model)
    found = [
        *_pinned(problem, allocation),
        *_limits(problem, allocation, cost),
        *_fed(problem, allocation),
        *_shared(problem, allocation),
        *_fitting(problem, allocation),
        *_standing(problem, allocation, cost),
    ]
    return Verdict(tuple(found), cost)


def _allocated(problem: AllocationProblem, allocation: Allocation) -> Iterator[BrokenRule]:
    layers = problem.network.layers
    if not len(layers) == len(allocation.pes) == len(allocation.throttle) == len(allocation.delta):
        yield BrokenRule(ALLOCATED, "pes", abs(len(layers) - len(allocation.pes)))
        return
    for layer, pes, idle, delta in zip(
        layers, allocation.pes, allocation.throttle, allocation.delta, strict=True
    ):
        if pes < 1:
            yield BrokenRule(ALLOCATED, layer.name, 1 - pes)
        if not 1 <= delta <= problem.units(layer):
            yield BrokenRule(ALLOCATED, layer.name, max(1 - delta, delta - problem.units(layer)))
        if idle < 0:
            yield BrokenRule(IDLE, layer.name, -idle)


def _shaped(problem: AllocationProblem, allocation: Allocation) -> Iterator[BrokenRule]:
    """Modes, runs and groups that cannot be counted with."""
    if allocation.mode != problem.mode:
        yield BrokenRule(MODE, allocation.mode, 1)
    starts = allocation.segments
    count = len(allocation.pes)
    if starts[:1] != (0,) or any(not a < b < count for a, b in itertools.pairwise(starts)):
        yield BrokenRule(RUNS, "segments", len(starts))
    if len(allocation.on_chip) != len(starts) - 1 or (len(starts) > 1 and allocation.mode != "mixed"):
        yield BrokenRule(RUNS, "on_chip", abs(len(allocation.on_chip) - len(starts) + 1))
    members = [at for group in allocation.shared for at in group]
    if len(set(members)) != len(members) or any(not 0 <= at < count for at in members):
        yield BrokenRule(SHARED, "shared", len(members) - len(set(members)))


def _pinned(problem: AllocationProblem, allocation: Allocation) -> Iterator[BrokenRule]:
    if problem.segments is not None and allocation.segments != problem.segments:
        different = set(problem.segments) ^ set(allocation.segments)
        yield BrokenRule(PINNED, "segments", len(different))
    for position, layer in enumerate(problem.network.layers):
        pin = problem.pin(layer)
        given = (allocation.pes[position], allocation.delta[position], allocation.throttle[position])
        for wanted, found in zip((pin.pes, pin.delta, pin.throttle), given, strict=True):
            if wanted is not None and wanted != found:
                yield BrokenRule(PINNED, layer.name, abs(wanted - found))
        free = problem.free_delta or pin.delta is not None
        if not free and allocation.delta[position] != problem.units(layer):
            yield BrokenRule(UNITS, layer.name, problem.units(layer) - allocation.delta[position])


def _limits(problem: AllocationProblem, allocation: Allocation, cost: AllocationCost) -> Iterator[BrokenRule]:
    if cost.pes > problem.most_pes:
        yield BrokenRule(FEWEST, "pes", cost.pes - problem.most_pes)
    most = problem.most_bytes
    if most is not None:
        held = needed_bytes(problem.network, problem.machine, allocation, cost)
        if held > most:
            yield BrokenRule(STORED, "buffer_bytes", held - most)
    if problem.longest_interval is not None and cost.interval > problem.longest_interval:
        yield BrokenRule(PACE, "throughput_fps", cost.interval - problem.longest_interval)


def _work(problem: AllocationProblem, allocation: Allocation, position: int) -> int:
    """Cycles that a layer's PE works for one of its positions (Eq. 6), counted map by map."""
    layer = problem.network.layers[position]
    # PE 0 has the most maps: 0, P, 2P, ... (Algorithm 3).
    return (
        len(range(0, layer.filters, allocation.pes[position]))
        * len(range(0, layer.depth, allocation.delta[position]))
        * layer.window
    )


def _fed(problem: AllocationProblem, allocation: Allocation) -> Iterator[BrokenRule]:
    """Eq. 9 within every run of layers that work at once; the streaming model needs no matching of single pixels."""
    if problem.model == "streaming" or allocation.mode == "layer-by-layer":
        return
    pace = [_work(problem, allocation, at) + allocation.throttle[at] for at in range(len(allocation.pes))]
    for members in allocation.parts():
        for position in members:
            layer = problem.network.layers[position]
            for feed in layer.feeds:
                short = layer.new_pixels * pace[feed] - pace[position]
                if feed in members and short > 0:
                    yield BrokenRule(FED, f"{problem.network.layers[feed].name} to {layer.name}", short)


def _fitting(problem: AllocationProblem, allocation: Allocation) -> Iterator[BrokenRule]:
    """Programs of layers that work at once; layer by layer none are made."""
    if allocation.mode == "layer-by-layer":
        return
    for layer, pes, delta in zip(problem.network.layers, allocation.pes, allocation.delta, strict=True):
        short = shortage(layer, pes, delta, problem.machine.processing_element)
        if short is not None:
            yield BrokenRule(PROGRAMMED, f"{layer.name}: {short.field}", abs(short.needed - short.there))


def _shared(problem: AllocationProblem, allocation: Allocation) -> Iterator[BrokenRule]:
    layers = problem.network.layers
    for group in allocation.shared:
        named = ", ".join(layers[at].name for at in group)
        if not problem.sharing or len(group) < 2:
            yield BrokenRule(SHARED, named, len(group))
        crowded = [at for at in group if allocation.pes[at] != 1]
        if crowded:
            yield BrokenRule(SHARED, named, len(crowded))
        if not any(all(at in members for at in group) for members in allocation.parts()):
            yield BrokenRule(RUNS, named, len(group))
        busy = sum(_work(problem, allocation, at) * layers[at].positions for at in group)
        for at in group:
            time = (_work(problem, allocation, at) + allocation.throttle[at]) * layers[at].positions
            if time < busy:
                yield BrokenRule(SHARED, layers[at].name, busy - time)


def _standing(
    problem: AllocationProblem, allocation: Allocation, cost: AllocationCost
) -> Iterator[BrokenRule]:
    """The streams to the buffers, the placement, and the ways of streams if the regions are sound. Without a placement,
    runs of the mixed mode are not judged."""
    runs = list(_at_once(allocation))
    if allocation.placement is not None or allocation.mode != "mixed":
        yield from _generated(problem, runs)
    if allocation.placement is None and allocation.mode == "layer-parallel":
        yield from verify_buffers(problem, runs)
    faults = list(_placed(problem, allocation))
    yield from faults
    if not faults:
        yield from verify_ways(problem, allocation, cost, runs)


def _generated(problem: AllocationProblem, runs: list[range]) -> Iterator[BrokenRule]:
    generators = problem.machine.border.address_generators
    if generators is None:
        return
    for members in runs:
        streams = sum(_outside(problem, position, members) for position in members)
        if streams > generators:
            place = problem.network.layers[members[0]].name
            yield BrokenRule(GENERATED, place, streams - generators)


def _placed(problem: AllocationProblem, allocation: Allocation) -> Iterator[BrokenRule]:
    if allocation.placement is None:
        return
    machine, layers = problem.machine, problem.network.layers
    regions = allocation.placement.regions
    if len(regions) != len(layers):
        yield BrokenRule(PLACED, "placement", abs(len(regions) - len(layers)))
        return
    for position, region in enumerate(regions):
        outside = [pe for pe in region if not (0 <= pe[0] < machine.rows and 0 <= pe[1] < machine.columns)]
        wrong = abs(len(set(region)) - allocation.pes[position]) + len(region) - len(set(region))
        if outside or wrong:
            yield BrokenRule(PLACED, layers[position].name, len(outside) + wrong)
        elif not _connected(region, machine.neighbours):
            yield BrokenRule(CONNECTED, layers[position].name, len(region))
    together = {at: number for number, group in enumerate(allocation.shared) for at in group}
    for members in _at_once(allocation):
        owner: dict[Pe, int] = {}
        for position in members:
            for pe in regions[position]:
                other = owner.setdefault(pe, position)
                if other != position and together.get(other, -1) != together.get(position, -2):
                    yield BrokenRule(PLACED, f"{layers[other].name}, {layers[position].name}", 1)
    for group in allocation.shared:
        if len({regions[at] for at in group}) > 1:
            yield BrokenRule(PLACED, ", ".join(layers[at].name for at in group), len(group))


def _at_once(allocation: Allocation) -> Iterator[range]:
    """The layers that work at the same time; alone, one after another, in the mode layer by layer."""
    for members in allocation.parts():
        if allocation.mode == "layer-by-layer":
            yield from (range(at, at + 1) for at in members)
        else:
            yield members


def _outside(problem: AllocationProblem, position: int, members: range) -> int:
    """Streams of a layer from and to the buffers: weights, maps that are not made now, maps for later or the host."""
    layers = problem.network.layers
    made_now = {feed for feed in layers[position].feeds if feed in members}
    readers = [at for at, layer in enumerate(layers) if position in layer.feeds]
    read_now = [at for at in readers if at in members]
    reads_buffers = not made_now or made_now != set(layers[position].feeds)
    return 1 + reads_buffers + (not readers or read_now != readers)


def _connected(region: Sequence[Pe], neighbours: dict[Pe, tuple[Pe, ...]]) -> bool:
    inside, reached, open_ends = set(region), {region[0]}, [region[0]]
    while open_ends:
        for near in neighbours[open_ends.pop()]:
            if near in inside and near not in reached:
                reached.add(near)
                open_ends.append(near)
    return reached == inside
