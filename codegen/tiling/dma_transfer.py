"""The DMA transfers of a mapping, in the order in which its scratch-pad passes need them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from mapper.arch.dataflow import DataflowMachine
from mapper.codegen.tiling.address import Dim, box_of, origin_of, pitches_of, step_of, touched_of
from mapper.codegen.tiling.tile import Tiles
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.nest.loop_nest import Operand

Action = Literal["LOAD", "STORE", "CLEAR"]


@dataclass(frozen=True)
class Transfer:
    """One DMA transfer in scratch-pad pass ``spm_pass``, before its work (LOAD, or CLEAR of a tile that begins at zero)
    or after the work of the pass before (STORE), into or out of half ``buffer`` of the scratch-pad."""

    spm_pass: int
    action: Action
    operand: int
    buffer: int
    dram: int
    spm: int
    bytes: int
    bursts: int
    dims: tuple[Dim, ...]


def own_digits(operand: Operand, digits: Mapping[str, int]) -> tuple[int, ...]:
    """The digits that name an operand's tile."""
    return tuple(digits[loop] for loop in sorted(operand.loops))


def dma_transfers(tiles: Tiles, machine: DataflowMachine, mapping: TilingMapping) -> list[Transfer]:
    """In the order in which passes need them: of each pass first the result that leaves, then what comes."""
    found: list[Transfer] = []
    passes = digits_of(mapping.dram_order, tiles.dram)
    bases, half = _bases(tiles, machine), half_words(tiles, machine)
    halves = 2 if machine.spm.double_buffered else 1
    turn = sorted(range(len(tiles.buffers)), key=lambda k: k != tiles.written)
    held: list[tuple[int, ...] | None] = [None] * len(turn)
    visits = [0] * len(turn)
    seen: set[tuple[int, ...]] = set()

    def transfer(at: int, action: Action, k: int, tile: tuple[int, ...]) -> Transfer:
        buffer = (visits[k] - 1) % halves
        return _transfer(tiles, machine, k, (at, action, buffer, bases[k] + buffer * half), tile)

    for at, digits in enumerate([*passes, None]):
        for k in turn:
            operand = tiles.nest.operands[k]
            tile = None if digits is None else own_digits(operand, digits)
            before = held[k]
            if tile == before:
                continue
            if k == tiles.written and before is not None:
                found.append(transfer(at, "STORE", k, before))
            held[k] = tile
            if tile is None:
                continue
            visits[k] += 1
            fresh = operand.is_updated and operand.zero_initialised and tile not in seen
            if k == tiles.written:
                seen.add(tile)
            found.append(transfer(at, "CLEAR" if fresh or operand.access == "write" else "LOAD", k, tile))
    return found


def _transfer(
    tiles: Tiles, machine: DataflowMachine, k: int, place: tuple[int, Action, int, int], tile: tuple[int, ...]
) -> Transfer:
    at, action, buffer, base = place
    buffered = tiles.buffers[k]
    operand, shape = buffered.operand, buffered.tensor.shape
    moved = sum(
        digit * tiles.spm_tile[loop] * step_of(operand, pitches_of(shape), loop)
        for loop, digit in zip(sorted(operand.loops), tile, strict=True)
    )
    larger, smaller = pitches_of(shape), pitches_of(buffered.spm_shape)
    box = box_of(operand, tiles.spm_tile, larger, smaller)
    words = math.prod(count for count, _, _ in box)
    if action == "STORE":
        origins = (
            origin_of(operand, buffered.tensor.low, shape),
            origin_of(operand, buffered.spm_low, buffered.spm_shape),
        )
        dims = touched_of(operand, tiles.spm_tile, larger, smaller)
    else:
        lows = zip(buffered.spm_low, buffered.tensor.low, larger, strict=True)
        origins, dims = (sum((least - low) * pitch for least, low, pitch in lows), 0), box
    bursts = _bursts(box, operand.extents if machine.rules.stored_extent == "declared" else shape)
    size = 0 if action == "CLEAR" else words * machine.word_bytes
    return Transfer(
        at,
        action,
        k,
        buffer,
        origins[0] + moved,
        base + origins[1],
        size,
        0 if action == "CLEAR" else bursts,
        dims,
    )


def _bursts(box: Sequence[Dim], stored: Sequence[int]) -> int:
    """Runs of consecutive addresses of a box in a tensor of ``stored`` words."""
    bursts, contiguous = 1, True
    for (count, _, _), extent in zip(reversed(box), reversed(stored), strict=True):
        bursts *= 1 if contiguous else count
        contiguous = contiguous and count == extent
    return bursts


def half_words(tiles: Tiles, machine: DataflowMachine) -> int:
    """Words of the visible scratch-pad, or what the tiles take if that is more."""
    bank = max(1, machine.spm.bank_bytes // machine.word_bytes)
    taken = sum(-(-math.prod(buffered.spm_shape) // bank) * bank for buffered in tiles.buffers)
    return max(taken, machine.spm.visible_banks * bank)


def _bases(tiles: Tiles, machine: DataflowMachine) -> list[int]:
    """Where each operand's banks begin in a half of the scratch-pad."""
    bank = max(1, machine.spm.bank_bytes // machine.word_bytes)
    bases, base = [], 0
    for buffered in tiles.buffers:
        bases.append(base)
        base += -(-math.prod(buffered.spm_shape) // bank) * bank
    return bases


def digits_of(order: Sequence[str], counts: Mapping[str, int]) -> list[dict[str, int]]:
    """The digits of every pass, the last loop of ``order`` fastest."""
    return [
        dict(zip(order, values, strict=True)) for values in product(*(range(counts[loop]) for loop in order))
    ]
