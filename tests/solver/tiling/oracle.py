"""Brute force over tiny tiling problems: every factorisation, every permutation of loops that run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.cost import evaluate, fits
from mapper.models.tiling.mapping import TilingMapping


def least(problem: TilingProblem) -> tuple[float, ...] | None:
    """Rank of the best mapping, None if there is none."""
    return min(
        (problem.rank(evaluate(problem.nest, problem.machine, m)) for m in mappings(problem)), default=None
    )


def mappings(problem: TilingProblem) -> Iterator[TilingMapping]:
    nest, machine, pins = problem.nest, problem.machine, problem.pins
    choices = [
        [
            factors
            for factors in fourfold(bound)
            if factors[0] * factors[1] * factors[2] * factors[3] == bound
            and all(
                pins.allows(loop, level, f)
                for level, f in zip(("dram", "spm", "rf", "spatial"), factors, strict=True)
            )
            and (factors[3] == 1 or loop not in nest.sequential_loops)
        ]
        for loop, bound in nest.bounds
    ]
    for factors in product(*choices):
        any_order = TilingMapping(nest.loops, factors, nest.loops, nest.loops)
        places = next(_axes(problem, [row[3] for row in factors]), None)
        if places is not None and fits(nest, machine, any_order):
            for dram in orders(problem, "dram", [row[0] for row in factors]):
                for spm in orders(problem, "spm", [row[1] for row in factors]):
                    mapping = TilingMapping(nest.loops, factors, dram, spm, axes=places)
                    if (
                        problem.max_cycles is None
                        or evaluate(nest, machine, mapping).cycles <= problem.max_cycles
                    ):
                        yield mapping


def _axes(problem: TilingProblem, spatial: list[int]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Divisions of what is in space between rows and columns that keep the array's rules and pins."""
    nest, array = problem.nest, problem.machine.pe_array
    if not problem.machine.rules.array_axes:
        yield ()
        return
    for places in product(*([(a, n // a) for a in range(1, n + 1) if n % a == 0] for n in spatial)):
        kept = True
        for side, (axis, size) in enumerate((("rows", array.rows), ("columns", array.columns))):
            there = {loop for loop, place in zip(nest.loops, places, strict=True) if place[side] > 1}
            kept &= math.prod(place[side] for place in places) <= size
            kept &= axis in array.spatial_reduction or not there & nest.reduction_loops
            for pinned, names, others in problem.pins.axes:
                kept &= pinned != axis or (names <= there and (others or there <= names))
        if kept:
            yield places


def fourfold(bound: int) -> Iterator[tuple[int, int, int, int]]:
    """All quadruples of numbers up to ``bound``."""
    yield from product(range(1, bound + 1), repeat=4)


def orders(problem: TilingProblem, level: str, counts: list[int]) -> Iterator[tuple[str, ...]]:
    """Orders that end in the pinned loops; loops that run once stand outermost in one order."""
    pinned = problem.pins.innermost(level)
    free = [loop for loop in problem.nest.loops if loop not in pinned]
    running = [
        loop for loop, count in zip(problem.nest.loops, counts, strict=True) if count > 1 and loop in free
    ]
    idle = [loop for loop in free if loop not in running]
    for chosen in permutations(running):
        yield (*idle, *chosen, *pinned)
