"""The referee of mappings onto a memory hierarchy: checks a mapping from the machine's rules, by itself.

It shares no code with programs, bounds or searches, and for feasibility none with the model: tiles are measured at the
corners of their index ranges. Only the cost comes from the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

from mapper.arch.hierarchy import Constraint, Fanout
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.hierarchy.cost import HierarchyCost, evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping
from mapper.models.hierarchy.role import loops_called, loops_meant, tensors_called
from mapper.workloads.nest.loop_nest import Operand

FACTORS = "factors multiply to the bound"
UNEVEN = "factors divide the bound, without --fix factors=imperfect"
GROWN = "padding"
CAPACITY = "words of a level"
FANOUT = "instances of a fan-out"
AXIS = "loops that a fan-out may carry"
KEPT = "tensors kept and bypassed"
TWICE = "a loop once per level and direction"
GIVEN_FACTOR = "given factor"
GIVEN_ORDER = "given permutation"
GIVEN_SPLIT = "given split"
LATENCY = "cycles within the limit"


def verify(problem: HierarchyProblem, mapping: HierarchyMapping) -> Verdict[HierarchyCost]:
    """Check ``mapping`` against every rule of ``problem`` and have the model recompute its cost.

    A mapping that breaks a capacity, a fan-out or a given decision is still costed.
    """
    wrong = tuple(_wrong_factors(problem, mapping))
    broken = (
        *wrong,
        *_uneven(problem, mapping),
        *_grown(problem, mapping),
        *_capacities(problem, mapping),
        *_fanouts(problem, mapping),
        *_kept(problem, mapping),
        *_given(problem, mapping),
    )
    if wrong:
        return Verdict(broken, None)
    cost = evaluate(problem.nest, problem.machine, mapping)
    most = problem.max_cycles
    if most is not None and cost.cycles > most:
        broken = (*broken, BrokenRule(LATENCY, problem.nest.name or "nest", cost.cycles - most))
    return Verdict(broken, cost)


def _wrong_factors(problem: HierarchyProblem, mapping: HierarchyMapping) -> Iterator[BrokenRule]:
    """The trips of each loop multiply to its bound, or to what the mapping or the pins pad it to: with last passes that
    are smaller, all passes together have so many iterations. The size is the difference."""
    padded = {**dict(problem.pins.padded), **dict(mapping.padded)}
    for loop, bound in problem.nest.bounds:
        bound = padded.get(loop, bound)
        whole = passes = 1
        for one in (one for level in reversed(mapping.levels) for one in reversed(level.loops)):
            if one.loop == loop:
                last = one.trips if one.last is None else one.last
                # The last pass: whole ones of what is inside, and the last one of that.
                passes += (last - 1) * whole
                whole *= one.trips
                if last > one.trips:
                    yield BrokenRule(FACTORS, loop, last - one.trips)
        if passes != bound:
            yield BrokenRule(FACTORS, loop, passes - bound)


def _uneven(problem: HierarchyProblem, mapping: HierarchyMapping) -> Iterator[BrokenRule]:
    """All passes have the same trips, unless factors may be imperfect. The size is what the last one has less."""
    for level in mapping.levels:
        for one in level.loops:
            if one.last not in (None, one.trips) and not problem.pins.imperfect:
                yield BrokenRule(UNEVEN, f"{level.level}: {one.loop}", one.trips - one.last)


def _grown(problem: HierarchyProblem, mapping: HierarchyMapping) -> Iterator[BrokenRule]:
    """Bounds grow to what the pins say; where these leave it open, a bound B to less than twice B. The size is what is
    added."""
    given, said = dict(problem.pins.padded), dict(mapping.padded)
    for loop, own in problem.nest.bounds:
        bound = said.get(loop, given.get(loop, own))
        is_open = loop in problem.pins.free and own <= bound < 2 * own
        if bound != given.get(loop, own) and not is_open:
            yield BrokenRule(GROWN, loop, bound - own)


def _capacities(problem: HierarchyProblem, mapping: HierarchyMapping) -> Iterator[BrokenRule]:
    """The tiles that a level keeps fit it, as often as it buffers them; the size is the words beyond."""
    tile = dict.fromkeys(problem.nest.loops, 1)
    most = {**problem.bounds, **dict(mapping.padded)}
    for level, memory in reversed(list(zip(mapping.levels, problem.machine.levels, strict=True))):
        for one in level.loops:
            tile[one.loop] *= one.trips
        if memory.words is None:
            continue
        reached = {loop: min(trips, most[loop]) for loop, trips in tile.items()}
        words = sum(_footprint(one, reached) for one in problem.nest.operands if one.name in level.keep)
        if words > math.floor(memory.words / memory.buffers):
            yield BrokenRule(CAPACITY, memory.name, words - math.floor(memory.words / memory.buffers))


def _footprint(operand: Operand, tile: dict[str, int]) -> int:
    """Words between the least and the largest index of each dimension, over the corners of the tile."""
    words = 1
    for index in operand.index:
        ends = product(*(sorted((0, factor * (tile[loop] - 1))) for loop, factor in index.coefficients))
        reached = [sum(corner) for corner in ends]
        words *= max(reached) - min(reached) + 1
    return words


def _fanouts(problem: HierarchyProblem, mapping: HierarchyMapping) -> Iterator[BrokenRule]:
    """Loops in space fit the fan-out along each axis, and are among those that the axis may carry."""
    for level, memory in zip(mapping.levels, problem.machine.levels, strict=True):
        for axis in ("x", "y"):
            used = math.prod(one.trips for one in level.spatial if one.axis == axis)
            width = memory.fanout.x if axis == "x" else memory.fanout.y
            if used > width:
                yield BrokenRule(FANOUT, f"{memory.name}.{axis}", used - width)
            for loop in _not_carried(problem, memory.fanout, level, axis):
                yield BrokenRule(AXIS, f"{memory.name}.{axis}: {loop}", 1)
        for axes in (("temporal",), ("x",), ("y",)):
            loops = _loops(level, axes[0])
            for loop in sorted({one for one in loops if loops.count(one) > 1}):
                yield BrokenRule(TWICE, f"{memory.name}: {loop}", loops.count(loop) - 1)


def _loops(level: LevelMapping, direction: str) -> list[str]:
    if direction == "temporal":
        return [one.loop for one in level.temporal]
    return [one.loop for one in level.spatial if one.axis == direction]


def _not_carried(problem: HierarchyProblem, fanout: Fanout, level: LevelMapping, axis: str) -> list[str]:
    allowed = fanout.x_loops if axis == "x" else fanout.y_loops
    if allowed is None:
        return []
    carried = {loop for name in allowed for loop in loops_meant(problem.nest, problem.machine, name)}
    return [
        one.loop for one in level.spatial if one.axis == axis and one.trips > 1 and one.loop not in carried
    ]


def _kept(problem: HierarchyProblem, mapping: HierarchyMapping) -> Iterator[BrokenRule]:
    """The outermost level keeps everything, others what they must and nothing that they may not; by pins too."""
    nest, pins = problem.nest, problem.pins
    for place, (level, memory) in enumerate(zip(mapping.levels, problem.machine.levels, strict=True)):
        must = {tensor for name in memory.keep for tensor in tensors_called(nest, name)}
        never = {tensor for name in memory.bypass for tensor in tensors_called(nest, name)} - must
        must |= {tensor for own, tensor in pins.keep if own == memory.name}
        never |= {tensor for own, tensor in pins.bypass if own == memory.name}
        if place == 0:
            must, never = {one.name for one in nest.operands}, set()
        missing, extra = must - set(level.keep), never & set(level.keep)
        if missing or extra:
            yield BrokenRule(
                KEPT, f"{memory.name}: {', '.join(sorted(missing | extra))}", len(missing | extra)
            )


def _given(problem: HierarchyProblem, mapping: HierarchyMapping) -> Iterator[BrokenRule]:
    """Factors, permutations and splits that the machine's constraints or pins give."""
    by_name = {level.level: level for level in mapping.levels}
    own = [(one, partial(loops_meant, problem.nest, problem.machine)) for one in problem.machine.constraints]
    pinned = [(one, partial(loops_called, problem.nest)) for one in problem.pins.constraints]
    for constraint, called in (*own, *pinned):
        level = by_name[constraint.level]
        yield from _given_factors(constraint, level, called)
        listed = list(dict.fromkeys(loop for name in constraint.permutation for loop in called(name)))
        if constraint.kind == "temporal":
            moving = [one.loop for one in reversed(level.temporal) if one.trips > 1]
            expected = [loop for loop in listed if loop in moving]
            if moving[: len(expected)] != expected:
                yield BrokenRule(GIVEN_ORDER, constraint.level, 1)
        elif constraint.split is not None:
            for one in level.spatial:
                if one.trips > 1 and _wrong_side(
                    one.loop, one.axis, listed, constraint.split, len(problem.nest.loops)
                ):
                    yield BrokenRule(GIVEN_SPLIT, f"{constraint.level}: {one.loop}", 1)


def _wrong_side(loop: str, axis: str, listed: list[str], split: int, loops: int) -> bool:
    if loop in listed:
        return (axis == "x") != (listed.index(loop) < split)
    return (axis == "x" and split == 0) or (axis == "y" and split >= loops)


def _given_factors(
    constraint: Constraint, level: LevelMapping, called: Callable[[str], tuple[str, ...]]
) -> Iterator[BrokenRule]:
    given = [(name, trips, True) for name, trips in constraint.factors.items()]
    given += [(name, trips, False) for name, trips in constraint.most.items()]
    for name, trips, exact in given:
        for loop in called(name):
            own = level.temporal if constraint.kind == "temporal" else level.spatial
            actual = math.prod(one.trips for one in own if one.loop == loop)
            if actual != trips and (exact or actual > trips):
                yield BrokenRule(GIVEN_FACTOR, f"{constraint.level}: {loop}", abs(actual - trips))
