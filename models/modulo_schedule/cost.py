"""What a modulo schedule costs: n*II + (SC-1)*II cycles with kernel-only code [Bae2018, sec. V-C]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.activity import Activity, run_activity
from mapper.models.modulo_schedule.bound import rec_mii, res_mii
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.models.modulo_schedule.energy import (
    energy_by_cause_pj,
    energy_pj,
    milliseconds,
    power_times_time_pj,
)
from mapper.models.modulo_schedule.mapping import ModuloSchedule, Pe
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel


@dataclass(frozen=True)
class ScheduleCost:
    """Intervals and cycles of one loop. ``fill``: cycles in which the first iterations' stages enter. ``activity``:
    what a run does, None where its energy has no prices. None where undefined: cycles without a trip count, time
    without a clock, energy without energies or a power."""

    machine: CgraMachine
    ii: int
    res_mii: int
    rec_mii: int
    stages: int
    kernel: int | None
    fill: int
    activity: Activity | None

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
            "latency_ms": milliseconds(self.machine, self.cycles),
            "energy_pj": energy_pj(self.machine, self.activity, self.cycles),
        }

    def breakdown_json(self) -> dict[str, Any]:
        """Cycles by cause: ``kernel`` n*II, ``fill`` (SC-1)*II; energy by cause, and beside it the machine's power
        times the time."""
        return {
            "cycles": {"kernel": self.kernel, "fill": self.fill},
            "bytes": {},
            "energy_pj": energy_by_cause_pj(self.machine, self.activity),
            "power_times_time_pj": power_times_time_pj(self.machine, self.cycles),
        }


def evaluate(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule) -> ScheduleCost:
    """The cost of ``schedule``; energy is that of what a run does, or the machine's power times the time.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    stages = schedule.stages
    n = kernel.trip_count
    return ScheduleCost(
        machine=machine,
        ii=schedule.ii,
        res_mii=res_mii(kernel.graph, machine).value,
        rec_mii=rec_mii(kernel.graph, machine).value,
        stages=stages,
        kernel=None if n is None else n * schedule.ii,
        fill=(stages - 1) * schedule.ii,
        activity=activity_of(kernel, machine, schedule),
    )


def activity_of(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule) -> Activity | None:
    """What a run of ``schedule`` does; None if the machine gives actions no energy, the kernel no trip count, or the
    schedule leaves out operations or ways of operands, so that there are no words to count."""
    used: set[Pe] = {placement.pe for placement in schedule.placements}
    used |= {hop.pe for route in schedule.routes for hop in route.hops}
    if machine.energy is None or kernel.trip_count is None:
        return None
    if len(schedule.placements) != len(kernel.graph.operations) or not used <= machine.readers.keys():
        return None
    try:
        configuration = assemble(kernel, machine, schedule)
    except InputError:
        return None
    return run_activity(configuration, machine, kernel.trip_count)
