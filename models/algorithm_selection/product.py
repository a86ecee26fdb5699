"""The matrix products of a layer and the cycles they take [Meng2021, Eqs. 9 to 12]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mapper.arch.overlay import OverlayMachine
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.overlay.layer import DATAFLOWS, TILE, OverlayLayer


@dataclass(frozen=True)
class Product:
    """``times`` products of a x b (input) by b x c (weights). With tiles by area a need not be whole, with rounds as
    printed ``times`` need not be. ``transform``: cycles beside each product, LT."""

    a: Fraction
    b: int
    c: int
    times: Fraction
    transform: int = 0

    @property
    def macs(self) -> Fraction:
        """Multiply-accumulates of all products."""
        return self.a * self.b * self.c * self.times

    def passes(self, dataflow: Dataflow) -> tuple[Fraction, Fraction, Fraction]:
        """What is spread over P1, what over P2, and the cycles of one pass (Eq. 9)."""
        a, b, c = self.a, Fraction(self.b), Fraction(self.c)
        return {"NS": (a, c, b), "WS": (b, c, a), "IS": (b, a, c)}[dataflow]


@lru_cache(maxsize=1 << 16)
def product(layer: OverlayLayer, algorithm: Algorithm, machine: OverlayMachine) -> Product:
    """The products of an algorithm (Eqs. 10 to 12). Groups are products of their own."""
    images, groups = layer.images, layer.groups
    depth, columns = layer.in_channels // groups, layer.out_channels // groups
    if layer.per_channel:
        images, groups, depth, columns = images * layer.in_channels, 1, 1, 1
    rows = Fraction(images * layer.positions)
    if algorithm == "im2col":
        return Product(rows, layer.window * depth, columns, Fraction(groups))
    if algorithm == "kn2row":
        return Product(rows, depth, columns, Fraction(groups * layer.window))
    tile = TILE[algorithm]
    if machine.winograd.tiles == "ceil":
        tiles = Fraction(math.prod(-(-side // tile) for side in layer.map))
    else:
        tiles = Fraction(layer.elements, tile**2)
    times = groups * (tile + 2) ** 2 * rounds(layer, machine)
    return Product(images * tiles, depth, columns, times, machine.winograd.transform_cycles)


def rounds(layer: OverlayLayer, machine: OverlayMachine) -> Fraction:
    """How often a 3 x 3 algorithm runs for the layer's kernel."""
    if machine.winograd.rounds == "pieces":
        return Fraction(math.prod(-(-side // 3) for side in layer.kernel))
    exact = Fraction(layer.window, 9)
    return exact if machine.winograd.rounds == "exact" else Fraction(math.ceil(exact))


def cycles(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflow: Dataflow,
    array: tuple[int, int],
    machine: OverlayMachine,
) -> tuple[Fraction, Fraction, Fraction]:
    """Cycles of the products, of transforms and of I_SA on an array of P1 x P2 (Eqs. 9 to 12)."""
    done = product(layer, algorithm, machine)
    over_rows, over_columns, each = done.passes(dataflow)
    passes = math.ceil(over_rows / array[0]) * math.ceil(over_columns / array[1])
    setup = machine.initialisation.factor * max(array)
    paid = {"layer": Fraction(1), "product": done.times, "pass": done.times * passes}[
        machine.initialisation.per
    ]
    return passes * each * done.times, done.transform * done.times, setup * paid


def best_dataflow(
    layer: OverlayLayer,
    algorithm: Algorithm,
    array: tuple[int, int],
    machine: OverlayMachine,
    among: tuple[Dataflow, ...] = DATAFLOWS,
) -> Dataflow:
    """The dataflow with the fewest cycles (Algorithm 1, lines 8 and 9), the first of ``among`` on a tie."""
    return min(among, key=lambda dataflow: sum(cycles(layer, algorithm, dataflow, array, machine)))


def utilisation(macs: int, taken: Fraction, array: tuple[int, int]) -> float:
    """Effective PE utilisation mu (Eq. 14) of a layer that takes so many cycles."""
    return float(macs / (taken * math.prod(array)))
