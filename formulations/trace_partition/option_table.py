"""The options of every layer that a best partition may take: of those that are alike to their neighbours, the best.

Layers are coupled by residency alone: cycles, bytes and energy of a partition are sums over its layers, and buffers are
each layer's own but for the maps that stay between two. So, for what stays before and behind a layer and how it then
lies in the units, one option is enough, the first in rank. It is found best first: options are costed in the order of
their lower bounds until the next bound is no better than the best option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mapper.formulations.trace_partition.option import Family
from mapper.formulations.trace_partition.option_cost import CostedOption, Rank, costed, energy_parts, nameless
from mapper.formulations.trace_partition.option_floor import family_floor
from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.formulations.trace_partition.situation import Situation, Situations, situations_of
from mapper.models.trace_partition.trace_layer import TraceLayer

Numbers = npt.NDArray[np.int64]
AT_ONCE = 1024
"""Bounds that are taken out of the arrays at a time."""


@dataclass(frozen=True)
class Searched:
    """The best option of a situation (None: none is known), options costed, and the least rank that an option not
    costed may have (None: all were costed or ruled out)."""

    best: CostedOption | None
    costed: int
    left: Rank | None

    @property
    def floor(self) -> Rank | None:
        """No option of this situation ranks before; None if there is none."""
        ranks = [rank for rank in (self.left, self.best.rank if self.best else None) if rank is not None]
        return min(ranks, default=None)


@dataclass(frozen=True)
class OptionTable:
    """For every layer the situations with their best options; ``first``: for each layer the first that is the same
    problem (itself if none is)."""

    problem: PartitionProblem
    situations: Situations
    layers: tuple[dict[Situation, Searched], ...]
    first: tuple[int, ...]

    @property
    def size(self) -> int:
        """Decisions of all layers."""
        return sum(
            family.size for layer in self.situations.layers for group in layer.values() for family in group
        )

    @property
    def complete(self) -> bool:
        """Whether no situation was left before its best option was known."""
        return all(found.left is None for layer in self.layers for found in layer.values())

    @property
    def costed(self) -> int:
        """Options that were costed."""
        return sum(found.costed for at in set(self.first) for found in self.layers[at].values())


def option_table(
    problem: PartitionProblem,
    stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[int], None] = lambda costed: None,
) -> OptionTable:
    """The table of ``problem``; ``progress`` hears how many options have been costed. Once ``stopped`` says so, what is
    left is only bounded, and a layer gets the first option that fits."""
    situations = situations_of(problem)
    known: dict[tuple[TraceLayer, Pin, tuple[Situation, ...]], int] = {}
    found: list[dict[Situation, Searched]] = []
    first: list[int] = []
    total = 0
    for at, (layer, groups) in enumerate(zip(problem.network.traced, situations.layers, strict=True)):
        key = nameless(layer), problem.pin(layer.name), tuple(groups)
        first.append(known.setdefault(key, at))
        if first[at] < at:
            found.append(found[first[at]])
            continue
        here: dict[Situation, Searched] = {}
        for situation, group in groups.items():
            here[situation] = search_group(problem, layer, group, stopped)
            total += here[situation].costed
            progress(total)
        found.append(here)
    return OptionTable(problem, situations, tuple(found), tuple(first))


def search_group(
    problem: PartitionProblem,
    layer: TraceLayer,
    group: tuple[Family, ...],
    stopped: Callable[[], bool] = lambda: False,
) -> Searched:
    """The best option of some families, best first."""
    best: CostedOption | None = None
    seen = 0
    for rank, family, place in _bounded(problem, layer, group):
        if best is not None and best.rank <= rank:
            break
        if (best is not None or family.is_resident) and stopped():
            return Searched(best, seen, rank)
        seen += 1
        option = costed(problem, layer, family.mapping(*place))
        if option is not None and (best is None or option.rank < best.rank):
            best = option
    return Searched(best, seen, None)


def _bounded(
    problem: PartitionProblem, layer: TraceLayer, group: tuple[Family, ...]
) -> Iterator[tuple[Rank, Family, tuple[int, int, int, int]]]:
    """Every tile that may fit: the bound of its rank, its family and its place in it, in the order of the bounds."""
    ranks, places = [], []
    for number, family in enumerate(group):
        floor = family_floor(problem, layer, family)
        at = np.nonzero(floor.fits)
        cycles, moved = floor.cycles[at], floor.dram_bytes[at]
        ranks.append(
            np.stack((_values(problem, layer, cycles, moved, floor.buffer_words[at]), cycles, moved))
        )
        places.append(np.stack((np.full(len(cycles), number), *at)))
    rank, place = np.concatenate(ranks, axis=1), np.concatenate(places, axis=1)
    order = np.lexsort((*place[::-1], *rank[::-1]))
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        for bounds, places_ in zip(rank[:, some].T.tolist(), place[:, some].T.tolist(), strict=True):
            value, cycles_, moved_ = bounds
            number, row, column, in_channel, out_channel = places_
            yield (value, cycles_, moved_), group[number], (row, column, in_channel, out_channel)


def _values(
    problem: PartitionProblem, layer: TraceLayer, cycles: Numbers, moved: Numbers, used: Numbers
) -> Numbers:
    """Bounds of the objective."""
    if problem.objective == "latency":
        return cycles
    if problem.objective == "traffic":
        return moved
    price, configuration = problem.machine.energy_pj, problem.configuration
    images = configuration.images // configuration.accelerators
    energy = (
        price.mac * layer.macs * images
        + price.buffer_word * used
        + price.dram_byte * moved
        + price.cluster_cycle * configuration.clusters * cycles
    )
    # A little less, for what the floating point numbers lose.
    least: Numbers = np.floor(energy * energy_parts(problem.machine) * (1 - 1e-12)).astype(np.int64)
    return least
