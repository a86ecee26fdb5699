"""What one tile needs of the machine: words, banks, NoC and DMA cycles, energies [Dave2019, sec. 4.3].

Every function takes trip counts as integers or as numpy arrays that broadcast against each other, so that
one mapping and a whole lattice of tiles are costed by the same lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.price import Prices, burst_cost
from mapper.workloads.nest.loop_nest import LoopNest, Operand

Numbers = Any
"""An integer or an array of integers."""

WORD = 1 << 62
"""Where arrays of integers are left; half of what they hold."""


def product(trip_counts: Mapping[str, Numbers], loops: Sequence[str]) -> Numbers:
    """Product of the trip counts of ``loops``."""
    result: Numbers = 1
    for loop in loops:
        result = result * trip_counts[loop]
    return result


def words(operand: Operand, trip_counts: Mapping[str, Numbers]) -> Numbers:
    """``data_alloc``: words an operand occupies for these effective trip counts [Dave2019, sec. 4.3.1]."""
    result: Numbers = 1
    for dimension in operand.index:
        span: Numbers = 1
        for loop, factor in dimension.coefficients:
            span = span + abs(factor) * (trip_counts[loop] - 1)
        result = result * span
    return result


def banks(nest: LoopNest, machine: DataflowMachine, tile: Mapping[str, Numbers]) -> Numbers:
    """Scratch-pad banks taken: whole banks per operand."""
    return sum(-(-words(op, tile) * machine.word_bytes // machine.spm.bank_bytes) for op in nest.operands)


def rf_words(nest: LoopNest, tile: Mapping[str, Numbers]) -> Numbers:
    """Words of one PE's register file taken."""
    return sum(words(operand, tile) for operand in nest.operands)


def compute_cycles(nest: LoopNest, machine: DataflowMachine, rf: Mapping[str, Numbers]) -> Numbers:
    """Cycles of the useful operations of one RF pass [Dave2019, sec. 4.3.3]."""
    return product(rf, nest.loops) * iteration_cycles(nest, machine)


def operations(nest: LoopNest) -> int:
    """Operations of one iteration: a multiply-accumulate per pair of factors, or one addition."""
    factors = sum(operand.access == "read" for operand in nest.operands)
    return max(1, factors - 1) if nest.operation == "multiply_add" else max(1, factors)


def useful_operations(nest: LoopNest) -> int:
    """Operations of the whole layer."""
    return nest.iterations * operations(nest)


def operation_energy(nest: LoopNest, prices: Prices) -> int:
    """Energy (steps) of the useful operations."""
    return useful_operations(nest) * prices.operation


def rf_access_energy(nest: LoopNest, prices: Prices) -> int:
    """Energy (steps) of register-file accesses: every operand once a read and once a write per iteration."""
    return nest.iterations * sum(op.reads + op.writes for op in nest.operands) * prices.rf


def iteration_cycles(nest: LoopNest, machine: DataflowMachine) -> int:
    """Cycles of one loop iteration: one per operation if the PE is pipelined, else the latencies."""
    if machine.pe_array.pipelined:
        return operations(nest)
    latency = machine.pe_array.latency_cycles
    multiply = latency.get("multiply", 1) if nest.operation == "multiply_add" else 0
    return operations(nest) * (multiply + latency.get("add", 1))


def noc_cycles(
    operand: Operand, machine: DataflowMachine, width: int, array: Mapping[str, Numbers]
) -> Numbers:
    """Cycles to distribute one tile of an operand to the PE array over a network of ``width`` words."""
    return -(-words(operand, array) // width)


def networks_of(nest: LoopNest, machine: DataflowMachine) -> tuple[list[int], list[int], list[int]]:
    """Round-robin assignment: each operand's read network, write network (-1: none) and narrowest width."""
    networks = machine.noc.networks
    sides = {
        way: [n for n, network in enumerate(networks) if network.carries == way] for way in ("read", "write")
    }
    taken = {"read": 0, "write": 0}
    read: list[int] = []
    write: list[int] = []
    width: list[int] = []
    for operand in nest.operands:
        used = []
        for way, needed, assigned in (("read", operand.reads, read), ("write", operand.writes, write)):
            if needed:
                network = sides[way][taken[way] % len(sides[way])]
                taken[way] += 1
                used.append(networks[network].width_words)
            assigned.append(network if needed else -1)
        width.append(min(used))
    return read, write, width


def reduction_cycles(
    operand: Operand,
    nest: LoopNest,
    machine: DataflowMachine,
    rf: Mapping[str, Numbers],
    spatial: Mapping[str, Numbers],
) -> Numbers:
    """Cycles in which PEs add up partial sums of one RF pass over the reduction network: one for each addition, but
    groups of PEs that the network joins side by side add at once, and none where sums go from PE to PE as they are
    made."""
    if machine.streams or machine.noc.reduction == "systolic":
        return 0 * product(spatial, nest.loops)
    added = additions(operand, nest, rf, spatial)
    groups = product(spatial, [loop for loop in nest.loops if loop in operand.loops])
    return added // groups if machine.noc.reduction == "mesh" else added


def additions(
    operand: Operand, nest: LoopNest, rf: Mapping[str, Numbers], spatial: Mapping[str, Numbers]
) -> Numbers:
    """Partial sums that PEs add up in one RF pass: each of them once, whatever the network."""
    if not operand.is_updated:
        return 0 * product(spatial, nest.loops)
    members = product(spatial, [loop for loop in nest.loops if loop not in operand.loops])
    groups = product(spatial, [loop for loop in nest.loops if loop in operand.loops])
    return words(operand, rf) * (members - 1) * groups


def noc_words(
    operand: Operand, nest: LoopNest, rf: Mapping[str, Numbers], spatial: Mapping[str, Numbers]
) -> Numbers:
    """Words delivered to PEs: all PEs read a read operand, only those with a result write one."""
    loops = [loop for loop in nest.loops if not operand.writes or loop in operand.loops]
    return words(operand, rf) * product(spatial, loops)


def dma_words_and_cycles(
    operand: Operand, machine: DataflowMachine, tile: Mapping[str, Numbers], bounds: Mapping[str, int]
) -> tuple[Numbers, Numbers]:
    """Words one scratch-pad tile moves by DMA, and accelerator cycles that takes.

    A burst covers the innermost dimensions up to and including the first whose stored extent is not taken
    whole; the remaining dimensions are the number of bursts.
    """
    burst: Numbers = 1
    bursts: Numbers = 1
    contiguous: Numbers = True
    declared = machine.rules.stored_extent == "declared"
    for dimension, stored in reversed(list(zip(operand.index, operand.extents, strict=True))):
        span: Numbers = 1
        for loop, factor in dimension.coefficients:
            span = span + abs(factor) * (tile[loop] - 1)
        extent = stored if declared else dimension.span(bounds)
        burst = burst * _either(contiguous, span, 1)
        bursts = bursts * _either(contiguous, 1, span)
        contiguous = contiguous & (span == extent)
    return burst * bursts, bursts * burst_cycles(machine, burst)


def burst_cycles(machine: DataflowMachine, burst: Numbers) -> Numbers:
    """Accelerator cycles of one DMA burst of so many words; begun cycles count whole."""
    fixed, each, whole = burst_cost(machine)
    if isinstance(burst, np.ndarray) and fixed + each * int(burst.max(initial=0)) >= WORD:
        # Beyond a machine word, and then in Python's integers.
        return (-(-(fixed + each * burst.astype(object)) // whole)).astype(np.int64)
    return -(-(fixed + each * burst) // whole)


def _either(condition: Numbers, one: Numbers, other: Numbers) -> Numbers:
    if isinstance(condition, np.ndarray):
        return np.where(condition, one, other)
    return one if condition else other
