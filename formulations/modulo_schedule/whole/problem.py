"""The problem of a whole kernel as a value: schedules of its loops with which all of it takes the fewest cycles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.whole.walk import Tally, walked
from mapper.workloads.whole.program import WholeKernel


@dataclass(frozen=True)
class WholeProblem:
    """Run ``whole`` on ``machine`` in the fewest cycles: a modulo schedule for each of its loops."""

    whole: WholeKernel
    machine: CgraMachine

    @cached_property
    def tally(self) -> Tally:
        """How often everything runs.

        Raises: InputError if data decide that.
        """
        return walked(self.whole)

    @cached_property
    def loops(self) -> tuple[ModuloProblem, ...]:
        """Its loops as problems of their own, each for the least initiation interval."""
        return tuple(ModuloProblem(kernel, self.machine) for kernel in self.whole.kernels)
