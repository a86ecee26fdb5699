"""Energy and cycles of many mappings at once, by the lines of the model that cost a single one.

The tile quantities of ``models/tiling/tile.py`` take arrays of trip counts; what follows from them is
computed by the compiled functions of ``models/tiling/transfer.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.arch.dataflow import DataflowMachine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.compiled import compiled
from mapper.models.tiling import tile
from mapper.models.tiling import timeline as model
from mapper.models.tiling.cost import buffers_of, rereads
from mapper.models.tiling.mapping import LEVELS
from mapper.models.tiling.physical import carried, loops_of, paths_of
from mapper.models.tiling.timeline import CAUSES, Loops, Paths, Times
from mapper.models.tiling.transfer import Buffers, Passes
from mapper.solver.tiling import compiled_model
from mapper.solver.tiling.exact.float_price import FloatPrices
from mapper.solver.tiling.heuristic.stream_table import Stream, stream_of, trip_counts
from mapper.workloads.nest.loop_nest import LoopNest

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

STALLS = len(CAUSES)
DRAM, SPM, RF, SPATIAL = (LEVELS.index(level) for level in ("dram", "spm", "rf", "spatial"))


def fits(nest: LoopNest, machine: DataflowMachine, factors: Integers) -> Flags:
    """Whether each tiling of ``factors`` (P, loops, 4) fits PEs, register files and scratch-pad.

    Tiles are measured in floats: exact as far as any memory reaches, and beyond that too large, not wrapped.
    """
    in_space = factors[:, :, SPATIAL].prod(axis=1)
    rf = trip_counts(nest, factors[:, :, RF].astype(np.float64))
    spm = trip_counts(nest, factors[:, :, SPM:].prod(axis=2).astype(np.float64))
    fitting: Flags = (
        (in_space <= machine.pes)
        & (tile.rf_words(nest, rf) <= machine.rf_words)
        & (tile.banks(nest, machine, spm) <= machine.spm.visible_banks)
    )
    return fitting


@dataclass(frozen=True)
class Costs:
    """Energy (pJ, rounded where the machine's rule rounds) and cycles of each mapping.

    Near the model's: energies of more steps than floats count exactly are off by their rounding.
    """

    energy: Floats
    cycles: Integers

    def values(self, problem: TilingProblem) -> Floats:
        """The objective: pJ*cycles, pJ or cycles."""
        if problem.objective == "edp":
            return self.energy * self.cycles
        return self.energy if problem.objective == "energy" else self.cycles.astype(np.float64)


def costs(
    nest: LoopNest, machine: DataflowMachine, factors: Integers, dram_orders: Integers, spm_orders: Integers
) -> Costs:
    """Costs of P mappings: factors (P, loops, 4) and orders (P, loops) of loop positions, outer to inner."""
    rf, spatial = trip_counts(nest, factors[:, :, RF]), trip_counts(nest, factors[:, :, SPATIAL])
    array = trip_counts(nest, factors[:, :, RF:].prod(axis=2))
    spm = trip_counts(nest, factors[:, :, SPM:].prod(axis=2))
    outer = trip_counts(nest, factors[:, :, DRAM])
    visits = trip_counts(nest, factors[:, :, :RF].prod(axis=2))
    operands, count = nest.operands, len(factors)
    read, write, widths = tile.networks_of(nest, machine)
    noc = [tile.noc_cycles(op, machine, width, array) for op, width in zip(operands, widths, strict=True)]
    into, out = carried(nest, machine, [tile.words(op, array) for op in operands])
    dma = [tile.dma_words_and_cycles(op, machine, spm, nest.trip_counts) for op in operands]
    spm_tiles = tuple(tile.product(outer, sorted(op.loops)) for op in operands)
    spm_passes = factors[:, :, DRAM].prod(axis=1)

    def table(columns: list[Any], kind: type) -> Any:
        """One row per mapping, one column per operand."""
        return np.stack([np.broadcast_to(np.asarray(column, kind), (count,)) for column in columns], axis=1)

    prices = FloatPrices.of(nest, machine)
    energy, cycles = np.empty(count, np.float64), np.empty(count, np.int64)
    layer = Layer(
        dependent=np.array([[loop in op.loops for loop in nest.loops] for op in operands]),
        updated=np.array([op.is_updated for op in operands]),
        zero_initialised=np.array([op.zero_initialised for op in operands]),
        read_network=np.array(read),
        write_network=np.array(write),
        networks=len(machine.noc.networks),
        buffers=buffers_of(machine),
        timed=machine.rules.timing == "timeline",
        streams=machine.streams,
        paths=paths_of(nest, machine),
        loops=loops_of(nest),
        doubled=machine.rules.partial_sums == "doubled",
        operation_energy=prices.operations,
        rf_energy=prices.rf_accesses,
    )
    rows = Rows(
        outer=np.ascontiguousarray(factors[:, :, DRAM]),
        inner=np.ascontiguousarray(factors[:, :, SPM]),
        dram_orders=dram_orders,
        spm_orders=spm_orders,
        compute=tile.compute_cycles(nest, machine, rf),
        noc_cycles=table(noc, int),
        reduction_cycles=table(
            [tile.reduction_cycles(op, nest, machine, rf, spatial) for op in operands], int
        ),
        dma_cycles=table([taken for _, taken in dma], int),
        into=table(into, int),
        out=np.broadcast_to(np.asarray(out, np.int64), (count,)),
        rereads=table(list(rereads(nest, machine, spm_passes, spm_tiles)), bool),
        rf_tiles=table([tile.product(visits, sorted(op.loops)) for op in operands], int),
        spm_tiles=table(list(spm_tiles), int),
        noc_energy=table([tile.noc_words(op, nest, rf, spatial) * prices.noc for op in operands], float),
        spm_energy=table([tile.words(op, array) * prices.spm for op in operands], float),
        reduction_energy=table(
            [tile.additions(op, nest, rf, spatial) * prices.addition for op in operands], float
        ),
        dma_energy=table([moved * prices.dram for moved, _ in dma], float),
    )
    _layer_costs(layer, rows, stream_of(nest, machine, factors, prices), energy, cycles)
    energy = energy / prices.per_pj
    return Costs(np.rint(energy) if machine.rules.energy == "rounded" else energy, cycles)


class Layer(NamedTuple):
    """What is the same for all mappings of a layer: whether operand k depends on a loop [k][loop]; per operand whether
    it is updated, whether from zero, and its networks; what machine and rules say; energies of operations and register
    files."""

    dependent: Any
    updated: Any
    zero_initialised: Any
    read_network: Any
    write_network: Any
    networks: int
    buffers: Buffers
    timed: bool
    streams: bool
    paths: Paths
    loops: Loops
    doubled: bool
    operation_energy: float
    rf_energy: float


class Rows(NamedTuple):
    """A row for each mapping: trip counts and orders of the two ordered levels [loops], cycles of one RF pass, and
    quantities of each operand's tiles, as ``models/tiling/transfer.py`` takes them."""

    outer: Any
    inner: Any
    dram_orders: Any
    spm_orders: Any
    compute: Any
    noc_cycles: Any
    reduction_cycles: Any
    dma_cycles: Any
    into: Any
    out: Any
    rereads: Any
    rf_tiles: Any
    spm_tiles: Any
    noc_energy: Any
    spm_energy: Any
    reduction_energy: Any
    dma_energy: Any


def _python_reuse(dependent: Any, counts: Any, order: Any, factors: Any) -> None:
    """Algorithm 1 for one order and level, into ``factors``."""
    for k in range(len(factors)):
        factors[k] = 1
        for place in range(len(order) - 1, -1, -1):
            loop = order[place]
            if counts[loop] == 1:
                continue
            if dependent[k, loop]:
                break
            factors[k] *= counts[loop]


def _python_streamed(
    layer: Layer, rows: Rows, stream: Stream, p: int, passes: Passes, turns: Any, noc: Any, between: Any
) -> tuple[int, float]:
    """Cycles of a row whose memories are filled as streams, and the energy that this saves."""
    saved = 0.0
    for k in range(len(turns)):
        turns[k], noc[k] = 1, rows.noc_cycles[p, k]
        for place in range(rows.spm_orders.shape[1] - 1, -1, -1):
            loop = rows.spm_orders[p, place]
            if rows.inner[p, loop] > 1 and layer.dependent[k, loop]:
                if stream.held[p, k, loop]:
                    turns[k], noc[k] = rows.inner[p, loop], stream.noc_cycles[p, k, loop]
                    visits = (passes.rf // passes.spm_reuse[k]) * passes.spm
                    saved += stream.saved[p, k, loop] * (visits - visits // turns[k])
                break
    one = streamed_pass_cycles(
        rows.compute[p], passes, rows.noc_cycles[p], noc, turns, stream.waited_for, layer.read_network,
        layer.write_network, layer.networks, between,
    )  # fmt: skip
    cycles = cycles_of_passes(
        one, 0, rows.compute[p], passes, between, rows.reduction_cycles[p], rows.dma_cycles[p], layer.updated,
        rows.rereads[p], layer.buffers,
    )  # fmt: skip
    return cycles, saved


def _python_layer_costs(layer: Layer, rows: Rows, stream: Stream, energy: Any, cycles: Any) -> None:
    """``layer_cycles`` and ``layer_energy`` of each row, into ``cycles`` and ``energy``."""
    operands = layer.dependent.shape[0]
    spm_reuse, dram_reuse = np.empty(operands, np.int64), np.empty(operands, np.int64)
    loops = layer.dependent.shape[1]
    room, again = np.empty((2, 2 * loops), np.int64), np.empty(2 * loops, np.bool_)
    stalls = np.empty(STALLS, np.int64)
    turns, noc, between = (
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
    )
    for p in range(len(energy)):
        saved = 0.0
        rf_passes, spm_passes = 1, 1
        for loop in range(rows.outer.shape[1]):
            rf_passes *= rows.inner[p, loop]
            spm_passes *= rows.outer[p, loop]
        reuse(layer.dependent, rows.inner[p], rows.spm_orders[p], spm_reuse)
        reuse(layer.dependent, rows.outer[p], rows.dram_orders[p], dram_reuse)
        passes = Passes(rf_passes, spm_passes, spm_reuse, dram_reuse)
        if layer.timed:
            walk = walk_of(
                layer.loops,
                rows.dram_orders[p],
                rows.outer[p],
                rows.spm_orders[p],
                rows.inner[p],
                room,
                again,
            )
            reduction = rows.reduction_cycles[p, layer.paths.written]
            times = Times(rows.compute[p], reduction, rows.dma_cycles[p], rows.into[p], rows.out[p])
            cycles[p] = timeline(walk, times, layer.paths, stalls)
        elif layer.streams:
            cycles[p], saved = streamed(layer, rows, stream, p, passes, turns, noc, between)
        else:
            cycles[p] = layer_cycles(
                rows.compute[p], passes, rows.noc_cycles[p],
                rows.reduction_cycles[p], rows.dma_cycles[p], layer.updated, rows.rereads[p], layer.read_network,
                layer.write_network, layer.networks, layer.buffers,
            )  # fmt: skip
        energy[p] = layer_energy(
            layer.operation_energy, layer.rf_energy, passes, layer.updated,
            layer.zero_initialised, rows.rf_tiles[p], rows.spm_tiles[p], rows.noc_energy[p], rows.spm_energy[p],
            rows.reduction_energy[p], rows.dma_energy[p], layer.doubled,
        ) - saved  # fmt: skip


reuse = compiled(_python_reuse)
layer_cycles = compiled_model.layer_cycles
streamed_pass_cycles, cycles_of_passes = compiled_model.streamed_pass_cycles, compiled_model.cycles_of_passes
streamed = compiled(_python_streamed)
walk_of, timeline = model.walk_compiled, model.timeline_compiled
layer_energy = compiled_model.layer_energy
_layer_costs = compiled(_python_layer_costs)
