"""Columns of the arrays in which the cycle simulator's kernels keep a machine, all of 64-bit integers.

Times are cycles; the external memory's are parts of a cycle, as many as the machine's denominator says.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

NEVER = 1 << 62
"""A time that has not been found."""

# A decoded instruction.
OPERATION, A, B, C, D, FLAGS, IMMEDIATE, LAYER = range(8)
CODE_FIELDS = 8

# A cluster. OPEN: the number of the result that waits in the buffer of one result, or 0 (OPEN_AT, OPEN_WORDS: where it
# goes in Buf; DRAIN: lines not yet written; OPEN_WANTED: a transfer needs it). END: of the vector unit's work so far.
# GAP: cycles that the core has stalled since then. LAST: when all that has a known time is finished. A cluster is
# MARKED when it has come to a new layer and waits for the others, where they go in step. FIRST, LENGTH: its rows of the
# code. TURN: its turns at the external memory that have ended by its own instructions, and SERVED by the memory; ASKED:
# it has requested something since. Behind come its registers, and the ring of times of vector instructions.
(
    TIME,
    PLACE,
    STATE,
    SLOTS,
    BRANCH,
    EXTENT,
    END,
    DRAIN,
    OPEN,
    OPEN_AT,
    OPEN_WORDS,
    OPEN_WANTED,
    RESULTS,
    HEAD,
    COUNT,
    GAP,
    NOW_LAYER,
    BANK,
    BANK_ENTRY,
    LAST,
    WORK,
    EPOCH,
    FIRST,
    LENGTH,
    TURN,
    SERVED,
    ASKED,
) = range(27)
REGISTERS = 27
RING = REGISTERS + 32
RUNNING, BLOCKED, SYNCED, HALTED, MARKED = range(5)

# Transfers of a cluster, by kind in order of their request; WAIT names the kinds alike (2 is the vector queue).
LOAD, STORE, CODE = 0, 1, 3
KINDS = 4
# Counted are those that were requested, that the memory has begun and ended, and that are finished.
ISSUED, STARTED, ENDED, DONE = range(4)
(
    REQUEST,
    BYTES,
    EXTRA,
    READY,
    AFTER,
    AFTER_WORD,
    AFTER_RESULT,
    BEFORE,
    BEFORE_WORD,
    BEFORE_PLACE,
    BEFORE_CAUSE,
    NEEDS,
    NEEDS_WORD,
    FROM,
    LANE,
    OF_TURN,
) = range(16)
TRANSFER_FIELDS = 16

# What is under way at the external memory, instructions and data side by side: the cluster (-1: none is) and kind of
# the transfer, when it began, how much of its time is left.
INSTRUCTION_WAY, DATA_WAY = range(2)
WAY_CLUSTER, WAY_KIND, WAY_BEGAN, WAY_LEFT = range(4)
WAY_FIELDS = 4

# What is remembered of words: when read last, when the last result is there, the last transfers (numbers from 1).
LINE = 16
BUF_READ, BUF_WRITE, BUF_LOAD, BUF_STORE, WBUF_READ, WBUF_LOAD = range(6)
TAGS = 6

# Counts of a cluster in a layer; the first six stalls are of WAIT, by queue, of SYNC and of HALT.
(
    STALL_LOAD,
    STALL_STORE,
    STALL_VECTOR,
    STALL_CODE,
    STALL_SYNC,
    STALL_HALT,
    STALL_VECTOR_QUEUE,
    STALL_TRANSFER_QUEUE,
    INSTRUCTIONS,
    BUSY,
    CONFLICT,
    ISSUE,
    BUF_BYTES,
    WBUF_BYTES,
    CODE_BYTES,
    STORE_BYTES,
    FILL_CYCLES,
    BUFFER_WORDS,
    BEGIN,
) = range(19)
OPERATION_COUNTS = 19
COUNTS = 32

# Lanes of the timeline, and an entry: layer, from, to, cycles in use within.
TO_BUF, TO_WBUF, TO_CODE, COMPUTE, TO_MEMORY = range(5)
LANES = 5
ENTRY_LAYER, ENTRY_FROM, ENTRY_TO, ENTRY_USED = range(4)

# Hazards, and what is kept of one: place of the other instruction (-1: none), first word, when it was needed, when it
# is there (NEVER: unknown).
(
    READ_EARLY,
    WEIGHT_EARLY,
    RESULT_UNDER_LOAD,
    RESULT_OVER_STORE,
    LOAD_OVER_USE,
    WEIGHT_OVER_USE,
    STORE_EARLY,
    STORE_UNDER_LOAD,
    BANK_EARLY,
    HOST_EARLY,
    OTHER_CLUSTER,
) = range(11)
H_CAUSE, H_CLUSTER, H_PLACE, H_OTHER, H_WORD, H_AT, H_READY = range(7)
HAZARD_FIELDS = 7
HAZARDS = 16
"""As many are kept; the others are counted."""

# Why a program cannot go on.
(
    FINE,
    BEYOND_BUF,
    BEYOND_WBUF,
    BEYOND_MEMORY,
    BANK_LEFT,
    BRANCH_IN_SLOT,
    BANK_MISSING,
    BANK_STRANGE,
    CODE_ENDS,
    SYNC_ALONE,
    ENDLESS,
    LONG,
    LONG_EXTENT,
) = range(13)

# The machine: its constants and those of the run; up to when the external memory is known, when something begins or
# ends there next (both in parts of a cycle, and NEXT in cycles), whose turn it is; hazards found; where it stopped.
(
    NUMERATOR,
    DENOMINATOR,
    MEMORY_LATENCY,
    VECTOR_LATENCY,
    VECTOR_QUEUE,
    TRANSFER_QUEUE,
    MAPPED,
    UNIT_WORDS,
    VMAC_WORDS,
    MEMORY_WORDS,
    LIMIT,
    SHARED_FIRST,
    SHARED_WORDS,
    IN_STEP,
    NOW,
    WHEN,
    NEXT,
    HOLDER,
    FOUND,
    STOP_CLUSTER,
    STOP_PLACE,
) = range(21)
MACHINE_FIELDS = 21


class State(NamedTuple):
    """The arrays of a machine; what they are is said by the columns above.

    ``code``: int64 [instructions][CODE_FIELDS] of all clusters. ``numbers``, ``transfers``: by cluster and kind.
    ``way``: int64 [2][WAY_FIELDS]. ``tags``: of each kind and line what was noted of its words, one by one, of it as a
    whole, and of any of it.
    ``written``: of each word that clusters share, the epoch (SYNCs passed) and cluster that stored it last.
    ``timeline``: by cluster and lane; the first row of a lane says how many entries it has, and how long a pause is
    passed over. The last of ``hazards`` is for those that are not kept.
    """

    machine: Any
    code: Any
    core: Any
    numbers: Any
    transfers: Any
    way: Any
    tags: Any
    written: Any
    counts: Any
    timeline: Any
    hazards: Any


def fresh(machine: Any, code: Any, first: Any, layers: int, entries: int) -> State:
    """A machine that has done nothing. Cluster i has the rows first[i] to first[i + 1] of ``code``; ``entries``: most
    in a lane of the timeline."""
    clusters, queue = len(first) - 1, int(machine[TRANSFER_QUEUE])
    words = max(int(machine[UNIT_WORDS]), int(machine[VMAC_WORDS]))
    # Results may be waiting to be counted as finished beside those in the queue.
    core = np.zeros((clusters, RING + int(machine[VECTOR_QUEUE]) + 2), np.int64)
    core[:, BANK] = -1
    core[:, NOW_LAYER] = -1
    core[:, FIRST], core[:, LENGTH] = first[:-1], np.diff(first)
    way = np.zeros((2, WAY_FIELDS), np.int64)
    way[:, WAY_CLUSTER] = -1
    counts = np.zeros((clusters, layers, COUNTS), np.int64)
    counts[:, :, BEGIN] = -1
    return State(
        machine=machine,
        code=code,
        core=core,
        numbers=np.zeros((clusters, KINDS, 4), np.int64),
        transfers=np.zeros((clusters, KINDS, queue, TRANSFER_FIELDS), np.int64),
        way=way,
        tags=np.zeros((clusters, TAGS, words // LINE, LINE + 2), np.int64),
        written=np.zeros(int(machine[SHARED_WORDS]) if clusters > 1 else 0, np.int32),
        counts=counts,
        timeline=np.zeros((clusters, LANES, 1 + entries, 4), np.int64),
        hazards=np.zeros((HAZARDS + 1, HAZARD_FIELDS), np.int64),
    )
