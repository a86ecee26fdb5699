"""The numbers of pixels, filled in after the events: what every position made of the pixels that it read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mapper.models.pe_allocation.configuration.program import Configuration
from mapper.sim.pe_allocation.arithmetic import position_unit
from mapper.sim.pe_allocation.data import LEAST, Data, Integers

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
        outside = LEAST if layer.rule == "max" else 0
        tables = []
        for source in layer.sources:
            pixels = data.frames[at].reshape(-1, source.maps) if source.feed is None else made[source.feed]
            # The last two rows are those of the numbers -2 and -1.
            rows = (pixels, np.full((1, source.maps), outside), np.zeros((1, source.maps)))
            tables.append(np.concatenate(rows).astype(np.float64))
        wanted = layer.channels * layer.operands
        total = sum(source.maps for source in layer.sources)
        compute = position_unit(layer, data.layers[at])
        count, taps = windows[at][0].shape
        step = max(1, MOST_NUMBERS // (taps * max(wanted, total)))
        parts = []
        for first in range(0, count, step):
            read = [
                table[numbers[first : first + step]]
                for table, numbers in zip(tables, windows[at], strict=True)
            ]
            window = read[0] if len(read) == 1 else np.concatenate(read, axis=2)
            parts.append(compute(window if total == wanted else window[:, :, np.arange(wanted) % total]))
        made.append(np.concatenate(parts))
    return tuple(made)
