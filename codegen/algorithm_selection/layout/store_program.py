"""How maps come from DRAM into the second group of the output buffer, and back [Meng2021, sec. 3.3], and where
those lie there that stay on the chip, which the output mover puts there and the input mover reads."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import replace

from mapper.codegen.algorithm_selection.instruction import Engine, Move
from mapper.codegen.algorithm_selection.layout.path import counters, dram_path, map_path, plain_path
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep, Region
from mapper.models.algorithm_selection.control.walk import tensor
from mapper.models.algorithm_selection.overlay.staying import map_words, staying
from mapper.workloads.nest.layer_nest import Convolution


def plain(region: Region) -> bool:
    """Whether a tensor lies in DRAM as the 3-D tensor, position by position."""
    walk = region.walk
    if region.layout == "planes":
        return False
    size, one = (walk.height, walk.width), (1, 1)
    return walk == tensor(Convolution(1, walk.channels, walk.channels, size, one, one, one, ((0, 0), (0, 0))))


def address(region: Region, image: int) -> int:
    """Where an image begins in DRAM."""
    if region.pitch:
        return region.address + image * region.walk.height * region.walk.width * region.pitch
    return region.address + image * region.walk.rows * region.walk.columns


def store(region: Region, image: int, first: int, all_rows: int, half: int, zero: int = 0) -> Move:
    """A 3-D tensor that begins at row ``first`` of ``half`` of the tensor buffer, into DRAM as its readers want it."""
    order, lane = counters(region.walk)
    taken = map_path(region.walk, order, lane, first)
    put = dram_path(order, lane, address(region, image))
    return Move("tensor", "dram", taken, put, rows=(all_rows, 0), halves=(half, 0), zeros=(0, zero), waits=())


def restore(region: Region, image: int, all_rows: int, waits: tuple[Engine, ...], zero: int = 0) -> Move:
    """The 3-D tensor in the first half of the tensor buffer, of whatever layout it has in DRAM: padding is dropped, and
    what a layout holds more than once is written more than once."""
    order, lane = counters(region.walk)
    start = address(region, image)
    taken = (
        plain_path(region.walk, order, lane, start, region.apart)
        if plain(region)
        else dram_path(order, lane, start)
    )
    put = replace(map_path(region.walk, order, lane), lane=lane)
    return Move("dram", "tensor", taken, put, rows=(0, all_rows), zeros=(zero, 0), waits=waits)


def staying_places(control: Control, words: int, banks: int, beside: Collection[str] = ()) -> dict[str, int]:
    """The first word of a bank of every map that stays in a tensor buffer of so many words: of those that the control
    sequence wants to stay, the ones that go from a layer to the next, neither of which runs ``beside`` the overlay, and
    that fit. Maps that are there at once lie at either end."""
    tensors: dict[int, str] = {}
    for at, (before, step) in enumerate(itertools.pairwise(control.steps), 1):
        if not isinstance(before, ConvolutionStep) or not isinstance(step, ConvolutionStep):
            continue
        if before.output == step.input and not {before.name, step.name} & {*beside}:
            region = control.region(step.input)
            if region.on_chip and plain(region):
                tensors[at] = step.input
    matrices = {
        at: (positions(control.region(one)), control.region(one).walk.channels) for at, one in tensors.items()
    }
    found = staying(matrices, matrices, words // banks, banks)
    taken = {at: map_words(*matrices[at], banks) for at in found}
    depth = max((taken[at] + taken.get(at - 1, 0) for at in found), default=0)
    return {tensors[at]: (depth - taken[at]) * (at % 2) for at in sorted(found)}


def positions(region: Region) -> int:
    """Rows of a map in the tensor buffer: positions of all images."""
    return region.words // region.walk.channels
