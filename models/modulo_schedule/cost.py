"""What a modulo schedule costs: n*II + (SC-1)*II cycles with kernel-only code [Bae2018, sec. V-C]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.bound import rec_mii, res_mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.workloads.graph.kernel import Kernel


@dataclass(frozen=True)
class ScheduleCost:
    """Intervals and cycles of one loop. ``fill``: cycles in which the first iterations' stages enter. None where
    undefined: cycles without a trip count, time without a clock, energy without a power."""

    ii: int
    res_mii: int
    rec_mii: int
    stages: int
    kernel: int | None
    fill: int
    latency_ms: float | None
    energy_pj: float | None

    @property
    def mii(self) -> int:
        """The larger of both minimal intervals."""
        return max(self.res_mii, self.rec_mii)

    @property
    def cycles(self) -> int | None:
        """Cycles from the first issue to the end of the last stage."""
        return None if self.kernel is None else self.kernel + self.fill

    def cost_json(self) -> dict[str, Any]:
        """The cost keys of a ``modulo_schedule`` document."""
        return {
            "ii": self.ii,
            "mii": self.mii,
            "res_mii": self.res_mii,
            "rec_mii": self.rec_mii,
            "stages": self.stages,
            "cycles": self.cycles,
            "latency_ms": self.latency_ms,
            "energy_pj": self.energy_pj,
        }

    def breakdown_json(self) -> dict[str, Any]:
        """Cycles by cause: ``kernel`` n*II, ``fill`` (SC-1)*II."""
        return {"cycles": {"kernel": self.kernel, "fill": self.fill}, "bytes": {}}


def evaluate(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule) -> ScheduleCost:
    """The cost of ``schedule``; energy is the machine's power times the time.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    stages = schedule.stages
    n = kernel.trip_count
    cycles = None if n is None else (n + stages - 1) * schedule.ii
    milliseconds = None
    if cycles is not None and machine.clock_mhz is not None:
        milliseconds = cycles / (machine.clock_mhz * 1e3)
    energy = None
    if milliseconds is not None and machine.power_w is not None:
        energy = machine.power_w * milliseconds * 1e9
    return ScheduleCost(
        ii=schedule.ii,
        res_mii=res_mii(kernel.graph, machine).value,
        rec_mii=rec_mii(kernel.graph, machine).value,
        stages=stages,
        kernel=None if n is None else n * schedule.ii,
        fill=(stages - 1) * schedule.ii,
        latency_ms=milliseconds,
        energy_pj=energy,
    )
