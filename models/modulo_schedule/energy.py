"""Energy of what a CGRA does: each action at the machine's price, and static power for as long as it takes."""

from __future__ import annotations

from mapper.arch.cgra import OPERATION_CLASS, CgraMachine
from mapper.arch.cgra_energy import ActionEnergy
from mapper.models.modulo_schedule.activity import Activity


def milliseconds(machine: CgraMachine, cycles: int | None) -> float | None:
    """None without a clock, or where cycles are undefined."""
    return None if cycles is None or machine.clock_mhz is None else cycles / (machine.clock_mhz * 1e3)


def power_times_time_pj(machine: CgraMachine, cycles: int | None) -> float | None:
    """What the machine's power as a whole takes in this time, whatever it does; None without a power or a clock."""
    time = milliseconds(machine, cycles)
    return None if time is None or machine.power_w is None else machine.power_w * time * 1e9


def energy_by_cause_pj(machine: CgraMachine, activity: Activity | None) -> dict[str, float]:
    """Energy by cause: ``operations`` in the units, words of ``routes`` between PEs, ``registers``, ``memory``,
    ``configuration`` words read and written, ``vliw`` cycles, and ``static``. Empty if the machine has no energies or
    no clock, or nothing was counted."""
    price = machine.energy
    if price is None or activity is None:
        return {}
    time = milliseconds(machine, activity.cycles)
    if time is None:
        return {}
    return {
        "operations": sum(count * _operation_pj(price, opcode) for opcode, count in activity.operations),
        "routes": activity.routed_words * price.routed_word_pj,
        "registers": activity.register_accesses * price.register_access_pj,
        "memory": activity.memory_accesses * price.memory_access_pj,
        "configuration": activity.configuration_words * price.configuration_word_pj,
        "vliw": activity.vliw_cycles * price.vliw_cycle_pj,
        "static": price.static_w * time * 1e9,
    }


def energy_pj(machine: CgraMachine, activity: Activity | None, cycles: int | None) -> float | None:
    """The energy of ``activity``; of a machine without energies its power times the time of ``cycles``. None where
    neither is defined."""
    if machine.energy is None:
        return power_times_time_pj(machine, cycles)
    causes = energy_by_cause_pj(machine, activity)
    return sum(causes.values()) if causes else None


def cost_of_several_loops(
    machine: CgraMachine, activity: Activity | None, cycles: int | None
) -> dict[str, int | float | None]:
    """The cost keys of the kind for a part of several loops: intervals and stages are each loop's own."""
    undefined = dict.fromkeys(("ii", "mii", "res_mii", "rec_mii", "stages"))
    return undefined | {
        "cycles": cycles,
        "latency_ms": milliseconds(machine, cycles),
        "energy_pj": energy_pj(machine, activity, cycles),
    }


def _operation_pj(price: ActionEnergy, opcode: str) -> float:
    kind = OPERATION_CLASS.get(opcode, "integer")
    return price.operation_pj.get(opcode, price.operation_pj.get(kind, 0.0))
