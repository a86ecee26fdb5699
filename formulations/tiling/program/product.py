"""Products of trip counts and spans: what every count of a tiling is a sum of [Dave2019, sec. 4.3.1].

In exponents of primes a product of trip counts is a sum. The words of an operand are one too, times the spans of
dimensions in which several loops (or a stride) meet: those are no product, and stand in it as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from mapper.formulations.tiling.program.lattice import Axis
from mapper.models.tiling.mapping import LEVELS
from mapper.workloads.nest.loop_nest import LoopNest, Operand

TILES = {"rf": ("rf",), "array": ("rf", "spatial"), "spm": ("rf", "spatial", "spm")}
"""The levels whose factors make up a tile: of a PE, of the array, of the scratch-pad."""

Place = tuple[str, int]
"""A level and the number of an axis: where an exponent stands."""


@dataclass(frozen=True)
class Span:
    """Elements that a dimension of a tile spans: 1 + sum of |factor| * (trip count - 1) over ``coefficients``."""

    tile: str
    coefficients: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Product:
    """A number times powers of primes (by ``Place``; sorted) times spans (sorted)."""

    number: int = 1
    powers: tuple[tuple[Place, int], ...] = ()
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, powers: Counter[Place], spans: Iterable[Span], axes: tuple[Axis, ...]) -> Product:
        """An axis that occurs at all levels is a number: its factors multiply to the bound."""
        number = 1
        for place, axis in enumerate(axes):
            whole = min(powers[level, place] for level in LEVELS)
            number *= axis.prime ** (axis.largest * whole)
            for level in LEVELS:
                powers[level, place] -= whole
        left = sorted((place, power) for place, power in powers.items() if power)
        return cls(number, tuple(left), tuple(sorted(spans, key=repr)))

    @property
    def variable(self) -> Product:
        """Without the number."""
        return Product(1, self.powers, self.spans)

    @property
    def is_number(self) -> bool:
        return not self.powers and not self.spans


@dataclass(frozen=True)
class Products:
    """Makes the products of a nest."""

    nest: LoopNest
    axes: tuple[Axis, ...]

    def factors(self, level: str, loops: Collection[str]) -> Product:
        """The factors of ``loops`` at ``level``, multiplied."""
        return Product.of(self._powers((level,), loops), (), self.axes)

    def dimension(self, operand: Operand, place: int, tile: str) -> Product:
        """Elements that one dimension of an operand spans in a tile."""
        index = operand.index[place]
        met = tuple(
            (loop, abs(factor)) for loop, factor in index.coefficients if self.nest.trip_counts[loop] > 1
        )
        if not met:
            return Product()
        if len(met) == 1 and met[0][1] == 1:
            return Product.of(self._powers(TILES[tile], {met[0][0]}), (), self.axes)
        return Product(spans=(Span(tile, met),))

    def words(self, operand: Operand, tile: str) -> Product:
        """Words that an operand has in a tile."""
        return self.times(*(self.dimension(operand, place, tile) for place in range(len(operand.index))))

    def times(self, *products: Product) -> Product:
        powers: Counter[Place] = Counter()
        spans: list[Span] = []
        number = 1
        for product in products:
            number *= product.number
            powers.update(dict(product.powers))
            spans += product.spans
        merged = Product.of(powers, spans, self.axes)
        return Product(number * merged.number, merged.powers, merged.spans)

    def _powers(self, levels: Iterable[str], loops: Collection[str]) -> Counter[Place]:
        chosen = [place for place, axis in enumerate(self.axes) if axis.loop in loops]
        return Counter({(level, place): 1 for level in levels for place in chosen})
