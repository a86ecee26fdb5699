"""The mappings of a hierarchy as integers: trips, tiles, instances, what is kept, and which loops lie inside which."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from ortools.sat.python import cp_model

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, variables
from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem
from mapper.formulations.hierarchy.program.counting import LARGEST, Counting, NumbersTooLargeError
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.workloads.nest.loop_nest import Operand

AXES: tuple[Axis, ...] = ("temporal", "x", "y")


class HierarchySpace(CpSatFormulation):
    """Sets, variables and rules of what is feasible; costs are added by `HierarchyProgram`."""

    def __init__(self, problem: HierarchyProblem, counting: Counting) -> None:
        super().__init__()
        self.problem, self.counting = problem, counting
        self.loops = [loop for loop, bound in problem.bounds.items() if bound > 1]
        self.depth = len(problem.machine.levels)
        self.operands = problem.nest.operands

    def instance(self) -> str:
        problem = self.problem
        return f"{problem.nest.name or 'nest'} on {problem.machine.name}, least {problem.objective}"

    @index_set(r"l \in \{0, \dots, L-1\}")
    def levels(self) -> int:
        """Levels of the hierarchy, from the outermost inwards; L stands for the compute units."""
        return self.depth

    @index_set(r"j \in J")
    def iterated_loops(self) -> int:
        """Loops with more than one iteration, each with its bound B."""
        return len(self.loops)

    @index_set(r"t \in T")
    def tensors(self) -> int:
        """Tensors; J(t) are the loops that index one, and S(t) those that share a dimension of it with another."""
        return len(self.operands)

    @variables(r"n_{l,j},\, x_{l,j},\, y_{l,j} \in \{d : d \mid B_j\}")
    def trips(self) -> None:
        """Trips of each loop at each level: in time, and in space along X and Y below it."""
        self.time: dict[tuple[int, str], Any] = {}
        self.space: dict[tuple[int, str, str], Any] = {}
        for level in range(self.depth):
            for loop in self.loops:
                for axis in AXES:
                    trips = self._trips(level, axis, loop)
                    if axis == "temporal":
                        self.time[level, loop] = trips
                    else:
                        self.space[level, loop, axis] = trips

    @variables(r"k_{l,t} \in \{0, 1\}")
    def kept(self) -> None:
        """Whether a level keeps a tensor: it must, may, or must not."""
        self.keeps: dict[tuple[int, str], Any] = {}
        for level in range(self.depth):
            must, may = self.problem.kept(level)
            for operand in self.operands:
                name = operand.name
                own = self.model.new_bool_var(f"keep_{level}_{name}")
                self.keeps[level, name] = own
                if name in must or name not in may:
                    self.model.add(own == (1 if name in must else 0))

    @variables(r"p_{l,j} \in \{0, \dots, |J|-1\}")
    def places(self) -> None:
        """The place of each loop in time among those of its level, 0 innermost."""
        most = max(0, len(self.loops) - 1)
        self.place = {
            (level, loop): self.model.new_int_var(0, most, f"place_{level}_{loop}")
            for level in range(self.depth)
            for loop in self.loops
        }

    @family(r"c_{l,j} = n_{l,j}\, x_{l,j}\, y_{l,j}\, c_{l+1,j}, \quad c_{L,j} = 1, \quad c_{0,j} = B_j")
    def tiles(self) -> None:
        """Trips multiply to tiles c from the compute units outwards, and to the bounds; what is given is so."""
        self.tile: dict[tuple[int, str], Any] = {(self.depth, loop): 1 for loop in self.loops}
        for loop in self.loops:
            bound = self.problem.bounds[loop]
            for level in reversed(range(self.depth)):
                across = self._product(
                    f"space_{level}_{loop}", [self.space[level, loop, a] for a in "xy"], bound
                )
                self.space[level, loop, "both"] = across
                given = self.problem.exact(level, "x", loop)
                if given is not None:
                    self.model.add(across == given)
                factors = [self.time[level, loop], across, self.tile[level + 1, loop]]
                self.tile[level, loop] = self._divisor(f"tile_{level}_{loop}", bound)
                trips = self._product(f"trips_{level}_{loop}", factors, bound)
                self.model.add(self.tile[level, loop] == trips)
            self.model.add(self.tile[0, loop] == bound)

    @family(
        r"\prod_j x_{l,j} \le X_l, \quad \prod_j y_{l,j} \le Y_l, \quad i_{l+1} = i_l \prod_j x_{l,j}\, y_{l,j}"
    )
    def fan_outs(self) -> None:
        """Loops in space fit the fan-out along each axis; i instances of a level are in use."""
        self.instances: list[Any] = [1]
        for level, memory in enumerate(self.problem.machine.levels):
            wide = memory.fanout.x, memory.fanout.y
            used = [
                self._product(
                    f"used_{level}_{axis}", [self.space[level, loop, axis] for loop in self.loops], most
                )
                for axis, most in zip("xy", wide, strict=True)
            ]
            most = math.prod(one.fanout.x * one.fanout.y for one in self.problem.machine.levels[: level + 1])
            self.instances.append(self._product(f"instances_{level}", [self.instances[-1], *used], most))

    @family(
        r"w_{l,t} = \prod_d \big(1 + \sum_j |f_{t,d,j}| (c_{l,j} - 1)\big), \quad \sum_t k_{l,t}\, w_{l,t} \le W_l"
    )
    def capacities(self) -> None:
        """The words w of a tensor's tile are the product of its extents; tiles that a level keeps fit it."""
        self.words: dict[tuple[int, str], Any] = {}
        whole = self.problem.bounds
        for level, memory in enumerate(self.problem.machine.levels):
            room: Any = 0
            for operand in self.operands:
                most = operand.words(whole)
                extents = [self._extent(level, operand, place) for place in range(len(operand.index))]
                words = self._product(f"words_{level}_{operand.name}", extents, most)
                self.words[level, operand.name] = words
                if memory.capacity is not None and operand.name in self.problem.kept(level)[1]:
                    held = self.model.new_int_var(
                        0, min(most, memory.capacity), f"held_{level}_{operand.name}"
                    )
                    self.model.add(held == words).only_enforce_if(self.keeps[level, operand.name])
                    room = room + held
            if memory.capacity is not None:
                self.model.add(room <= memory.capacity)

    @family(r"p_{l,j} \ne p_{l,j'}, \quad p_{l,j} < p_{l,j'} \text{ if given and } n_{l,j}, n_{l,j'} > 1")
    def orders(self) -> None:
        """Loops of a level have different places; given ones lie inside all others, in the given order."""
        self.turns: dict[tuple[int, str], Any] = {}
        for level in range(self.depth):
            if len(self.loops) > 1:
                self.model.add_all_different([self.place[level, loop] for loop in self.loops])
            for loop in self.loops:
                turns = self.model.new_bool_var(f"turns_{level}_{loop}")
                self.model.add(self.time[level, loop] >= 2).only_enforce_if(turns)
                self.model.add(self.time[level, loop] == 1).only_enforce_if(~turns)
                self.turns[level, loop] = turns
            given = [loop for loop in self.problem.order(level) if loop in self.loops]
            for turn, loop in enumerate(given):
                for other in (*given[turn + 1 :], *(one for one in self.loops if one not in given)):
                    inside = self.place[level, loop] < self.place[level, other]
                    self.model.add(inside).only_enforce_if(self.turns[level, loop], self.turns[level, other])

    def extract(self, value_of: Any) -> HierarchyMapping:
        """The mapping of a solution."""
        found = []
        for level, memory in enumerate(self.problem.machine.levels):
            moving = [loop for loop in self.loops if value_of(self.time[level, loop]) > 1]
            outwards = sorted(moving, key=lambda loop, level=level: -value_of(self.place[level, loop]))  # type: ignore[misc]
            temporal = tuple(TemporalLoop(loop, value_of(self.time[level, loop])) for loop in outwards)
            spatial = tuple(
                SpatialLoop(loop, value_of(self.space[level, loop, axis]), axis)
                for axis in ("y", "x")
                for loop in self.loops
                if value_of(self.space[level, loop, axis]) > 1
            )
            kept = tuple(one.name for one in self.operands if value_of(self.keeps[level, one.name]))
            found.append(LevelMapping(memory.name, kept, temporal, spatial))
        return HierarchyMapping(tuple(found), self.problem.pins.padded)

    def leave_out(self, value_of: Any, any_order: bool) -> None:
        """No further solution has the same trips, tensors kept, and order of the loops that turn (with ``any_order``:
        whatever the order is)."""
        differs = []
        for variable in (*self.time.values(), *self.space.values(), *self.keeps.values()):
            if not isinstance(variable, int):
                other = self.model.new_bool_var("")
                self.model.add(variable != value_of(variable)).only_enforce_if(other)
                differs.append(other)
        for level in () if any_order else range(self.depth):
            moving = [loop for loop in self.loops if value_of(self.turns[level, loop])]
            inwards = sorted(moving, key=lambda loop, level=level: value_of(self.place[level, loop]))  # type: ignore[misc]
            for inner, outer in pairwise(inwards):
                other = self.model.new_bool_var("")
                self.model.add(self.place[level, inner] > self.place[level, outer]).only_enforce_if(other)
                differs.append(other)
        self.model.add_bool_or(differs)

    def _trips(self, level: int, axis: Axis, loop: str) -> Any:
        """A variable, or 1 where a loop cannot turn."""
        most, bound = self.problem.most(level, axis, loop), self.problem.bounds[loop]
        if most < 2:
            return 1
        trips = self._divisor(f"{axis}_{level}_{loop}", bound, most)
        given = self.problem.exact(level, axis, loop)
        if given is not None and axis == "temporal":
            self.model.add(trips == given)
        return trips

    def _divisor(self, name: str, bound: int, most: int | None = None) -> Any:
        values = [one for one in _divisors(bound) if one <= (most or bound)]
        return self.model.new_int_var_from_domain(cp_model.Domain.from_values(values), name)

    def _product(self, name: str, factors: list[Any], most: int) -> Any:
        """The product of factors, which is at most ``most``."""
        number = math.prod(one for one in factors if isinstance(one, int))
        moving = [one for one in factors if not isinstance(one, int)]
        if not moving or not number:
            return number
        limit = min(most, LARGEST) // max(1, number)
        found = moving[0]
        for turn, factor in enumerate(moving[1:]):
            if self._largest(found) * self._largest(factor) > LARGEST:
                raise NumbersTooLargeError(f"{name} leaves the integers of CP-SAT")
            product = self.model.new_int_var(
                0, min(limit, self._largest(found) * self._largest(factor)), f"{name}_{turn}"
            )
            self.model.add_multiplication_equality(product, [found, factor])
            found = product
        return found * number if number != 1 else found

    def _largest(self, expression: Any) -> int:
        """The largest value of a variable, or of one times a number plus a number."""
        flat = cp_model.FlatIntExpr(expression)
        ends = zip(flat.coeffs, flat.vars, strict=True)
        return int(flat.offset) + sum(int(by) * int(list(one.proto.domain)[-1]) for by, one in ends)

    def _extent(self, level: int, operand: Operand, dimension: int) -> Any:
        found: Any = 1
        met = [(loop, factor) for loop, factor in operand.index[dimension].coefficients if loop in self.loops]
        for loop, factor in met:
            found = found + abs(factor) * (self.tile[level, loop] - 1)
        if len(met) < 2:
            return found
        most = 1 + sum(abs(factor) * (self.problem.bounds[loop] - 1) for loop, factor in met)
        return self._named(f"extent_{level}_{operand.name}_{dimension}", found, most)

    def _named(self, name: str, expression: Any, most: int) -> Any:
        """A variable for a sum, since products are of single variables."""
        found = self.model.new_int_var(0, min(most, LARGEST), name)
        self.model.add(found == expression)
        return found


def _divisors(number: int) -> list[int]:
    small = [one for one in range(1, math.isqrt(number) + 1) if number % one == 0]
    return sorted({*small, *(number // one for one in small)})
