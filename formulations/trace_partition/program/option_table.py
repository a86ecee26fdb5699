"""The options of every layer that a best partition may take: of those that look the same to its neighbours, the best.

Layers are coupled by residency alone: cycles, bytes and energy of a partition are sums over its layers, and buffers are
each layer's own except for the maps that stay between two. So, for what stays before and after a layer and how it then
lies in the units, one option is enough, the first in rank. It is found best first: options are costed in the order of
their lower bounds until the next bound is no better than the best option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.formulations.trace_partition.program.option import Family
from mapper.formulations.trace_partition.program.option_cost import CostedOption, Rank, costed, nameless
from mapper.formulations.trace_partition.program.option_cut import OptionCuts
from mapper.formulations.trace_partition.program.option_floor import family_floor
from mapper.formulations.trace_partition.program.residency import Residencies, Residency, residencies_of
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Partition

Numbers = npt.NDArray[np.int64]
AT_ONCE = 1024
"""Bounds that are taken out of the arrays at a time."""


@dataclass(frozen=True)
class Searched:
    """The best option of a residency (None: none is known), options costed, and the least rank that an option not
    costed may have (None: all were costed or ruled out)."""

    best: CostedOption | None
    costed: int
    left: Rank | None

    @property
    def floor(self) -> Rank | None:
        """No option of this residency ranks before; None if there is none."""
        ranks = [rank for rank in (self.left, self.best.rank if self.best else None) if rank is not None]
        return min(ranks, default=None)


@dataclass(frozen=True)
class OptionTable:
    """For every layer the residencies with their best options; ``first``: for each layer the first that is the same
    problem (itself if none is)."""

    problem: PartitionProblem
    residencies: Residencies
    layers: tuple[dict[Residency, Searched], ...]
    first: tuple[int, ...]

    @property
    def size(self) -> int:
        """Decisions of all layers."""
        return sum(
            family.size for layer in self.residencies.layers for group in layer.values() for family in group
        )

    @property
    def complete(self) -> bool:
        """Whether no residency was left before its best option was known."""
        return all(found.left is None for layer in self.layers for found in layer.values())

    @property
    def costed(self) -> int:
        """Options that were costed."""
        return sum(found.costed for at in set(self.first) for found in self.layers[at].values())


def option_table(
    problem: PartitionProblem,
    stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[int], None] = lambda costed: None,
    known: Partition | None = None,
) -> OptionTable:
    """The table of ``problem``; ``progress`` hears how many options have been costed. Once ``stopped`` says so, what is
    left is only bounded, and a layer gets the first option that fits. Options that no partition as good as the one
    ``known`` can take are ruled out."""
    residencies = residencies_of(problem)
    seen: dict[tuple[TraceLayer, Pin, tuple[Residency, ...]], int] = {}
    found: list[dict[Residency, Searched]] = []
    first: list[int] = []
    total = 0
    for at, (layer, groups) in enumerate(zip(problem.network.traced, residencies.layers, strict=True)):
        key = nameless(layer), problem.pin(layer.name), tuple(groups)
        first.append(seen.setdefault(key, at))
    begun = None if known is None else _begun(problem, known)
    cuts = None if begun is None else _cuts(problem, residencies, first, begun)
    for at, (layer, groups) in enumerate(zip(problem.network.traced, residencies.layers, strict=True)):
        if first[at] < at:
            found.append(found[first[at]])
            continue
        places = [place for place, one in enumerate(first) if one == at]
        most = None if cuts is None else cuts.of(places)
        here: dict[Residency, Searched] = {}
        for residency, group in groups.items():
            if most is not None and residency not in most:
                here[residency] = Searched(None, 0, None)
                continue
            own = [] if begun is None else [begun[place] for place in places]
            start = min((one for one in own if one.residency == residency), default=None, key=_rank)
            cut = None if most is None else most[residency]
            here[residency] = search_group(problem, layer, group, stopped, start, cut)
            total += here[residency].costed
            progress(total)
        found.append(here)
        if cuts is not None:
            floors = {one: searched.floor for one, searched in here.items()}
            for place in places:
                cuts.solved(place, {one: floor[0] for one, floor in floors.items() if floor is not None})
    return OptionTable(problem, residencies, tuple(found), tuple(first))


@dataclass(frozen=True)
class Begun:
    """A layer's residency and option in a partition that is known, and the rank up to which every other option was
    costed or ruled out besides (None: none was)."""

    residency: Residency
    option: CostedOption
    floor: Rank | None


def _begun(problem: PartitionProblem, known: Partition) -> list[Begun] | None:
    """The layers of a partition; None if the table does not hold it."""
    found = []
    floors = known.floors or (None,) * len(known.layers)
    for layer, mapping, floor in zip(problem.network.traced, known.layers, floors, strict=True):
        option = costed(problem, layer, mapping)
        if option is None:
            return None
        found.append(Begun(_residency(mapping), option, floor))
    return found


def _residency(mapping: LayerMapping) -> Residency:
    stays = mapping.input_resident, mapping.output_resident
    lies = (mapping.mode, mapping.unit_split, mapping.cluster_split) if any(stays) else None
    return Residency(*stays, lies)


def _cuts(
    problem: PartitionProblem, residencies: Residencies, first: list[int], begun: list[Begun]
) -> OptionCuts | None:
    """What layers may cost given what is known; None if its residencies are not among theirs."""
    if any(one.residency not in groups for one, groups in zip(begun, residencies.layers, strict=True)):
        return None
    floors: list[dict[Residency, int]] = []
    for at, (layer, groups) in enumerate(zip(problem.network.traced, residencies.layers, strict=True)):
        if first[at] < at:
            floors.append(floors[first[at]])
            continue
        own = begun[at]
        least = {
            residency: own.floor[0]
            if own.floor is not None and own.residency == residency
            else _least(problem, layer, group)
            for residency, group in groups.items()
        }
        floors.append({residency: value for residency, value in least.items() if value is not None})
    return OptionCuts(residencies, floors, sum(one.option.rank[0] for one in begun))


def _least(problem: PartitionProblem, layer: TraceLayer, group: tuple[Family, ...]) -> int | None:
    """The least bound of the objective of any tile that may fit."""
    rank, _ = _bounds(problem, layer, group, None)
    return int(rank[0].min()) if len(rank[0]) else None


def _rank(begun: Begun) -> Rank:
    return begun.option.rank


def search_group(
    problem: PartitionProblem,
    layer: TraceLayer,
    group: tuple[Family, ...],
    stopped: Callable[[], bool] = lambda: False,
    begun: Begun | None = None,
    most: int | None = None,
) -> Searched:
    """The best option of some families, best first, on from where an earlier search ended (``begun``); ``most``: what
    it may cost."""
    best = None if begun is None else begun.option
    if begun is not None and begun.floor is not None:
        if begun.floor >= begun.option.rank:
            return Searched(best, 0, None)
        if stopped():
            return Searched(best, 0, begun.floor)
    seen = 0
    least = 0 if begun is None or begun.floor is None else begun.floor[0]
    limits = [limit for limit in (most, best.rank[0] if best else None) if limit is not None]
    for rank, family, place in _bounded(problem, layer, group, least, min(limits, default=None)):
        if (best is not None and best.rank <= rank) or (most is not None and rank[0] > most):
            break
        if (best is not None or family.is_resident) and stopped():
            return Searched(best, seen, rank)
        seen += 1
        option = costed(problem, layer, family.mapping(*place))
        if option is not None and (best is None or option.rank < best.rank):
            best = option
    return Searched(best, seen, None)


def _bounded(
    problem: PartitionProblem, layer: TraceLayer, group: tuple[Family, ...], least: int, most: int | None
) -> Iterator[tuple[Rank, Family, tuple[int, int, int, int]]]:
    """Every tile that may fit and whose objective's bound is from ``least`` to ``most``: the bound of its rank, its
    family and its place in it, in the order of the bounds."""
    rank, place = _bounds(problem, layer, group, most, least)
    order = np.lexsort((*place[::-1], *rank[::-1]))
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        bounds = zip(*(column[some].tolist() for column in rank), strict=True)
        for (value, cycles_, moved_), places_ in zip(bounds, place[:, some].T.tolist(), strict=True):
            number, row, column, in_channel, out_channel = places_
            yield (int(value), cycles_, moved_), group[number], (row, column, in_channel, out_channel)


def _bounds(
    problem: PartitionProblem,
    layer: TraceLayer,
    group: tuple[Family, ...],
    most: int | None,
    least: int = 0,
) -> tuple[tuple[Any, Numbers, Numbers], Numbers]:
    """Of every tile that may fit and is bounded so the bound of its rank, three arrays [T], and its family and place in
    it [5, T]."""
    ranks: list[tuple[Any, Numbers, Numbers]] = []
    places = []
    for number, family in enumerate(group):
        floor = family_floor(problem, layer, family)
        at = np.nonzero(floor.fits)
        cycles, moved = floor.cycles[at], floor.dram_bytes[at]
        values = _values(problem, layer, cycles, moved, floor.buffer_words[at])
        near = (values >= least) & (values <= most) if most is not None else values >= least
        ranks.append((values[near], cycles[near], moved[near]))
        places.append(np.stack((np.full(near.sum(), number), *(one[near] for one in at))))
    value, cycle, byte = (np.concatenate(column) for column in zip(*ranks, strict=True))
    return (value, cycle, byte), np.concatenate(places, axis=1)


def _values(
    problem: PartitionProblem, layer: TraceLayer, cycles: Numbers, moved: Numbers, used: Numbers
) -> Any:
    """Bounds of the objective: whole numbers, those of energies in floating point, which holds them whatever their
    size."""
    if problem.objective == "latency":
        return cycles
    if problem.objective == "traffic":
        return moved
    configuration = problem.configuration
    mac, word, byte, cycle = problem.machine.energy_pj.whole
    images = configuration.images // configuration.accelerators
    energy = (
        float(mac * layer.macs * images)
        + float(word) * used
        + float(byte) * moved
        + float(cycle * configuration.clusters) * cycles
    )
    # A little less, for what the floating point numbers lose.
    return np.floor(energy * (1 - 1e-12))
