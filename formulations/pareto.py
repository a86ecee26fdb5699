"""The Pareto set of vectors: the rows of a table that no other row dominates, where less is better."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.compiled import compiled

Rows = npt.NDArray[np.int64]


def _undominated(rows: Rows) -> Any:
    """Flags of the rows, in lexicographic order and all different, that no earlier one is at most as large as."""
    count, width = rows.shape
    keep = np.zeros(count, dtype=np.bool_)
    kept = np.empty(count, dtype=np.int64)
    size = 0
    for at in range(count):
        beaten = False
        for place in range(size):
            other = kept[place]
            smaller = True
            for column in range(width):
                if rows[other, column] > rows[at, column]:
                    smaller = False
                    break
            if smaller:
                beaten = True
                # Who beats one row often beats the next ones: it is asked sooner from now on.
                ahead = place // 2
                kept[place] = kept[ahead]
                kept[ahead] = other
                break
        if not beaten:
            keep[at] = True
            kept[size] = at
            size += 1
    return keep


undominated: Any = compiled(_undominated)


def pareto(rows: Rows) -> npt.NDArray[np.int64]:
    """The numbers of the rows that no other row is at most as large as in every column, in lexicographic order of the
    rows; of equal rows the first."""
    if len(rows) == 0:
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    order = order[new]
    keep = undominated(np.ascontiguousarray(rows[order]))
    found: npt.NDArray[np.int64] = order[keep]
    return found
