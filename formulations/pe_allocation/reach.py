"""What no allocation can do because of links and border PEs, wherever its layers stand.

Streams and buffers follow from the layers that work at once, not from PEs and paces: where generators or buffers
are too few for them, there is no allocation of the mode. What one layer reads and makes takes its time on the links,
which bounds the throughput. In mixed mode both depend on the runs, and nothing is said here.
"""

from __future__ import annotations

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.calculus import position_cycles
from mapper.models.pe_allocation.configuration.wiring import outside_streams
from mapper.models.pe_allocation.stream.layer import StreamLayer
from mapper.models.pe_allocation.stream.traffic import Demand, reads_all, traffic


def why_unreachable(problem: AllocationProblem) -> str | None:
    """Why the streams from and to the buffers are too many, with numbers; None if nothing here speaks against them."""
    if problem.mode == "mixed":
        return None
    count = len(problem.network.layers)
    alone = problem.mode == "layer-by-layer"
    runs = [range(at, at + 1) for at in range(count)] if alone else [range(count)]
    generators, name = problem.machine.border.address_generators, problem.machine.name
    streams = max(sum(outside_streams(problem.network, at, members) for at in members) for members in runs)
    if generators is not None and streams > generators:
        whose = "a layer has" if alone else "the layers have"
        return (
            f"{whose} {streams:,} streams from and to the buffers, and {name} has {generators:,} address "
            "generators (border.address_generators)"
        )
    return None if alone else _buffers(problem)


def _buffers(problem: AllocationProblem) -> str | None:
    """Two buffers of one layer are at the same border PE; the others may be anywhere."""
    most, border = problem.machine.border.buffers, len(problem.machine.border_pes)
    if most is None:
        return None
    layers = problem.network.layers
    asked: tuple[Demand, ...] = traffic(problem.network, (1,) * len(layers), range(len(layers))).demands
    needed = sum(demand.buffers for demand in asked)
    pairs = sum(1 for demand in asked if demand.buffers == 2)
    if needed <= most * border and pairs <= most // 2 * border:
        return None
    return (
        f"the layers take {needed:,} buffers, of which {pairs:,} layers need two at one border PE, and "
        f"{problem.machine.name} has {most:,} at each of {border:,} border PEs (border.buffers)"
    )


def least_interval_over_links(problem: AllocationProblem) -> int:
    """Cycles between frames below which the links cannot feed some layer; 0 if nothing is known.

    All that a layer reads for a position passes one link to the buffers, a corner's being as wide as its sides; and if
    it has several PEs that all read the same, a link between two of them.
    """
    words, machine = problem.machine.link_words, problem.machine
    if words is None or problem.mode != "layer-parallel":
        return 0
    widest = words * max(len(machine.sides_of(pe)) for pe in machine.border_pes)
    return max(
        layer.positions * _least_pace(problem, layer, words, widest) for layer in problem.network.layers
    )


def _least_pace(problem: AllocationProblem, layer: StreamLayer, words: int, widest: int) -> int:
    read = sum(problem.network.layers[feed].maps for feed in layer.feeds) or layer.channels
    alone = max(position_cycles(layer, 1, problem.units(layer)), -(-read * layer.window // widest))
    if problem.most_pes == 1:
        return alone
    together = -(-read * layer.window // (words if reads_all(layer) else widest))
    return min(alone, together)
