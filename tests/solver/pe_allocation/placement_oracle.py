"""Small networks and arrays for placement, and the least wiring by looking at every placement."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from mapper.arch.tcpa import Pe, TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork

FAR = 10**6
Regions = tuple[tuple[Pe, ...], ...]


def network_of(*feeds: Sequence[int]) -> StreamNetwork:
    """Convolutions of one pixel that read the layers given, or the frame if none is."""
    layers = tuple(
        StreamLayer(
            f"conv{at}", "", "convolution", 8, 2, (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (0, 0), 2, 8, 1,
            tuple(read), 16,
        )
        for at, read in enumerate(feeds)
    )  # fmt: skip
    return StreamNetwork("net", layers, ())


def array_of(
    rows: int,
    columns: int,
    links: Sequence[str] = ("mesh",),
    sides: Sequence[str] = ("north", "east", "south", "west"),
    generators: int | None = None,
) -> TcpaMachine:
    document = tcpa_preset(f"tcpa-{rows}x{columns}")
    assert document is not None
    document["links"] = list(links)
    document["border"] = {"sides": list(sides), "address_generators": generators}
    return tcpa_from_document(document, "test")


def allocation_of(*pes: int, **fields: object) -> Allocation:
    """So many PEs a layer, in layer-parallel mode unless ``fields`` say else."""
    plain = Allocation("layer-parallel", pes, (0,) * len(pes), (2,) * len(pes))
    return Allocation(**{**vars(plain), **fields})


def all_ways(machine: TcpaMachine) -> dict[tuple[Pe, Pe], int]:
    """Links between any two PEs (Floyd and Warshall)."""
    pes = machine.all_pes
    away = {(p, q): 0 if p == q else 1 if q in machine.neighbours[p] else FAR for p in pes for q in pes}
    for via, p, q in itertools.product(pes, repeat=3):
        away[p, q] = min(away[p, q], away[p, via] + away[via, q])
    return away


def counted(network: StreamNetwork, machine: TcpaMachine, *placements: Regions) -> int:
    """The fewest links of all streams of layers that all work at once, over ``placements``; stream by stream."""
    away, fewest = all_ways(machine), FAR
    for regions in placements:
        total = 0
        for at, layer in enumerate(network.layers):
            out = min(away[p, q] for p in regions[at] for q in machine.border_pes)
            read_by_none = all(at not in other.feeds for other in network.layers)
            streams = [out] + [out] * (not layer.feeds) + [out] * read_by_none
            streams += [min(away[p, q] for p in regions[at] for q in regions[feed]) for feed in layer.feeds]
            total += sum(streams)
        fewest = min(fewest, total)
    return fewest


def every_placement(machine: TcpaMachine, sizes: Sequence[int]) -> Iterator[Regions]:
    """All ways to choose connected regions of these sizes without a PE in common."""
    shapes = {
        size: [
            shape
            for shape in itertools.combinations(machine.all_pes, size)
            if _connected(machine, set(shape))
        ]
        for size in set(sizes)
    }

    def chosen(taken: frozenset[Pe], rest: Sequence[int]) -> Iterator[Regions]:
        if not rest:
            yield ()
            return
        for shape in shapes[rest[0]]:
            if not taken & set(shape):
                for others in chosen(taken | set(shape), rest[1:]):
                    yield (shape, *others)

    return chosen(frozenset(), sizes)


def _connected(machine: TcpaMachine, shape: set[Pe]) -> bool:
    grown = {min(shape)}
    while more := {near for pe in grown for near in machine.neighbours[pe] if near in shape} - grown:
        grown |= more
    return grown == shape
