"""The numbers of pixels, filled in after the events: what every position made of the pixels that it read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mapper.arch.processing_element import ProcessingElement
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram
from mapper.models.pe_allocation.word.program import LayerWords
from mapper.sim.pe_allocation.arithmetic import position_unit
from mapper.sim.pe_allocation.data import Data, Integers
from mapper.sim.pe_allocation.line_buffer import OUTSIDE
from mapper.sim.pe_allocation.violation import PROGRAM, Violation
from mapper.sim.pe_allocation.word.execution import Reading, execute

MOST_NUMBERS = 1 << 21
"""Numbers of windows that are held at once."""


def results(
    configuration: Configuration, data: Data, windows: Sequence[Sequence[Integers]]
) -> tuple[Integers, ...]:
    """Every layer's results, (frames * positions) x maps.

    ``windows``: for each layer and source the pixels that every position read, (frames * positions) x taps, each the
    number of a result of the source, or ``OUTSIDE`` or ``EMPTY``.
    """
    made: list[Integers] = []
    for at, layer in enumerate(configuration.layers):
        outside = -(1 << (layer.arithmetic.bits - 1)) if layer.rule == "max" else 0
        wanted = layer.channels * layer.operands
        reading = _reading(layer, at, data, made)
        tables = []
        for pixels, columns in reading:
            # The last two rows are those of the numbers -2 and -1.
            rows = (pixels, np.full((1, len(columns)), outside), np.zeros((1, len(columns))))
            tables.append((np.concatenate(rows).astype(np.float64), columns))
        compute = position_unit(layer, data.layers[at])
        count, taps = windows[at][0].shape
        step = max(1, MOST_NUMBERS // (taps * wanted))
        parts = []
        for first in range(0, count, step):
            chosen = slice(first, first + step)
            window = np.empty((len(windows[at][0][chosen]), taps, wanted))
            for (table, columns), numbers in zip(tables, windows[at], strict=True):
                window[:, :, columns] = table[numbers[chosen]]
            inside = (windows[at][0][chosen] != OUTSIDE).sum(axis=1)
            parts.append(compute(window, inside))
        made.append(np.concatenate(parts))
    return tuple(made)


def _reading(
    layer: LayerProgram, at: int, data: Data, made: Sequence[Integers]
) -> list[tuple[Integers, Integers]]:
    """Of each source its pixels' words, and which of the operands' maps they are."""
    if data.processor is None:
        return _passed_on(layer, at, data, made)
    return data.processor.reading(at, made)


def _passed_on(
    layer: LayerProgram, at: int, data: Data, made: Sequence[Integers]
) -> list[tuple[Integers, Integers]]:
    """Of each source its pixels' words, and which of the operands' maps they are: all maps that the layer reads, one
    after another, from the first again if it reads more than there are."""
    total = sum(source.maps for source in layer.sources)
    which = np.arange(layer.channels * layer.operands) % total
    found, first = [], 0
    for source in layer.sources:
        pixels = data.frames[at].reshape(-1, source.maps) if source.feed is None else made[source.feed]
        columns = np.flatnonzero((which >= first) & (which < first + source.maps))
        found.append((pixels[:, which[columns] - first], columns))
        first += source.maps
    return found


def executed(
    configuration: Configuration,
    words: Sequence[LayerWords],
    data: Data,
    windows: Sequence[Sequence[Integers]],
    begun: Sequence[Sequence[int]],
    pe: ProcessingElement,
) -> tuple[tuple[Integers, ...], tuple[Violation, ...]]:
    """The same from programs executed word by word on positions that begin in the cycles ``begun``; and what goes wrong
    in a PE, or comes later than its program says."""
    made: list[Integers] = []
    found = []
    for at, (layer, own) in enumerate(zip(configuration.layers, words, strict=True)):
        run = execute(
            layer, own, data.layers[at], Reading(windows[at], _reading(layer, at, data, made)), begun[at], pe
        )
        if run.fault is not None:
            why, number, cycle = run.fault
            found.append(Violation(PROGRAM, f"{layer.name}, PE {number}: {why}", cycle, 1, 1))
        elif run.late != own.final - 1 or run.late > layer.drain:
            size = max(abs(run.late - own.final + 1), run.late - layer.drain)
            found.append(Violation(PROGRAM, f"{layer.name}: late results", 0, 1, size))
        made.append(run.results)
    return tuple(made), tuple(found)
