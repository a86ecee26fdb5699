"""The problem of mapping a nest onto a memory hierarchy, as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Literal

from mapper.arch.hierarchy import Constraint, HierarchyMachine
from mapper.models.hierarchy.cost import STEPS_PER_PJ, HierarchyCost
from mapper.models.hierarchy.role import loops_called, loops_meant, tensors_called
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest

ObjectiveName = Literal["edp", "energy", "latency"]
Axis = Literal["temporal", "x", "y"]
ROUNDING = 1e-9
"""The share by which a bound in floating point may lie above what it bounds, with room to spare."""


@dataclass(frozen=True)
class Pins:
    """Decisions that are given: constraints on loops beside the machine's, tensors kept and bypassed at levels as
    (level, tensor), and bounds to which loops are padded. Bounds of ``free`` loops may grow to any below twice their
    own. Factors need not divide the bounds, if ``imperfect``."""

    constraints: tuple[Constraint, ...] = ()
    keep: tuple[tuple[str, str], ...] = ()
    bypass: tuple[tuple[str, str], ...] = ()
    padded: tuple[tuple[str, int], ...] = ()
    free: tuple[str, ...] = ()
    imperfect: bool = False


@dataclass(frozen=True)
class HierarchyProblem:
    """Map ``nest`` onto ``machine`` for the least ``objective``.

    The space: every way to write each bound (or what it is padded to, or may grow to) as a product of trip counts, one
    in time at each level and one in space along each axis below it, or, if factors may be imperfect, to cut it by such
    counts so that last passes are smaller; every order of the loops in time, and in space along each axis (which
    matters where neighbours hand words on); every choice of tensors to keep that machine and pins leave open. Tiles fit
    the levels, loops in space the fan-outs, the outermost level keeps all. No mapping takes more than ``max_cycles``.

    Raises: InputError if the nest carries dependences, the machine lacks energies that the objective needs, or two
        orders are given for one level that are not one order, written further or less far.
    """

    nest: LoopNest
    machine: HierarchyMachine
    objective: ObjectiveName
    pins: Pins = Pins()
    max_cycles: int | None = None

    def __post_init__(self) -> None:
        source = self.nest.name or "nest"
        if self.nest.dependences:
            raise InputError(
                source, "dependences", "loops that carry values cannot be mapped onto a hierarchy"
            )
        machine = self.machine
        if self.objective != "latency" and (
            machine.compute.energy_pj is None or any(level.actions is None for level in machine.levels)
        ):
            raise InputError(
                machine.name, "energy_pj", "is not given for all levels; use --objective latency"
            )
        _ = self._limits

    @property
    def bounds(self) -> dict[str, int]:
        """The bounds that factors multiply to; of those that may grow, the least."""
        return {**self.nest.trip_counts, **dict(self.pins.padded)}

    def largest(self, loop: str) -> int:
        """The largest bound that a loop may run to."""
        return 2 * self.bounds[loop] - 1 if loop in self.pins.free else self.bounds[loop]

    def padded_to(self, sizes: Mapping[str, int]) -> HierarchyProblem:
        """The problem with these bounds where they are larger than the nest's own; no others may grow."""
        grown = tuple((loop, sizes[loop]) for loop, own in self.nest.bounds if sizes.get(loop, own) > own)
        return replace(self, pins=replace(self.pins, padded=grown, free=()))

    def as_it_is(self) -> HierarchyProblem:
        """The problem with bounds that may not grow, and factors that divide them."""
        pins = replace(self.pins, free=(), imperfect=False)
        return replace(self, pins=pins) if pins != self.pins else self

    def kept(self, level: int) -> tuple[frozenset[str], frozenset[str]]:
        """Tensors that a level must keep, and those that it may keep."""
        return self._kept[level]

    @cached_property
    def _kept(self) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
        every = frozenset(operand.name for operand in self.nest.operands)
        found = []
        for place, level in enumerate(self.machine.levels):
            keep = {one for name in level.keep for one in tensors_called(self.nest, name)}
            passed = {one for name in level.bypass for one in tensors_called(self.nest, name)} - keep
            keep |= {tensor for own, tensor in self.pins.keep if own == level.name}
            passed |= {tensor for own, tensor in self.pins.bypass if own == level.name}
            found.append((every, every) if place == 0 else (frozenset(keep), every - passed))
        return tuple(found)

    def most(self, level: int, axis: Axis, loop: str) -> int:
        """The most trips that a loop may have there: 1 where it may not run."""
        exact, most, _ = self._limits[level, axis]
        return min(exact.get(loop, most.get(loop, self.bounds[loop])), most.get(loop, self.bounds[loop]))

    def exact(self, level: int, axis: Axis, loop: str) -> int | None:
        """The trips that a loop must have there (along X and Y together), None if they are open. More than it can have,
        if two numbers are given that differ."""
        return self._limits[level, axis][0].get(loop)

    def order(self, level: int) -> tuple[str, ...]:
        """The loops in time whose order is given, from the innermost outwards; all others are outside them."""
        return self._limits[level, "temporal"][2]

    @cached_property
    def _limits(self) -> dict[tuple[int, Axis], tuple[dict[str, int], dict[str, int], tuple[str, ...]]]:
        found: dict[tuple[int, Axis], tuple[dict[str, int], dict[str, int], tuple[str, ...]]] = {}
        names = [level.name for level in self.machine.levels]
        orders: list[list[list[str]]] = []
        for place, level in enumerate(self.machine.levels):
            fanout = level.fanout
            found[place, "temporal"] = ({}, {}, ())
            orders.append([])
            for axis, width, allowed in (("x", fanout.x, fanout.x_loops), ("y", fanout.y, fanout.y_loops)):
                most = dict.fromkeys(self.nest.loops, width)
                if allowed is not None:
                    carried = {loop for name in allowed for loop in self._meant(name)}
                    most |= {loop: 1 for loop in self.nest.loops if loop not in carried}
                found[place, axis] = ({}, most, ())  # type: ignore[index]
        given = [(one, self._meant) for one in self.machine.constraints]
        given += [(one, partial(loops_called, self.nest)) for one in self.pins.constraints]
        for constraint, called in given:
            place = names.index(constraint.level)
            order = list(dict.fromkeys(loop for name in constraint.permutation for loop in called(name)))
            self._constrain(found, place, constraint, order, called)
            if constraint.kind == "temporal" and order:
                orders[place].append(order)
        for place, rows in enumerate(orders):
            exact, most, _ = found[place, "temporal"]
            turning = [loop for loop in self.nest.loops if exact.get(loop, most.get(loop, 2)) > 1]
            found[place, "temporal"] = (exact, most, self._ordered(place, rows, turning))
        return found

    def _meant(self, name: str) -> tuple[str, ...]:
        return loops_meant(self.nest, self.machine, name)

    def _ordered(self, place: int, given: list[list[str]], turning: list[str]) -> tuple[str, ...]:
        """The one order that several are which are given for a level, but for loops that cannot turn there."""
        if len(given) < 2:
            return tuple(*given)
        rows = [[loop for loop in row if loop in turning and self.bounds[loop] > 1] for row in given]
        longest = max(rows, key=len)
        for row in rows:
            if row != longest[: len(row)]:
                remedy = f"innermost are given as {', '.join(row)} and as {', '.join(longest)}; leave one out"
                raise InputError(
                    self.machine.name, f"permutation of {self.machine.levels[place].name}", remedy
                )
        return tuple(longest)

    def _constrain(
        self,
        found: dict[tuple[int, Axis], tuple[dict[str, int], dict[str, int], tuple[str, ...]]],
        place: int,
        constraint: Constraint,
        order: list[str],
        called: Callable[[str], tuple[str, ...]],
    ) -> None:
        axes: tuple[Axis, ...] = ("temporal",) if constraint.kind == "temporal" else ("x", "y")
        for axis in axes:
            exact, most, _ = found[place, axis]
            for name, trips in constraint.factors.items():
                for loop in called(name):
                    exact[loop] = trips if exact.get(loop, trips) == trips else self.largest(loop) + 1
                    most[loop] = min(trips, most.get(loop, trips))
            for name, trips in constraint.most.items():
                for loop in called(name):
                    most[loop] = min(trips, most.get(loop, trips))
            if constraint.split is not None:
                _split(most, order, constraint.split, axis, len(self.nest.loops))

    def value(self, cost: HierarchyCost) -> int | float:
        """The objective of a cost, in pJ*cycles, pJ or cycles."""
        if self.objective == "latency":
            return cost.cycles
        found = cost.edp_pj_cycles if self.objective == "edp" else cost.energy_pj
        assert found is not None, "a problem has the energies that it needs"
        return found

    def rank(self, cost: HierarchyCost) -> tuple[int, ...]:
        """What ties are broken by: the objective, then EDP, energy, cycles, exactly."""
        energy, cycles = cost.energy_steps or 0, cost.cycles
        first = {"edp": energy * cycles, "energy": energy, "latency": cycles}[self.objective]
        return (first, energy * cycles, energy, cycles)

    def exact_value(self, cost: HierarchyCost) -> Fraction:
        """The objective without rounding."""
        return Fraction(self.rank(cost)[0], 1 if self.objective == "latency" else STEPS_PER_PJ)


def _split(most: dict[str, int], order: list[str], split: int, axis: Axis, loops: int) -> None:
    """Of loops in the given order the first ``split`` lie along X and the others along Y."""
    for position, loop in enumerate(order):
        if (axis == "x") != (position < split):
            most[loop] = 1
    if split == 0 and axis == "x":
        most.update(dict.fromkeys(most, 1))
    if split >= loops and axis == "y":
        most.update(dict.fromkeys(most, 1))
