"""Cycles of DMA in the constraint program: bursts of what is contiguous [Dave2019, sec. 4.3.3]."""

from __future__ import annotations

from typing import Any

from mapper.formulations.tiling.program.energy import CostsTooLargeError
from mapper.formulations.tiling.program.factor_model import MOST
from mapper.formulations.tiling.program.product import Product
from mapper.formulations.tiling.program.space import TilingSpace
from mapper.models.tiling import tile
from mapper.models.tiling.price import burst_cost


class DmaTile:
    """The bursts of one operand's scratch-pad tile.

    A burst covers the innermost dimensions up to and including the first that is not stored whole; what the remaining
    ones span is the number of bursts. ``cycles``: of one tile; ``in_layer``: of all ``visits``.
    """

    def __init__(self, space: TilingSpace, k: int, limit: int) -> None:
        self._space, self._made, self._limit = space, space.made, limit
        self._name = f"dma_{space.problem.nest.operands[k].name}"
        self._outer: list[tuple[Product, Any]] = []
        machine = space.problem.machine
        fixed, each, whole = burst_cost(machine)
        most = machine.spm.visible_banks * machine.spm.bank_bytes // machine.word_bytes
        if fixed + (each + whole) * most >= MOST:
            raise CostsTooLargeError("DMA's clock, latency or rate has too many digits for CP-SAT's integers")
        burst, self._bursts = self._measured(k, most)
        one = self._made.integer(f"{self._name}_burst_cycles", tile.burst_cycles(machine, most))
        space.model.add(whole * one >= fixed + each * burst)
        space.model.add(whole * one <= fixed + each * burst + whole - 1)
        self.cycles = self._made.multiplied(self._name, limit, one, self._bursts)
        words = space.products.words(space.problem.nest.operands[k], "spm")
        self.in_layer = self._over_visits(space.dram_visits(k), words)

    def _measured(self, k: int, most: int) -> tuple[Any, Any]:
        """Words of a burst, and bursts; ``_outer`` keeps what the dimensions outside the innermost span, with the
        literal that says whether it is contiguous there."""
        space, made = self._space, self._made
        operand, machine = space.problem.nest.operands[k], space.problem.machine
        burst: Any = 1
        bursts: Any = 1
        contiguous: Any = None
        for place, stored in reversed(list(enumerate(operand.extents))):
            product = space.products.dimension(operand, place, "spm")
            span = made.value(product, most)
            touched = operand.index[place].span(space.problem.nest.trip_counts)
            name = f"{self._name}_{place}"
            if contiguous is None:
                burst = span
            elif not product.is_number:
                inside, outside = (made.integer(f"{name}_{side}", touched, 1) for side in ("in", "out"))
                for one, literal in ((inside, contiguous), (outside, ~contiguous)):
                    space.model.add(one == span).only_enforce_if(literal)
                    space.model.add(one == 1).only_enforce_if(~literal)
                burst = made.multiplied(f"{name}_burst", most, burst, inside)
                bursts = made.multiplied(f"{name}_bursts", most, bursts, outside)
                self._outer.append((product, contiguous))
            extent = stored if machine.rules.stored_extent == "declared" else touched
            contiguous = self._whole(name, span, extent, contiguous)
        return burst, bursts

    def _whole(self, name: str, span: Any, extent: int, contiguous: Any) -> Any:
        """Whether a dimension, and all inside it, are stored whole."""
        model = self._space.model
        whole = model.new_bool_var(f"{name}_whole")
        if isinstance(span, int):
            model.add(whole == int(span == extent))
        else:
            model.add(span == extent).only_enforce_if(whole)
            model.add(span != extent).only_enforce_if(~whole)
        if contiguous is None:
            return whole
        both = model.new_bool_var(f"{name}_contiguous")
        model.add_bool_and([contiguous, whole]).only_enforce_if(both)
        model.add_bool_or([both, ~contiguous, ~whole])
        return both

    def _over_visits(self, visits: Product, words: Product) -> Any:
        """Cycles of the layer; implied: no less than all bursts begin and all words take."""
        space, made, limit = self._space, self._made, self._limit
        fixed, each, whole = burst_cost(space.problem.machine)
        total = made.multiplied(f"{self._name}_in_layer", limit, self.cycles, made.value(visits, limit))
        moved = space.products.times(visits, words)
        carried: Any = 0
        if whole * limit >= MOST << 3:
            return total
        if each:
            carried = each * made.value(moved, min(MOST, whole * limit // each))
        if fixed and self._outer:
            most = max(1, min(MOST, whole * limit // fixed))
            begun = made.multiplied(f"{self._name}_begun", most, self._bursts, made.value(visits, limit))
            dimensions = (product for product, _ in self._outer)
            made.lies_above(begun, space.products.times(visits, *dimensions), most, tuple(self._outer))
            carried = carried + fixed * begun
        elif fixed:
            carried = carried + fixed * made.value(visits, limit)
        space.model.add(whole * total >= carried)
        return total
