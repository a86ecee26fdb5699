"""A whole kernel, run: the host as the text says, and each start of a kernel by whoever is given to run it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.entry import fitting
from mapper.workloads.graph.kernel import EntryOperation, Kernel
from mapper.workloads.graph.kernel_execution import Memory, execute
from mapper.workloads.graph.opcode import evaluate, wrapped
from mapper.workloads.whole.program import (
    BOUND,
    COMPARE,
    CONDITION,
    Block,
    Branch,
    Count,
    Repeat,
    Segment,
    Start,
    WholeKernel,
)

RunKernel = Callable[[int, Kernel, Memory], Memory]
"""Runs a started kernel (its number, itself) on a memory; gives the memory after it."""
MOST_STEPS = 1 << 24
"""Operations of the host and starts of kernels that one run takes at the most."""


def run_graph(number: int, kernel: Kernel, memory: Memory) -> Memory:
    """Runs a kernel's graph, iteration by iteration."""
    own = {array.name: memory[array.name] for array in kernel.arrays}
    return memory | execute(kernel, own)


def started(kernel: Kernel, given: Mapping[str, Number], trips: int) -> Kernel:
    """The kernel as one start finds it: ``given`` by operations of its entry."""
    entry = tuple(
        replace(one, operands=(given[one.name],)) if one.name in given else one for one in kernel.entry
    )
    return replace(kernel, entry=entry, trip_count=trips, assumed_trips=None)


class Execution:
    """One run. ``memory``: after it, an array per array of the kernel and of scalars that kernels leave;
    ``operations``: what the host has executed between kernels, by opcode."""

    def __init__(self, whole: WholeKernel, memory: Memory, run: RunKernel = run_graph) -> None:
        self.whole, self.run_kernel = whole, run
        self.memory: Memory = {name: words.copy() for name, words in memory.items()}
        self.scalars: dict[str, Number] = dict(whole.scalars)
        self.operations: Counter[str] = Counter()
        self.steps = 0

    def run(self) -> Memory:
        """The memory after the whole.

        Raises: InputError if an access leaves its array, a loop never ends, or it takes too long.
        """
        self._block(self.whole.body)
        return self.memory

    def left(self, memory: Memory) -> Memory:
        """What the run has left in the words of ``memory``: arrays, and scalars of the function as one word each."""
        return {
            name: np.array([fitting(self.scalars[name], words.dtype)], words.dtype)
            if name in self.scalars
            else self.memory[name]
            for name, words in memory.items()
        }

    def _block(self, block: Block) -> None:
        for statement in block:
            match statement:
                case Segment():
                    self._segment(statement)
                case Start():
                    self._start(statement)
                case Branch():
                    self._segment(statement.condition)
                    self._block(statement.taken if self.scalars[CONDITION] else statement.other)
                case Repeat():
                    self._repeat(statement)

    def _repeat(self, loop: Repeat) -> None:
        self._segment(loop.before)
        asks = loop.asks_first
        while True:
            if asks:
                self._segment(loop.condition)
                if not self.scalars[CONDITION]:
                    return
            asks = True
            self._block(loop.body)
            self._segment(loop.after)

    def _start(self, start: Start) -> None:
        self._segment(start.before)
        self._step(COMPARE)
        kernel = self.whole.kernels[start.kernel]
        given = {name: self.scalars.get(scalar, 0) for name, scalar in start.given}
        trips = self._trips(start.count)
        if trips > 0 and start.inner is not None:
            self._segment(start.inner[0])
            trips *= self._trips(start.inner[1])
        if trips > 0:
            self.memory = self.run_kernel(start.kernel, started(kernel, given, trips), self.memory)
            for name in start.results:
                word = self.memory[name][0]
                self.scalars[name] = float(word) if self.memory[name].dtype.kind == "f" else int(word)

    def _trips(self, count: Count) -> int:
        """How often a loop runs; its variable then stands where it has ended."""
        first = int(self.scalars[count.variable])
        trips = count.trips(first, int(self.scalars[BOUND]))
        if trips is None:
            raise InputError(self.whole.name, count.variable, "never reaches its bound; correct the loop")
        self.scalars[count.variable] = wrapped(first + trips * count.step, count.bits)
        return trips

    def _step(self, opcode: str) -> None:
        self.operations[opcode] += 1
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise InputError(
                self.whole.name, "", f"takes the host more than {MOST_STEPS} steps; give smaller sizes"
            )

    def _segment(self, segment: Segment) -> None:
        known: dict[str, Number] = {}

        def number(one: Number | str) -> Number:
            if not isinstance(one, str):
                return one
            return known[one] if one in known else self.scalars.get(one, 0)

        for operation in segment.operations:
            self._step(operation.opcode)
            values = tuple(number(one) for one in operation.operands)
            known[operation.name] = self._result(operation, values)
        self.scalars |= {name: number(one) for name, one in segment.results}

    def _result(self, operation: EntryOperation, values: tuple[Number, ...]) -> Number:
        if operation.array is None:
            return evaluate(operation.opcode, values)
        words, index = self.memory[operation.array], int(values[0])
        store = operation.opcode == "store"
        if len(values) > (2 if store else 1) and values[-1] == 0:
            return 0
        if not 0 <= index < len(words):
            fault = f"{index} lies outside the {len(words)} words of {operation.array}; make it larger"
            raise InputError(self.whole.name, "index", fault)
        if store:
            words[index] = fitting(values[1], words.dtype)
            return 0
        return float(words[index]) if words.dtype.kind == "f" else int(words[index])
