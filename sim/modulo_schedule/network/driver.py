"""The driver of a compiled network: its steps in order on the words of memory, every cycle counted as it passes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.models.modulo_schedule.activity import Activity
from mapper.models.modulo_schedule.network.cost import (
    LiveIns,
    load_activity,
    most_contexts,
    moved_activity,
    start_activity,
    vliw_mode,
)
from mapper.models.modulo_schedule.program.program import Program
from mapper.models.modulo_schedule.program.step import Copy, Host, Load, Place, Run, Step
from mapper.sim.modulo_schedule.network.encoding import Encoded, encoded, in_order
from mapper.sim.modulo_schedule.network.engine import OUTSIDE, starts
from mapper.sim.modulo_schedule.network.host import Host as HostRun
from mapper.sim.modulo_schedule.tally import Tally, counted
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork

Values = npt.NDArray[np.float32]
Bits = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class NetworkRun:
    """What a run left behind. ``memory``: all words, as floats; ``cycles`` by layer and cause (``array``, ``set_up``,
    ``load``, ``copy``, ``unmapped``); ``activity`` by layer."""

    memory: Values
    cycles: Mapping[str, Counter[str]]
    activity: Mapping[str, Activity]

    @property
    def total(self) -> int:
        return sum(count for causes in self.cycles.values() for count in causes.values())


class Driver:
    """Runs ``program``; ``network`` is what its ``structure`` describes. Kernels are encoded once for all runs."""

    def __init__(self, program: Program, network: LayerNetwork, constants: Values) -> None:
        self.program, self.constants = program, constants
        self.machine: CgraMachine = cgra_from_document(program.machine, program.name)
        self.kernels: tuple[Encoded, ...] = tuple(encoded(one, self.machine) for one in program.kernels)
        self.host = HostRun(program, network)
        self.resident: list[int] = []

    def run(self, given: Mapping[str, Values]) -> NetworkRun:
        """One inference of ``given``, the inputs by name.

        Raises: InputError if a step does what the machine cannot do.
        """
        memory = np.zeros(self.program.words, np.float32)
        memory[: self.program.constants] = self.constants
        for tensor in self.program.inputs:
            memory[tensor.at : tensor.at + math.prod(tensor.shape)] = given[tensor.name].reshape(-1)
        cycles: dict[str, Counter[str]] = {}
        done: dict[str, Activity] = {}
        self.resident.clear()
        for step in self.program.steps:
            own = cycles.setdefault(step.layer, Counter())
            for cause, activity in self._passed(step, memory):
                own[cause] += activity.cycles
                done[step.layer] = done.get(step.layer, Activity()) + activity
        return NetworkRun(memory, cycles, done)

    def _passed(self, step: Step, memory: Values) -> Iterator[tuple[str, Activity]]:
        """Does a step; by cause what was done."""
        mode = vliw_mode(self.machine)
        if isinstance(step, Load):
            yield "load", self._load(step.kernel)
        elif isinstance(step, Run):
            count = math.prod(len(range(*loop)) for loop in step.loops)
            given = LiveIns(len(step.live_ins), len(step.arrays))
            yield "set_up", start_activity(self.machine, given).times(count)
            yield "array", self._run(step, memory.view(np.int32))
        elif isinstance(step, Copy):
            words = _copied(step, memory)
            yield "copy", moved_activity(words, words * mode.word_cycles)
        else:
            self._check_host(step)
            self.host.run(step, memory)
            cause = "copy" if self.host.is_movement(step) else "unmapped"
            yield cause, moved_activity(step.elements, step.elements * step.cycles)

    def _load(self, kernel: int) -> Activity:
        """Words that are no longer needed make room, the oldest first."""
        ii = self.kernels[kernel].ii
        most = most_contexts(self.machine)
        if ii > most:
            remedy = f"has {ii} contexts, and {most} fit into the configuration memory; map its layer again"
            raise InputError(self.program.name, f"kernels.{kernel}", remedy)
        if kernel in self.resident:
            self.resident.remove(kernel)
        while self.resident and sum(self.kernels[one].ii for one in self.resident) + ii > most:
            self.resident.pop(0)
        self.resident.append(kernel)
        return load_activity(self.machine, ii)

    def _run(self, step: Run, memory: Bits) -> Activity:
        if step.kernel not in self.resident:
            raise InputError(
                self.program.name, f"kernels.{step.kernel}", "is started and not loaded; compile again"
            )
        kernel = self.kernels[step.kernel]
        values = kernel.values.copy()
        results = np.zeros(kernel.results, np.int32)
        stores = np.zeros((kernel.words.shape[1], 2), np.int64)
        done = np.zeros((4, kernel.words.shape[1]), np.int64)
        state = (values, values.view(np.float32), results, results.view(np.float32), stores, done)
        tables = (
            kernel.words,
            kernel.issues,
            kernel.landings,
            kernel.landed,
            kernel.ii,
            kernel.stages,
            kernel.warm,
        )
        taken = starts(
            tables,
            step.iterations,
            memory,
            np.array(step.loops, np.int64).reshape(-1, 3),
            _places(step.arrays, kernel.arrays, len(step.loops)),
            _places(step.live_ins, kernel.live_ins, len(step.loops)),
            kernel.patches,
            state,
        )
        if taken == OUTSIDE:
            remedy = f"accesses a word that is not among the {len(memory)} of memory"
            raise InputError(self.program.name, f"{step.layer}, kernel {step.kernel}", remedy)
        return counted(self._tallies(step.kernel, done), int(taken), len(self.machine.all_pes))

    def _tallies(self, kernel: int, done: Counts) -> Iterator[Tally]:
        """The words of a kernel in the order of its tables, with what the engine has counted of them."""
        for number, word in enumerate(in_order(self.program.kernels[kernel])):
            first = [int(one) for one in done[1 : 1 + len(word.read), number]]
            yield word, int(done[0, number]), first

    def _check_host(self, step: Host) -> None:
        known = vliw_mode(self.machine)
        allowed = {
            known.word_cycles,
            known.element_cycles.get("other", known.word_cycles),
            *known.element_cycles.values(),
        }
        if step.cycles not in allowed:
            raise InputError(
                self.program.name, f"{step.layer}.cycles", f"{step.cycles} is no cost of the machine's"
            )


def _places(given: Mapping[str, Place], names: tuple[str, ...], loops: int) -> npt.NDArray[np.int64]:
    """Rows of a word and its strides, in the order in which the kernel numbers ``names``."""
    rows = [(given[name].at, *given[name].strides) for name in names]
    return np.array(rows, np.int64).reshape(len(names), 1 + loops)


def _copied(step: Copy, memory: Values) -> int:
    """Words that were copied."""
    source: Any = np.int64(step.source.at)
    inside: Any = np.True_
    for axis, (count, stride) in enumerate(zip(step.loops, step.source.strides, strict=True)):
        source = source + _along(count, stride, axis, len(step.loops))
    for bound in step.inside:
        at: Any = np.int64(bound.at)
        for axis, (count, stride) in enumerate(zip(step.loops, bound.strides, strict=True)):
            if stride:
                at = at + _along(count, stride, axis, len(step.loops))
        inside = inside & (at >= 0) & (at < bound.below)
    outside = np.float32(-np.inf if step.outside == "-inf" else step.outside)
    places = np.where(inside, source, 0)
    if places.min() < 0 or places.max() >= len(memory):
        raise InputError(
            step.layer, step.what, "copies words from outside of memory; generate the program again"
        )
    words = np.where(inside, memory[places], outside)
    memory[step.to : step.to + words.size] = words.reshape(-1)
    return int(words.size)


def _along(count: int, stride: int, axis: int, axes: int) -> npt.NDArray[np.int64]:
    return (np.arange(count, dtype=np.int64) * stride).reshape(
        *(-1 if axis == one else 1 for one in range(axes))
    )
