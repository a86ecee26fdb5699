"""Which rows of the tables can still matter: domain reduction by floors and an incumbent.

A scratch-pad row is bounded by the least that any array tile dividing it adds, an array row by the least that
any remaining scratch-pad row it divides adds. Rows bounded above the incumbent belong to no mapping as good
as it, and leave the domains of the program's variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.energy import WholeEnergies
from mapper.formulations.tiling.program.lattice import Integers, Reals
from mapper.formulations.tiling.program.table.array import ArrayTiles, WalkingCosts
from mapper.formulations.tiling.program.table.tables import TilingTables, spm_pins
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping

SLACK = 1e-9
"""Floors are floating-point numbers; a row goes only if it is worse by more than this share."""
FIRST_ROWS = 64
"""Scratch-pad rows, and array tiles of each, that the dive for an incumbent looks at first."""
FEW_ROWS = 256
"""Scratch-pad rows with which the dive leaves off."""


class Watch:
    """Hears how the tables come along. ``proceed`` is called often and may raise to stop."""

    def proceed(self) -> None:
        """Work goes on."""

    def bounded(self, floor: float) -> None:
        """No mapping has a smaller value than ``floor``."""

    def found(self, mapping: TilingMapping, value: int | float) -> None:
        """A mapping better than those before."""


@dataclass(frozen=True)
class OuterRows:
    """Scratch-pad rows with a mode each, and their floors: energy (units), cycles, objective."""

    row: Integers
    mode: Integers
    energy: Reals
    cycles: Reals
    floor: Reals

    def take(self, chosen: Any) -> OuterRows:
        return OuterRows(**{name: column[chosen] for name, column in vars(self).items()})


@dataclass(frozen=True)
class InnerRows:
    """Array rows that remain in one mode, with their costs."""

    mode: int
    tiles: ArrayTiles
    costs: WalkingCosts


@dataclass(frozen=True)
class Reduction:
    """What is left of the tables, and the incumbent that it is measured against (None: nothing is left
    out for its floor). ``value`` is the incumbent's, as the model evaluates it."""

    outer: OuterRows
    inner: tuple[InnerRows, ...]
    outer_before: int
    inner_before: int
    incumbent: TilingMapping | None
    value: int | float | None


def objective(problem: TilingProblem, energies: WholeEnergies, energy: Any, cycles: Any) -> Any:
    """The objective in pJ*cycles, pJ or cycles, at least, of an energy in units. Rounding to whole pJ may
    take half a pJ away."""
    pj = energy / energies.per_pj - (0.5 if problem.machine.rules.energy == "rounded" else 0)
    return {"edp": pj * cycles, "energy": pj, "latency": cycles}[problem.objective]


def reduce_tables(
    tables: TilingTables,
    watch: Watch,
    by_incumbent: bool = True,
    known: tuple[TilingMapping, int | float] | None = None,
) -> Reduction:
    """Find an incumbent, or take the one that is ``known`` if its value is less, and drop the rows that cannot match
    it. Without one (there is none, or it is not asked for) no row is dropped for its floor, only those that
    divisibility leaves without a partner."""
    outer = outer_rows(tables)
    outer = outer.take(np.isfinite(outer.floor))
    before = len(outer.row)
    if before:
        watch.bounded(float(outer.floor.min()))
    incumbent, value = _dive(tables, outer, watch) if by_incumbent else (None, None)
    if known is not None and (value is None or known[1] < value):
        incumbent, value = known
    if by_incumbent and value is None:
        outer = outer.take(slice(0, 0))
    cut = np.inf if value is None else value * (1 + SLACK)
    outer = outer.take(outer.floor <= cut)
    inner = _inner_rows(tables, outer, cut, watch)
    return Reduction(outer, inner, before, tables.split_count * len(tables.modes), incumbent, value)


def outer_rows(tables: TilingTables) -> OuterRows:
    """Scratch-pad rows with every mode that can walk them, and their floors."""
    parts = []
    for number, least in enumerate(tables.least):
        rows = tables.walkable(number)
        table = tables.outer.take(rows)
        energy, processing = least.bound(least.below[:, table.point], tables.outer_repeats(rows, number))
        energy = energy + table.energy + tables.energies.constant
        none = np.zeros((tables.levels, len(rows)))
        possible = np.isfinite(processing)
        cycles = tables.cycles(table, np.where(possible, processing, 0.0), none, none)
        cycles = np.where(possible, cycles, np.inf)
        floor = objective(tables.problem, tables.energies, energy, cycles)
        parts.append(OuterRows(rows, np.full(len(rows), number), energy, cycles, floor))
    return OuterRows(
        **{name: np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])}
    )


def _dive(
    tables: TilingTables, outer: OuterRows, watch: Watch
) -> tuple[TilingMapping | None, int | float | None]:
    """A good mapping: the best of the scratch-pad rows of least floor with the array tiles of least floor.

    More rows are looked at until few are left whose floor is not above the best mapping's value, and more
    array tiles of each as long as there is no mapping at all.
    """
    by_floor = np.argsort(outer.floor, kind="stable")
    mapping, value = None, None
    seen, width, tiles_each = 0, FIRST_ROWS, FIRST_ROWS
    while seen < len(by_floor):
        best = _best_of(tables, outer.take(by_floor[seen : seen + width]), tiles_each, watch)
        if best is not None and (value is None or best[0] < value):
            mapping, value = best[1], best[0]
            watch.found(mapping, value)
        seen, width = seen + width, 2 * width
        if value is not None and int((outer.floor <= value).sum()) <= max(seen, FEW_ROWS):
            break
        if seen >= len(by_floor) and value is None and tiles_each < tables.lattice.size:
            seen, tiles_each = 0, tables.lattice.size
    return mapping, value


def _best_of(
    tables: TilingTables, chosen: OuterRows, tiles_each: int, watch: Watch
) -> tuple[int | float, TilingMapping] | None:
    """The best mapping of the ``chosen`` rows, each with its most promising array tiles."""
    problem, lattice = tables.problem, tables.lattice
    wanted = np.zeros(lattice.size, dtype=bool)
    for row, mode in zip(chosen.row, chosen.mode, strict=True):
        wanted[_promising(tables, int(row), int(mode), tiles_each)] = True
    best: tuple[Any, ...] | None = None
    for tiles in tables.splits.stream(wanted, watch.proceed):
        for row, mode in zip(chosen.row, chosen.mode, strict=True):
            watch.proceed()
            pairs = tiles.take(tables.partners(int(row), int(mode), tiles))
            if not len(pairs.point):
                continue
            energy, cycles = tables.pair_costs(int(row), int(mode), pairs)
            value = objective(problem, tables.energies, energy.astype(float), cycles)
            place = int(np.argmin(value))
            split = int(pairs.point[place]), int(pairs.rf[place])
            found = (float(value[place]), int(row), int(mode), *split)
            best = found if best is None else min(best, found)
    if best is None:
        return None
    mapping = tables.mapping(*best[1:])
    return problem.value(evaluate(problem.nest, problem.machine, mapping)), mapping


def _promising(tables: TilingTables, row: int, mode: int, width: int) -> Integers:
    """Array tiles dividing a scratch-pad row, the ``width`` of least floor."""
    lattice, least = tables.lattice, tables.least[mode]
    point = tables.outer.point[row]
    inside = np.flatnonzero((lattice.exponents <= lattice.exponents[:, point : point + 1]).all(axis=0))
    inside = inside[np.isfinite(least.own[0, inside])]
    energy, processing = least.bound(least.own[:, inside], tables.outer_repeats([row], mode))
    table = tables.outer.take(np.full(len(inside), row))
    none = np.zeros((tables.levels, len(inside)))
    energy = energy + table.energy + tables.energies.constant
    floor = objective(tables.problem, tables.energies, energy, tables.cycles(table, processing, none, none))
    nearest: Integers = inside[np.argsort(floor, kind="stable")[:width]]
    return nearest


def _inner_rows(tables: TilingTables, outer: OuterRows, cut: float, watch: Watch) -> tuple[InnerRows, ...]:
    """Array rows whose floor over the remaining scratch-pad rows is not above ``cut``."""
    lattice, pinned = tables.lattice, spm_pins(tables.problem)
    beside = tables.problem.machine.spm.double_buffered
    above: dict[int, Reals] = {}
    wanted = np.zeros(lattice.size, dtype=bool)
    for number in range(len(tables.modes)):
        rows = outer.row[outer.mode == number]
        if len(rows):
            table = tables.outer.take(rows)
            none = np.zeros((tables.levels, len(rows)))
            alone = tables.cycles(table, np.zeros(len(rows)), none, none)
            waits = table.always * table.passes if beside else alone
            columns = (table.energy, waits, *tables.outer_repeats(rows, number))
            above[number] = np.array(
                [
                    lattice.least_over_multiples(_least_at(lattice.size, table.point, column), pinned)
                    for column in columns
                ]
            )
            wanted |= np.isfinite(above[number][0])
    kept: dict[int, list[ArrayTiles]] = {number: [] for number in above}
    for tiles in tables.splits.stream(wanted, watch.proceed):
        for number, floors in above.items():
            here = tiles.take(np.isfinite(floors[0, tiles.point]))
            costs = tables.costs(here, number)
            least = floors[:, here.point]
            energy = (
                tables.energies.constant
                + least[0]
                + costs.energy
                + (least[2:] * costs.energy_slope).sum(axis=0)
            )
            processing = costs.cycles + (least[2:] * costs.cycles_slope).sum(axis=0)
            cycles = np.maximum(least[1], processing) if beside else least[1] + processing
            floor = objective(tables.problem, tables.energies, energy, cycles)
            kept[number].append(here.take(floor <= cut))
    found = []
    for number, parts in kept.items():
        if parts:
            names = vars(parts[0])
            tiles = ArrayTiles(
                **{name: np.concatenate([vars(p)[name] for p in parts], axis=-1) for name in names}
            )
            found.append(InnerRows(number, tiles, tables.costs(tiles, number)))
    return tuple(found)


def _least_at(size: int, points: Integers, values: Any) -> Reals:
    """The least value at each point of the lattice, infinity where there is none."""
    least = np.full(size, np.inf)
    np.minimum.at(least, points, values.astype(float))
    return least
