"""Where neighbours may hand words on, so that what is read outside depends on more than tiles and trips."""

from __future__ import annotations

from collections.abc import Sequence

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.workloads.nest.loop_nest import Operand


def may_hand(problem: HierarchyProblem, operand: Operand, outer: int, inner: int) -> bool:
    """Whether neighbours may take words of a tensor from each other on its way from a level to one inside: below the
    last level, below one from which windows go straight to the next, and where loops of a window lie side by side."""
    if not problem.machine.rules.link_transfers:
        return False
    loops = [loop for loop, bound in problem.bounds.items() if bound > 1]
    windows = loops_of_windows(operand, loops)
    for level in range(outer, inner):
        spread = {loop for loop in loops if max(problem.most(level, axis, loop) for axis in ("x", "y")) > 1}
        is_last = level + 1 == len(problem.machine.levels)
        if spread & windows or (spread and (is_last or (windows and level + 1 == inner))):
            return True
    return False


def may_hand_anything(problem: HierarchyProblem) -> bool:
    """Whether neighbours may hand on words of any tensor, between any two levels that may keep it one after another."""
    depth = len(problem.machine.levels)
    for operand in problem.nest.operands:
        ends = [place for place in range(depth) if operand.name in problem.kept(place)[1]]
        for outer in ends:
            for inner in [*(place for place in ends if place > outer), depth]:
                between = range(outer + 1, inner)
                goes_by = not any(operand.name in problem.kept(place)[0] for place in between)
                if goes_by and may_hand(problem, operand, outer, inner):
                    return True
    return False


def loops_of_windows(operand: Operand, loops: Sequence[str]) -> set[str]:
    """Loops that share a dimension of a tensor with another."""
    found: set[str] = set()
    for index in operand.index:
        own = {loop for loop, _ in index.coefficients if loop in loops}
        found |= own if len(own) > 1 else set()
    return found
