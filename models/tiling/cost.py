"""The cost of one tiling mapping, with its breakdown: the one model that every number of this kind comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import physical, tile
from mapper.models.tiling import transfer as cost
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.order import reuse_factors
from mapper.models.tiling.price import Prices
from mapper.models.tiling.stream import Streams, streams_of
from mapper.models.tiling.timeline import Times
from mapper.workloads.nest.loop_nest import LoopNest


@dataclass(frozen=True)
class TileQuantities:
    """Per operand, in operand order: what one tile of a mapping takes (words, cycles, energies in steps of
    ``Prices``); ``additions``: partial sums that PEs add up in one RF pass."""

    rf_words: tuple[int, ...]
    array_words: tuple[int, ...]
    spm_words: tuple[int, ...]
    noc_words: tuple[int, ...]
    noc_cycles: tuple[int, ...]
    reduction_cycles: tuple[int, ...]
    additions: tuple[int, ...]
    dma_words: tuple[int, ...]
    dma_cycles: tuple[int, ...]
    noc_energy: tuple[int, ...]
    spm_energy: tuple[int, ...]
    reduction_energy: tuple[int, ...]
    dma_energy: tuple[int, ...]
    spm_reuse: tuple[int, ...]
    dram_reuse: tuple[int, ...]
    rf_tiles: tuple[int, ...]
    spm_tiles: tuple[int, ...]
    compute_cycles: int
    rf_passes: int
    spm_passes: int
    streams: Streams | None
    """None where memories are filled with whole tiles."""


@dataclass(frozen=True)
class TilingCost:
    """Energy (pJ), cycles, energy-delay product (pJ*cycles), latency (ms) and what they consist of.

    ``energy_steps`` is the energy exactly, ``steps_per_pj`` to the pJ: costs of one machine are compared by it.
    ``processing_cycles`` are what the layer would take if DMA took no time (None on a timeline).
    """

    energy_pj: int | float
    energy_steps: int
    steps_per_pj: int
    cycles: int
    latency_ms: float
    energy_by_resource: dict[str, float]
    words: dict[str, dict[str, int]]
    stall_cycles: dict[str, int]
    processing_cycles: int | None

    @property
    def edp_pj_cycles(self) -> int | float:
        product = self.energy_steps * self.cycles
        return product if isinstance(self.energy_pj, int) else product / self.steps_per_pj

    def cost_json(self) -> dict[str, Any]:
        return {
            "energy_pj": self.energy_pj,
            "cycles": self.cycles,
            "edp_pj_cycles": self.edp_pj_cycles,
            "latency_ms": self.latency_ms,
        }

    def breakdown_json(self) -> dict[str, Any]:
        return {
            "energy_pj": self.energy_by_resource,
            "words": self.words,
            "stall_cycles": self.stall_cycles,
            "processing_cycles": self.processing_cycles,
        }


def quantities(nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping) -> TileQuantities:
    """What every tile of ``mapping`` takes of ``machine``."""
    nest = nest.padded(dict(mapping.padded))
    rf, spatial = mapping.trip_counts("rf"), mapping.trip_counts("spatial")
    array, spm = mapping.trip_counts("rf", "spatial"), mapping.trip_counts("rf", "spatial", "spm")
    inner, outer = mapping.trip_counts("spm"), mapping.trip_counts("dram")
    rf_visits = mapping.trip_counts("spm", "dram")
    operands = nest.operands
    dma = [tile.dma_words_and_cycles(op, machine, spm, nest.trip_counts) for op in operands]
    _, _, widths = tile.networks_of(nest, machine)
    prices = Prices.of(nest, machine)
    delivered = tuple(tile.noc_words(op, nest, rf, spatial) for op in operands)
    added = tuple(tile.additions(op, nest, rf, spatial) for op in operands)
    array_words = tuple(tile.words(op, array) for op in operands)
    dependent = [[loop for loop in nest.loops if loop in op.loops] for op in operands]
    return TileQuantities(
        rf_words=tuple(tile.words(op, rf) for op in operands),
        array_words=array_words,
        spm_words=tuple(tile.words(op, spm) for op in operands),
        noc_words=delivered,
        noc_cycles=tuple(
            tile.noc_cycles(op, machine, width, array) for op, width in zip(operands, widths, strict=True)
        ),
        reduction_cycles=tuple(tile.reduction_cycles(op, nest, machine, rf, spatial) for op in operands),
        additions=added,
        dma_words=tuple(moved for moved, _ in dma),
        dma_cycles=tuple(taken for _, taken in dma),
        noc_energy=tuple(words * prices.noc for words in delivered),
        spm_energy=tuple(words * prices.spm for words in array_words),
        reduction_energy=tuple(count * prices.addition for count in added),
        dma_energy=tuple(moved * prices.dram for moved, _ in dma),
        spm_reuse=reuse_factors(nest, mapping.spm_order, inner),
        dram_reuse=reuse_factors(nest, mapping.dram_order, outer),
        rf_tiles=tuple(tile.product(rf_visits, loops) for loops in dependent),
        spm_tiles=tuple(tile.product(outer, loops) for loops in dependent),
        compute_cycles=tile.compute_cycles(nest, machine, rf),
        rf_passes=tile.product(inner, nest.loops),
        spm_passes=tile.product(outer, nest.loops),
        streams=streams_of(nest, machine, mapping) if machine.streams else None,
    )


def rereads(
    nest: LoopNest, machine: DataflowMachine, spm_passes: int, spm_tiles: tuple[int, ...]
) -> tuple[bool, ...]:
    """Whether DMA brings back a partial sum in every pass in which it does not stay."""
    always = machine.rules.partial_sums == "doubled"
    return tuple(
        op.is_updated and (always or not op.zero_initialised or spm_passes > tiles)
        for op, tiles in zip(nest.operands, spm_tiles, strict=True)
    )


def evaluate(nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping) -> TilingCost:
    """Cost of a mapping whose factors multiply to the bounds, whether or not it fits the machine.

    Energies and cycles are added as whole numbers; what a float holds was rounded once. Iterations and words of
    padding count as any others.
    """
    nest = nest.padded(dict(mapping.padded))
    q = quantities(nest, machine, mapping)
    prices = Prices.of(nest, machine)
    doubled = machine.rules.partial_sums == "doubled"
    updated = tuple(op.is_updated for op in nest.operands)
    zero = tuple(op.zero_initialised for op in nest.operands)
    # Whole, as every price is.
    steps = int(
        cost.layer_energy(
            tile.operation_energy(nest, prices),
            tile.rf_access_energy(nest, prices),
            _passes(q),
            updated,
            zero,
            q.rf_tiles,
            q.spm_tiles,
            q.noc_energy,
            q.spm_energy,
            q.reduction_energy,
            q.dma_energy,
            doubled,
        )
    )
    per_pj = prices.per_pj
    for k in range(len(nest.operands)):
        delivered, words = _saved(q, k)
        steps -= delivered * prices.noc + words * prices.spm
    energy: int | float = steps / per_pj
    if machine.rules.energy == "rounded":
        energy = steps = cost.whole_pj(steps, per_pj)
        per_pj = 1
    processing = None
    if machine.rules.timing == "timeline":
        cycles, stalls = physical.run(nest, machine, mapping, _times(nest, machine, q))
    else:
        loaded = replace(q, dma_cycles=(0,) * len(nest.operands))
        cycles, processing = (_cycles(nest, machine, each, buffers_of(machine)) for each in (q, loaded))
        stalls = _stalls(nest, machine, q, cycles)
    return TilingCost(
        energy_pj=energy,
        energy_steps=steps,
        steps_per_pj=per_pj,
        cycles=cycles,
        latency_ms=cycles / (machine.clock_mhz * 1e3),
        energy_by_resource=_energy_by_resource(nest, machine, q),
        words=_words(nest, machine, q),
        stall_cycles=stalls,
        processing_cycles=processing,
    )


def _passes(q: TileQuantities) -> cost.Passes:
    return cost.Passes(q.rf_passes, q.spm_passes, q.spm_reuse, q.dram_reuse)


def _times(nest: LoopNest, machine: DataflowMachine, q: TileQuantities) -> Times:
    into, out = physical.carried(nest, machine, q.array_words)
    return Times(q.compute_cycles, sum(q.reduction_cycles), np.array(q.dma_cycles), np.array(into), int(out))


def buffers_of(machine: DataflowMachine) -> cost.Buffers:
    """What waits in ``machine``."""
    rf, exposed = machine.rf.double_buffered, machine.sums_exposed
    return cost.Buffers(rf, machine.dma_beside, rf and exposed)


def _cycles(nest: LoopNest, machine: DataflowMachine, q: TileQuantities, buffers: cost.Buffers) -> int:
    read, write, _ = tile.networks_of(nest, machine)
    updated = tuple(op.is_updated for op in nest.operands)
    again = rereads(nest, machine, q.spm_passes, q.spm_tiles)
    passes, networks = _passes(q), len(machine.noc.networks)
    moves = (q.reduction_cycles, q.dma_cycles, updated, again)
    if q.streams is None:
        return cost.layer_cycles(
            q.compute_cycles, passes, q.noc_cycles, *moves, read, write, networks, buffers
        )
    following, turns, waited_for = q.streams.noc_cycles, q.streams.turns, q.streams.waited_for
    between = [0] * len(updated)
    one = cost.streamed_pass_cycles(
        q.compute_cycles, passes, q.noc_cycles, following, turns, waited_for, read, write, networks, between
    )
    return cost.cycles_of_passes(one, 0, q.compute_cycles, passes, between, *moves, buffers)


def _saved(q: TileQuantities, k: int) -> tuple[int, int]:
    """Words of operand ``k`` that PEs, and the scratch-pad, would take and give if every tile came whole."""
    return (0, 0) if q.streams is None else q.streams.saved(_passes(q), k, q.noc_words[k], q.array_words[k])


def _transfers(nest: LoopNest, machine: DataflowMachine, q: TileQuantities, k: int) -> tuple[int, int, int]:
    """Crossings of operand ``k`` at the NoC, its reductions, and its crossings at DRAM."""
    op = nest.operands[k]
    doubled = machine.rules.partial_sums == "doubled"
    crossings, reductions = cost.rf_transfers(
        q.rf_passes,
        q.spm_passes,
        q.spm_reuse[k],
        q.dram_reuse[k],
        op.is_updated,
        op.zero_initialised,
        q.rf_tiles[k],
        doubled,
    )
    return (
        crossings,
        reductions,
        cost.dram_transfers(
            q.spm_passes, q.dram_reuse[k], op.is_updated, op.zero_initialised, q.spm_tiles[k]
        ),
    )


def _words(nest: LoopNest, machine: DataflowMachine, q: TileQuantities) -> dict[str, dict[str, int]]:
    table = {}
    for k, op in enumerate(nest.operands):
        crossings, _, moved = _transfers(nest, machine, q, k)
        delivered, words = _saved(q, k)
        table[op.name] = {
            "rf": nest.iterations * (op.reads + op.writes),
            "noc": q.noc_words[k] * crossings - delivered,
            "spm": q.array_words[k] * crossings - words,
            "dram": q.dma_words[k] * moved,
        }
    return table


def _energy_by_resource(nest: LoopNest, machine: DataflowMachine, q: TileQuantities) -> dict[str, float]:
    prices = Prices.of(nest, machine)
    added = sum(_transfers(nest, machine, q, k)[1] * count for k, count in enumerate(q.additions))
    table = _words(nest, machine, q).values()
    steps = {
        "mac": tile.operation_energy(nest, prices) + added * prices.mac,
        "rf": tile.rf_access_energy(nest, prices) + added * 3 * prices.rf,
        "noc": (sum(row["noc"] for row in table) + added) * prices.noc,
        "spm": sum(row["spm"] for row in table) * prices.spm,
        "dram": sum(row["dram"] for row in table) * prices.dram,
    }
    return {resource: energy / prices.per_pj for resource, energy in steps.items()}


def _stalls(nest: LoopNest, machine: DataflowMachine, q: TileQuantities, cycles: int) -> dict[str, int]:
    """Cycles beyond the useful ones, by what would be saved if a cause were removed after the others."""
    nothing = (0,) * len(nest.operands)
    useful = q.compute_cycles * q.rf_passes * q.spm_passes
    no_reduction = _cycles(nest, machine, replace(q, reduction_cycles=nothing), buffers_of(machine))
    # With no NoC traffic there is nothing to hide: a simple register file then has no wait at all.
    still = None if q.streams is None else q.streams.without_networks()
    idle_noc = replace(q, reduction_cycles=nothing, noc_cycles=nothing, streams=still)
    dma_alone = _cycles(nest, machine, idle_noc, buffers_of(machine)._replace(rf=False, exposed=False))
    return {"noc": no_reduction - dma_alone, "dma": dma_alone - useful, "reduction": cycles - no_reduction}


def fits(nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping) -> bool:
    """Whether the tiles fit PEs, register files and scratch-pad."""
    return bool(
        tile.product(mapping.trip_counts("spatial"), nest.loops) <= machine.pes
        and tile.rf_words(nest, mapping.trip_counts("rf")) <= machine.rf_words
        and tile.banks(nest, machine, mapping.trip_counts("rf", "spatial", "spm"))
        <= machine.spm.visible_banks
    )
