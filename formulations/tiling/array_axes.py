"""Which loops of a tiling run along the rows of the array, and which along its columns.

A loop's factor in space may be divided between the two axes. What divisions there are is asked of many tiles at once,
by what decides it: of loops that may run along both axes alone the product of their factors counts, because each of its
divisors is a product of divisors of the factors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.mapping import AXES, TilingMapping

Factors = tuple[int, ...]
Places = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class LoopAxes:
    """Along which axes (rows, columns) a loop may run, and along which it must."""

    may: tuple[bool, bool]
    must: tuple[bool, bool]

    @property
    def is_free(self) -> bool:
        """Whether any division will do."""
        return all(self.may) and not any(self.must)

    def ways(self, factor: int) -> list[tuple[int, int]]:
        """The divisions of a factor: whole along an axis first, rows before columns, then by what is along rows."""
        found = []
        for along_rows in sorted(_divisors(factor), key=lambda one: (one not in (1, factor), -one)):
            way = along_rows, factor // along_rows
            allowed = all(may or part == 1 for may, part in zip(self.may, way, strict=True))
            if allowed and all(part > 1 or not must for must, part in zip(self.must, way, strict=True)):
                found.append(way)
        return found


@dataclass(frozen=True)
class ArrayAxes:
    """The axes of a problem's array: ``size`` (rows, columns), and of every loop where it may and must run."""

    size: tuple[int, int]
    loops: tuple[LoopAxes, ...]

    @classmethod
    def of(cls, problem: TilingProblem) -> ArrayAxes | None:
        """None where the machine does not tell its axes apart."""
        nest, array = problem.nest, problem.machine.pe_array
        if not problem.machine.rules.array_axes:
            return None
        pins = {axis: (loops, is_open) for axis, loops, is_open in problem.pins.axes}
        rules = []
        for loop in nest.loops:
            may, must = [], []
            for axis in AXES:
                named, others = pins.get(axis, (frozenset[str](), True))
                reduces = axis in array.spatial_reduction or loop not in nest.reduction_loops
                may.append(reduces and (others or loop in named))
                must.append(loop in named)
            rules.append(LoopAxes((may[0], may[1]), (must[0], must[1])))
        return cls((array.rows, array.columns), tuple(rules))

    def place(self, spatial: Factors) -> Places | None:
        """Factors of every loop along rows and columns; None if they have no room. Loops stand whole along an axis
        where they can, along rows first."""
        rows, columns = self.size
        ways = [one.ways(factor) for one, factor in zip(self.loops, spatial, strict=True)]

        def placed(at: int, used_rows: int, used_columns: int) -> Places | None:
            if at == len(ways):
                return ()
            for way in ways[at]:
                taken = used_rows * way[0], used_columns * way[1]
                if taken[0] <= rows and taken[1] <= columns:
                    rest = placed(at + 1, *taken)
                    if rest is not None:
                        return (way, *rest)
            return None

        return placed(0, 1, 1) if self.has_room(spatial) else None

    def has_room(self, spatial: Factors) -> bool:
        """Whether such factors in space have a place."""
        return bool(self.rooms(np.array([spatial], np.int64))[0])

    def rooms(self, spatial: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each row of factors in space (N, loops) has a place."""
        kinds = [spatial[:, self._free].prod(axis=1), *(spatial[:, loop] for loop in self._bound)]
        different, which = np.unique(np.stack(kinds, axis=1), axis=0, return_inverse=True)
        found = np.array([self._has_room(*map(int, row)) for row in different], np.bool_)
        rooms: NDArray[np.bool_] = found[which.reshape(-1)]
        return rooms

    def _has_room(self, free: int, *bound: int) -> bool:
        rows, columns = self.size
        taken = {(1, 1)}
        for loop, factor in zip(self._bound, bound, strict=True):
            taken = {
                (used[0] * way[0], used[1] * way[1])
                for used in taken
                for way in self.loops[loop].ways(factor)
                if used[0] * way[0] <= rows and used[1] * way[1] <= columns
            }
        # The largest divisor of what is free that has room along the rows leaves least for the columns.
        return any(
            free // max(one for one in _divisors(free) if one <= rows // used[0]) <= columns // used[1]
            for used in taken
        )

    @cached_property
    def _free(self) -> list[int]:
        return [at for at, one in enumerate(self.loops) if one.is_free]

    @cached_property
    def _bound(self) -> list[int]:
        return [at for at, one in enumerate(self.loops) if not one.is_free]

    @cached_property
    def needed(self) -> list[int]:
        """The loops that must run along an axis."""
        return [at for at, one in enumerate(self.loops) if any(one.must)]

    @cached_property
    def allowed(self) -> list[int]:
        """The loops that may run along an axis."""
        return [at for at, one in enumerate(self.loops) if any(one.may)]


def on_axes(problem: TilingProblem, mapping: TilingMapping) -> TilingMapping:
    """The mapping with its loops on the axes of the array, where the machine tells these apart and has room."""
    axes = ArrayAxes.of(problem)
    if axes is None:
        return mapping
    places = axes.place(tuple(mapping.trip_counts("spatial").values()))
    return replace(mapping, axes=places or ())


def _divisors(number: int) -> list[int]:
    small = [one for one in range(1, int(number**0.5) + 1) if number % one == 0]
    return sorted({*small, *(number // one for one in small)})
