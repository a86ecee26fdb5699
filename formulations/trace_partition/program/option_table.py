"""The options of every layer that a best partition may take: of those that look the same to its neighbours, the best.

Layers are coupled by residency alone: cycles, bytes and energy of a partition are sums over its layers, and buffers are
each layer's own except for the maps that stay between two. So, for what stays before and after a layer and how it then
lies in the units, one option is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.formulations.trace_partition.program.option_cost import costed, nameless
from mapper.formulations.trace_partition.program.option_cut import Floors, OptionCuts, least_sum
from mapper.formulations.trace_partition.program.option_search import (
    Begun,
    Between,
    Group,
    Searched,
    between,
    least_of,
    search_between,
    search_usual,
)
from mapper.formulations.trace_partition.program.residency import Residencies, Residency, residencies_of
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Partition


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
    left is only bounded, and a layer gets the first option that fits. First come the sizes that are usual, in all
    layers; their best partition, or the one ``known``, rules out most of the others."""
    residencies = residencies_of(problem)
    first = _first(problem, residencies)
    begun = None if known is None else _begun(problem, known)
    total = 0
    usual: dict[int, dict[Residency, Between]] = {}
    grouped = {
        at: {
            residency: Group(problem, problem.network.traced[at], families)
            for residency, families in residencies.layers[at].items()
        }
        for at in sorted(set(first))
    }
    limits = None if begun is None else _Limits(residencies, first, grouped, begun, stopped)
    for at, groups in grouped.items():
        usual[at] = {}
        for residency, group in groups.items():
            found = search_usual(group, stopped) if limits is None else limits.search(at, residency)
            usual[at][residency] = Between(group, found, None)
            total += found.costed
            progress(total)
    for searched in usual.values():
        for residency, one in searched.items():
            searched[residency] = between(one.group, one.usual, stopped)
    sums = [least_sum(residencies, [_known(usual[at], _best) for at in first])]
    if begun is not None:
        sums.append(sum(one.option.rank[0] for one in begun))
    value = min((one for one in sums if one is not None), default=None)
    cuts = OptionCuts(residencies, [_known(usual[at], _floor) for at in first], value)
    tables: dict[int, dict[Residency, Searched]] = {}
    for at, begun_groups in usual.items():
        places = [place for place, one in enumerate(first) if one == at]
        most = cuts.of(places)
        tables[at] = {}
        for residency, one in begun_groups.items():
            # A residency that no chain of layers passes through is left as it is.
            ended = replace(one.usual, left=None, beyond=one.floor)
            if residency in most:
                ended = search_between(one, most[residency], stopped)
            tables[at][residency] = ended
            total += ended.costed - one.usual.costed
            progress(total)
        floors = {one: ended.floor for one, ended in tables[at].items()}
        for place in places:
            cuts.solved(place, {one: floor[0] for one, floor in floors.items() if floor is not None})
    return OptionTable(problem, residencies, tuple(tables[at] for at in first), tuple(first))


class _Limits:
    """What layers may cost if a partition is to be better than one that is known, from the start: the search of usual
    sizes then has nothing to find but what is better."""

    def __init__(
        self,
        residencies: Residencies,
        first: list[int],
        grouped: dict[int, dict[Residency, Group]],
        begun: list[Begun],
        stopped: Callable[[], bool],
    ) -> None:
        self._grouped, self._stopped, self._first, self._begun = grouped, stopped, first, begun
        self._floors: dict[int, Floors] = {}
        for at, groups in grouped.items():
            floors = {one: self._floor(at, one, group) for one, group in groups.items()}
            self._floors[at] = {one: floor for one, floor in floors.items() if floor is not None}
        self._cuts = OptionCuts(
            residencies, [self._floors[at] for at in first], sum(one.option.rank[0] for one in begun)
        )

    def search(self, at: int, residency: Residency) -> Searched:
        """The best option of usual size, or what is known of it."""
        start = self._start(at, residency)
        floor = self._floors[at].get(residency)
        if start is not None:
            complete = start.floor is not None and start.floor >= start.option.rank
            left = None if complete else start.floor or self._grouped[at][residency].least
            return Searched(start.option, 0, left)
        most = self._cuts.of([place for place, one in enumerate(self._first) if one == at]).get(residency)
        if floor is None or most is None or floor >= most:
            return Searched(None, 0, None, floor)
        return search_usual(self._grouped[at][residency], self._stopped, most)

    def _start(self, at: int, residency: Residency) -> Begun | None:
        own = [self._begun[place] for place, one in enumerate(self._first) if one == at]
        return min((one for one in own if one.residency == residency), default=None, key=_rank)

    def _floor(self, at: int, residency: Residency, group: Group) -> int | None:
        start = self._start(at, residency)
        if start is not None and start.floor is not None:
            return start.floor[0]
        return group.least[0] if self._stopped() else least_of(group)


def _known(groups: Mapping[Residency, Between], of: Callable[[Between], int | None]) -> Floors:
    values = {residency: of(one) for residency, one in groups.items()}
    return {residency: value for residency, value in values.items() if value is not None}


def _best(found: Between) -> int | None:
    return None if found.usual.best is None else found.usual.best.rank[0]


def _floor(found: Between) -> int | None:
    return found.floor


def _first(problem: PartitionProblem, residencies: Residencies) -> list[int]:
    """For each layer the first one that is the same problem."""
    seen: dict[tuple[TraceLayer, Pin, tuple[Residency, ...]], int] = {}
    found = []
    for at, (layer, groups) in enumerate(zip(problem.network.traced, residencies.layers, strict=True)):
        key = nameless(layer), problem.pin(layer.name), tuple(groups)
        found.append(seen.setdefault(key, at))
    return found


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


def _rank(begun: Begun) -> tuple[int, int, int]:
    return begun.option.rank
