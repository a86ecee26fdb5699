"""What a PE makes of a rule's number before it hands it on: scaled, shifted, limited, looked up."""

from __future__ import annotations

from mapper.models.pe_allocation.configuration.layer_data import LayerData
from mapper.models.pe_allocation.configuration.program import LayerProgram
from mapper.models.pe_allocation.word.operation import Fifo
from mapper.models.pe_allocation.word.register_file import Following, RegisterFile


def rounding(layer: LayerProgram) -> int:
    """Half of what a shift to the right cuts off."""
    return 1 << layer.shift >> 1 if layer.shift > 0 else 0


def least_of(layer: LayerProgram) -> int:
    """The least result."""
    is_rectified = layer.rectified or layer.rule == "rectify"
    return max(0, layer.arithmetic.least) if is_rectified else layer.arithmetic.least


def word_range(layer: LayerProgram) -> tuple[int, int]:
    """The least and the largest number of a pixel."""
    half = 1 << (layer.arithmetic.bits - 1)
    return -half, half - 1


def following(
    layer: LayerProgram,
    maps: tuple[int, ...],
    data: LayerData,
    file: RegisterFile,
    within: tuple[int, int],
    rounded: bool = False,
) -> list[Following]:
    """The operations after a rule whose numbers lie ``within`` these limits; ``rounded`` ones have ``rounding`` in them
    already. Scales and offsets of the ``maps`` stand in cyclic FIFOs."""
    steps: list[Following] = []
    low, high = within
    half = 0 if rounded else rounding(layer)
    if layer.arithmetic.scaled:
        scale, offset = tuple(data.scale[list(maps)].tolist()), tuple(data.offset[list(maps)].tolist())
        steps.append(("mul", file.fifo(Fifo(len(maps), True, scale))))
        steps.append(("add", file.fifo(Fifo(len(maps), True, tuple(one + half for one in offset)))))
        largest = max(abs(low), abs(high)) * max(map(abs, scale)) + max(map(abs, offset)) + half
        low, high = -largest, largest
    elif half:
        steps.append(("add", file.constant(half)))
        low, high = low + half, high + half
    file.holds(max(abs(low), abs(high)))
    if layer.shift > 0:
        steps.append(("asr", file.constant(layer.shift)))
        low, high = low >> layer.shift, high >> layer.shift
    elif layer.shift < 0:
        steps.append(("asl", file.constant(-layer.shift)))
        low, high = low << -layer.shift, high << -layer.shift
        file.holds(max(abs(low), abs(high)))
    if low < least_of(layer):
        steps.append(("max", file.constant(least_of(layer))))
    if high > layer.arithmetic.most:
        steps.append(("min", file.constant(layer.arithmetic.most)))
    if layer.arithmetic.tabled:
        file.table = tuple(data.table.tolist())
        steps.append(("tab", None))
    return steps
