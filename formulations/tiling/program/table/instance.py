"""The numbers of one instance of the tiling program: columns of its two tables, limits, and units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.counting import LARGEST, SAFE, Counting
from mapper.formulations.tiling.program.energy import LARGEST_ENERGY, CostsTooLargeError
from mapper.formulations.tiling.program.lattice import Integers
from mapper.formulations.tiling.program.mode import WalkingMode
from mapper.formulations.tiling.program.table.reduction import Reduction
from mapper.formulations.tiling.program.table.tables import TilingTables
from mapper.models.tiling.largest import largest_cycles

LARGEST_CYCLES = 1 << 56
"""Sums of a few such numbers of cycles stay within CP-SAT's integers."""

Columns = dict[str, Integers]


@dataclass(frozen=True)
class TilingInstance:
    """Columns by name, one entry per row of the scratch-pad's and the array's domain.

    ``reuse_cases`` are the cases of (walk, operands reused at DRAM) among the scratch-pad rows. Limits hold
    for every mapping not worse than the incumbent: ``energy_limit`` in units, ``cycles_limit``.
    """

    tables: TilingTables
    reduction: Reduction
    outer: Columns
    inner: Columns
    reuse_cases: tuple[tuple[WalkingMode, frozenset[int]], ...]
    energy_limit: int
    cycles_limit: int
    counting: Counting

    @classmethod
    def of(cls, tables: TilingTables, reduction: Reduction) -> TilingInstance:
        """The numbers of what ``reduction`` leaves of ``tables``.

        Raises: CostsTooLargeError if that can take too many cycles.
        """
        problem = tables.problem
        terms = max(len(mode.layers) + len(mode.stationary) for mode in tables.modes)
        inner = _inner_columns(tables, reduction, terms)
        energy_limit, cycles_limit = _limits(tables, reduction)
        counting = Counting.of(problem, tables.energies, energy_limit, cycles_limit)
        outer, reuse_cases = _outer_columns(tables, reduction, terms)
        instance = cls(tables, reduction, outer, inner, reuse_cases, energy_limit, cycles_limit, counting)
        floors = np.floor(np.minimum(reduction.outer.floor * counting.scale, float(LARGEST)) * (1 - SAFE))
        outer["floor"] = np.maximum(0, floors).astype(np.int64)
        return instance

    @property
    def problem(self) -> TilingProblem:
        return self.tables.problem

    @property
    def terms(self) -> int:
        """Terms in which a mapping's cost is a product of both rows' numbers."""
        return sum(name.startswith("repeats_") for name in self.outer)


def _outer_columns(
    tables: TilingTables, reduction: Reduction, terms: int
) -> tuple[Columns, tuple[tuple[WalkingMode, frozenset[int]], ...]]:
    rows = reduction.outer
    table = tables.outer.take(rows.row)
    largest = np.array([axis.largest for axis in tables.lattice.axes], dtype=np.int64).reshape(-1, 1)
    at_dram = largest - tables.lattice.exponents[:, table.point]
    factors = np.zeros((terms, len(rows.row)), dtype=np.int64)
    for mode in np.unique(rows.mode):
        here = np.flatnonzero(rows.mode == mode)
        found = tables.outer_repeats(rows.row[here], int(mode))
        factors[: len(found), here] = found
    cases = [(int(mode), tables.reused(int(row))) for row, mode in zip(rows.row, rows.mode, strict=True)]
    distinct = list(dict.fromkeys(cases))
    columns: Columns = {
        "walk": rows.mode,
        "reuse_case": np.array([distinct.index(case) for case in cases], dtype=np.int64),
        "energy": table.energy,
        "passes": table.passes,
        "always": table.always,
    }
    columns |= {f"dram_{place}": row for place, row in enumerate(at_dram)}
    columns |= {f"repeats_{t}": row for t, row in enumerate(factors)}
    for name in ("changes", "fetched", "returned"):
        columns |= {f"{name}_{level}": row for level, row in enumerate(getattr(table, name))}
    return columns, tuple((tables.modes[mode], reused) for mode, reused in distinct)


def _inner_columns(tables: TilingTables, reduction: Reduction, terms: int) -> Columns:
    lattice = tables.lattice
    parts: list[dict[str, Any]] = []
    for rows in reduction.inner:
        count = len(rows.tiles.point)
        costs = rows.costs
        part: dict[str, Any] = {
            "walk": np.full(count, rows.mode),
            "energy": costs.energy,
            "cycles": costs.cycles,
        }
        for place, _ in enumerate(lattice.axes):
            part[f"rf_{place}"] = lattice.exponents[place, rows.tiles.rf]
            part[f"spatial_{place}"] = lattice.exponents[place, rows.tiles.point - rows.tiles.rf]
        for t in range(terms):
            given = t < len(costs.energy_slope)
            part[f"energy_slope_{t}"] = costs.energy_slope[t] if given else np.zeros(count)
            part[f"cycles_slope_{t}"] = costs.cycles_slope[t] if given else np.zeros(count)
        for level in range(tables.levels):
            part[f"first_{level}"], part[f"last_{level}"] = costs.first[level], costs.last[level]
        parts.append(part)
    if not parts:
        names = [
            "walk",
            "energy",
            "cycles",
            *(f"{level}_{a}" for level in ("rf", "spatial") for a in range(len(lattice.axes))),
        ]
        names += [f"{kind}_slope_{t}" for kind in ("energy", "cycles") for t in range(terms)]
        names += [f"{kind}_{level}" for kind in ("first", "last") for level in range(tables.levels)]
        return {name: np.zeros(0, dtype=np.int64) for name in names}
    return {name: np.concatenate([part[name] for part in parts]).astype(np.int64) for name in parts[0]}


def _limits(tables: TilingTables, reduction: Reduction) -> tuple[int, int]:
    """What energy (units) and cycles can be at most: by the dearest pairing of rows, and by the incumbent."""
    rows, problem, energies = reduction.outer, tables.problem, tables.energies
    energy, cycles = 0.0, 0.0
    for inner in reduction.inner:
        chosen = rows.row[rows.mode == inner.mode]
        if not len(chosen) or not len(inner.tiles.point):
            continue
        table, costs = tables.outer.take(chosen), inner.costs
        factors = tables.outer_repeats(chosen, inner.mode).astype(float)
        dearest = costs.energy.max() + (factors * costs.energy_slope.max(axis=1).reshape(-1, 1)).sum(axis=0)
        energy = max(energy, float((energies.constant + table.energy + dearest).max()))
        longest = costs.cycles.max() + (factors * costs.cycles_slope.max(axis=1).reshape(-1, 1)).sum(axis=0)
        first = costs.first.max(axis=1).reshape(-1, 1) + np.zeros(len(chosen))
        last = costs.last.max(axis=1).reshape(-1, 1) + np.zeros(len(chosen))
        cycles = max(cycles, float(tables.cycles(table, longest, first, last).max()))
    value = reduction.value
    if value is not None and len(rows.row):
        half = 0.5 if problem.machine.rules.energy == "rounded" else 0.0
        least_pj = max(float(rows.energy.min()) / energies.per_pj - half, 1e-9)
        pj = {"edp": value / float(rows.cycles.min()), "energy": float(value)}.get(problem.objective)
        most = {"edp": value / least_pj, "latency": float(value)}.get(problem.objective)
        energy = energy if pj is None else min(energy, (pj + half) * energies.per_pj)
        cycles = cycles if most is None else min(cycles, most)
    cycles = min(cycles, float(largest_cycles(problem.nest, problem.machine)))
    if cycles >= LARGEST_CYCLES:
        raise CostsTooLargeError("mappings can take too many cycles for CP-SAT's integers")
    return min(LARGEST_ENERGY, math.ceil(energy * (1 + SAFE)) + 1), math.ceil(cycles * (1 + SAFE)) + 1
