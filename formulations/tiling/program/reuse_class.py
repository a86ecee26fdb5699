"""Classes of orders of equal reuse: a pattern at DRAM and a walk through a scratch-pad tile [Dave2019, Alg. 2]."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.mode import WalkingMode, walking_modes
from mapper.formulations.tiling.program.order import OrderPattern, order_patterns


@dataclass(frozen=True)
class ReuseClass:
    """A pattern of orders at DRAM with a walk that follows it: which operands stay, over which loops."""

    dram: OrderPattern
    walk: WalkingMode

    @property
    def reused(self) -> frozenset[int]:
        """Operands that the order at DRAM reuses."""
        return frozenset(k for k, over in enumerate(self.dram.reuse) if over)

    @property
    def is_consistent(self) -> bool:
        """Whether what stays is reused at DRAM, at its level there, and nothing that must stay does not."""
        loops = frozenset(self.dram.loops)
        left_out = [k for k in self.reused - self.walk.stays if self.walk.pattern.reuse[k] == loops]
        return self.walk.follows(self.dram) and self.walk.stays <= self.reused and not left_out

    def named(self, operands: tuple[str, ...]) -> str:
        """In words: what is reused at either level, and what stays in the array between scratch-pad passes."""

        def listed(chosen: list[int]) -> str:
            return " and ".join(operands[k] for k in chosen) or "nothing"

        spm = [k for k, over in enumerate(self.walk.pattern.reuse) if over]
        stays = f", {listed(sorted(self.walk.stays))} staying" if self.walk.stays else ""
        return f"{listed(sorted(self.reused))} reused at DRAM, {listed(spm)} at the scratch-pad{stays}"


def reuse_classes(problem: TilingProblem) -> tuple[ReuseClass, ...]:
    """Every mapping belongs to one class of these that costs no more."""
    nest, machine, pins = problem.nest, problem.machine, problem.pins
    dram = order_patterns(nest, machine, pins.innermost("dram"))
    walks = walking_modes(order_patterns(nest, machine, pins.innermost("spm")), dram)
    classes = (ReuseClass(pattern, walk) for pattern in dram for walk in walks)
    return tuple(one for one in classes if one.is_consistent)
