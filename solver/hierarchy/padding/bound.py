"""What a choice of sizes costs in any case: operations, words that move at the least, units that factors can occupy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem
from mapper.models.hierarchy.cost import STEPS_PER_PJ, steps
from mapper.solver.hierarchy.space import divisors
from mapper.workloads.nest.loop_nest import Operand

AXES: tuple[Axis, Axis] = ("x", "y")


@dataclass(frozen=True)
class Keeper:
    """A level that may be the innermost one to keep a tensor: its ``place`` and ``instances``; pJ of a word read and
    updated there; the most operations that ``shared`` one; how often words of the whole tensor are ``spared`` a read,
    at the most; and pJ of a word on its way to there, through all levels that must keep it. None is certain to be read
    or updated there if ``shared`` is 0."""

    place: int
    instances: int
    is_written: bool
    read_pj: float
    update_pj: float
    shared: float
    spared: float
    way_pj: float

    def moved(self, operations: float, whole: float) -> tuple[float, float]:
        """Words read and updated there at least, by all instances together."""
        if not self.shared:
            return 0.0, 0.0
        moved = operations / self.shared
        return max(0.0, moved - self.spared * whole), moved if self.is_written else 0.0

    def energy(self, operations: float, words: float, whole: float) -> float:
        """What operations cost there at least, and ``words`` on their way, in pJ."""
        read, updated = self.moved(operations, whole)
        return read * self.read_pj + updated * self.update_pj + words * self.way_pj


@dataclass(frozen=True)
class Axes:
    """An axis of a fan-out: its width, and loops that may lie along it."""

    width: int
    loops: tuple[str, ...]


class PaddingBound:
    """The least cost of a problem for any sizes of its loops; it does not fall with any size."""

    def __init__(self, problem: HierarchyProblem) -> None:
        self.problem, machine = problem, problem.machine
        self.own = problem.bounds
        self.fans = [[self._axis(place, axis) for axis in AXES] for place in range(len(machine.levels))]
        self.compute_pj = steps(machine.compute.energy_pj or 0.0) / STEPS_PER_PJ
        leaks = [level.actions.leak for level in machine.levels if level.actions]
        self.leak_pj = sum(leaks) + machine.compute.leak_pj
        self.keepers = [self._keepers(operand) for operand in problem.nest.operands]

    def of(self, sizes: Mapping[str, int], unknown: Set[str]) -> tuple[float, float]:
        """The objective's least value, and the fewest cycles, if loops run to ``sizes``, those ``unknown`` no less."""
        operations = float(math.prod(sizes.values()))
        operands = self.problem.nest.operands
        words = [least_words(operand, sizes) for operand in operands]
        whole = [float(operand.words(sizes)) for operand in operands]
        cycles = max(self._computing(operations, sizes, unknown), self._moving(operations, words, whole))
        energy = operations * self.compute_pj + self.leak_pj * cycles
        for own, least, all_words in zip(self.keepers, words, whole, strict=True):
            energy += min((one.energy(operations, least, all_words) for one in own), default=0.0)
        objective = self.problem.objective
        value = energy * cycles if objective == "edp" else energy if objective == "energy" else cycles
        return (math.inf if cycles > (self.problem.max_cycles or math.inf) else value), cycles

    def _axis(self, place: int, axis: Axis) -> Axes:
        fanout = self.problem.machine.levels[place].fanout
        width = fanout.x if axis == "x" else fanout.y
        free = self.problem.pins.free
        return Axes(
            width,
            tuple(
                loop
                for loop, own in self.own.items()
                if (own > 1 or loop in free) and self.problem.most(place, axis, loop) > 1
            ),
        )

    def _computing(self, operations: float, sizes: Mapping[str, int], unknown: Set[str]) -> float:
        """Cycles of operations in all units that sizes can occupy."""
        units = 1
        for level in self.fans:
            for axis in level:
                loops = sorted((sizes[loop], loop in unknown) for loop in axis.loops)
                units *= _filled(axis.width, tuple(loops))
        rate = self.problem.machine.compute.rate
        return float(max(1, math.ceil(operations / units / rate * (1 - 1e-12))))

    def _moving(self, operations: float, words: Sequence[float], whole: Sequence[float]) -> float:
        """Cycles that the level takes whose words take longest, of those that it serves in any case."""
        levels = self.problem.machine.levels
        loads = [[0.0, 0.0] for _ in levels]
        for operand, own, least, all_words in zip(
            self.problem.nest.operands, self.keepers, words, whole, strict=True
        ):
            if len(own) == 1:
                read, updated = own[0].moved(operations, all_words)
                loads[own[0].place][0] += read / own[0].instances
                loads[own[0].place][1] += updated / own[0].instances
            if (len(own) > 1 or own[0].place) and not self._may_hand(operand, 0, len(levels)):
                loads[0][operand.writes] += least
        cycles = 0
        for level, (read, written) in zip(levels, loads, strict=True):
            rates = level.bandwidth
            for moved, rate in ((read, rates.read), (written, rates.write), (read + written, rates.shared)):
                cycles = max(cycles, math.ceil(moved / (rate or math.inf) - 1e-9))
        return float(cycles)

    def _keepers(self, operand: Operand) -> list[Keeper]:
        """What may be the innermost level that keeps a tensor."""
        found: list[Keeper] = []
        for place in reversed(range(len(self.problem.machine.levels))):
            must, may = self.problem.kept(place)
            if operand.name in may:
                found.append(self._keeper(operand, place))
            if operand.name in must:
                break
        return found

    def _keeper(self, operand: Operand, place: int) -> Keeper:
        levels, rules = self.problem.machine.levels, self.problem.machine.rules
        shared = math.prod(self._shared(operand, inner) for inner in range(place, len(levels)))
        outside = math.prod(one.fanout.x * one.fanout.y for one in levels[:place])
        alike = (
            math.prod(self._alike(operand, outer) for outer in range(place))
            if _is_plain(operand)
            else outside
        )
        elided = operand.writes and operand.zero_initialised and rules.first_read == "elided"
        read, update, _ = self._word_pj(place)
        return Keeper(
            place,
            outside,
            operand.writes,
            read,
            update,
            0.0 if self._may_hand(operand, place, len(levels)) else float(shared),
            float(alike) if elided else 0.0,
            self._way_pj(operand, place, elided),
        )

    def _way_pj(self, operand: Operand, place: int, elided: bool) -> float:
        """What a word costs at least at levels outside ``place`` that keep it in any case, and when it arrives."""
        name = operand.name
        kept = [level for level in range(place) if level == 0 or name in self.problem.kept(level)[0]]
        way = 0.0
        for level in kept:
            read, update, _ = self._word_pj(level)
            if not self._may_hand(operand, level, place):
                way += update if operand.writes else 0.0
                way += 0.0 if elided else read
        if not operand.writes:
            way += sum(self._word_pj(level)[2] for level in (*kept[1:], place) if level)
        return way

    def _word_pj(self, place: int) -> tuple[float, float, float]:
        """What a word costs at least that is read, updated and filled, as a share of its block; clusters share
        accesses, so that not all instances pay."""
        levels = self.problem.machine.levels
        actions = levels[place].actions
        if actions is None:
            return 0.0, 0.0, 0.0
        instances = math.prod(one.fanout.x * one.fanout.y for one in levels[:place])
        paid = max(1, instances // levels[place].cluster) / instances / levels[place].block / STEPS_PER_PJ
        return steps(actions.read) * paid, steps(actions.update) * paid, steps(actions.fill) * paid

    def _may_hand(self, operand: Operand, outer: int, inner: int) -> bool:
        """Whether neighbours may hand on words on their way between two levels, or to levels between these."""
        if not self.problem.machine.rules.link_transfers:
            return False
        windows = {loop for loop in operand.loops if not _has_its_own(operand, loop)}
        for place in range(outer, inner):
            loops = {loop for axis in self.fans[place] if axis.width > 1 for loop in axis.loops}
            if (
                loops
                and (windows or place + 1 == len(self.fans))
                and (
                    loops & windows or place + 1 == len(self.fans) or self._may_end(operand, place + 1, inner)
                )
            ):
                return True
        return False

    def _may_end(self, operand: Operand, place: int, inner: int) -> bool:
        """Whether a way to level ``inner`` may have its end, or a part of it, at ``place``."""
        return place == inner or operand.name in self.problem.kept(place)[1]

    def _shared(self, operand: Operand, place: int) -> int:
        """Instances below a level that may take the same words of a tensor together, at most."""
        fanout = self.problem.machine.levels[place].fanout
        together = fanout.reduction if operand.writes else fanout.multicast
        return self._alike(operand, place) if together else 1

    def _alike(self, operand: Operand, place: int) -> int:
        """Instances below a level that may have the same words of a tensor, at most."""
        return math.prod(
            axis.width if any(not _has_its_own(operand, loop) for loop in axis.loops) else 1
            for axis in self.fans[place]
        )


def _has_its_own(operand: Operand, loop: str) -> bool:
    """Whether a loop moves one dimension of a tensor, and moves it alone."""
    rows = [index.coefficients for index in operand.index if loop in dict(index.coefficients)]
    return len(rows) == 1 and len(rows[0]) == 1


def _is_plain(operand: Operand) -> bool:
    """Whether each dimension of a tensor is moved by one loop alone, word by word."""
    return all(
        abs(factor) == 1 and _has_its_own(operand, loop)
        for index in operand.index
        for loop, factor in index.coefficients
    )


def least_words(operand: Operand, sizes: Mapping[str, int]) -> float:
    """Words of a tensor that differ, at least: in each dimension those that one of its loops reaches by itself; where
    loops move several dimensions, or more than two one, no more than one word is counted on."""
    words, seen = 1.0, set[str]()
    for index in operand.index:
        running = {loop for loop, _ in index.coefficients if sizes[loop] > 1}
        if running and len(running) < 3 and not running & seen:
            words *= max(sizes[loop] for loop in running)
        seen |= running
    return words


@lru_cache(maxsize=1 << 16)
def _filled(width: int, loops: tuple[tuple[int, bool], ...]) -> int:
    """The most instances of an axis that loops can occupy: by divisors of their sizes, or, where these are not known,
    by any trips up to the least size."""
    reached = {1}
    for size, unknown in loops:
        if unknown and size >= width:
            return width
        trips = range(1, size + 1) if unknown else [one for one in divisors(size) if one <= width]
        reached = {one * by for one in reached for by in trips if one * by <= width}
    return max(reached)
