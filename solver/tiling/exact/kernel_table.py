"""The tables of a problem as the compiled kernels take them: one named tuple of arrays and numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling import tile
from mapper.models.tiling.cost import buffers_of
from mapper.models.tiling.order import reuse_ends_alone
from mapper.models.tiling.physical import loops_of, paths_of
from mapper.models.tiling.timeline import Loops, Paths
from mapper.models.tiling.transfer import Buffers
from mapper.solver.tiling.exact.float_price import just_above
from mapper.solver.tiling.exact.search_table import SearchTable
from mapper.solver.tiling.stream.table import StreamTable, stream_table

Array = Any
"""A numpy array; the shapes are those of Lattice and SearchTable."""

EDP, ENERGY, LATENCY = 0, 1, 2
OBJECTIVE_CODE = {"edp": EDP, "energy": ENERGY, "latency": LATENCY}


class KernelTable(NamedTuple):
    """What the kernels look up. ``alone``: an order reuses at most one operand; ``dominance``: so the rules
    of dominance hold.

    Energies are floats in steps of 1/``per_pj`` pJ: ``noc_unit`` and ``reduction_unit`` of a word on the NoC and of
    one addition. Where ``whole``, they are whole numbers, so that sums and products are exact below 2^53; else the
    machine's decimals have more digits than that, and a step is a pJ. ``least_delivered`` (K, L): the least words of
    an operand that the NoC brings to PEs, over the splits of an array tile.

    Where cycles are those of a timeline (``timed``), ``noc_cycles`` are of operands into the PEs but of the result out
    of them, ``into`` (K, L) of all into them; rows of orders are loops, outer to inner.

    Where the array tells its ``axes`` apart, ``has_room`` (L,) says which tiles can be in space.

    No mapping may take more than ``most_cycles``; what takes at least more than ``reach_cycles``, a float, surely does.
    """

    objective: int
    most_cycles: int
    reach_cycles: float
    rounded: bool
    whole: bool
    per_pj: int
    doubled: bool
    alone: bool
    dominance: bool
    buffers: Buffers
    mesh: bool
    systolic: bool
    operation_energy: float
    rf_energy: float
    noc_unit: float
    reduction_unit: float
    iteration_cycles: int
    pes: int
    axes: bool
    has_room: Array
    least_pes: int
    rf_capacity: int
    least_rf: int
    networks: int
    full: int
    divisors: Array
    counts: Array
    strides: Array
    quotients: Array
    all_product: Array
    own_product: Array
    words: Array
    spatial_usable: Array
    rf_usable: Array
    spm_usable: Array
    spm_tile_usable: Array
    noc_cycles: Array
    least_delivered: Array
    spm_energy: Array
    dma_cycles: Array
    dma_energy: Array
    updated: Array
    writes: Array
    zero: Array
    read_network: Array
    write_network: Array
    spm_start: Array
    spm_masks: Array
    dram_start: Array
    dram_masks: Array
    timed: bool
    paths: Paths
    into: Array
    loops: Loops
    spm_alike: Array
    spm_rows: Array
    dram_alike: Array
    dram_rows: Array
    streams: StreamTable


def kernel_table(problem: TilingProblem, table: SearchTable) -> KernelTable:
    """The tables of ``problem`` for the kernels."""
    nest, machine, lattice = problem.nest, problem.machine, table.lattice
    read, write, _ = tile.networks_of(nest, machine)
    prices, timed = table.prices, machine.rules.timing == "timeline"
    paths = paths_of(nest, machine)
    return KernelTable(
        objective=OBJECTIVE_CODE[problem.objective],
        most_cycles=problem.most_cycles,
        reach_cycles=just_above(problem.most_cycles),
        rounded=machine.rules.energy == "rounded",
        whole=prices.whole,
        per_pj=prices.per_pj,
        doubled=machine.rules.partial_sums == "doubled",
        alone=reuse_ends_alone(nest),
        dominance=table.dominance,
        buffers=Buffers(paths.ahead_of_rf, paths.ahead_of_spm, exposed=False)
        if timed
        else buffers_of(machine),
        mesh=machine.noc.reduction == "mesh",
        systolic=machine.noc.reduction == "systolic",
        operation_energy=prices.operations,
        rf_energy=prices.rf_accesses,
        noc_unit=prices.noc,
        reduction_unit=prices.addition,
        iteration_cycles=tile.iteration_cycles(nest, machine),
        pes=machine.pes,
        axes=machine.rules.array_axes,
        has_room=table.has_room,
        least_pes=table.least_pes,
        rf_capacity=machine.rf_words,
        least_rf=table.least_rf,
        networks=len(machine.noc.networks),
        full=lattice.size - 1,
        divisors=lattice.divisors,
        counts=lattice.counts,
        strides=lattice.strides,
        quotients=lattice.quotients,
        all_product=lattice.all_product,
        own_product=lattice.own_product,
        words=lattice.words,
        spatial_usable=table.usable["spatial"],
        rf_usable=table.usable["rf"],
        spm_usable=table.usable["spm"],
        spm_tile_usable=table.spm_tile_usable,
        noc_cycles=table.noc_cycles,
        least_delivered=table.least_delivered,
        spm_energy=table.spm_energy,
        dma_cycles=table.dma_cycles,
        dma_energy=table.dma_energy,
        updated=np.asarray([op.is_updated for op in nest.operands]),
        writes=np.asarray([op.writes for op in nest.operands]),
        zero=np.asarray([op.zero_initialised for op in nest.operands]),
        read_network=np.asarray(read),
        write_network=np.asarray(write),
        spm_start=table.orders["spm"].start,
        spm_masks=table.orders["spm"].masks,
        dram_start=table.orders["dram"].start,
        dram_masks=table.orders["dram"].masks,
        timed=timed,
        paths=paths,
        into=table.into,
        loops=loops_of(nest),
        spm_alike=table.orders["spm"].alike,
        spm_rows=_rows(nest.loops, table.orders["spm"].orders),
        dram_alike=table.orders["dram"].alike,
        dram_rows=_rows(nest.loops, table.orders["dram"].orders),
        streams=stream_table(problem, table.fresh, table.orders["spm"].ends),
    )


def _rows(loops: tuple[str, ...], orders: tuple[tuple[str, ...], ...]) -> Array:
    places = [[loops.index(loop) for loop in order] for order in orders]
    return np.asarray(places, dtype=np.int64).reshape(len(orders), len(loops))
