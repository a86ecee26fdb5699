"""What a run cost: every transfer that was made, charged under the machine's named rules.

Cycles are summed over passes: what each pass computes, which tiles it waits for, and which transfers run
beside it. Passes in which the same tiles move take the same time, so each such pattern is timed once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mapper.arch.dataflow import DataflowMachine
from mapper.sim.tiling.dataflow import Traffic
from mapper.sim.tiling.footprint import Footprint, Shape, networks, written
from mapper.sim.tiling.stream import Following, waited_for
from mapper.sim.tiling.walk import Flags, Level, Numbers, Walk
from mapper.workloads.nest.loop_nest import LoopNest


@dataclass(frozen=True)
class Ledger:
    """A run to be charged: the nest and machine, the passes, what tiles take and how often they moved."""

    nest: LoopNest
    machine: DataflowMachine
    shape: Shape
    walk: Walk
    footprints: tuple[Footprint, ...]
    traffic: tuple[Traffic, ...]
    following: tuple[Following | None, ...]

    @property
    def operands(self) -> range:
        return range(len(self.nest.operands))

    @property
    def doubled(self) -> bool:
        return self.machine.rules.partial_sums == "doubled"

    def crossings(self, k: int) -> int:
        """Tiles of operand ``k`` that are charged between scratch-pad and PEs, both ways.

        Doubled, a zero-initialised partial sum is charged a read at its first visit too, but none at all if
        it stays through scratch-pad passes; otherwise exactly the copies that were made are charged.
        """
        operand, traffic = self.nest.operands[k], self.traffic[k]
        if operand.is_updated and operand.zero_initialised and self.doubled:
            return traffic.rf_stores + (0 if self.walk.stays(k) else traffic.rf_visits)
        return traffic.rf_loads + traffic.rf_stores

    def dma_transfers(self, k: int) -> int:
        return self.traffic[k].spm_loads + self.traffic[k].spm_stores

    def brings_back(self, k: int) -> bool:
        """Whether DMA keeps time in every pass for the partial sum to come in beside the one going out."""
        return self.nest.operands[k].is_updated and (self.doubled or self.traffic[k].spm_loads > 0)


def words(ledger: Ledger) -> dict[str, dict[str, int]]:
    """Words of every operand that each level gave or took."""
    table = {}
    for k, operand in enumerate(ledger.nest.operands):
        footprint, follows = ledger.footprints[k], ledger.following[k]
        whole = ledger.crossings(k) - ledger.traffic[k].rf_follows
        delivered, fresh = (0, 0) if follows is None else (follows.delivered_words, follows.array_words)
        table[operand.name] = {
            "rf": _executions(ledger) * (operand.reads + operand.writes),
            "noc": footprint.delivered_words * whole + delivered * ledger.traffic[k].rf_follows,
            "spm": footprint.array_words * whole + fresh * ledger.traffic[k].rf_follows,
            "dram": footprint.spm_words * ledger.dma_transfers(k),
        }
    return table


def bursts(ledger: Ledger) -> dict[str, int]:
    """DMA bursts of every operand."""
    return {
        operand.name: ledger.footprints[k].bursts * ledger.dma_transfers(k)
        for k, operand in enumerate(ledger.nest.operands)
    }


def network_busy(ledger: Ledger) -> tuple[int, ...]:
    """Cycles in which each network carries tiles."""
    busy = [0] * len(ledger.machine.noc.networks)
    for k, (read, write) in enumerate(networks(ledger.nest, ledger.machine)):
        out = ledger.traffic[k].rf_stores
        for network, tiles in ((read, ledger.crossings(k) - out), (write, out)):
            if network is not None:
                busy[network] += tiles * ledger.footprints[k].noc_cycles
        follows = ledger.following[k]
        if read is not None and follows is not None:
            shorter = ledger.footprints[k].noc_cycles - follows.noc_cycles
            busy[read] -= ledger.traffic[k].rf_follows * shorter
    return tuple(busy)


def dma_busy(ledger: Ledger) -> int:
    """Cycles in which DMA moves tiles."""
    return sum(ledger.footprints[k].dma_cycles * ledger.dma_transfers(k) for k in ledger.operands)


def energy_by_resource(ledger: Ledger) -> dict[str, float]:
    """Energy (pJ) by resource; PEs that add up partial sums take a MAC, three RF accesses and the NoC."""
    return {resource: float(energy) for resource, energy in _energies(ledger).items()}


def energy_pj(ledger: Ledger) -> int | float:
    """Energy of the layer: the exact sum, rounded as the machine says or to the nearest float."""
    total = sum(_energies(ledger).values(), Fraction(0))
    return round(total) if ledger.machine.rules.energy == "rounded" else float(total)


def _energies(ledger: Ledger) -> dict[str, Fraction]:
    energy, table = ledger.machine.energy_pj, words(ledger).values()
    mac, rf, noc = written(energy.mac), written(ledger.machine.rf_energy_pj), written(energy.noc)
    operation = mac if ledger.nest.operation == "multiply_add" else written(energy.add)
    executions = _executions(ledger)
    accesses = sum(operand.reads + operand.writes for operand in ledger.nest.operands)
    additions = sum(ledger.footprints[k].additions * ledger.traffic[k].rf_stores for k in ledger.operands)
    return {
        "mac": executions * _operations(ledger.nest) * operation + additions * mac,
        "rf": (executions * accesses + additions * 3) * rf,
        "noc": (sum(row["noc"] for row in table) + additions) * noc,
        "spm": sum(row["spm"] for row in table) * written(ledger.machine.spm_energy_pj),
        "dram": sum(row["dram"] for row in table) * written(energy.dram),
    }


def cycles(
    ledger: Ledger, *, free_networks: bool = False, free_reduction: bool = False, free_dma: bool = False
) -> int:
    """Cycles of the layer, pass by pass; optionally as if networks, reductions or DMA took no time.

    Scratch-pad tiles that change in every pass move in every pass. A tile that stays longer is fetched in
    the last pass of the tile before it, a partial sum goes back to DRAM in the first pass after its last.
    The run is one of many like it: the first tiles are fetched during the last pass.
    """
    timing = _Timing(ledger, free_networks, free_reduction, free_dma)
    dram = ledger.walk.dram
    begins, ends, always = (np.zeros(dram.passes, np.int64) for _ in range(3))
    for k in ledger.operands:
        arrives = dram.arrives(k)
        stays = np.repeat(dram.runs(k) > 1, dram.runs(k))
        begins |= (arrives & stays).astype(np.int64) << k
        ends |= (np.roll(arrives, -1) & stays).astype(np.int64) << k
        always |= (arrives & ~stays).astype(np.int64) << k
    patterns, counts = np.unique(np.stack([always, begins, ends]), axis=1, return_counts=True)
    return sum(
        timing.scratch_pad_pass(*(_members(mask) for mask in pattern)) * int(count)
        for pattern, count in zip(patterns.T, counts, strict=True)
    )


def stall_cycles(ledger: Ledger) -> dict[str, int]:
    """Cycles beyond the useful ones, by what would be saved if a cause were removed after the others."""
    useful = compute_cycles(ledger) * ledger.walk.spm.passes * ledger.walk.dram.passes
    everything = cycles(ledger)
    no_reduction = cycles(ledger, free_reduction=True)
    dma_alone = cycles(ledger, free_reduction=True, free_networks=True)
    return {
        "noc": no_reduction - dma_alone,
        "dma": dma_alone - useful,
        "reduction": everything - no_reduction,
    }


class _Timing:
    """Times of passes in which given tiles move."""

    def __init__(self, ledger: Ledger, free_networks: bool, free_reduction: bool, free_dma: bool) -> None:
        self._ledger = ledger
        self._dma = [0 if free_dma else footprint.dma_cycles for footprint in ledger.footprints]
        self._networks = networks(ledger.nest, ledger.machine)
        self._noc = [0 if free_networks else footprint.noc_cycles for footprint in ledger.footprints]
        self._follows = [0 if free_networks or one is None else one.noc_cycles for one in ledger.following]
        self._reduction = [
            0 if free_reduction else footprint.reduction_cycles for footprint in ledger.footprints
        ]
        # Without network traffic a register file has nothing to hide behind, and nothing to wait for.
        self._double_buffered = ledger.machine.rf.double_buffered and not free_networks
        self._waited_for = (
            (True,) * len(self._noc) if free_networks else waited_for(ledger.nest, ledger.machine)
        )
        self._waits_for_sums = self._double_buffered and ledger.machine.sums_exposed
        self._compute = compute_cycles(ledger)
        self._processing, self._every_pass_load = self._register_file_passes()

    def scratch_pad_pass(self, always: Sequence[int], begins: Sequence[int], ends: Sequence[int]) -> int:
        """One scratch-pad pass: DMA beside processing, or before and after it where there is one buffer.

        ``always``: operands that change in every pass; ``begins``: those that begin a longer stay with it;
        ``ends``: those that end one.
        """
        operands = self._ledger.nest.operands
        dma = sum(self._dma[k] * (2 if self._ledger.brings_back(k) else 1) for k in always)
        dma += sum(self._dma[k] for k in ends)
        dma += sum(self._dma[k] for k in begins if operands[k].is_updated)
        processing = self._processing + self._first_pass_longer(
            [k for k in begins if self._ledger.walk.stays(k)]
        )
        leaving = [k for k in ends if operands[k].is_updated and self._ledger.walk.stays(k)]
        if leaving:
            processing += sum(self._reduction[k] for k in leaving)
            processing += self._compute if self._waits_for_sums else 0
        return max(dma, processing) if self._ledger.machine.dma_beside else dma + processing

    def _first_pass_longer(self, coming: Sequence[int]) -> int:
        """Cycles that tiles of ``coming``, which stay through scratch-pad passes, add to the first of them."""
        if self._ledger.machine.streams:
            others = [k for k in self._ledger.operands if not self._ledger.walk.stays(k)]
            return self._taken([*others, *coming], ()) - self._taken(others, ())
        hidden = self._every_pass_load
        if self._double_buffered and not self._waits_for_sums:
            hidden = max(hidden, self._compute)
        return max(0, max((self._noc[k] for k in coming), default=0) - hidden)

    def _taken(self, moved: Sequence[int], along: Sequence[int]) -> int:
        """Cycles of a register-file pass in which these tiles move, ``along`` those of which a part is there."""
        load = self._load(moved, along)
        return load + self._compute if any(self._waited_for[k] for k in moved) else max(load, self._compute)

    def _register_file_passes(self) -> tuple[int, int]:
        """Cycles of one scratch-pad pass without DMA, and of the tiles that move in each of its passes.

        Tiles for the next register-file pass come while one computes, into the other buffer if there is one. Where
        PEs wait for a partial sum to leave, the computation behind it is not hidden. Tiles that stay through whole
        scratch-pad passes move between those [Dave2019, sec. 4.3.3, continuous reuse].
        """
        spm, operands = self._ledger.walk.spm, self._ledger.nest.operands
        moving = [k for k in self._ledger.operands if not self._ledger.walk.stays(k)]
        arrives: dict[int, Flags] = {k: spm.arrives(k) for k in moving}
        sums = [k for k in moving if operands[k].is_updated]
        leaves_every_pass = self._waits_for_sums and any(bool(arrives[k].all()) for k in sums)
        pattern: Numbers = np.zeros((2, spm.passes), np.int64)
        for k, flags in arrives.items():
            pattern[0] |= flags.astype(np.int64) << k
            follows = self._ledger.following[k]
            if follows is not None:
                pattern[1] |= follows.flags.astype(np.int64) << k
        total = 0
        masks, counts = np.unique(pattern, axis=1, return_counts=True)
        for (moved, along), count in zip(masks.T, counts, strict=True):
            tiles = _members(moved), _members(along)
            total += int(count) * (self._load(*tiles) if leaves_every_pass else self._taken(*tiles))
        gone = np.zeros(spm.passes, bool)
        for k in sums:
            left = _leaves(spm, k)
            gone |= left
            total += self._reduction[k] * int(np.count_nonzero(left))
        if self._waits_for_sums:
            total += self._compute * int(np.count_nonzero(gone))
        always = [k for k in moving if bool(arrives[k].all())]
        return total, self._load(always, [k for k in always if self._ledger.following[k] is not None])

    def _load(self, moved: Sequence[int], along: Sequence[int]) -> int:
        """Cycles until these tiles have crossed, ``along`` those of which a part is there: networks work side by side,
        each one tile after another."""
        busy = [0] * len(self._ledger.machine.noc.networks)
        for k in moved:
            for network in self._networks[k]:
                if network is not None:
                    busy[network] += self._follows[k] if k in along else self._noc[k]
        return max(busy)


def _leaves(level: Level, k: int) -> Flags:
    """Whether operand ``k``'s tile changes after a pass; true of the last."""
    return np.roll(level.arrives(k), -1)


def _members(mask: Any) -> tuple[int, ...]:
    return tuple(k for k in range(int(mask).bit_length()) if int(mask) >> k & 1)


def _executions(ledger: Ledger) -> int:
    """Executions of the statement: in every pass each PE executes it for all words of its tiles."""
    in_pass = math.prod(ledger.shape.rf.values()) * math.prod(ledger.shape.pes.values())
    return in_pass * ledger.walk.spm.passes * ledger.walk.dram.passes


def _operations(nest: LoopNest) -> int:
    """Operations of one execution: a multiply-accumulate per factor after the first, or the additions."""
    reads = sum(operand.access == "read" for operand in nest.operands)
    return max(1, reads - 1 if nest.operation == "multiply_add" else reads)


def compute_cycles(ledger: Ledger) -> int:
    """Cycles of one register-file pass: an operation a cycle if the PE is pipelined, else its latency."""
    array = ledger.machine.pe_array
    latency = 1
    if not array.pipelined:
        latency = array.latency_cycles.get("add", 1)
        if ledger.nest.operation == "multiply_add":
            latency += array.latency_cycles.get("multiply", 1)
    return math.prod(ledger.shape.rf.values()) * _operations(ledger.nest) * latency
