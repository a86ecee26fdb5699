"""What one cluster does for a layer: each class of loads, computation and stores is costed once, then the steps run
one after another [Chang2018, sec. 4]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapper.arch.snowflake import INSTRUCTION_BYTES, SnowflakeMachine
from mapper.models.trace_partition.partition_cost import OPERANDS
from mapper.models.trace_partition.steps.plan import LayerPlan, LoadClass, StepClass
from mapper.models.trace_partition.steps.step import ComputeObject, Transfer
from mapper.models.trace_partition.steps.transfer_size import LOOP_TURN, TransferGroup, transfer_groups
from mapper.models.trace_partition.timing.buffer_use import object_words
from mapper.models.trace_partition.timing.compute_time import step_timing
from mapper.models.trace_partition.timing.register_use import Need, object_need, register_loads, transfer_need
from mapper.models.trace_partition.timing.step_time import BUFFER, LOG, STORE, StepTime, Table, step_time

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


def step_log(plans: Sequence[LayerPlan], machine: SnowflakeMachine) -> Table:
    """When each step of the first cluster loads, computes and stores while all work: the cycles of `step_time`'s log,
    from the beginning of the layer, -1 where a step has no loads or no store."""
    log = np.full((sum(len(plan.classes()) for plan in plans), LOG), -1, np.int64)
    share_costs(plans, machine, log)
    return log[: len(plans[0].classes())]


def share_costs(
    plans: Sequence[LayerPlan], machine: SnowflakeMachine, log: Table | None = None
) -> tuple[ShareCost, ...]:
    """The cost of each cluster's steps; the clusters begin together and share the external memory. ``log`` as
    `step_time` has it."""
    byte_time, scale = byte_fraction(machine)
    tables = _Tables(machine, byte_time, scale)
    works: dict[int, _Work] = {}
    for plan in plans:
        if id(plan) not in works:
            works[id(plan)] = _work(plan, tables)
    each = [works[id(plan)] for plan in plans]
    times = step_time(
        _table(tables.loads, 5),
        _table(tables.computes, 4),
        _table(tables.stores, 5),
        _table(tables.transfers, 2),
        np.concatenate([work.rows for work in each]),
        np.cumsum([0, *(len(work.rows) for work in each)]),
        INSTRUCTION_BYTES * byte_time,
        scale,
        machine.timing.memory_latency,
        machine.timing.transfer_queue,
        log,
    )
    return tuple(
        ShareCost(time, work.moved, work.buffer_words, work.instructions, len(work.rows))
        for time, work in zip(times, each, strict=True)
    )


@dataclass(frozen=True)
class _Work:
    """A cluster's steps as rows, and what they add up to."""

    rows: Table
    moved: dict[str, int]
    buffer_words: int
    instructions: int


def _work(plan: LayerPlan, tables: _Tables) -> _Work:
    tables.begin(plan)
    number: dict[StepClass, int] = {}
    which = np.array([number.setdefault(step, len(number)) for step in plan.classes()], dtype=np.int64)
    often = np.bincount(which, minlength=len(number)).tolist()
    costs = [tables.step(step) for step in number]
    rows = _table([(cost.loads, cost.compute, cost.store, -1, cost.instructions) for cost in costs], 5)[which]
    _alternate(rows)
    moved = dict.fromkeys(OPERANDS, 0)
    words, instructions = 0, LAYER_INSTRUCTIONS
    for times, cost in zip(often, costs, strict=True):
        for operand, each in cost.moved:
            moved[operand] += times * each
        words += times * cost.buffer_words
        instructions += times * cost.instructions
    moved["instructions"] = instructions * INSTRUCTION_BYTES
    return _Work(rows, moved, words, instructions)


def byte_fraction(machine: SnowflakeMachine) -> tuple[int, int]:
    """Cycles of a byte at the external memory as numerator and denominator, rounded up where these are so large that
    sums could leave 64 bits."""
    cycles, scale = machine.cycles_per_byte
    if scale > _FINEST or cycles > _LONGEST:
        coarse = _FINEST if cycles < scale else 1
        return -(-cycles * coarse // scale), coarse
    return cycles, scale


def _table(rows: list[tuple[int, ...]], width: int) -> Table:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _alternate(steps: Table) -> None:
    """Sets each storing step's buffer of results: every store is another tile, and several take two buffers in turn."""
    storing = np.flatnonzero(steps[:, STORE] >= 0)
    steps[storing, BUFFER] = np.arange(len(storing)) % 2


@dataclass(frozen=True)
class _StepCost:
    """A class of steps: rows of the tables of loads, computation and stores (-1: none), and what a step of it adds
    up to."""

    loads: int
    compute: int
    store: int
    moved: tuple[tuple[str, int], ...]
    buffer_words: int
    instructions: int


@dataclass(frozen=True)
class _Moved:
    """Transfers of one class: their groups and what these need in registers, bytes by operand, words in buffers."""

    groups: tuple[TransferGroup, ...]
    needs: tuple[Need, ...]
    moved: tuple[tuple[str, int], ...]
    buffer_words: int


@dataclass(frozen=True)
class _Computed:
    objects: tuple[ComputeObject, ...]
    needs: tuple[Need, ...]
    buffer_words: int


_NOTHING = _Moved((), (), (), 0)


class _Tables:
    """The rows of loads, computation, stores and transfers that the steps name."""

    def __init__(self, machine: SnowflakeMachine, byte_time: int, scale: int) -> None:
        self._machine, self._byte_time, self._scale = machine, byte_time, scale
        self.loads: list[tuple[int, ...]] = []
        self.computes: list[tuple[int, ...]] = []
        self.stores: list[tuple[int, ...]] = []
        self.transfers: list[tuple[int, ...]] = []

    def begin(self, plan: LayerPlan) -> None:
        """The steps that follow are those of ``plan``."""
        self._plan = plan
        self._loaded: dict[LoadClass, _Moved] = {}
        self._computed: dict[int, _Computed] = {}
        self._stored: dict[int, _Moved] = {}
        self._rows: dict[object, int] = {}

    def step(self, step: StepClass) -> _StepCost:
        """The cost of a step of this class."""
        brought = [self._load(load) for load in step.loads]
        computed = self._compute(step.compute)
        sent = _NOTHING if step.store is None else self._store(step.store)
        needs = [need for load in brought for need in load.needs]
        loading, computing = len(needs), len(computed.needs)
        registers = register_loads([*needs, *computed.needs, *sent.needs])
        groups = [group for load in brought for group in load.groups]
        before, between, after = (
            registers[:loading],
            registers[loading : loading + computing],
            registers[loading + computing :],
        )
        instructions = sum(before) + sum(after) + sum(group.instructions for group in (*groups, *sent.groups))
        loads = compute = store = -1
        if groups:
            loads = self._transfers(self.loads, ("load", step.loads, before), groups, before)
            instructions += 2
        timing = step_timing(computed.objects, between, self._machine.timing)
        key = ("compute", step.compute, between)
        if key not in self._rows:
            self._rows[key] = len(self.computes)
            self.computes.append((timing.cycles, timing.issue, timing.vector, timing.conflict))
        compute = self._rows[key]
        if sent.groups:
            store = self._transfers(self.stores, ("store", step.store, after), sent.groups, after)
            instructions += 2
        return _StepCost(
            loads,
            compute,
            store,
            tuple(pair for load in (*brought, sent) for pair in load.moved),
            sum(load.buffer_words for load in brought) + computed.buffer_words + sent.buffer_words,
            instructions + timing.instructions,
        )

    def _load(self, which: LoadClass) -> _Moved:
        found = self._loaded.get(which)
        if found is None:
            found = self._loaded[which] = _moved(which.operand, self._plan.load(which).transfers)
        return found

    def _store(self, which: int) -> _Moved:
        found = self._stored.get(which)
        if found is None:
            found = self._stored[which] = _moved("output", self._plan.store(which).transfers)
        return found

    def _compute(self, which: int) -> _Computed:
        found = self._computed.get(which)
        if found is None:
            objects = self._plan.compute(which)
            words = sum(map(object_words, objects))
            found = self._computed[which] = _Computed(objects, tuple(map(object_need, objects)), words)
        return found

    def _transfers(
        self,
        rows: list[tuple[int, ...]],
        key: object,
        groups: Sequence[TransferGroup],
        before: tuple[int, ...],
    ) -> int:
        if key in self._rows:
            return self._rows[key]
        first, waiting, service, fill = len(self.transfers), 0, 0, 0
        for group, registers in zip(groups, before, strict=True):
            filled = group.fill_cycles * self._scale
            work = filled or self._byte_time * group.total_bytes // group.turns
            self.transfers.append((waiting + registers, work))
            self.transfers += [(LOOP_TURN - 1, work)] * (group.turns - 1)
            waiting = group.instructions - 1
            service += group.turns * work
            fill += group.turns * filled
        self._rows[key] = len(rows)
        rows.append((first, len(self.transfers), waiting, service, fill))
        return self._rows[key]


def _moved(operand: str, transfers: tuple[Transfer, ...]) -> _Moved:
    groups = transfer_groups(transfers)
    moved = sum(group.total_bytes for group in groups)
    words = sum(group.buffer_words for group in groups)
    return _Moved(groups, tuple(map(transfer_need, groups)), ((operand, moved),), words)
