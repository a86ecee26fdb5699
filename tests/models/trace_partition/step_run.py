"""Steps of trace partitions carried out one by one on four units' buffers, in exact integers."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import TABLE_WORDS
from mapper.models.trace_partition.data.function_table import mapped
from mapper.models.trace_partition.steps.plan import LayerPlan
from mapper.models.trace_partition.steps.step import ComputeObject, Load, Store, Transfer

Integers = npt.NDArray[np.int64]
UNITS, VMACS, LANES = 4, 4, 16


class StepMachine:
    """A cluster's buffers, full of rubbish at first, beside a memory of named tensors. A word beyond what the plan says
    it needs is an IndexError."""

    def __init__(self, memory: dict[str, Integers], unit_words: int, vmac_words: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.memory = memory
        self.buf = random.integers(-(1 << 15), 1 << 15, (UNITS, unit_words))
        self.wbuf = random.integers(-(1 << 15), 1 << 15, (UNITS, VMACS, vmac_words))
        self.tables = [np.zeros(TABLE_WORDS, np.int16)] * UNITS

    def run(self, plan: LayerPlan) -> None:
        """The steps in the order of their code: a step's loads before the step before it is computed, and each store
        as late as the buffer that it reads allows."""
        steps = list(plan.steps())
        waiting: dict[int, Store] = {}
        for load in steps[0].loads if steps else ():
            self.load(load)
        for number, step in enumerate(steps):
            for load in steps[number + 1].loads if number + 1 < len(steps) else ():
                self.load(load)
            if step.store is not None and step.store.buffer in waiting:
                self.store(waiting.pop(step.store.buffer))
            for o in step.compute:
                self.compute(o)
            if step.store is not None:
                waiting[step.store.buffer] = step.store
        for store in waiting.values():
            self.store(store)

    def load(self, load: Load) -> None:
        for transfer in load.transfers:
            self._fields_fit(transfer)
            for piece in range(transfer.count):
                units, vmac, turn = self._target(transfer, piece)
                for unit in units:
                    local = transfer.local + turn * transfer.local_pitch
                    buffer = self.wbuf[unit, vmac] if transfer.target == "wbuf" else self.buf[unit]
                    words = self._within(buffer, local, transfer.words)
                    if transfer.target == "fill":
                        words[:] = transfer.value
                    else:
                        of = transfer.memory + piece * transfer.memory_pitch
                        words[:] = self._within(self.memory[transfer.tensor], of, transfer.words)

    def store(self, store: Store) -> None:
        for transfer in store.transfers:
            self._fields_fit(transfer)
            assert isinstance(transfer.units, int)
            for piece in range(transfer.count):
                to = transfer.memory + piece * transfer.memory_pitch
                of = transfer.local + piece * transfer.local_pitch
                words = self._within(self.buf[transfer.units], of, transfer.words)
                self._within(self.memory[transfer.tensor], to, transfer.words)[:] = words

    def compute(self, o: ComputeObject) -> None:
        for block, row, column in product(*(range(loop.count) for loop in (o.blocks, o.rows, o.columns))):
            turns = tuple(zip((block, row, column), (o.blocks, o.rows, o.columns), strict=True))
            maps = o.maps + sum(turn * loop.maps for turn, loop in turns)
            weights = o.weights + sum(turn * loop.weights for turn, loop in turns)
            out = o.out + sum(turn * loop.out for turn, loop in turns)
            for unit in range(UNITS):
                if o.operation == "table":
                    if o.bias is not None:
                        self.tables[unit] = self._within(self.buf[unit], o.bias, TABLE_WORDS).astype(np.int16)
                    found = mapped(self._within(self.buf[unit], maps, o.extent), self.tables[unit])
                elif o.operation == "max":
                    read = [
                        self._within(self.buf[unit], maps + trace.maps, trace.length) for trace in o.traces
                    ]
                    found = np.max(read, axis=0)
                else:
                    assert o.bias is not None
                    bias = o.bias + sum(turn * loop.bias for turn, loop in turns)
                    start = self._within(self.buf[unit], bias, o.extent) << 8
                    if o.initial is not None:
                        initial = o.initial + sum(turn * loop.initial for turn, loop in turns)
                        start = self._initial(o, unit, initial, start)
                    found = start + self._products(o, unit, maps, weights)[: o.extent]
                self._write(o, unit, out, found)

    def _initial(self, o: ComputeObject, unit: int, at: int, bias: Integers) -> Integers:
        if o.initial_wide:
            halves = self._within(self.buf[unit], at, 2 * o.extent).reshape(-1, 2)
            return np.asarray(halves[:, 1] * (1 << 16) + halves[:, 0] % (1 << 16))
        return np.asarray(bias + (self._within(self.buf[unit], at, o.extent) << 8))

    def _products(self, o: ComputeObject, unit: int, maps: int, weights: int) -> Integers:
        lanes = np.zeros((VMACS, LANES), dtype=np.int64)
        for trace in o.traces:
            n = trace.length
            data = self._within(self.buf[unit], maps + trace.maps, n)
            for vmac in range(-(-o.extent // LANES) if o.mode != "coop" else o.extent):
                buffer, at = self.wbuf[unit, vmac], weights + trace.weights
                if o.mode == "coop":
                    lanes[vmac, 0] += data @ self._within(buffer, at, n)
                elif o.mode == "indp":
                    lanes[vmac] += data @ self._within(buffer, at, LANES * n).reshape(n, LANES)
                else:
                    assert n <= VMACS * LANES
                    part = data[vmac * LANES : (vmac + 1) * LANES]
                    lanes[vmac, : len(part)] += part * self._within(buffer, at, len(part))
        return lanes[:, 0] if o.mode == "coop" else lanes.reshape(-1)

    def _write(self, o: ComputeObject, unit: int, out: int, found: Integers) -> None:
        if o.wide:
            pairs = np.stack([(found + (1 << 15)) % (1 << 16) - (1 << 15), found >> 16], axis=1)
            self._within(self.buf[unit], out, 2 * len(found))[:] = pairs.reshape(-1)
            return
        rounded = found if o.operation != "mac" else np.clip((found + 128) >> 8, -(1 << 15), (1 << 15) - 1)
        rounded = np.maximum(rounded, 0) if o.relu else rounded
        kept = rounded if o.clip is None else np.clip(rounded, *o.clip)
        self._within(self.buf[unit], out, len(found))[:] = kept

    @staticmethod
    def _target(transfer: Transfer, piece: int) -> tuple[tuple[int, ...], int, int]:
        every = tuple(range(UNITS))
        if transfer.target == "wbuf" and transfer.units == "deal":
            return (piece % 16 // VMACS,), piece % VMACS, piece // 16
        if transfer.target == "wbuf":
            units = every if transfer.units == "all" else (int(transfer.units),)
            return units, piece % VMACS, piece // VMACS
        if transfer.units == "deal":
            return (piece % UNITS,), 0, piece // UNITS
        return (every if transfer.units == "all" else (int(transfer.units),)), 0, piece

    @staticmethod
    def _fields_fit(transfer: Transfer) -> None:
        for field in (transfer.count, transfer.words, transfer.local_pitch, transfer.memory_pitch):
            assert 0 <= field < 1 << 16
        assert transfer.count > 0
        assert transfer.words > 0

    @staticmethod
    def _within(words: Integers, at: int, count: int) -> Integers:
        if at < 0 or at + count > len(words):
            raise IndexError(f"words {at} to {at + count} of {len(words)}")
        return words[at : at + count]
