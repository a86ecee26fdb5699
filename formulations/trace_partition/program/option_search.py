"""The best option of a layer in one residency, among tiles of every size.

Sizes that are usual are searched first, best first: options are costed in the order of their lower bounds until the
next bound is no better than the best option. What is left are the sizes between them. Boxes of sizes are bounded as a
whole; those whose bound is better than the best option are opened, and their tiles searched, best first too. Tiles have
two bounds: one by argument alone, of all tiles at once, and a dearer one, of its steps one after another, for those
whose turn comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mapper.formulations.trace_partition.floor.bounded import Bounded, bounded, run
from mapper.formulations.trace_partition.floor.bounded_queue import BoundedQueue
from mapper.formulations.trace_partition.floor.box import Boxes, boxes_of
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option import Family
from mapper.formulations.trace_partition.program.option_cost import CostedOption, Rank, costed
from mapper.formulations.trace_partition.program.residency import Residency
from mapper.models.trace_partition.bound import option_bound
from mapper.models.trace_partition.lowering.layer import TraceLayer


@dataclass(frozen=True)
class Searched:
    """The best option of a residency (None: none is known), options costed, and the least rank that an option not
    costed may have (None: all were costed or ruled out). ``beyond``: options that cost so much were not looked at,
    since no best partition has one (None: all were)."""

    best: CostedOption | None
    costed: int
    left: Rank | None
    beyond: int | None = None

    @property
    def floor(self) -> Rank | None:
        """No option of this residency ranks before; None if there is none."""
        beyond = None if self.beyond is None else (self.beyond, 0, 0)
        ranks = (self.left, self.best.rank if self.best else None, beyond)
        return min((rank for rank in ranks if rank is not None), default=None)


@dataclass(frozen=True)
class Begun:
    """A layer's residency and option in a partition that is known, and the rank up to which every other option was
    costed or ruled out besides (None: none was)."""

    residency: Residency
    option: CostedOption
    floor: Rank | None


@dataclass(frozen=True)
class Group:
    """The families of a layer in one residency."""

    problem: PartitionProblem
    layer: TraceLayer
    families: tuple[Family, ...]

    @property
    def least(self) -> Rank:
        """What no option ranks before, by argument alone."""
        problem, objective = self.problem, self.problem.objective
        bounds = [
            option_bound(
                self.layer,
                problem.machine,
                problem.configuration,
                family.mode,
                family.unit_split,
                family.input_resident,
                family.output_resident,
            )
            for family in self.families
        ]
        if objective == "latency":
            return min(bound.cycles for bound in bounds), 0, 0
        if objective == "traffic":
            return min(bound.dram_bytes for bound in bounds), 0, 0
        return min(bound.energy_parts for bound in bounds), 0, 0


def search_usual(group: Group, stopped: Callable[[], bool], most: int | None = None) -> Searched:
    """The best option of usual size, if it costs less than ``most`` (None: whatever it costs). ``left`` says that
    others may be better."""
    left = group.least
    tiles = (bounded(group.problem, group.layer, one.usual).at_least(left[0]) for one in group.families)
    first = most is None and not any(family.is_resident for family in group.families)
    best, seen, _ = _search(group, tiles, None, most, stopped, ties=True, at_least_one=first)
    return Searched(best, seen, left)


def least_of(group: Group) -> int | None:
    """What no option of any size costs less than; None if none fits."""
    least = []
    for family in group.families:
        for boxes in boxes_of(group.layer, family, group.problem.configuration.sharing).slabs():
            values = bounded(group.problem, group.layer, boxes).values
            least += [int(values.min())] if len(values) else []
    return max(min(least), group.least[0]) if least else None


@dataclass(frozen=True)
class Between:
    """What a search of usual sizes leaves of a group: boxes of tiles whose bound is better than the best option's, or
    None if the search was stopped before."""

    group: Group
    usual: Searched
    boxes: tuple[Bounded, ...] | None

    @property
    def floor(self) -> int | None:
        """No option costs less; None if there is none."""
        if self.boxes is None:
            return self.usual.floor[0] if self.usual.floor else None
        values = [int(one.values.min()) for one in self.boxes if len(one.values)]
        return min([*values, *([self.usual.best.rank[0]] if self.usual.best else [])], default=None)


def between(group: Group, usual: Searched, stopped: Callable[[], bool]) -> Between:
    """The boxes that may hold a better option than the usual ones."""
    if usual.left is None:
        return Between(group, usual, ())
    most = usual.best.rank[0] if usual.best else None
    found = []
    for family in group.families:
        for boxes in boxes_of(group.layer, family, group.problem.configuration.sharing).slabs():
            if stopped():
                return Between(group, usual, None)
            tiles = bounded(group.problem, group.layer, boxes).at_least(usual.left[0])
            found.append(tiles.within(most))
    return Between(group, usual, tuple(found))


def search_between(begun: Between, most: int | None, stopped: Callable[[], bool]) -> Searched:
    """The best option of any size, if it costs less than ``most`` (None: whatever it costs)."""
    if begun.boxes is None or begun.usual.left is None:
        return begun.usual
    best, seen, left = _search(begun.group, begun.boxes, begun.usual.best, most, stopped)
    beyond = None
    if most is not None and begun.floor is not None and (best is None or most < best.rank[0]):
        beyond = max(most, begun.floor)
    return Searched(best, begun.usual.costed + seen, left, beyond)


def _search(
    group: Group,
    given: Iterable[Bounded],
    best: CostedOption | None,
    most: int | None,
    stopped: Callable[[], bool],
    ties: bool = False,
    at_least_one: bool = False,
) -> tuple[CostedOption | None, int, Rank | None]:
    """The best option of ``given`` tiles and boxes, or the ``best`` so far; options costed, and the rank up to which
    none is left (None: none is at all). ``most``: what it has to cost less than; ``ties``: also options of equal
    objective are told apart; ``at_least_one``: it is stopped only when there is an option."""
    seen = 0
    waiting = BoundedQueue(given)
    while waiting:
        rank, tiles, place = waiting.next()
        limits = [one for one in (most, best.rank[0] if best else None) if one is not None]
        limit = min(limits, default=None)
        beyond = most is not None and rank[0] >= most
        if beyond or ((best.rank <= rank) if ties and best else (limit is not None and rank[0] >= limit)):
            break
        if (best is not None or not at_least_one) and stopped():
            return best, seen, (rank[0], 0, 0)
        end = None if limit is None else limit + ties
        if isinstance(tiles.of, Boxes):
            waiting.add(bounded(group.problem, group.layer, tiles.of.members(place)).within(end))
        elif not tiles.was_run:
            waiting.add(run(group.problem, group.layer, waiting.some(end)).within(end))
        else:
            seen += 1
            option = costed(group.problem, group.layer, tiles.of.mapping(*place))
            if option is not None and (best is None or option.rank < best.rank):
                best = option
    return best, seen, None
