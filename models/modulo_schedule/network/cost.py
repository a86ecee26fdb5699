"""What a mapped layer costs: kernels on the array, and everything else in VLIW mode [Bae2018, secs. II-A and V-C]."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from mapper.arch.cgra import CgraMachine, VliwMode
from mapper.models.modulo_schedule.activity import Activity
from mapper.models.modulo_schedule.cost import activity_of
from mapper.models.modulo_schedule.energy import (
    cost_of_several_loops,
    energy_by_cause_pj,
    power_times_time_pj,
)
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.mapping import LayerMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel

WORD_BYTES = 4


class LiveIns(NamedTuple):
    """What a kernel gets before it starts: numbers from memory, and the addresses of the arrays that it accesses."""

    values: int
    arrays: int


@dataclass(frozen=True)
class LayerCost:
    """Cycles of a layer by cause: ``kernel`` n*II, ``fill`` (SC-1)*II, ``set_up`` loops and their live-ins,
    ``load`` the words of kernels into the configuration memory, ``copy`` im2col, im2row and padding, ``unmapped``
    operators without a unit. ``bytes_used``: of all operands together, against the machine's SRAM. ``activity``: what
    the array and VLIW mode do, None where its energy has no prices. Times are None without a clock, energy without
    energies or a power."""

    machine: CgraMachine
    kernel: int
    fill: int
    set_up: int
    load: int
    copy: int
    unmapped: int
    words: tuple[tuple[str, int], ...]
    activity: Activity | None

    @property
    def cycles(self) -> int:
        return self.kernel + self.fill + self.set_up + self.load + self.copy + self.unmapped

    @property
    def bytes_used(self) -> int:
        return WORD_BYTES * sum(count for _, count in self.words)

    @property
    def exceeds_sram(self) -> bool:
        """Whether the layer's operands do not fit on the chip together; the cost takes them to lie there."""
        return self.machine.sram_bytes is not None and self.bytes_used > self.machine.sram_bytes

    def cost_json(self) -> dict[str, Any]:
        """The cost keys of the kind; intervals and stages are those of its loops."""
        return cost_of_several_loops(self.machine, self.activity, self.cycles)

    def breakdown_json(self) -> dict[str, Any]:
        """Cycles by cause, bytes by operand, whether the layer exceeds the SRAM, energy by cause, and beside it the
        machine's power times the time."""
        return {
            "cycles": {
                "kernel": self.kernel,
                "fill": self.fill,
                "set_up": self.set_up,
                "load": self.load,
                "copy": self.copy,
                "unmapped": self.unmapped,
            },
            "bytes": {name: WORD_BYTES * count for name, count in self.words},
            "exceeds_sram": self.exceeds_sram,
            "energy_pj": energy_by_cause_pj(self.machine, self.activity),
            "power_times_time_pj": power_times_time_pj(self.machine, self.cycles),
        }


def vliw_mode(machine: CgraMachine) -> VliwMode:
    """What VLIW mode costs.

    Raises: InputError if the machine does not say.
    """
    if machine.vliw is None:
        remedy = "is missing, so code outside the kernels has no cost; add it, or take srp-4x4"
        raise InputError(machine.name, "vliw", remedy)
    return machine.vliw


def live_ins(kernel: Kernel) -> LiveIns:
    """What the loop's set-up hands to a kernel."""
    head = kernel.text.partition("\n")[0]
    arrays = head.count("restrict") + head.count("[")
    return LiveIns(head.count("float ") - arrays, arrays)


def set_up_cycles(machine: CgraMachine, given: LiveIns) -> int:
    """Cycles to start a kernel that takes these live-ins: they are fetched from memory one after another."""
    mode = vliw_mode(machine)
    fetched = mode.fetch_cycles + given.values * mode.live_in_cycles if given.values else 0
    return mode.set_up_cycles + given.arrays * mode.address_cycles + fetched


def load_cycles(machine: CgraMachine, ii: int) -> int:
    """Cycles to load a kernel's words into the configuration memory."""
    memory = machine.configuration_memory
    return 0 if memory is None else ii * memory.context_cycles


def most_contexts(machine: CgraMachine) -> float:
    """The largest II of which the words fit into the configuration memory."""
    memory = machine.configuration_memory
    return inf if memory is None else memory.contexts


def outside_cycles(algorithm: Algorithm, op: str, machine: CgraMachine) -> tuple[int, int]:
    """Cycles of copied words, and of what the array cannot run.

    Raises: InputError if the machine does not say what VLIW mode costs.
    """
    copied = algorithm.copied_words * vliw_mode(machine).word_cycles
    return copied, algorithm.elements * element_cycles(op, machine)


def element_cycles(op: str, machine: CgraMachine) -> int:
    """Cycles of an element that the array cannot compute, of an operator of type ``op``.

    Raises: InputError if the machine does not say what VLIW mode costs.
    """
    mode = vliw_mode(machine)
    return mode.element_cycles.get(op, mode.element_cycles.get("other", mode.word_cycles))


class LayerCycles(NamedTuple):
    """A layer's cycles by cause, as in ``LayerCost``."""

    kernel: int
    fill: int
    set_up: int
    load: int
    copy: int
    unmapped: int


def layer_cycles(algorithm: Algorithm, op: str, machine: CgraMachine, mapping: LayerMapping) -> LayerCycles:
    """What ``mapping`` takes: every kernel is loaded once and runs (n + SC - 1) * II cycles each time it is started
    (Eq. 2).

    Raises: InputError if the machine does not say what VLIW mode costs.
    """
    kernel = fill = set_up = load = 0
    for loop in mapping.loops:
        nest: Nest = algorithm.nests[loop.nest]
        runs, ii = loop.box.runs(nest), loop.schedule.ii
        kernel += runs * loop.box.trip_count(nest) * ii
        fill += runs * (loop.schedule.stages - 1) * ii
        set_up += runs * set_up_cycles(machine, live_ins(kernel_of(nest, loop.box, loop.pointer_uses)))
        load += load_cycles(machine, ii)
    copy, unmapped = outside_cycles(algorithm, op, machine)
    return LayerCycles(kernel, fill, set_up, load, copy, unmapped)


def evaluate_layer(algorithm: Algorithm, op: str, machine: CgraMachine, mapping: LayerMapping) -> LayerCost:
    """The cost of ``mapping``: its cycles, and the energy of what is done in them.

    Raises: InputError if the machine does not say what VLIW mode costs.
    """
    cycles = layer_cycles(algorithm, op, machine, mapping)
    activity = layer_activity(algorithm, op, machine, mapping)
    return LayerCost(machine, *cycles, tuple(algorithm.words.items()), activity)


def layer_activity(
    algorithm: Algorithm, op: str, machine: CgraMachine, mapping: LayerMapping
) -> Activity | None:
    """What the array and VLIW mode do for ``mapping``; None as of a loop (``activity_of``)."""
    if machine.energy is None:
        return None
    copied, unmapped = outside_cycles(algorithm, op, machine)
    total = moved_activity(algorithm.copied_words, copied) + moved_activity(algorithm.elements, unmapped)
    for loop in mapping.loops:
        nest: Nest = algorithm.nests[loop.nest]
        kernel = kernel_of(nest, loop.box, loop.pointer_uses)
        once = activity_of(kernel, machine, loop.schedule)
        if once is None:
            return None
        started = once + start_activity(machine, live_ins(kernel))
        total += started.times(loop.box.runs(nest)) + load_activity(machine, loop.schedule.ii)
    return total


def start_activity(machine: CgraMachine, given: LiveIns) -> Activity:
    """What VLIW mode does before a start: it reads each live-in from memory."""
    cycles = set_up_cycles(machine, given)
    return Activity(cycles, memory_accesses=given.values, vliw_cycles=cycles)


def load_activity(machine: CgraMachine, ii: int) -> Activity:
    """A kernel's words, read from memory and written into the configuration memory; nothing without one."""
    words = 0 if machine.configuration_memory is None else ii * len(machine.all_pes)
    return Activity(load_cycles(machine, ii), memory_accesses=words, configuration_words=words)


def moved_activity(words: int, cycles: int) -> Activity:
    """Words that VLIW mode copies, or elements that it computes: each is read and written once."""
    return Activity(cycles, memory_accesses=2 * words, vliw_cycles=cycles)
