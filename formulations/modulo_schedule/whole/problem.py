"""The problem of a whole kernel as a value: schedules of its loops with which all of it takes the fewest cycles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.whole.walk import Tally, walked
from mapper.workloads.document import InputError
from mapper.workloads.whole.program import HOST, WholeKernel


@dataclass(frozen=True)
class WholeProblem:
    """Run ``whole`` on ``machine`` in the fewest cycles: a modulo schedule for each of its loops, and, where ``whole``
    leaves that open, who runs the loops around them."""

    whole: WholeKernel
    machine: CgraMachine

    @cached_property
    def tally(self) -> Tally:
        """How often everything runs.

        Raises: InputError if data decide that.
        """
        return walked(self.whole)

    @cached_property
    def choices(self) -> tuple[WholeProblem, ...]:
        """The problem with each that may run the loops around kernels."""
        if not self.whole.others:
            return (self,)
        first = replace(self.whole, nest=HOST, others=())
        return tuple(WholeProblem(one, self.machine) for one in (first, *self.whole.others))

    def choice(self, nest: str) -> WholeProblem:
        """The problem with ``nest``.

        Raises: InputError if that is no choice.
        """
        for one in self.choices:
            if one.whole.nest == nest:
                return one
        known = ", ".join(one.whole.nest for one in self.choices)
        raise InputError(self.whole.name, "nest", f"{nest[:40]!r} is not one of {known}; solve it again")

    @cached_property
    def loops(self) -> tuple[ModuloProblem, ...]:
        """Its loops as problems of their own, each for the least initiation interval."""
        return tuple(ModuloProblem(kernel, self.machine) for kernel in self.whole.kernels)
