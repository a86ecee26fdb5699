"""The exact method that has the tree of paces solve the streaming model: its latency, and the ties of its other
objectives, which have closed forms."""

from __future__ import annotations

from functools import partial

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import allocation_of
from mapper.formulations.pe_allocation.program.instance import AllocationInstance
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.pace.tree import PaceTree
from mapper.solver.pe_allocation.parallel.integer_program import TIE_NODES, confirmed
from mapper.solver.pe_allocation.parallel.integer_program import decide as by_program
from mapper.solver.pe_allocation.parallel.outcome import quantity
from mapper.solver.pe_allocation.parallel.stage import Decision, staged

TIE_TREE = 300
"""Nodes after which a tie is left as it is."""


def pace_tree(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of layers of the streaming model that work at once and share no PEs, proven, or a proof that
    there is none."""
    return staged(problem, effort, decide, partial(decide, nodes=TIE_TREE))


def decide(
    instance: AllocationInstance, effort: Effort, best: Allocation | None, nodes: int | None = None
) -> Decision:
    """The least latency of one instance, with ``nodes`` at most; other goals are left to the integer program."""
    if best is not None and quantity(instance.problem, best, instance.goal) == instance.least:
        return Decision(best, True, instance.least, "complete")
    if instance.goal != "cycles":
        if nodes is not None:
            return by_program(instance, effort, best, nodes=TIE_NODES)
        return confirmed(instance, effort, best)
    below = instance.cycles[1] + 1
    if best is not None:
        below = min(below, quantity(instance.problem, best, "cycles"))
    tree = PaceTree(instance, below)
    ended = tree.search(effort, nodes)
    found = None
    if tree.best is not None:
        chosen = [one.choices[number] for one, number in zip(tree.steps, tree.best.steps, strict=True)]
        found = allocation_of(instance.problem, chosen, tree.best.paces)
    elif best is None:
        return Decision(None, ended, None if ended else tree.bound, _stop(effort, ended))
    return Decision(found, ended, min(tree.bound, tree.below), _stop(effort, ended))


def _stop(effort: Effort, ended: bool) -> Stop:
    return "complete" if ended else effort.stopped() or "heuristic"
