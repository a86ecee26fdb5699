"""The shapes an array may have."""

from __future__ import annotations

import numpy as np

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.whole_cost import Shapes
from mapper.models.algorithm_selection.resource import widest


def shapes(problem: SelectionProblem) -> tuple[Shapes, Shapes]:
    """Rows and columns of every array that the problem allows, rows first."""
    if problem.array is not None:
        given = [problem.array] if problem.allows(problem.array) else []
        sides = np.array(given, np.int64).reshape(-1, 2)
        return sides[:, 0], sides[:, 1]
    most = problem.most_pes
    counts = np.array([widest(rows, problem.machine, most) for rows in range(1, most + 1)], np.int64)
    rows = np.repeat(np.arange(1, most + 1), counts)
    ends = np.cumsum(counts)
    columns = np.arange(ends[-1]) - np.repeat(ends - counts, counts) + 1
    return rows.astype(np.int64), columns.astype(np.int64)


def largest(problem: SelectionProblem) -> tuple[int, int] | None:
    """The array of most PEs that the problem allows, of equal ones the nearest to a square; None if it allows none."""
    rows, columns = shapes(problem)
    if not len(rows):
        return None
    at = np.lexsort((rows, np.abs(rows - columns), -rows * columns))[0]
    return int(rows[at]), int(columns[at])
