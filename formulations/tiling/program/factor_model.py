"""Variables for products: exact through exponents of primes, and convex in them.

A product is exactly the product of its primes' powers, each an element of a short list at a sum of exponents, and of
its spans. What bounds it is that it is convex in the exponents: y = exp(x) lies above each of its tangents
y >= t (1 + x - log t), where x, its logarithm, is a sum of exponents times log p and of logarithms of spans.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product as combinations
from typing import Any

from ortools.sat.python import cp_model

from mapper.formulations.tiling.program.energy import CostsTooLargeError
from mapper.formulations.tiling.program.lattice import Axis
from mapper.formulations.tiling.program.product import TILES, Product, Span

MOST = 1 << 56
"""No product is larger: sums of a few such numbers stay within CP-SAT's integers."""
STEEPEST = 1 << 50
"""Tangents touch up to here."""
FINE = 1 << 20
"""Small tangents are multiplied up to slopes of about this size, since coefficients are integers."""
MOST_SPANS = 4096
"""Values of one span, each of which is a Boolean."""
LOGARITHM = 1 << 16
"""Logarithms are counted in steps of one over this where they are bounded above."""
DOWN = 1 - 1e-12
"""Coefficients are floating-point numbers, and go down by more than these are off."""


@dataclass(frozen=True)
class SpanVariable:
    """A span's variable, and a Boolean for each choice of the exponents, with the span it has."""

    variable: Any
    chosen: tuple[Any, ...]
    spans: tuple[int, ...]


@dataclass(frozen=True)
class Convex:
    """``variable`` (at most ``most``) is at least ``product``, over exp(b) for each (literal, b) of ``less`` that is
    true."""

    variable: Any
    product: Product
    most: int
    less: tuple[tuple[Any, float], ...]


@dataclass
class FactorModel:
    """Products as variables of ``model``, made when first asked for. ``exponents``: of every axis at every level."""

    model: cp_model.CpModel
    axes: tuple[Axis, ...]
    exponents: Mapping[str, Sequence[Any]]
    _products: dict[Product, Any] = field(default_factory=dict)
    _convex: list[Convex] = field(default_factory=list)
    _spans: dict[Span, SpanVariable] = field(default_factory=dict)

    def value(self, product: Product, most: int = MOST) -> Any:
        """The product as an expression, which is not above ``most`` in any mapping that matters."""
        if product.is_number:
            return product.number
        key = product.variable
        if key not in self._products:
            self._products[key] = self._made(key, most // product.number)
        return product.number * self._products[key]

    def span(self, span: Span) -> SpanVariable:
        """The variable of a span.

        Raises: CostsTooLargeError if it has too many values.
        """
        if span not in self._spans:
            self._spans[span] = self._chosen(span)
        return self._spans[span]

    def integer(self, name: str, most: int, least: int = 0) -> Any:
        return self.model.new_int_var(least, max(least, most), name)

    def multiplied(self, name: str, most: int, one: Any, other: Any) -> Any:
        """The product of two expressions, as a variable."""
        if isinstance(one, int) or isinstance(other, int):
            return one * other
        found = self.integer(name, most)
        self.model.add_multiplication_equality(found, [one, other])
        return found

    def logarithm(self, product: Product, scale: float) -> Any:
        """``scale`` times the logarithm of a product without its number, at least: a linear expression."""
        scale *= DOWN
        terms = [
            math.floor(scale * power * math.log(self.axes[axis].prime)) * self.exponents[level][axis]
            for (level, axis), power in product.powers
        ]
        for span in product.spans:
            made = self.span(span)
            terms += [
                math.floor(scale * math.log(size)) * chosen
                for chosen, size in zip(made.chosen, made.spans, strict=True)
                if size > 1
            ]
        return sum(terms)

    def keep_below(self, product: Product, most: int) -> None:
        """Implied by a product that is at most ``most``: its logarithm is."""
        limit = math.ceil(LOGARITHM * math.log(max(1, most // product.number)) * (1 + 1e-12))
        if not product.is_number:
            self.model.add(self.logarithm(product, LOGARITHM) <= limit)

    def lies_above(self, variable: Any, product: Product, most: int, unless: tuple[Any, ...] = ()) -> None:
        """Note that ``variable``, at most ``most``, is at least ``product``; each of ``unless``, a product of it with a
        literal, is left out if the literal is true."""
        less = [(literal, math.log(self.largest(part))) for part, literal in unless]
        self._convex.append(Convex(variable, product, most, tuple(less)))

    def touch(self, ratio: float) -> None:
        """Tangents of everything convex noted so far, each touching where it is ``ratio`` times larger."""
        for convex in self._convex:
            self._tangents(convex, math.log(ratio))

    def _tangents(self, convex: Convex, step: float) -> None:
        most, number = convex.most, convex.product.number
        first, last = math.log(number), math.log(max(2, min(most, STEEPEST)))
        for turn in range(max(0, math.ceil((last - first) / step)) + 1):
            at = first + turn * step
            scale = max(1, int(min(FINE / math.exp(at), STEEPEST / most)))
            slope = scale * math.exp(at)
            constant = math.floor(slope * (1 + first - at) - slope * 1e-9) - 1
            off = sum(-math.ceil(slope * by) * literal for literal, by in convex.less)
            self.model.add(scale * convex.variable >= self.logarithm(convex.product, slope) + off + constant)

    def largest(self, product: Product) -> int:
        """What no choice of exponents exceeds."""
        tops: dict[tuple[int, int], int] = {}
        for (_, axis), power in product.powers:
            tops[axis, self.axes[axis].prime] = max(power, tops.get((axis, self.axes[axis].prime), 0))
        most = math.prod(prime ** (power * self.axes[axis].largest) for (axis, prime), power in tops.items())
        spans = math.prod(max(self.span(span).spans) for span in product.spans)
        return int(product.number * most * spans)

    def _made(self, product: Product, most: int) -> Any:
        most = max(1, min(self.largest(product), most))
        name = f"product{len(self._products)}"
        parts = [self._power(prime, product, most, name) for prime in self._primes(product)]
        parts += [self.span(span).variable for span in product.spans]
        found = parts[0]
        for turn, part in enumerate(parts[1:]):
            longer = self.integer(f"{name}_{turn}", most, 1)
            self.model.add_multiplication_equality(longer, [found, part])
            found = longer
        self.lies_above(found, product, most)
        return found

    def _primes(self, product: Product) -> list[int]:
        return sorted({self.axes[axis].prime for (_, axis), _ in product.powers})

    def _power(self, prime: int, product: Product, most: int, name: str) -> Any:
        """The prime's power in a product: an element of the list of powers, at the sum of exponents."""
        terms: list[Any] = []
        tops: dict[int, int] = {}
        for (level, axis), power in product.powers:
            if self.axes[axis].prime == prime:
                terms.append(power * self.exponents[level][axis])
                tops[axis] = max(power, tops.get(axis, 0))
        top = min(
            sum(power * self.axes[axis].largest for axis, power in tops.items()),
            int(math.log(most) / math.log(prime) + 1e-9),
        )
        exponent = self.integer(f"{name}_exponent{prime}", top)
        self.model.add(exponent == sum(terms))
        found = self.integer(f"{name}_power{prime}", prime**top, 1)
        self.model.add_element(exponent, [prime**e for e in range(top + 1)], found)
        return found

    def _chosen(self, span: Span) -> SpanVariable:
        loops = dict(span.coefficients)
        axes = [place for place, axis in enumerate(self.axes) if axis.loop in loops]
        choices = list(combinations(*(range(self.axes[place].largest + 1) for place in axes)))
        if len(choices) > MOST_SPANS:
            remedy = f"an index of {' and '.join(loops)} has {len(choices)} tiles, more than the {MOST_SPANS}"
            raise CostsTooLargeError(f"{remedy} that are counted one by one")
        sizes = []
        for choice in choices:
            tile = dict.fromkeys(loops, 1)
            for place, exponent in zip(axes, choice, strict=True):
                tile[self.axes[place].loop] *= self.axes[place].prime ** exponent
            sizes.append(1 + sum(factor * (tile[loop] - 1) for loop, factor in loops.items()))
        name = f"span{len(self._spans)}"
        chosen = [self.model.new_bool_var(f"{name}_{turn}") for turn in range(len(choices))]
        self.model.add_exactly_one(chosen)
        for turn, place in enumerate(axes):
            tile_exponent = sum(self.exponents[level][place] for level in TILES[span.tile])
            self.model.add(
                tile_exponent == sum(one[turn] * here for one, here in zip(choices, chosen, strict=True))
            )
        variable = self.integer(name, max(sizes), 1)
        self.model.add(variable == sum(size * here for size, here in zip(sizes, chosen, strict=True)))
        return SpanVariable(variable, tuple(chosen), tuple(sizes))
