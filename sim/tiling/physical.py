"""A mapping on a machine without the original tool's shortcuts: a timeline from cold start to last write.

What differs from the named rules: the first tiles are waited for and the last result is written back in
full view; DMA and networks carry one tile after another in the order in which passes need them; the tile of
the next pass is fetched while the present one is worked on, into the other half of its buffer, and no
earlier; a tile that leaves follows when its buffer is needed again. Partial sums are read exactly when they
have a value, bursts end at the rows that the loops touch, energy is not rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mapper.arch.dataflow import PHYSICAL_RULES, DataflowMachine, Rules
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling import accounting
from mapper.sim.tiling.accounting import Ledger
from mapper.sim.tiling.dataflow import Traffic, moves
from mapper.sim.tiling.footprint import footprints, networks, shape_of
from mapper.sim.tiling.size import check_size
from mapper.sim.tiling.walk import walk
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.tensor import tensors


@dataclass(frozen=True)
class PhysicalRun:
    """Cost of one run under physical rules. ``stall_cycles``: what the PEs wait for, ``cold_start`` before
    the first pass and ``drain`` after the last; with the useful cycles they add up to ``cycles``."""

    energy_pj: float
    cycles: int
    latency_ms: float
    energy_by_resource: dict[str, float]
    words: dict[str, dict[str, int]]
    bursts: dict[str, int]
    useful_cycles: int
    stall_cycles: dict[str, int]

    def cost_json(self) -> dict[str, Any]:
        return {
            "energy_pj": self.energy_pj,
            "cycles": self.cycles,
            "edp_pj_cycles": self.energy_pj * self.cycles,
            "latency_ms": self.latency_ms,
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "cost": self.cost_json(),
            "breakdown": {
                "energy_pj": self.energy_by_resource,
                "words": self.words,
                "stall_cycles": self.stall_cycles,
            },
            "bursts": self.bursts,
        }


def simulate_physical(
    nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping, rules: Rules = PHYSICAL_RULES
) -> PhysicalRun:
    """Time ``mapping`` from cold start to last write and charge it under ``rules``, without computing its result.

    Raises: InputError if the factors do not multiply to the bounds, or if the run is too large to simulate.
    """
    nest = nest.padded(dict(mapping.padded))
    physical = machine.model_copy(update={"rules": rules})
    shape, passes = shape_of(nest, mapping), walk(nest, mapping)
    check_size(nest)
    traffic = tuple(Traffic() for _ in nest.operands)
    whole = (None,) * len(nest.operands)
    ledger = Ledger(nest, physical, shape, passes, footprints(nest, physical, shape), traffic, whole)
    timeline = _Timeline(ledger)
    timeline.run()
    return PhysicalRun(
        energy_pj=accounting.energy_pj(ledger),
        cycles=timeline.end,
        latency_ms=timeline.end / (machine.clock_mhz * 1e3),
        energy_by_resource=accounting.energy_by_resource(ledger),
        words=accounting.words(ledger),
        bursts=accounting.bursts(ledger),
        useful_cycles=accounting.compute_cycles(ledger) * passes.spm.passes * passes.dram.passes,
        stall_cycles=timeline.stalls,
    )


@dataclass
class _Timeline:
    """Times (cycles from the start) at which resources are free and events have happened."""

    ledger: Ledger
    end: int = 0
    stalls: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("cold_start", "noc", "dma", "reduction", "drain"), 0)
    )
    dma_free: int = 0
    """When DMA has done all it was told."""
    array_free: int = 0
    """When the PEs have computed, and added up, what they held."""
    pass_started: int = 0
    left: int = 0
    """When the last result had left the PEs for the scratch-pad, and the one before it."""
    left_before: int = 0

    def __post_init__(self) -> None:
        nest, machine = self.ledger.nest, self.ledger.machine
        lanes, self._footprints = machine.noc.networks, self.ledger.footprints
        self._read, self._write = zip(*networks(nest, machine), strict=True)
        self._carry = [
            [-(-footprint.array_words // lane.width_words) for lane in lanes]
            for footprint in self._footprints
        ]
        self._free = [0] * len(lanes)
        self._written = next(k for k, operand in enumerate(nest.operands) if operand.writes)
        result = nest.operands[self._written]
        self._keeps_zero = result.zero_initialised
        self._seen_at: dict[str, set[int]] = {"spm": set(), "rf": set()}
        # A tensor that is read where it is written cannot be fetched before the result has left.
        self._reads_result = any(tensor.written and len(tensor.operands) > 1 for tensor in tensors(nest))
        self._ahead_of_rf = machine.rf.double_buffered and not self._reads_result
        self._ahead_of_spm = machine.spm.double_buffered and not self._reads_result
        self._compute = accounting.compute_cycles(self.ledger)
        self._inner_moves = moves(self.ledger.walk.spm, range(len(self._footprints)))

    def run(self) -> None:
        spm_started, waiting, left_spm = 0, None, None
        for s, arriving in enumerate(moves(self.ledger.walk.dram, range(len(self._footprints)))):
            result_leaves = s > 0 and self._written in arriving
            if result_leaves:
                self._result_leaves_array()
                left_spm = max(self.left, self.array_free)
            if not self._ahead_of_spm:
                waiting, left_spm = left_spm, None
            issued = spm_started if self._ahead_of_spm else self.array_free
            ready = self._dma(s, arriving, issued, waiting)
            waiting, left_spm = left_spm, None
            spm_started = self._scratch_pad_pass(s, arriving, ready, result_leaves)
        self._result_leaves_array()
        finished = self.array_free
        if waiting is not None:
            self._write_back(0, waiting)
        self._write_back(0, max(self.left, self.array_free))
        self.end = self.dma_free
        self.stalls["drain"] = self.end - finished

    def _dma(self, s: int, arriving: tuple[int, ...], issued: int, waiting: int | None) -> int:
        """Move the result that was given up, then the tiles of pass ``s``; when they are there."""
        if waiting is not None:
            self._write_back(issued, waiting)
        ready = 0
        for k in arriving:
            traffic = self.ledger.traffic[k]
            traffic.spm_visits += 1
            if k == self._written:
                ready = max(ready, self.dma_free if waiting is not None else 0)
            if self._has_value(k, "spm", int(self.ledger.walk.dram.tiles[k][s])):
                traffic.spm_loads += 1
                self.dma_free = ready = max(self.dma_free, issued) + self._footprints[k].dma_cycles
        return ready

    def _write_back(self, issued: int, available: int) -> None:
        self.ledger.traffic[self._written].spm_stores += 1
        start = max(self.dma_free, issued, available)
        self.dma_free = start + self._footprints[self._written].dma_cycles

    def _scratch_pad_pass(self, s: int, arriving: tuple[int, ...], ready: int, result_left: bool) -> int:
        """All register-file passes of one scratch-pad pass; when its first one started."""
        started = -1
        for t, moved in self._register_file_moves(arriving):
            if self._written in moved and not (t == 0 and result_left) and (s > 0 or t > 0):
                self._result_leaves_array()
            there = self._deliver(s, t, moved, ready)
            begin = max(self.array_free, there)
            waited = begin - self.array_free
            if s == 0 and t == 0:
                self.stalls["cold_start"] += waited
            else:
                on_dma = min(waited, max(0, ready - self.array_free))
                self.stalls["dma"] += on_dma
                self.stalls["noc"] += waited - on_dma
            self.pass_started = begin
            self.array_free = begin + self._compute
            started = begin if started < 0 else started
        return started

    def _register_file_moves(self, arriving: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
        spm = self.ledger.walk.spm
        for t, moved in enumerate(self._inner_moves):
            if t == 0:
                moved = tuple(k for k in moved if k in arriving or spm.tiles[k][0] != spm.tiles[k][-1])
            yield t, moved

    def _deliver(self, s: int, t: int, moved: tuple[int, ...], ready: int) -> int:
        """Carry the tiles of a register-file pass to the PEs; when all are there."""
        issued = max(ready, self.pass_started if self._ahead_of_rf else self.array_free)
        if self._reads_result:
            issued = max(issued, self.left)
        there = ready
        for k in moved:
            self.ledger.traffic[k].rf_visits += 1
            begin = issued
            if k == self._written:
                # The other half of the buffer must be empty; without one, the tile itself must have left.
                begin = max(begin, self.left_before if self._ahead_of_rf else self.left)
                there = max(there, begin if not self._ahead_of_rf else self.left_before)
            if self._has_value(k, "rf", self._tile(k, s, t)):
                self.ledger.traffic[k].rf_loads += 1
                network = self._read[k]
                begin = max(begin, self._free[network])
                self._free[network] = begin + self._carry[k][network]
                there = max(there, self._free[network])
        return there

    def _result_leaves_array(self) -> None:
        """PEs add up their parts, then the tile crosses to the scratch-pad."""
        k = self._written
        self.ledger.traffic[k].rf_stores += 1
        self.array_free += self._footprints[k].reduction_cycles
        self.stalls["reduction"] += self._footprints[k].reduction_cycles
        network = self._write[k]
        begin = max(self.array_free, self._free[network])
        self.left_before = self.left
        self.left = self._free[network] = begin + self._carry[k][network]

    def _tile(self, k: int, s: int, t: int) -> int:
        """A number for operand ``k``'s tile of one register-file pass, unique in the layer."""
        spm = self.ledger.walk.spm
        return int(self.ledger.walk.dram.tiles[k][s]) * spm.passes + int(spm.tiles[k][t])

    def _has_value(self, k: int, level: str, tile: int) -> bool:
        """Whether the tile must be brought: read operands always, partial sums unless they are still zero."""
        operand = self.ledger.nest.operands[k]
        if operand.access != "read_write" or not self._keeps_zero:
            return operand.access != "write"
        seen = self._seen_at[level]
        if tile in seen:
            return True
        seen.add(tile)
        return False
