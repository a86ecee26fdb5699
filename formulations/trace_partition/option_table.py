"""The options of every layer that a best partition may take: of those that are alike to their neighbours, the best.

Layers are coupled by residency alone: cycles, bytes and energy of a partition are sums over its layers, and buffers are
each layer's own but for the maps that stay between two. So, for what stays before and behind a layer and how it then
lies in the units, one option is enough, the first in rank. It is found best first: options are costed in the order of
their lower bounds until the next bound is no better than the best option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mapper.formulations.trace_partition.option import Family, families
from mapper.formulations.trace_partition.option_cost import CostedOption, Rank, costed, energy_parts, nameless
from mapper.formulations.trace_partition.option_floor import family_floor
from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.models.trace_partition.mapping import Mode, Split
from mapper.models.trace_partition.residency import linked, obstacle
from mapper.models.trace_partition.trace_layer import TraceLayer


class Situation(NamedTuple):
    """What stays in Buf before and behind a layer, and how its maps then lie in the units (None: of no matter)."""

    input_resident: bool
    output_resident: bool
    distribution: tuple[Mode, Split, Split | None] | None


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
    """For every layer the situations with their best options; ``sizes``: options of each layer in all; ``first``: for
    each layer the first that is the same problem (itself if none is); ``linked``: whether its output may stay for the
    next."""

    problem: PartitionProblem
    layers: tuple[dict[Situation, Searched], ...]
    sizes: tuple[int, ...]
    first: tuple[int, ...]
    linked: tuple[bool, ...]

    @property
    def complete(self) -> bool:
        """Whether no situation was left before its best option was known."""
        return all(found.left is None for layer in self.layers for found in layer.values())

    @property
    def costed(self) -> int:
        """Options that were costed."""
        distinct = set(self.first)
        return sum(found.costed for at in distinct for found in self.layers[at].values())

    def agree(self, before: int, one: Situation, other: Situation) -> bool:
        """Whether layer ``before`` in situation ``one`` and the next in ``other`` agree on what stays between them."""
        if one.output_resident != other.input_resident:
            return False
        if not one.output_resident:
            return True
        first, second = self.layers[before][one].best, self.layers[before + 1][other].best
        if first is None or second is None:
            return True
        layers = self.problem.network.traced[before : before + 2]
        sharing = self.problem.configuration.sharing
        return obstacle(layers[0], first.mapping, layers[1], second.mapping, sharing) is None


def option_table(
    problem: PartitionProblem,
    stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[int], None] = lambda costed: None,
) -> OptionTable:
    """The table of ``problem``; ``progress`` hears how many options have been costed. Once ``stopped`` says so, what is
    left is only bounded, and a layer gets the first option that fits."""
    layers = problem.network.traced
    links = linked(problem.network)
    known: dict[tuple[TraceLayer, Pin, bool, bool], int] = {}
    found: list[dict[Situation, Searched]] = []
    sizes: list[int] = []
    first: list[int] = []
    total = 0
    for at, layer in enumerate(layers):
        before, behind = at > 0 and links[at - 1], links[at]
        key = nameless(layer), problem.pin(layer.name), before, behind
        first.append(known.setdefault(key, at))
        if first[at] < at:
            found.append(found[first[at]])
            sizes.append(sizes[first[at]])
            continue
        here: dict[Situation, Searched] = {}
        size = 0
        for situation, group in situations(problem, layer, before, behind):
            here[situation] = search_group(problem, layer, group, stopped)
            size += sum(family.size for family in group)
            total += here[situation].costed
            progress(total)
        found.append(here)
        sizes.append(size)
    return OptionTable(problem, tuple(found), tuple(sizes), tuple(first), links)


def situations(
    problem: PartitionProblem, layer: TraceLayer, before: bool, behind: bool
) -> Iterator[tuple[Situation, tuple[Family, ...]]]:
    """The situations of a layer with their families, where maps may stay ``before`` and ``behind`` it or not."""
    for input_resident in (False, True) if before else (False,):
        for output_resident in (False, True) if behind else (False,):
            groups: dict[Situation, list[Family]] = {}
            for family in families(problem, layer, input_resident, output_resident):
                taken = (family.mode, family.unit_split, family.cluster_split)
                distribution = taken if family.is_resident else None
                situation = Situation(input_resident, output_resident, distribution)
                groups.setdefault(situation, []).append(family)
            for situation, group in groups.items():
                yield situation, tuple(group)


def search_group(
    problem: PartitionProblem,
    layer: TraceLayer,
    group: tuple[Family, ...],
    stopped: Callable[[], bool] = lambda: False,
) -> Searched:
    """The best option of some families, best first."""
    floors, places = _floors(problem, layer, group)
    best: CostedOption | None = None
    for seen, (floor, (family, *place)) in enumerate(zip(floors.tolist(), places.tolist(), strict=True)):
        rank = tuple(floor)
        if best is not None and best.rank <= rank:
            return Searched(best, seen, None)
        if (best is not None or group[0].is_resident) and stopped():
            return Searched(best, seen, rank)
        option = costed(problem, layer, group[family].mapping(*place))
        if option is not None and (best is None or option.rank < best.rank):
            best = option
    return Searched(best, len(floors), None)


def _floors(
    problem: PartitionProblem, layer: TraceLayer, group: tuple[Family, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the rank of every tile that may fit, and its family and place in it, in the order of the bounds."""
    ranks, places = [], []
    for number, family in enumerate(group):
        floor = family_floor(problem, layer, family)
        at = np.nonzero(floor.fits)
        cycles, moved = floor.cycles[at], floor.dram_bytes[at]
        ranks.append(np.stack((_values(problem, layer, cycles, moved), cycles, moved), -1))
        places.append(np.stack((np.full(len(cycles), number), *at), -1))
    if not ranks:
        return np.zeros((0, 3), np.int64), np.zeros((0, 5), np.int64)
    rank, place = np.concatenate(ranks), np.concatenate(places)
    order = np.lexsort((*place.T[::-1], rank[:, 2], rank[:, 1], rank[:, 0]))
    return rank[order], place[order]


def _values(
    problem: PartitionProblem, layer: TraceLayer, cycles: np.ndarray, moved: np.ndarray
) -> np.ndarray:
    """Bounds of the objective."""
    if problem.objective == "latency":
        return cycles
    if problem.objective == "traffic":
        return moved
    price, configuration = problem.machine.energy_pj, problem.configuration
    images = configuration.images // configuration.accelerators
    energy = (
        price.mac * layer.macs * images
        + price.dram_byte * moved
        + price.cluster_cycle * configuration.clusters * cycles
    )
    # A little less, for what the floating point numbers lose.
    return np.floor(energy * energy_parts(problem.machine) * (1 - 1e-12)).astype(np.int64)
