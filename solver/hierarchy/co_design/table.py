"""What searches on the machines of a family have in common: arrangements as they were measured, tiles, and floors.

Words enter no count of accesses, and energies are factors of counts. So the rows of an arrangement are the same but for
energies, and its tiles are the same but for those that fit. The floor of a tile (`exact/floor`) follows from the links
inside it, their energies and the tiles that fit the levels further in: it is the same on all machines that are alike in
these, whatever the words of the tile's own level. So are the children of the outermost tile. Only floors of tiles that
fit some machine are tabulated, and only as far as they lie below what that machine's search had left for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.solver.hierarchy.exact.arrangement import Keep, Outset
from mapper.solver.hierarchy.exact.branch import Branch
from mapper.solver.hierarchy.exact.branch_and_bound import Waiting
from mapper.solver.hierarchy.exact.group import groups_of
from mapper.solver.hierarchy.exact.in_space import Spaces
from mapper.solver.hierarchy.exact.lattice import Lattice, lattice_of, words_kept
from mapper.solver.method import Effort

Array = Any
MOST_BYTES = 1 << 28
"""What is kept of arrangements and tiles for all machines of a family may take so much memory, floors and children as
much again; what goes beyond is made anew for each machine."""
Key = tuple[Keep, int, int, bytes]
T = TypeVar("T", "Floors", "Children")


@dataclass
class Floors:
    """Floors of a level's tiles by label, and the room (`Branch.floors`) of the first label below which they are known:
    the rooms of labels differ by what is the same on all machines."""

    floor: Array
    room: Array

    def known(self, room: Array) -> Array:
        """The tiles of which all floors below ``room`` are known."""
        return self.room >= room[0]

    def take(self, tiles: Array, room: Array, found: Array) -> None:
        """Write down the floors of some tiles below ``room``."""
        self.floor[:, tiles] = found[:, tiles]
        self.room[tiles] = room[0]

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return int(self.floor.nbytes + self.room.nbytes)


@dataclass
class Children:
    """Children of the outermost tile as `Branch` has them, ascending by their bounds, with the tile of each, and the
    limit below which those of a tile are known."""

    found: Array
    order: Array
    tile: Array
    limit: Array

    def take(self, tiles: Array, limit: float, found: Array, order: Array, tile: Array) -> None:
        """Write down the children that go on to some tiles, those below a limit."""
        stay = ~tiles[self.tile]
        whole = np.concatenate([self.found[stay], found])
        ranked = np.lexsort((whole[:, 2], whole[:, 0]))
        self.found = whole[ranked]
        self.order = np.concatenate([self.order[stay], order])[ranked]
        self.tile = np.concatenate([self.tile[stay], tile])[ranked]
        self.limit[tiles] = limit

    def below(self, limit: float, tiles: Array) -> tuple[Array, Array]:
        """The children below a limit that go on to some tiles."""
        few = int(np.searchsorted(self.found[:, 0], limit))
        chosen = np.flatnonzero(tiles[self.tile[:few]])
        return self.found[chosen], self.order[chosen]

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return int(sum(one.nbytes for one in (self.found, self.order, self.tile, self.limit)))


class Tiles(NamedTuple):
    """Tiles of an arrangement, of which those are allowed that fit a machine with the most words, and the words that
    they take of each level."""

    lattice: Lattice
    words: list[Array]

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return int(sum(one.nbytes for one in (*self.lattice.allowed, *self.words)))

    def on(self, problem: HierarchyProblem) -> Lattice:
        """The tiles, of which those are allowed that fit the machine of a problem."""
        shape = [int(count) for count in reversed(self.lattice.counts)]
        allowed = [
            own if level.capacity is None else own & np.broadcast_to(words <= level.capacity, shape).ravel()
            for own, words, level in zip(
                self.lattice.allowed, self.words, problem.machine.levels, strict=False
            )
        ]
        # Words of units, where these are a level more, fit any machine.
        return self.lattice._replace(allowed=[*allowed, *self.lattice.allowed[len(allowed) :]])


class SharedBranch(Branch):
    """An arrangement on one machine of a family."""

    def __init__(self, tables: Tables, waiting: Waiting, problem: HierarchyProblem) -> None:
        super().__init__(tables.opened(waiting).on(problem), waiting.spaces.space(waiting.row))
        self.tables, self.key = tables, (waiting.keep, waiting.row)

    def tiles(self, effort: Effort) -> Lattice | None:
        tiles = self.tables.tiles(self.key, self.outset, effort)
        return None if tiles is None else tiles.on(self.problem)

    def floors(self, level: int, allowed: Array, room: Array, effort: Effort) -> Array | None:
        key = (*self.key, level, self._inside(level, level + 1).tobytes())
        known = self.tables.floors.get(key)
        if known is None:
            shape = len(self.labels[level]), len(allowed)
            known = Floors(np.full(shape, np.inf), np.full(shape[1], -np.inf))
        missing = allowed & ~known.known(room)
        if missing.any():
            found = super().floors(level, missing, room, effort)
            if found is None:
                return None
            known.take(missing, room, found)
            self.tables.floors.keep(key, known)
        return np.where(allowed & (known.floor < room[:, None]), known.floor, np.inf)

    def _expand(self, level: int, limit: float, front: Array) -> tuple[Array, Array] | None:
        if level:
            return super()._expand(level, limit, front)
        constant, leak = self.opening.constant, self.opening.leak
        key = (*self.key, 0, np.concatenate([self._inside(0, 2), constant, leak]).tobytes())
        floors, radix = self.floor[1], self.lattice.radix
        possible = floors.min(axis=0) < np.inf
        known = self.tables.children.get(key)
        missing = possible if known is None else possible & (known.limit < limit)
        if known is None or missing.any():
            self.floor[1] = np.where(missing, floors, np.inf)
            expanded = super()._expand(0, limit, front)
            self.floor[1] = floors
            if expanded is None:
                return None
            found, order = expanded
            if known is None:
                known = Children(found[:0], order[:0], np.zeros(0, np.int64), np.full(len(possible), -np.inf))
            known.take(missing, limit, found, order, order[:, :-1] @ radix)
            self.tables.children.keep(key, known)
        return known.below(limit, possible)

    def _inside(self, level: int, first: int) -> Array:
        """What floors of a level follow from: the links that end inside it, and the tiles that fit the levels from
        ``first`` inwards. Tiles that fit are those of at most so many words: their number says which they are."""
        links = [link.rows[0] for link in self.inner if link.inner > level]
        fitting = np.array([allowed.sum() for allowed in self.lattice.allowed[first:]], np.float64)
        return np.concatenate([*links, fitting])


class Kept(Generic[T]):
    """What has been found, by what it follows from; if that takes too much memory, what was used last."""

    def __init__(self) -> None:
        self._found: dict[Key, T] = {}
        self._sizes: dict[Key, int] = {}
        self._bytes = 0

    def get(self, key: Key) -> T | None:
        """What is known, which is used now."""
        found = self._found.pop(key, None)
        if found is not None:
            self._found[key] = found
        return found

    def keep(self, key: Key, found: T) -> None:
        """Keep what is new, or has grown."""
        self._bytes += found.nbytes - self._sizes.pop(key, 0)
        self._found[key], self._sizes[key] = found, found.nbytes
        while self._bytes > MOST_BYTES:
            oldest = next(iter(self._found))
            del self._found[oldest]
            self._bytes -= self._sizes.pop(oldest)


class Tables:
    """All arrangements of a family of machines, by what levels keep and by loops in space; ``problem`` has a machine
    with the most words."""

    def __init__(self, problem: HierarchyProblem) -> None:
        self.problem = problem.as_it_is()
        self.floors, self.children = Kept[Floors](), Kept[Children]()
        self._bytes = 0
        self._spaces: Spaces | None = None
        self._outsets: dict[tuple[Keep, int], Outset] = {}
        self._opened: dict[tuple[Keep, int], Outset] = {}
        self._tiles: dict[tuple[Keep, int], Tiles] = {}

    def _has_room(self, size: int) -> bool:
        """Whether to keep so many bytes more, which are then counted."""
        fits = self._bytes + size <= MOST_BYTES
        self._bytes += size if fits else 0
        return fits

    def spaces(self, effort: Effort) -> Spaces:
        """What loops may do in space."""
        if self._spaces is not None:
            return self._spaces
        found = Spaces(self.problem, groups_of(self.problem), effort)
        if not effort.is_over():
            self._spaces = found
        return found

    def outset(self, keep: Keep, begin: int, spread: Array) -> Outset:
        """The arrangements from a row of spaces on, with trips in space ``spread``, that keep the same."""
        return self._known(
            self._outsets, (keep, begin), lambda: Outset(groups_of(self.problem), keep, spread)
        )

    def opened(self, waiting: Waiting) -> Outset:
        """The one arrangement that waits."""
        return self._known(self._opened, (waiting.keep, waiting.row), waiting.outset)

    def _known(
        self, outsets: dict[tuple[Keep, int], Outset], key: tuple[Keep, int], make: Callable[[], Outset]
    ) -> Outset:
        known = outsets.get(key)
        if known is None:
            known = make()
            if self._has_room(known.nbytes):
                outsets[key] = known
        return known

    def tiles(self, key: tuple[Keep, int], outset: Outset, effort: Effort) -> Tiles | None:
        """The tiles of an arrangement, None if they are too many, or time is over."""
        known = self._tiles.get(key)
        if known is None:
            widest = outset.on(self.problem)
            lattice = lattice_of(widest, effort)
            if lattice is None:
                return None
            known = Tiles(lattice, [words_kept(widest, level, lattice) for level in range(widest.levels)])
            if self._has_room(known.nbytes):
                self._tiles[key] = known
        return known
