"""What is decided first: which tensors each level keeps, and which loops run in space below it.

With that, the cost of a mapping is a sum over links, from a level that keeps a tensor to the next one inside that does:
each moves a multiple of the words that arrive at one instance, and those depend on tiles and orders alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from mapper.arch.hierarchy import Actions
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.cost import STEPS_PER_PJ, steps
from mapper.solver.hierarchy.space import divisors
from mapper.workloads.nest.loop_nest import Operand

Trips = dict[str, int]
NO_ENERGY = Actions(read=0, fill=0, update=0)


@dataclass(frozen=True)
class Link:
    """A tensor's way from level ``outer`` to ``inner`` (the number of levels stands for compute units). Of the words
    ``M`` that arrive at an instance, the outer one reads ``positions * M - outer_part`` (none if ``handed``: neighbours
    may hand them on) and, if ``written``, updates ``positions * M``; the inner one fills ``M - inner_part``. Energies
    (pJ of a block) hold for all instances together."""

    tensor: int
    outer: int
    inner: int
    positions: int
    outer_part: int
    inner_part: int
    written: bool
    handed: bool
    read_pj: float
    update_pj: float
    fill_pj: float
    outer_block: int
    inner_block: int


@dataclass(frozen=True)
class Arrangement:
    """Tensors kept by level, and trips in space below each level, split into X and Y."""

    problem: HierarchyProblem
    keep: tuple[tuple[str, ...], ...]
    across: tuple[Trips, ...]
    down: tuple[Trips, ...]

    def space(self, level: int, loop: str) -> int:
        """Instances that a loop takes below a level."""
        return self.across[level].get(loop, 1) * self.down[level].get(loop, 1)

    def fan(self, level: int) -> int:
        """Instances in use below one instance of a level."""
        return math.prod(self.across[level].values()) * math.prod(self.down[level].values())

    @cached_property
    def instances(self) -> list[int]:
        """Instances in use of each level, and of the compute units."""
        found = [1]
        for level in range(len(self.keep)):
            found.append(found[-1] * self.fan(level))
        return found

    @cached_property
    def rest(self) -> Trips:
        """What is left of each bound for loops in time; 0 trips where loops in space do not divide it."""
        left = dict(self.problem.bounds)
        for loop in left:
            spread = math.prod(self.space(level, loop) for level in range(len(self.keep)))
            left[loop] = left[loop] // spread if left[loop] % spread == 0 else 0
        return left

    @cached_property
    def passes(self) -> int:
        """Operations that follow one another on a unit."""
        return math.prod(self.rest.values())

    @cached_property
    def inside(self) -> list[Trips]:
        """Instances of each loop in space from each level inwards; those of one operation last."""
        found: list[Trips] = [dict.fromkeys(self.problem.bounds, 1)]
        for level in reversed(range(len(self.keep))):
            found.append({loop: trips * self.space(level, loop) for loop, trips in found[-1].items()})
        return list(reversed(found))

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links of all tensors."""
        found = []
        for tensor, operand in enumerate(self.problem.nest.operands):
            kept = [level for level, names in enumerate(self.keep) if operand.name in names]
            parts = self._parts(operand)
            for outer, inner in zip(kept, (*kept[1:], len(self.keep)), strict=True):
                found.append(self._link(tensor, operand, outer, inner, parts))
        return tuple(found)

    def _link(self, tensor: int, operand: Operand, outer: int, inner: int, parts: list[int]) -> Link:
        machine = self.problem.machine
        rules, last = machine.rules, inner == len(machine.levels)
        here = machine.levels[outer]
        there = None if last else machine.levels[inner]
        first = operand.writes and operand.zero_initialised
        own = here.actions or NO_ENERGY
        other = (there.actions if there else None) or NO_ENERGY
        return Link(
            tensor,
            outer,
            inner,
            math.prod(self._positions(operand, level) for level in range(outer, inner)),
            parts[outer] if first and rules.first_read == "elided" else 0,
            parts[inner] if first and not last and rules.first_fill == "elided" else 0,
            operand.writes,
            rules.link_transfers
            and any(self._handed(operand, level, inner) for level in range(outer, inner)),
            _exact(own.read) * self._paid(outer),
            _exact(own.update) * self._paid(outer),
            0.0 if there is None else _exact(other.fill) * self._paid(inner),
            here.block,
            1 if there is None else there.block,
        )

    def _paid(self, level: int) -> int:
        """Instances of a level that pay for an access, since clusters share it."""
        machine = self.problem.machine
        present = math.prod(one.fanout.x * one.fanout.y for one in machine.levels[:level])
        return min(self.instances[level], max(1, present // machine.levels[level].cluster))

    def _positions(self, operand: Operand, level: int) -> int:
        """The least number of different tiles of a tensor below an instance of a level."""
        fanout = self.problem.machine.levels[level].fanout
        if not (fanout.reduction if operand.writes else fanout.multicast):
            return self.fan(level)
        positions = 1
        for index in operand.index:
            moving = [self.space(level, loop) for loop, _ in index.coefficients]
            positions *= (
                math.prod(moving) if sum(one > 1 for one in moving) < 2 else sum(moving) - len(moving) + 1
            )
        return positions

    def _handed(self, operand: Operand, level: int, inner: int) -> bool:
        """Whether instances below a level may take words from neighbours, so that fewer are read outside."""
        if self.fan(level) == 1:
            return False
        windows = [index for index in operand.index if len(index.coefficients) > 1]
        if level + 1 == len(self.keep):
            return True
        if any(self.space(level, loop) > 1 for index in windows for loop, _ in index.coefficients):
            return True
        return level + 1 == inner and bool(windows)

    def _parts(self, operand: Operand) -> list[int]:
        """The most words of the whole tensor for which an instance of each level is responsible."""
        parts = [operand.words(self.problem.bounds)]
        plain = all(len(index.coefficients) < 2 for index in operand.index)
        for level in range(len(self.keep) - 1):
            spread = math.prod(self.space(level, loop) for loop in operand.loops) if plain else 1
            parts.append(parts[-1] // spread)
        return parts

    @cached_property
    def leak_pj(self) -> float:
        """Energy that leaks in a cycle."""
        machine = self.problem.machine
        total = machine.compute.leak_pj * self.instances[-1]
        for level, memory in enumerate(machine.levels):
            total += (memory.actions or NO_ENERGY).leak * (self.instances[level] if self.keep[level] else 1)
        return total


def _exact(energy_pj: float) -> float:
    """An energy as the model counts it, in pJ."""
    return steps(energy_pj) / STEPS_PER_PJ


def arrangements(
    problem: HierarchyProblem, keeps: Iterator[tuple[tuple[str, ...], ...]]
) -> Iterator[Arrangement]:
    """Every choice of tensors with every choice of loops in space; of splits into X and Y that take the same loops,
    one."""
    spaces = list(product(*(_fans(problem, level) for level in range(len(problem.machine.levels)))))
    bounds = problem.bounds
    valid = []
    for space in spaces:
        spread = {loop: math.prod(x.get(loop, 1) * y.get(loop, 1) for x, y in space) for loop in bounds}
        if all(bound % spread[loop] == 0 for loop, bound in bounds.items()):
            valid.append(space)
    for keep in keeps:
        for space in valid:
            yield Arrangement(problem, keep, tuple(x for x, _ in space), tuple(y for _, y in space))


def _fans(problem: HierarchyProblem, level: int) -> list[tuple[Trips, Trips]]:
    """What loops may do in space below a level: trips along X and along Y."""
    fanout = problem.machine.levels[level].fanout
    found: dict[tuple[tuple[str, int], ...], tuple[Trips, Trips]] = {}

    def grow(loops: list[str], x: Trips, y: Trips, wide: int, high: int) -> None:
        if not loops:
            together = {loop: x.get(loop, 1) * y.get(loop, 1) for loop in (*x, *y)}
            found.setdefault(tuple(sorted(together.items())), (x, y))
            return
        loop, rest = loops[0], loops[1:]
        given = problem.exact(level, "x", loop)
        for across in divisors(problem.bounds[loop]):
            if across > min(wide, problem.most(level, "x", loop)):
                continue
            for down in divisors(problem.bounds[loop] // across):
                if down > min(high, problem.most(level, "y", loop)) or given not in (None, across * down):
                    continue
                own_x, own_y = ({loop: across} if across > 1 else {}), ({loop: down} if down > 1 else {})
                grow(rest, {**x, **own_x}, {**y, **own_y}, wide // across, high // down)

    grow(list(problem.nest.loops), {}, {}, fanout.x, fanout.y)
    return list(found.values())
