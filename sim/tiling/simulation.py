"""The event simulator: runs a mapping on real integers and charges what it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling import accounting
from mapper.sim.tiling.accounting import Ledger
from mapper.sim.tiling.dataflow import Dataflow, Traffic
from mapper.sim.tiling.footprint import Shape, footprints, shape_of
from mapper.sim.tiling.physical import simulate_physical
from mapper.sim.tiling.reference import Array, initial_tensors, reference_output, within, zero_padded
from mapper.sim.tiling.size import check_size
from mapper.sim.tiling.statement import number_type
from mapper.sim.tiling.stream import following
from mapper.sim.tiling.walk import Walk, walk
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.tensor import tensors


@dataclass(frozen=True)
class Simulation:
    """One run of a mapping.

    ``outputs_equal``: whether the result equals the reference's to the last bit; ``max_error``: the largest
    difference of a word; ``checksum``: sum of the result's words times their position from 1, modulo 2^64.
    Costs are under the machine's named rules, in the units of their names; ``words`` per operand at ``rf``,
    ``noc``, ``spm`` and ``dram``, ``bursts`` per operand; ``transfers``: tiles of each operand charged at
    ``noc`` and ``dram``; ``noc_busy_cycles`` per network; ``stall_cycles`` by cause;
    ``processing_cycles``: the cycles if DMA took no time (None on a timeline).
    """

    outputs_equal: bool
    max_error: int
    checksum: int
    energy_pj: int | float
    cycles: int
    latency_ms: float
    energy_by_resource: dict[str, float]
    words: dict[str, dict[str, int]]
    bursts: dict[str, int]
    transfers: dict[str, dict[str, int]]
    stall_cycles: dict[str, int]
    processing_cycles: int | None
    noc_busy_cycles: tuple[int, ...]
    dma_busy_cycles: int
    rf_passes: int
    spm_passes: int

    @property
    def edp_pj_cycles(self) -> int | float:
        return self.energy_pj * self.cycles

    def cost_json(self) -> dict[str, Any]:
        return {
            "energy_pj": self.energy_pj,
            "cycles": self.cycles,
            "edp_pj_cycles": self.edp_pj_cycles,
            "latency_ms": self.latency_ms,
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "outputs_equal": self.outputs_equal,
            "max_error": self.max_error,
            "checksum": f"{self.checksum:016x}",
            "cost_simulated": self.cost_json(),
            "breakdown_simulated": {
                "energy_pj": self.energy_by_resource,
                "words": self.words,
                "stall_cycles": self.stall_cycles,
                "processing_cycles": self.processing_cycles,
            },
            "bursts": self.bursts,
            "transfers": self.transfers,
            "noc_busy_cycles": list(self.noc_busy_cycles),
            "dma_busy_cycles": self.dma_busy_cycles,
            "rf_passes": self.rf_passes,
            "spm_passes": self.spm_passes,
        }


def simulate(nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping, seed: int = 0) -> Simulation:
    """Run ``mapping`` on seeded integers, whether or not its tiles fit the machine. What is padded runs on zeros, and
    the result is compared where the nest as written has one.

    Raises: InputError if the factors do not multiply to the bounds, or if the run is too large to simulate.
    """
    written, nest = nest, nest.padded(dict(mapping.padded))
    shape, passes = shape_of(nest, mapping), walk(nest, mapping)
    check_size(nest)
    inputs = initial_tensors(written, seed)
    expected = reference_output(written, inputs)
    result = next(tensor.name for tensor in tensors(nest) if tensor.written)
    inputs = zero_padded(written, nest, inputs)
    data = inputs | {result: inputs[result].astype(number_type(nest))}
    follows = following(nest, machine, shape, passes.spm)
    dataflow = Dataflow(nest, mapping, shape, passes, data, follows)
    dataflow.run()
    output = within(written, nest, data[result].astype(np.int64))
    ledger = ledger_of(nest, machine, shape, passes, dataflow.traffic)
    return charged(ledger, mapping, output, expected)


def ledger_of(
    nest: LoopNest, machine: DataflowMachine, shape: Shape, passes: Walk, traffic: tuple[Traffic, ...]
) -> Ledger:
    """What moved, with what each tile takes of the machine."""
    follows = following(nest, machine, shape, passes.spm)
    return Ledger(nest, machine, shape, passes, footprints(nest, machine, shape), traffic, follows)


def charged(ledger: Ledger, mapping: TilingMapping, output: Array, expected: Array) -> Simulation:
    """A run that made ``output``, and what it cost."""
    nest, machine, passes = ledger.nest, ledger.machine, ledger.walk
    if machine.rules.timing == "timeline":
        timed = simulate_physical(nest, machine, mapping, machine.rules)
        cycles, stalls, processing = timed.cycles, timed.stall_cycles, None
    else:
        cycles, stalls = accounting.cycles(ledger), accounting.stall_cycles(ledger)
        processing = accounting.cycles(ledger, free_dma=True)
    return Simulation(
        outputs_equal=bool(np.array_equal(output, expected)),
        max_error=_largest_difference(output, expected),
        checksum=checksum(output),
        energy_pj=accounting.energy_pj(ledger),
        cycles=cycles,
        latency_ms=cycles / (machine.clock_mhz * 1e3),
        energy_by_resource=accounting.energy_by_resource(ledger),
        words=accounting.words(ledger),
        bursts=accounting.bursts(ledger),
        transfers={
            operand.name: {"noc": ledger.crossings(k), "dram": ledger.dma_transfers(k)}
            for k, operand in enumerate(nest.operands)
        },
        stall_cycles=stalls,
        processing_cycles=processing,
        noc_busy_cycles=accounting.network_busy(ledger),
        dma_busy_cycles=accounting.dma_busy(ledger),
        rf_passes=passes.spm.passes * passes.dram.passes,
        spm_passes=passes.dram.passes,
    )


def checksum(output: Array) -> int:
    """Sum of the words times their position from 1, modulo 2^64, as the generated C prints it."""
    words = output.reshape(-1).astype(np.uint64)
    return int((words * np.arange(1, len(words) + 1, dtype=np.uint64)).sum(dtype=np.uint64))


def _largest_difference(output: Array, expected: Array) -> int:
    differing = np.flatnonzero(output.reshape(-1) != expected.reshape(-1))
    pairs = zip(output.reshape(-1)[differing].tolist(), expected.reshape(-1)[differing].tolist(), strict=True)
    return max((abs(ours - theirs) for ours, theirs in pairs), default=0)
