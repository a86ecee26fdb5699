"""Energy and cycles of one layer from its transfer counts [Dave2019, secs. 4.3.2 and 4.3.3].

The functions are plain arithmetic on integers, floats and small arrays, so that a search may compile them;
the numbers are those of this file whoever calls it. Arrays have one entry per operand, in operand order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any
"""A one-dimensional numpy array of integers, floats or flags, one entry per operand."""


class Passes(NamedTuple):
    """``rf``: RF passes in one SPM pass; ``spm``: SPM passes; ``spm_reuse``, ``dram_reuse``: passes an operand stays
    (Algorithm 1)."""

    rf: int
    spm: int
    spm_reuse: Array
    dram_reuse: Array


class Buffers(NamedTuple):
    """``rf``, ``spm``: whether a level has a second buffer, so that what moves to and from it moves beside the work;
    ``exposed``: whether PEs wait for a partial sum that leaves them although they have one."""

    rf: bool
    spm: bool
    exposed: bool


def spm_pass_cycles(
    compute: int, passes: Passes, noc_cycles: Array, reduction_cycles: Array, updated: Array, read_network: Array,
    write_network: Array, networks: int, buffers: Buffers,
) -> tuple[int, int]:  # fmt: skip
    """Cycles of one SPM pass, and those of the NoC in every RF pass of it."""
    rf_passes, spm_reuse, dram_reuse = passes.rf, passes.spm_reuse, passes.dram_reuse
    operands = len(noc_cycles)
    # An operand that stays through a whole SPM pass and the next one too moves only between SPM passes.
    update_every_pass = False
    for k in range(operands):
        stays = spm_reuse[k] == rf_passes and dram_reuse[k] > 1
        if buffers.exposed and updated[k] and not stays and spm_reuse[k] == 1:
            update_every_pass = True

    # One SPM pass: RF passes overlap with the NoC, unless there is one buffer or PEs wait for a partial sum in each.
    serial = update_every_pass or not buffers.rf
    hidden = 0 if serial else compute
    cycles = 0 if update_every_pass else compute * rf_passes
    exposes_work = buffers.exposed
    every_pass_noc = 0
    every = 0
    while True:
        following = 0
        for k in range(operands):
            stays = spm_reuse[k] == rf_passes and dram_reuse[k] > 1
            if not stays and spm_reuse[k] > every and (following == 0 or spm_reuse[k] < following):
                following = spm_reuse[k]
        if following == 0:
            break
        every = following
        load = 0
        for network in range(networks):
            busy = 0
            for k in range(operands):
                stays = spm_reuse[k] == rf_passes and dram_reuse[k] > 1
                uses = read_network[k] == network or write_network[k] == network
                if not stays and uses and spm_reuse[k] <= every:
                    busy += noc_cycles[k]
            load = max(load, busy)
        if every == 1:
            every_pass_noc = load
        if load > hidden:
            cycles += (load - hidden) * (rf_passes // every)
            hidden = load
        for k in range(operands):
            stays = spm_reuse[k] == rf_passes and dram_reuse[k] > 1
            if updated[k] and not stays and spm_reuse[k] == every:
                # Partial sums leave the array before it goes on: the pass's work is not hidden.
                cycles += ((compute if exposes_work else 0) + reduction_cycles[k]) * (rf_passes // every)
                exposes_work = False
    return cycles, every_pass_noc


def streamed_pass_cycles(
    compute: int, passes: Passes, noc_cycles: Array, following: Array, turns: Array, waited_for: Array,
    read_network: Array, write_network: Array, networks: int, between: Array,
) -> int:  # fmt: skip
    """Cycles of one SPM pass where memories are filled as streams: of ``turns`` tiles the first takes ``noc_cycles`` on
    the network, those that follow it ``following``.

    Each RF pass takes the longer of its work and what comes for it, or their sum if PEs wait for any of that. What
    comes in it depends on the longest interval, of those in which tiles change or come whole, that ends with it.
    ``between``: written into; by how much the first pass is longer in which an operand's tile comes that stays through
    SPM passes, and with it all those that stay no longer.
    """
    operands = len(noc_cycles)
    cycles, taken, every = compute * passes.rf, compute, 0
    while True:
        interval = 0
        for k in range(operands):
            if passes.spm_reuse[k] < passes.rf or passes.dram_reuse[k] == 1:
                for whole in range(2):
                    own = passes.spm_reuse[k] * (turns[k] if whole == 1 else 1)
                    if own > every and (interval == 0 or own < interval):
                        interval = own
        if interval == 0:
            break
        every = interval
        load, waits = 0, False
        for network in range(networks):
            busy = 0
            for k in range(operands):
                stays = passes.spm_reuse[k] == passes.rf and passes.dram_reuse[k] > 1
                if not stays and passes.spm_reuse[k] <= every:
                    waits = waits or waited_for[k]
                    if read_network[k] == network or write_network[k] == network:
                        busy += noc_cycles[k] if passes.spm_reuse[k] * turns[k] <= every else following[k]
            load = max(load, busy)
        longer = compute + load if waits else max(compute, load)
        cycles += (longer - taken) * (passes.rf // every)
        taken = longer
    for last in range(operands):
        between[last] = 0
        if passes.spm_reuse[last] == passes.rf and passes.dram_reuse[last] > 1:
            load, waits = 0, False
            for network in range(networks):
                busy = 0
                for k in range(operands):
                    stays = passes.spm_reuse[k] == passes.rf and passes.dram_reuse[k] > 1
                    if not stays or passes.dram_reuse[k] <= passes.dram_reuse[last]:
                        waits = waits or waited_for[k]
                        if read_network[k] == network or write_network[k] == network:
                            busy += noc_cycles[k]
                load = max(load, busy)
            between[last] = (compute + load if waits else max(compute, load)) - taken
    return cycles


def layer_cycles(
    compute: int, passes: Passes, noc_cycles: Array, reduction_cycles: Array, dma_cycles: Array, updated: Array,
    rereads: Array, read_network: Array, write_network: Array, networks: int, buffers: Buffers,
) -> int:  # fmt: skip
    """Cycles of the layer.

    ``compute``: cycles of one RF pass; ``noc_cycles``, ``reduction_cycles``, ``dma_cycles``: of one tile; ``rereads``:
    whether DMA brings an evicted tile back while another leaves.
    """
    cycles, every_pass_noc = spm_pass_cycles(
        compute,
        passes,
        noc_cycles,
        reduction_cycles,
        updated,
        read_network,
        write_network,
        networks,
        buffers,
    )
    # What every RF pass hides of the transfers around it.
    hidden = max(every_pass_noc, compute if buffers.rf and not buffers.exposed else 0)
    return cycles_of_passes(
        cycles,
        hidden,
        compute,
        passes,
        noc_cycles,
        reduction_cycles,
        dma_cycles,
        updated,
        rereads,
        buffers,
    )


def cycles_of_passes(
    cycles: int, hidden: int, compute: int, passes: Passes, between: Array, reduction_cycles: Array,
    dma_cycles: Array, updated: Array, rereads: Array, buffers: Buffers,
) -> int:  # fmt: skip
    """Cycles of the layer, whose SPM passes take ``cycles`` each without DMA. A tile that comes between them takes
    ``between``, of which ``hidden`` are hidden."""
    operands = len(between)
    rf_passes, spm_passes, spm_reuse, dram_reuse = passes.rf, passes.spm, passes.spm_reuse, passes.dram_reuse
    # All SPM passes: DMA overlaps with processing through double-buffering; with one buffer they take turns.
    every_pass_dma = 0
    for k in range(operands):
        if dram_reuse[k] == 1:
            every_pass_dma += dma_cycles[k] * (2 if rereads[k] else 1)
    usual = max(every_pass_dma, cycles) if buffers.spm else every_pass_dma + cycles
    total = usual * spm_passes
    charged = 0
    every = 1
    while True:
        following = 0
        for k in range(operands):
            if dram_reuse[k] > every and (following == 0 or dram_reuse[k] < following):
                following = dram_reuse[k]
        if following == 0:
            break
        every = following
        # Where tiles change that stay otherwise: fetched in the pass before; partial sums leave in the next.
        fetched, returned = every_pass_dma, every_pass_dma
        last, first = cycles, cycles
        exposes_work = buffers.exposed
        for k in range(operands):
            if 1 < dram_reuse[k] <= every:
                fetched += dma_cycles[k]
                if updated[k]:
                    returned += dma_cycles[k]
                if spm_reuse[k] == rf_passes:
                    first = max(first, cycles + between[k] - hidden)
                    if updated[k]:
                        last += reduction_cycles[k] + (compute if exposes_work else 0)
                        exposes_work = False
        before = max(fetched, last) if buffers.spm else fetched + last
        after = max(returned, first) if buffers.spm else returned + first
        overhead = max(0, before - usual) + max(0, after - usual)
        total += (overhead - charged) * (spm_passes // every)
        charged = overhead
    return total


def rf_transfers(
    rf_passes: int,
    spm_passes: int,
    spm_reuse: int,
    dram_reuse: int,
    updated: bool,
    zero_initialised: bool,
    tiles: int,
    doubled: bool,
) -> tuple[int, int]:
    """Times one operand's tile crosses between scratch-pad and PEs in the layer, and its reductions.

    ``tiles``: distinct RF tiles of the operand. For a partial sum both directions count.
    """
    stays = spm_reuse == rf_passes and dram_reuse > 1
    visits = spm_passes // dram_reuse if stays else (rf_passes // spm_reuse) * spm_passes
    if not updated:
        return visits, 0
    if not zero_initialised:
        return 2 * visits, visits
    if doubled:
        return (visits if stays else 2 * visits), visits
    return 2 * visits - tiles, visits


def dram_transfers(
    spm_passes: int, dram_reuse: int, updated: bool, zero_initialised: bool, tiles: int
) -> int:
    """Times one operand's scratch-pad tile crosses to or from DRAM; ``tiles``: its distinct tiles."""
    visits = spm_passes // dram_reuse
    if not updated:
        return visits
    return 2 * visits - tiles if zero_initialised else 2 * visits


def layer_energy(
    operation_energy: Any, rf_energy: Any, passes: Passes, updated: Array, zero_initialised: Array, rf_tiles: Array,
    spm_tiles: Array, noc_energy: Array, spm_energy: Array, reduction_energy: Array, dma_energy: Array, doubled: bool,
) -> float:  # fmt: skip
    """Energy of the layer in the steps of its arguments, which are whole numbers (also as floating-point numbers,
    which hold them exactly up to 2^53); tile energies are per transfer."""
    rf_passes, spm_passes, spm_reuse, dram_reuse = passes.rf, passes.spm, passes.spm_reuse, passes.dram_reuse
    one_spm_pass = 0
    dram = 0
    for k in range(len(noc_energy)):
        stays = spm_reuse[k] == rf_passes and dram_reuse[k] > 1
        transfer = noc_energy[k] + spm_energy[k]
        moved = dma_energy[k] * (spm_passes // dram_reuse[k])
        if updated[k]:
            moved += dma_energy[k] * (
                dram_transfers(spm_passes, dram_reuse[k], True, zero_initialised[k], spm_tiles[k])
                - spm_passes // dram_reuse[k]
            )
        if not doubled or (stays and updated[k] and not zero_initialised[k]):
            crossings, reductions = rf_transfers(
                rf_passes,
                spm_passes,
                spm_reuse[k],
                dram_reuse[k],
                updated[k],
                zero_initialised[k],
                rf_tiles[k],
                doubled,
            )
            moved += transfer * crossings + reduction_energy[k] * reductions
        elif stays:
            moved += (transfer + reduction_energy[k]) * (spm_passes // dram_reuse[k])
        else:
            if updated[k]:
                transfer = 2 * transfer + reduction_energy[k]
            one_spm_pass += transfer * (rf_passes // spm_reuse[k])
        dram += moved
    energy: float = operation_energy + rf_energy + one_spm_pass * spm_passes + dram
    return energy


def whole_pj(steps: int, per_pj: int) -> int:
    """An energy in steps, ``per_pj`` to the pJ, rounded to whole pJ; a half goes to the even one."""
    pj = steps // per_pj
    left = 2 * (steps - pj * per_pj)
    return pj + 1 if left > per_pj or (left == per_pj and pj % 2 == 1) else pj
