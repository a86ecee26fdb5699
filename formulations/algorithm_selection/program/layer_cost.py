"""What the algorithms of a layer cost on arrays of many shapes: time and energy on the array, and loading."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mapper.formulations.algorithm_selection.program.network_choice import NetworkChoices
from mapper.formulations.algorithm_selection.program.running_graph import RunningGraph
from mapper.formulations.algorithm_selection.program.whole_cost import (
    LARGEST,
    Costs,
    Quantity,
    Shapes,
    below,
    row,
    too_large,
    whole,
)
from mapper.models.algorithm_selection.choice import Algorithm
from mapper.models.algorithm_selection.cost import moved_energy
from mapper.models.algorithm_selection.layout import format_of, weight_words
from mapper.models.algorithm_selection.product import product


class Passes:
    """Passes of matrices over arrays of many shapes; ceil(x / P) is computed once per size and side."""

    def __init__(self, rows: Shapes, columns: Shapes) -> None:
        self.sides = (rows, columns)
        self.pes = rows * columns
        self.larger = np.maximum(rows, columns)
        self.running: RunningGraph | None = None
        self._blocks: dict[tuple[Fraction, int], Shapes] = {}

    def count(self, over_rows: Fraction, over_columns: Fraction) -> Shapes:
        """ceil(over_rows / P1) * ceil(over_columns / P2)."""
        return self._block(over_rows, 0) * self._block(over_columns, 1)

    def most(self, over_rows: Fraction, over_columns: Fraction) -> int:
        """No array of these takes more passes, in whole numbers of any size."""
        least = [int(side.min(initial=side.max(initial=1))) for side in self.sides]
        return -(-math.ceil(over_rows) // least[0]) * -(-math.ceil(over_columns) // least[1])

    def _block(self, size: Fraction, side: int) -> Shapes:
        key = (size, side)
        if key not in self._blocks:
            # ceil(n / (d * P)) is ceil(ceil(n / d) / P).
            self._blocks[key] = -(-math.ceil(size) // self.sides[side])
        return self._blocks[key]


class LayerCosts:
    """Costs of the layers of a network, for the choices that it has.

    Raises: InputError in every method if costs could leave 64 bits.
    """

    def __init__(self, choices: NetworkChoices) -> None:
        self.choices, self.machine, self.name = choices, choices.machine, choices.network.name

    def of(self, at: int, passes: Passes, quantity: Quantity) -> tuple[Costs, Costs]:
        """Costs of a layer's algorithms: on their own [S, choices], and of loading the input [S or 1, choices]."""
        layer, machine = self.choices.network.layers[at], self.machine
        if passes.running is not None and quantity == "latency":
            own = passes.running.vertex(at) * machine.units_per_cycle
            return self._below(own), np.zeros((1, own.shape[1]), np.int64)
        array = self.times(at, passes)
        reads = [format_of(layer, one).words(layer.in_channels) for one in self.choices.algorithms[at]]
        kernels = [
            weight_words(layer, one, machine) if machine.traffic.weights else Fraction(0)
            for one in self.choices.algorithms[at]
        ]
        load = self._row([self._moved(words, quantity) for words in reads])
        weights = self._row([self._moved(words, quantity) for words in kernels])
        if quantity == "energy":
            return self._energy(at, array, passes) + weights, load
        if not machine.traffic.double_buffering:
            return array + weights, load
        exposed = np.maximum(0, weights - array)
        # Loading costs what it adds to the part of the kernels that the computation does not hide.
        return array + exposed, np.maximum(0, weights + load - array) - exposed

    def times(self, at: int, passes: Passes) -> Costs:
        """Time of a layer's choices, [S, choices]."""
        if passes.running is not None:
            unit = self.machine.units_per_cycle
            return passes.running.times[at].own.total * unit
        return np.stack([self._on_array(at, one, passes) for one in self.choices.algorithms[at]], -1)

    def _on_array(self, at: int, algorithm: Algorithm, passes: Passes) -> Costs:
        """Time on the array in the best dataflow, for every shape (Eqs. 9 to 12)."""
        work, rule = (
            product(self.choices.network.layers[at], algorithm, self.machine),
            self.machine.initialisation,
        )
        unit, best = self.machine.units_per_cycle, None
        setup = rule.factor * passes.larger
        for dataflow in self.choices.problem.dataflows(at):
            over_rows, over_columns, each = work.passes(dataflow)
            coefficient = whole(each * work.times * unit)
            paid_per_pass = whole(work.times * unit) if rule.per == "pass" and rule.factor else 0
            most = passes.most(over_rows, over_columns)
            if most * (coefficient + int(setup.max(initial=0)) * paid_per_pass) >= LARGEST:
                raise too_large(self.name)
            count = passes.count(over_rows, over_columns)
            taken = count * coefficient + count * setup * paid_per_pass
            best = taken if best is None else np.minimum(best, taken)
        assert best is not None
        paid = {"layer": Fraction(1), "product": work.times, "pass": Fraction(0)}[rule.per]
        each_setup, transform = whole(paid * unit), whole(work.transform * work.times * unit)
        if max(int(setup.max(initial=0)) * each_setup, each_setup, transform) >= LARGEST:
            raise too_large(self.name)
        return self._below(best + setup * each_setup + transform)

    def _energy(self, at: int, array: Costs, passes: Passes) -> Costs:
        """Energy of a layer's algorithms without what they move, in picojoules rounded up like the model's."""
        rule, layer = self.machine.energy_pj, self.choices.network.layers[at]
        busy = [
            math.ceil(product(layer, one, self.machine).macs * Fraction(repr(rule.mac)))
            for one in self.choices.algorithms[at]
        ]
        each = Fraction(repr(rule.pe_cycle)) / self.machine.units_per_cycle
        pes = passes.pes[:, np.newaxis]
        longest, most = int(array.max(initial=1)), int(pes.max(initial=0)) * each.numerator
        if longest * most < LARGEST and each.denominator < LARGEST:
            clocked = -(-(array * (pes * each.numerator)) // each.denominator)
        else:
            # Products leave 64 bits, if quotients do not: whole numbers of any size.
            exact = -(-(array.astype(object) * pes * each.numerator) // each.denominator)
            if exact.size and exact.max() >= LARGEST:
                raise too_large(self.name)
            clocked = exact.astype(np.int64)
        return self._below(clocked + self._row(busy))

    def _moved(self, words: Fraction, quantity: Quantity) -> int:
        if quantity == "energy":
            return moved_energy(words, self.machine)
        if self.machine.engines is not None:
            return 0
        return whole(words * self.machine.units_per_word)

    def _row(self, found: Sequence[int]) -> Costs:
        return row(found, self.name)

    def _below(self, costs: Costs) -> Costs:
        return below(costs, self.name)
