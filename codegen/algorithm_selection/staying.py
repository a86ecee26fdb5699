"""Where maps that stay on the chip lie in the tensor buffer, which the output mover fills and the input mover reads."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from mapper.codegen.algorithm_selection.store_program import plain
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep, Region
from mapper.models.algorithm_selection.overlay.staying import map_words, staying


def staying_places(control: Control, words: int, banks: int, beside: Collection[str] = ()) -> dict[str, int]:
    """The first word of a bank of every map that stays in a tensor buffer of so many words: of those that the control
    sequence wants to stay, the ones that go from a layer to the next, neither of which runs ``beside`` the overlay, and
    that fit. Maps that are there at once lie at either end."""
    tensors: dict[int, str] = {}
    for at, (before, step) in enumerate(itertools.pairwise(control.steps), 1):
        both = isinstance(before, ConvolutionStep) and isinstance(step, ConvolutionStep)
        if both and before.output == step.input and not {before.name, step.name} & {*beside}:
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
