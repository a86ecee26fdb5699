"""What a mapped whole kernel costs: every start of every loop, and the host before, between and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.activity import ACCESSES, Activity, run_activity
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.models.modulo_schedule.energy import (
    cost_of_several_loops,
    energy_by_cause_pj,
    power_times_time_pj,
)
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.cost import (
    load_activity,
    load_cycles,
    most_contexts,
)
from mapper.models.modulo_schedule.whole.walk import Tally
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.loop.start import GIVEN_NAME
from mapper.workloads.whole.program import WholeKernel


@dataclass(frozen=True)
class WholeCost:
    """Cycles of a whole kernel by cause: ``kernel`` n*II, ``fill`` (SC-1)*II, ``set_up`` what a start takes before its
    first cycle, ``exit`` fetching scalars that loops leave, ``host`` what runs between loops, ``load`` words of loops
    into the configuration memory. ``activity``: None where energies have no prices."""

    machine: CgraMachine
    kernel: int
    fill: int
    set_up: int
    exit: int
    host: int
    load: int
    bytes_used: tuple[tuple[str, int], ...]
    activity: Activity | None

    @property
    def causes(self) -> dict[str, int]:
        return {
            "kernel": self.kernel,
            "fill": self.fill,
            "set_up": self.set_up,
            "exit": self.exit,
            "host": self.host,
            "load": self.load,
        }

    @property
    def cycles(self) -> int:
        return sum(self.causes.values())

    def cost_json(self) -> dict[str, Any]:
        """The cost keys of the kind; intervals and stages are those of its loops."""
        return cost_of_several_loops(self.machine, self.activity, self.cycles)

    def breakdown_json(self) -> dict[str, Any]:
        """Cycles by cause, bytes by array, energy by cause, and beside it the machine's power times the time."""
        return {
            "cycles": self.causes,
            "bytes": dict(self.bytes_used),
            "energy_pj": energy_by_cause_pj(self.machine, self.activity),
            "power_times_time_pj": power_times_time_pj(self.machine, self.cycles),
        }


def host_cycles(machine: CgraMachine, opcodes: Iterable[tuple[str, int]]) -> int:
    """The host does one operation after another, each for its latency."""
    return sum(count * machine.latency(opcode) for opcode, count in opcodes)


def entry_operations(kernel: Kernel) -> Counter[str]:
    """What the host computes before each start, by opcode; scalars that it holds are there already."""
    return Counter(one.opcode for one in kernel.entry if not one.name.startswith(GIVEN_NAME))


def start_cycles(machine: CgraMachine, kernel: Kernel) -> int:
    """Cycles before the first one of each start: set-up, the entry's operations, and a write for every live-in, of
    which displacements of loads and stores are addresses. Set-up and writes cost nothing on a machine without ``vliw``.
    """
    mode = machine.vliw
    computed = host_cycles(machine, entry_operations(kernel).items())
    if mode is None:
        return computed
    addresses = sum(bool(one.offsets) for one in kernel.live_ins)
    values = sum(bool(one.operands or one.initial) for one in kernel.live_ins)
    written = addresses * mode.address_cycles + values * mode.live_in_cycles
    return mode.set_up_cycles + computed + written


def exit_cycles(machine: CgraMachine, results: int) -> int:
    """Cycles after each start: every scalar that the loop leaves is loaded."""
    return results * machine.latency("load")


def loads(machine: CgraMachine, tally: Tally, iis: tuple[int, ...]) -> tuple[int, ...]:
    """How often the words of each kernel are loaded: once, if those of all that are started fit into the configuration
    memory together, else whenever another kernel has run before."""
    together = sum(ii for kernel, ii in enumerate(iis) if tally.starts(kernel))
    fit = together <= most_contexts(machine)
    return tuple(
        min(1, tally.changes[kernel]) if fit else tally.changes[kernel] for kernel in range(len(iis))
    )


def evaluate_whole(
    whole: WholeKernel, machine: CgraMachine, tally: Tally, schedules: tuple[ModuloSchedule, ...]
) -> WholeCost:
    """The cost of ``whole`` with these schedules: n*II + (SC-1)*II for each start (Eq. 2), and all around it."""
    kernel = fill = set_up = leave = load = 0
    times = loads(machine, tally, tuple(schedule.ii for schedule in schedules))
    for number, (own, schedule, start) in enumerate(zip(whole.kernels, schedules, whole.starts, strict=True)):
        runs = tally.starts(number)
        kernel += tally.iterations(number) * schedule.ii
        fill += runs * (schedule.stages - 1) * schedule.ii
        set_up += runs * start_cycles(machine, own)
        leave += runs * exit_cycles(machine, len(start.results))
        load += times[number] * load_cycles(machine, schedule.ii)
    host = host_cycles(machine, tally.operations.items())
    sizes = tuple(
        (one.name, one.words * int("".join(filter(str.isdigit, one.kind))) // 8) for one in whole.arrays
    )
    activity = _activity(whole, machine, tally, schedules, times, host + set_up + leave)
    return WholeCost(machine, kernel, fill, set_up, leave, host, load, sizes, activity)


def _activity(
    whole: WholeKernel,
    machine: CgraMachine,
    tally: Tally,
    schedules: tuple[ModuloSchedule, ...],
    times: tuple[int, ...],
    vliw_cycles: int,
) -> Activity | None:
    """What the array and the host do; None if actions have no energy, or a schedule is no whole one."""
    if machine.energy is None:
        return None
    accesses = sum(tally.operations[opcode] for opcode in ACCESSES)
    total = Activity()
    for number, (own, schedule, start) in enumerate(zip(whole.kernels, schedules, whole.starts, strict=True)):
        try:
            configuration = assemble(own, machine, schedule)
        except (InputError, ValueError, KeyError):
            return None
        for trips, count in tally.runs.get(number, {}).items():
            total += run_activity(configuration, machine, trips).times(count)
        accesses += tally.starts(number) * (entry_operations(own)["load"] + len(start.results))
        total += load_activity(machine, schedule.ii).times(times[number])
    return total + Activity(vliw_cycles, memory_accesses=accesses, vliw_cycles=vliw_cycles)
