"""What one cluster does for a layer: each class of loads, computation and stores is costed once, then the steps run one
after another (004, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mapper.arch.snowflake import INSTRUCTION_BYTES, WORD_BYTES, SnowflakeMachine
from mapper.models.trace_partition.buffer_use import object_words, transfer_words
from mapper.models.trace_partition.partition_cost import OPERANDS
from mapper.models.trace_partition.plan import LayerPlan, LoadClass, StepClass
from mapper.models.trace_partition.step import Transfer
from mapper.models.trace_partition.step_time import StepTime, step_time
from mapper.models.trace_partition.timing import step_timing
from mapper.models.trace_partition.transfer_size import transfer_time

STEP_INSTRUCTIONS = 3
"""WAIT for the loads, for the buffer of results, for the vector unit."""
LAYER_INSTRUCTIONS = 1
"""WAIT for the stores."""
_FINEST = 1 << 20
_LONGEST = 1 << 26


@dataclass(frozen=True)
class ShareCost:
    """Time of a cluster, bytes that it moves by operand, words that it reads and writes in its buffers, its
    instructions in memory, its steps."""

    time: StepTime
    moved: dict[str, int]
    buffer_words: int
    instructions: int
    steps: int


@dataclass(frozen=True)
class _StepCost:
    """A class of steps: rows of the tables of loads, computation and stores (-1: none), and what a step of it adds up
    to."""

    loads: int
    compute: int
    store: int
    moved: dict[str, int]
    buffer_words: int
    instructions: int


def share_cost(plan: LayerPlan, machine: SnowflakeMachine, contending: int) -> ShareCost:
    """The cost of the steps of ``plan`` where ``contending`` clusters have equal shares of the bandwidth."""
    byte_time, scale = byte_fraction(machine, contending)
    classes = plan.classes()
    number: dict[StepClass, int] = {}
    which = np.array([number.setdefault(step, len(number)) for step in classes], dtype=np.int64)
    often = np.bincount(which, minlength=len(number)).tolist()
    costing = _Costing(plan, machine, byte_time, scale)
    costs = [costing.step(step) for step in number]
    table = [(cost.loads, cost.compute, cost.store, -1, cost.instructions) for cost in costs]
    steps = np.array(table, dtype=np.int64).reshape(-1, 5)[which]
    _alternate(steps, plan)
    time = step_time(
        costing.loads.array(),
        costing.computes.array(),
        costing.stores.array(),
        steps,
        INSTRUCTION_BYTES * byte_time,
        scale,
        machine.timing.memory_latency,
    )
    instructions = LAYER_INSTRUCTIONS + sum(
        n * cost.instructions for n, cost in zip(often, costs, strict=True)
    )
    moved = {
        operand: sum(n * cost.moved.get(operand, 0) for n, cost in zip(often, costs, strict=True))
        for operand in OPERANDS
    }
    moved["instructions"] = instructions * INSTRUCTION_BYTES
    words = sum(n * cost.buffer_words for n, cost in zip(often, costs, strict=True))
    return ShareCost(time, moved, words, instructions, len(classes))


def byte_fraction(machine: SnowflakeMachine, contending: int) -> tuple[int, int]:
    """Cycles of a byte at the external memory as numerator and denominator, rounded up where these are so large that
    sums could leave 64 bits."""
    cycles, scale = machine.cycles_per_byte
    cycles *= contending
    if scale > _FINEST or cycles > _LONGEST:
        coarse = _FINEST if cycles < scale else 1
        return -(-cycles * coarse // scale), coarse
    return cycles, scale


def _alternate(steps: np.ndarray[tuple[int, int], np.dtype[np.int64]], plan: LayerPlan) -> None:
    """Sets each storing step's buffer of results: one, or two in turn."""
    storing = np.flatnonzero(steps[:, 2] >= 0)
    two = len(storing) > 1 and plan.store(int(storing[1])).buffer == 1
    steps[storing, 3] = np.arange(len(storing)) % 2 if two else 0


class _Rows:
    """Equal keys share a row."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._rows: list[tuple[int, ...]] = []

    def add(self, *row: int) -> int:
        self._rows.append(row)
        return len(self._rows) - 1

    def array(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        return np.array(self._rows, dtype=np.int64).reshape(-1, self._width)


class _Costing:
    """The tables of loads, computation and stores, a row for each class."""

    def __init__(self, plan: LayerPlan, machine: SnowflakeMachine, byte_time: int, scale: int) -> None:
        self._plan, self._machine, self._byte_time, self._scale = plan, machine, byte_time, scale
        self.loads, self.computes, self.stores = _Rows(5), _Rows(3), _Rows(5)
        self._loaded: dict[tuple[LoadClass, ...], tuple[int, dict[str, int], int, int]] = {}
        self._computed: dict[int, tuple[int, int, int]] = {}
        self._stored: dict[int, tuple[int, int, int, int]] = {}

    def step(self, step: StepClass) -> _StepCost:
        if step.loads not in self._loaded:
            self._loaded[step.loads] = self._load(step.loads)
        if step.compute not in self._computed:
            self._computed[step.compute] = self._compute(step.compute)
        loads, moved, loaded_words, loading = self._loaded[step.loads]
        compute, used, computing = self._computed[step.compute]
        store, sent, stored_words, storing = -1, 0, 0, 0
        if step.store is not None:
            if step.store not in self._stored:
                self._stored[step.store] = self._store(step.store)
            store, sent, stored_words, storing = self._stored[step.store]
        return _StepCost(
            loads,
            compute,
            store,
            {**moved, "output": sent},
            loaded_words + used + stored_words,
            STEP_INSTRUCTIONS + loading + computing + storing,
        )

    def _load(self, loads: tuple[LoadClass, ...]) -> tuple[int, dict[str, int], int, int]:
        transfers: list[Transfer] = []
        moved: dict[str, int] = {}
        for load in loads:
            brought = self._plan.load(load).transfers
            transfers += brought
            moved[load.operand] = moved.get(load.operand, 0) + _bytes(brought)
        if not transfers:
            return -1, moved, 0, 0
        row, instructions = self._transfers(self.loads, transfers)
        return row, moved, sum(map(transfer_words, transfers)), instructions

    def _store(self, which: int) -> tuple[int, int, int, int]:
        sent = self._plan.store(which).transfers
        row, instructions = self._transfers(self.stores, sent)
        return row, _bytes(sent), sum(map(transfer_words, sent)), instructions

    def _transfers(self, rows: _Rows, transfers: list[Transfer] | tuple[Transfer, ...]) -> tuple[int, int]:
        time = transfer_time(transfers, self._byte_time, self._scale)
        row = rows.add(time.issue, time.alone, time.service, time.fill, len(transfers))
        return row, time.instructions

    def _compute(self, which: int) -> tuple[int, int, int]:
        objects = self._plan.compute(which)
        timing = step_timing(objects, self._machine.timing)
        row = self.computes.add(timing.cycles, timing.vector, timing.conflict)
        return row, sum(map(object_words, objects)), timing.instructions


def _bytes(transfers: list[Transfer] | tuple[Transfer, ...]) -> int:
    return WORD_BYTES * sum(transfer.total_words for transfer in transfers)
