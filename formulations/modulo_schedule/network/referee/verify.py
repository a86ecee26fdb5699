"""The referee of layers: boxes that cover every nest once, legal orders, and each loop's modulo schedule."""

from __future__ import annotations

from collections.abc import Iterator

from mapper.formulations.modulo_schedule.network.problem import MOST_UNROLL, LayerProblem
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.cost import LayerCost, evaluate_layer
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Nest, is_legal, is_whole_row, moved, tile_is_exact

COVERED = "every iteration in one box"
LEGAL = "dependences keep their order"
UNROLLED = "unroll factors up to 8"
MERGED = "merged rows stay whole"
ORDERED = "sums in the order of their loops"
FITS = "words fit into the configuration memory"


def verify_layer(problem: LayerProblem, mapping: LayerMapping) -> Verdict[LayerCost]:
    """Check ``mapping`` rule by rule.

    Raises: InputError if the layer has no such algorithm.
    """
    algorithm = problem.choice(mapping.algorithm)
    broken = tuple(_broken(problem, algorithm, mapping))
    uncovered = any(rule.rule in (COVERED, LEGAL) for rule in broken)
    cost = None if uncovered else evaluate_layer(algorithm, problem.layer.op, problem.machine, mapping)
    return Verdict(broken, cost)


def _broken(problem: LayerProblem, algorithm: Algorithm, mapping: LayerMapping) -> Iterator[BrokenRule]:
    for position, nest in enumerate(algorithm.nests):
        loops = [loop for loop in mapping.loops if loop.nest == position]
        if not tile_is_exact(nest, tuple(loop.box for loop in loops)):
            yield BrokenRule(COVERED, nest.name, 1)
            continue
        yield from _order_of_boxes(nest, loops)
        for number, loop in enumerate(loops):
            place = f"{nest.name}, box {number}"
            if loop.box.innermost not in nest.names or not is_legal(nest, moved(nest, loop.box.innermost)):
                yield BrokenRule(LEGAL, place, 1)
                continue
            if (beyond := _unrolled_beyond(nest, loop)) > 0:
                yield BrokenRule(UNROLLED, place, beyond)
            if not is_whole_row(nest, loop.box.count[-1], loop.box.unroll[-1]):
                yield BrokenRule(MERGED, place, 1)
                continue
            if not _sums_in_order(nest, loop):
                yield BrokenRule(ORDERED, place, 1)
            kernel = kernel_of(nest, loop.box, loop.pointer_uses)
            memory = problem.machine.configuration_memory
            if memory is not None and loop.schedule.ii > memory.contexts:
                yield BrokenRule(FITS, place, loop.schedule.ii - memory.contexts)
            verdict = verify(ModuloProblem(kernel, problem.machine), loop.schedule)
            for rule in verdict.broken:
                yield BrokenRule(rule.rule, f"{place}: {rule.place}", rule.size)


def _unrolled_beyond(nest: Nest, loop: LoopMapping) -> int:
    """By how much a factor is larger than its loop's may be: 8, or 1 of a loop that stays around the kernel."""
    return max(
        factor - (1 if name in nest.rolled else MOST_UNROLL)
        for name, factor in zip(nest.names, loop.box.unroll, strict=True)
    )


def _sums_in_order(nest: Nest, loop: LoopMapping) -> bool:
    """Copies of a body along a loop that accumulates come before the next iteration of a loop inside it, so that
    those inside must not go on: they are unrolled whole."""
    unroll = dict(zip(nest.names, loop.box.unroll, strict=True))
    count = dict(zip(nest.names, loop.box.count, strict=True))
    for place, outer in enumerate(nest.accumulated):
        if unroll[outer] > 1 and any(unroll[name] != count[name] for name in nest.accumulated[place + 1 :]):
            return False
    return True


def _order_of_boxes(nest: Nest, loops: list[LoopMapping]) -> Iterator[BrokenRule]:
    """Boxes that add to the same words run in the order of the loops they accumulate over."""
    axes = [nest.names.index(name) for name in nest.accumulated]
    others = [axis for axis in range(len(nest.names)) if axis not in axes]
    for number, later in enumerate(loops):
        for earlier in loops[:number]:
            shared = all(
                earlier.box.start[axis] < later.box.start[axis] + later.box.count[axis]
                and later.box.start[axis] < earlier.box.start[axis] + earlier.box.count[axis]
                for axis in others
            )
            differing = [axis for axis in axes if _span(earlier, axis) != _span(later, axis)]
            if not shared or not differing:
                continue
            first = differing[0]
            inside = any(
                _span(one, axis) != (0, nest.loops[axis][1])
                for axis in axes
                if axis > first
                for one in (earlier, later)
            )
            # A loop around the one along which they follow each other goes back to the earlier box again.
            again = any(earlier.box.count[axis] > 1 for axis in axes if axis < first)
            if earlier.box.start[first] >= later.box.start[first] or inside or again:
                yield BrokenRule(ORDERED, f"{nest.name}, box {number}", 1)


def _span(loop: LoopMapping, axis: int) -> tuple[int, int]:
    return loop.box.start[axis], loop.box.count[axis]
