"""What an iteration of a nest asks of a PE, and which nests a TCPA runs."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.arch.tcpa import TcpaMachine
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest, Operand

UNIT_LATENCY = 1
"""Cycles after which a unit's result is there for the next operation of its PE [Heidorn2019, Algorithm 3]."""
LINK_LATENCY = 1
"""Cycles that a word takes over a link between two PEs; the paper gives none."""


@dataclass(frozen=True)
class Work:
    """``operations`` of an iteration, one after another, so that its result is there after ``depth`` cycles; a PE
    begins a word of up to ``lanes`` iterations every ``interval`` cycles."""

    operations: int
    lanes: int
    interval: int

    @property
    def depth(self) -> int:
        return self.operations * UNIT_LATENCY


def work_of(nest: LoopNest, machine: TcpaMachine) -> Work:
    """A product of n factors that is added to a sum is n - 1 multiplications of which the last adds; a sum of n
    terms takes n additions, one less where nothing was summed before."""
    terms = sum(operand.access == "read" for operand in nest.operands)
    summed = written(nest).is_updated
    if nest.operation == "multiply_add":
        operations, units = max(1, terms - 1), machine.functional_units.convolution
    else:
        operations, units = max(1, terms if summed else terms - 1), machine.functional_units.elementwise
    return Work(operations, max(1, units // operations), -(-operations // units))


def written(nest: LoopNest) -> Operand:
    """The operand that the nest writes."""
    return next(operand for operand in nest.operands if operand.writes)


def reductions(nest: LoopNest) -> frozenset[str]:
    """Loops along which the written operand is summed."""
    return frozenset(nest.loops) - written(nest).loops


def refuse_other_nests(nest: LoopNest) -> None:
    """Raises: InputError for a nest that carries values from iteration to iteration other than in a sum."""
    target = written(nest)
    again = [
        operand.name
        for operand in nest.operands
        if operand is not target and (operand.tensor or operand.name) == (target.tensor or target.name)
    ]
    if nest.dependences or again:
        where = f"operands.{again[0]}" if again else "dependences"
        remedy = "carries values between iterations; a TCPA runs nests whose only dependences are sums"
        raise InputError(nest.name, where, f"{remedy}; try --arch dmazerunner-256")
