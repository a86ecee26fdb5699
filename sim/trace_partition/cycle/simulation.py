"""The cycle simulator: a program on an accelerator, cycle by cycle as docs/snowflake/machine.md says ("Time").

It executes the binary of all clusters without data, on which no control flow depends. Nothing in the machine waits for
words that have not arrived or results that have not been stored; where a program misses a barrier, it is a hazard.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import BANK_INSTRUCTIONS, WORD_BYTES, SnowflakeMachine
from mapper.models.trace_partition.isa.encoding import decode, first_fault, place_name
from mapper.models.trace_partition.isa.instruction import Operation, Target
from mapper.models.trace_partition.isa.mnemonic import written
from mapper.models.trace_partition.isa.program import ClusterCode, Program
from mapper.sim.trace_partition.cycle import state as column
from mapper.sim.trace_partition.cycle.kernel import run
from mapper.sim.trace_partition.cycle.report import (
    LANE_NAMES,
    STALLS,
    ClusterCycles,
    CycleReport,
    Hazard,
    Interval,
    LayerCycles,
)
from mapper.workloads.document import InputError

Integers = npt.NDArray[np.int64]

MOST_WORK = 2_000_000_000
"""Instructions and pieces of transfers of a cluster before a program counts as endless."""
ENTRIES = 2000
"""Of a lane of the timeline, beside one for each layer."""
UNNAMED = "program"
"""The layer of a program without marks."""

CAUSES = {
    column.READ_EARLY: "reads words of Buf that a load has still to bring",
    column.WEIGHT_EARLY: "reads words of WBuf that a load has still to bring",
    column.RESULT_UNDER_LOAD: "writes a result where a load has still to put words",
    column.RESULT_OVER_STORE: "writes a result over words that a store has still to read",
    column.LOAD_OVER_USE: "overwrites words of Buf that a vector instruction still uses",
    column.WEIGHT_OVER_USE: "overwrites words of WBuf that a vector instruction still reads",
    column.STORE_EARLY: "stores results that are not finished",
    column.STORE_UNDER_LOAD: "stores words that a load has still to bring",
    column.BANK_EARLY: "is the first of a bank that has not arrived",
    column.HOST_EARLY: "calls the host before the stores are finished",
    column.OTHER_CLUSTER: "reads or writes words of memory that another cluster stored since the last SYNC",
}
STOPS = {
    column.BEYOND_BUF: "goes beyond the end of Buf",
    column.BEYOND_WBUF: "goes beyond the end of WBuf",
    column.BEYOND_MEMORY: "goes beyond the end of the memory",
    column.BANK_LEFT: "is a branch that leaves its bank",
    column.BRANCH_IN_SLOT: "is a branch in a delay slot",
    column.BANK_MISSING: "is the last of a bank, and the next has not been loaded",
    column.BANK_STRANGE: "loads instructions from where no bank of this cluster lies",
    column.CODE_ENDS: "lies after the end of the code",
    column.SYNC_ALONE: "waits for a cluster that has halted",
    column.ENDLESS: "is still running after as many instructions as no network needs",
    column.LONG: "has more words than there are accumulators for",
    column.LONG_EXTENT: "has 4 results, but the extent is larger",
}


def simulate_cycles(program: Program, machine: SnowflakeMachine, in_step: bool = False) -> CycleReport:
    """Run ``program`` on one accelerator of ``machine``; calls of the host take no time. ``in_step``: as if all
    clusters began each layer together, though each has an image of its own.

    Raises: InputError if its code is none, or does what the machine cannot.
    """
    names = _layer_names(program)
    rows = [_decoded(program, number, names) for number in range(len(program.clusters))]
    first = np.cumsum([0, *(len(one) for one in rows)]).astype(np.int64)
    code = np.concatenate(rows) if rows else np.zeros((0, column.CODE_FIELDS), np.int64)
    state = column.fresh(_constants(program, machine, in_step), code, first, len(names), ENTRIES + len(names))
    why = int(run(state))
    if why != column.FINE:
        cluster, place = int(state.machine[column.STOP_CLUSTER]), int(state.machine[column.STOP_PLACE])
        words = program.clusters[cluster].code
        text = _instruction(program, cluster, place) if place < len(words) else "the code"
        remedy = f"{text} {STOPS[why]}; compile the network again"
        raise InputError(program.name, f"cluster {cluster}, {place_name(place)}", remedy)
    found = int(state.machine[column.FOUND])
    return CycleReport(
        int(state.core[:, column.TIME].max(initial=0)),
        _layers(state, names),
        tuple(_hazard(program, names, state, row) for row in state.hazards[: min(found, column.HAZARDS)]),
        found,
        _timeline(state, names),
    )


def _layer_names(program: Program) -> list[str]:
    names = dict.fromkeys(mark.layer for cluster in program.clusters for mark in cluster.marks)
    return list(names) or [UNNAMED]


def _decoded(program: Program, number: int, names: list[str]) -> Integers:
    """The instructions of a cluster as the kernels read them."""
    cluster = program.clusters[number]
    words = cluster.code
    wrong = first_fault(words)
    if wrong is not None:
        decode(int(words[wrong]), f"{program.name}, cluster {number}", wrong)
    wide = words.astype(np.int64)
    rows = np.zeros((len(words), column.CODE_FIELDS), np.int64)
    operation = wide >> 28
    rows[:, column.OPERATION] = operation
    for field, shift in ((column.A, 23), (column.B, 18), (column.C, 13), (column.D, 8)):
        rows[:, field] = wide >> shift & 31
    immediate = ((wide & 0x3FFFF) ^ 0x20000) - 0x20000
    flags = wide & 0xFF
    high = operation == Operation.MOVI
    rows[:, column.IMMEDIATE] = np.where(high, wide & 0xFFFF, immediate)
    rows[:, column.FLAGS] = np.where(high, wide >> 16 & 1, flags)
    bank = (operation == Operation.LD) & (flags & 3 == Target.CODE)
    rows[bank, column.IMMEDIATE] = program.base + cluster.address
    rows[:, column.LAYER] = _layer_of_place(cluster, names)
    return rows


def _layer_of_place(cluster: ClusterCode, names: list[str]) -> Integers:
    """Which layer each instruction belongs to; those before the first mark to the first."""
    layers = np.zeros(len(cluster.code), np.int64)
    marks = sorted(cluster.marks, key=lambda mark: mark.place)
    for at, mark in enumerate(marks):
        layers[mark.place if at else 0 :] = names.index(mark.layer)
    return layers


def _constants(program: Program, machine: SnowflakeMachine, in_step: bool) -> Integers:
    numerator, denominator = machine.cycles_per_byte
    tensors = [(one.address, one.address + one.words) for one in program.tensors]
    shared = min((begin for begin, _ in tensors), default=0)
    constants = np.zeros(column.MACHINE_FIELDS, np.int64)
    for place, value in (
        (column.NUMERATOR, numerator),
        (column.DENOMINATOR, denominator),
        (column.MEMORY_LATENCY, machine.timing.memory_latency),
        (column.VECTOR_LATENCY, machine.timing.vector_latency),
        (column.VECTOR_QUEUE, machine.timing.vector_queue),
        (column.TRANSFER_QUEUE, machine.timing.transfer_queue),
        (column.MAPPED, machine.timing.table_words),
        (column.UNIT_WORDS, machine.unit_words),
        (column.VMAC_WORDS, machine.vmac_words),
        (column.MEMORY_WORDS, machine.memory_bytes // WORD_BYTES),
        (column.LIMIT, MOST_WORK),
        (column.SHARED_FIRST, program.base + shared),
        (column.SHARED_WORDS, max((end for _, end in tensors), default=0) - shared),
        (column.IN_STEP, int(in_step)),
        (column.WHEN, column.NEVER),
        (column.NEXT, column.NEVER),
    ):
        constants[place] = value
    return constants


def _instruction(program: Program, cluster: int, place: int) -> str:
    return written(decode(int(program.clusters[cluster].code[place]), program.name, place), None)


def _hazard(program: Program, names: list[str], state: column.State, row: Integers) -> Hazard:
    cause, cluster, place, other, word, at, ready = (int(value) for value in row)
    text = CAUSES[cause]
    if cause == column.OTHER_CLUSTER:
        text, ready = f"{text} (cluster {ready})", column.NEVER
    if other >= 0:
        text = f"{text} ({place_name(other)}: {_instruction(program, cluster, other)})"
    layer = int(state.code[state.core[cluster, column.FIRST] + place, column.LAYER])
    return Hazard(
        cluster,
        place // BANK_INSTRUCTIONS,
        place % BANK_INSTRUCTIONS,
        _instruction(program, cluster, place),
        names[layer],
        text,
        None if cause in (column.BANK_EARLY, column.HOST_EARLY) else word,
        at,
        None if ready == column.NEVER else ready,
    )


def _layers(state: column.State, names: list[str]) -> tuple[LayerCycles, ...]:
    clusters = len(state.core)
    begins = state.counts[:, :, column.BEGIN]
    ends = np.zeros_like(begins)
    for cluster in range(clusters):
        # A layer ends where the next one in time begins; those that never ran have no time.
        until = int(state.core[cluster, column.TIME])
        for layer in sorted(range(len(names)), key=lambda one: -int(begins[cluster, one])):
            if begins[cluster, layer] >= 0:
                ends[cluster, layer], until = until, int(begins[cluster, layer])
    found = []
    for layer, name in enumerate(names):
        each = tuple(
            _cluster(
                state.counts[cluster, layer],
                int(begins[cluster, layer]),
                int(ends[cluster, layer] - max(begins[cluster, layer], 0)),
            )
            for cluster in range(clusters)
        )
        found.append(LayerCycles(name, each))
    return tuple(found)


def _cluster(counts: Any, begin: int, cycles: int) -> ClusterCycles:
    return ClusterCycles(
        begin=max(begin, 0),
        cycles=cycles,
        instructions=int(counts[column.INSTRUCTIONS]),
        vector=int(counts[column.BUSY]),
        conflict=int(counts[column.CONFLICT]),
        issue=int(counts[column.ISSUE]),
        fill=int(counts[column.FILL_CYCLES]),
        stalls={cause: int(counts[place]) for place, cause in enumerate(STALLS)},
        buf_bytes=int(counts[column.BUF_BYTES]),
        wbuf_bytes=int(counts[column.WBUF_BYTES]),
        code_bytes=int(counts[column.CODE_BYTES]),
        stored_bytes=int(counts[column.STORE_BYTES]),
        words=int(counts[column.BUFFER_WORDS]),
        operations={one.name: int(counts[column.OPERATION_COUNTS + one]) for one in Operation},
    )


def _timeline(state: column.State, names: list[str]) -> tuple[Interval, ...]:
    found = []
    for cluster in range(len(state.core)):
        for lane, name in enumerate(LANE_NAMES):
            rows = state.timeline[cluster, lane]
            for row in rows[1 : 1 + int(rows[0, 0])]:
                layer, begin, end, used = (int(value) for value in row)
                found.append(Interval(cluster, name, names[layer], begin, end, used))
    return tuple(found)
