"""What crosses between scratch-pad and PEs in the constraint program [Dave2019, secs. 4.3.2 and 4.3.3]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mapper.formulations.tiling.program.product import Product
from mapper.models.tiling import tile

if TYPE_CHECKING:
    from mapper.formulations.tiling.program.cp_sat import TilingProgram


class Crossings:
    """Energy and cycles of one class of orders, of whole layers: sums of products, of which ``program`` makes
    variables."""

    def __init__(self, program: TilingProgram) -> None:
        self._of, self._nest, self._machine = program, program.problem.nest, program.problem.machine
        self._made, self._products, self._limits = program.made, program.products, program.limits
        self._read, self._write, self._widths = tile.networks_of(self._nest, self._machine)
        self._doubled = self._machine.rules.partial_sums == "doubled"
        self._buffered = self._machine.rf.double_buffered
        self._exposed = self._machine.rules.leaving_sums == "exposed" and self._buffered
        self._ceilings: dict[int, Any] = {}

    def energy(self) -> Any:
        """Units of energy of NoC, scratch-pad, additions between PEs and DRAM, in the whole layer."""
        prices, total = self._limits.energies, 0
        for k, operand in enumerate(self._nest.operands):
            stays = k in self._of.reuse.walk.stays
            halved = stays and self._doubled and operand.zero_initialised
            visits = self._of.visits(k)
            total = total + (2 if operand.is_updated and not halved else 1) * self._transferred(k, visits)
            if operand.is_updated and prices.addition:
                total = total + prices.addition * self._added(
                    k, visits, self._limits.energy // prices.addition
                )
            if operand.is_updated and operand.zero_initialised and not self._doubled:
                # A partial sum that starts from zero is not read at its first visit.
                own = [self._products.factors(level, operand.loops) for level in ("dram", "spm")]
                total = total - self._transferred(k, self._products.times(*own))
            total = total + self._dram(k)
        return total

    def cycles(self) -> Any:
        """Cycles of all scratch-pad passes without DMA; implied: no fewer than any network is busy."""
        walk = self._of.reuse.walk
        every = walk.moving(frozenset())
        waits_always = self._exposed and any(self._nest.operands[k].is_updated for k in every)
        total: Any = 0 if waits_always else self._computing(frozenset())
        hides, exposes = self._buffered and not waits_always, self._exposed
        waits: Any = 0
        before: tuple[int, ...] = ()
        moving: tuple[int, ...] = ()
        for layer in (frozenset[str](), *walk.layers):
            here = walk.moving(layer)
            moving = (*moving, *here)
            hidden = [self._computing(layer)] if hides else []
            waits = waits + self._wait(
                layer, [*hidden, *self._loads(before, layer)], self._loads(moving, layer)
            )
            updated = [k for k in here if self._nest.operands[k].is_updated]
            total = total + sum(self._reducing(k, self._of.visits(k)) for k in updated)
            if exposes and updated:
                total, exposes = total + self._computing(layer), False
            before = moving
        for network in range(len(self._machine.noc.networks)):
            uses = [k for k in moving if network in (self._read[k], self._write[k])]
            busy = sum(self._load(k, walk.pattern.reuse[k]) for k in uses)
            self._of.model.add(waits + (self._computing(frozenset()) if hides else 0) >= busy)
        return total + waits

    def around(self, level: int) -> tuple[Any, Any]:
        """Cycles that the passes before and after a change of the operands that stay up to ``level`` take more: the
        first of the new tiles waits for what no RF pass hides, the last adds up partial sums."""
        walk, made = self._of.reuse.walk, self._made
        here = [k for k, changing in walk.stationary if changing <= level]
        if not here:
            return 0, 0
        buffered = self._buffered and not self._exposed
        behind = [self._one_pass()] if buffered else []
        hidden = self._longest([*behind, *self._tile_loads(walk.moving(frozenset()))])
        first = made.integer(f"first_{level}", self._limits.cycles)
        self._of.model.add_max_equality(first, [0, *(self._noc_cycles(k) - hidden for k in here)])
        updated = [k for k in here if self._nest.operands[k].is_updated]
        last = self._one_pass() if updated and self._exposed else 0
        return first, last + sum(self._reducing(k, Product()) for k in updated)

    def _transferred(self, k: int, visits: Product) -> Any:
        """Energy of so many visits of a tile one way: words to PEs, and words at the scratch-pad."""
        prices, operand = self._limits.energies, self._nest.operands[k]
        fed = [loop for loop in self._nest.loops if not operand.writes or loop in operand.loops]
        words = self._products.words(operand, "rf")
        delivered = self._products.times(visits, words, self._products.factors("spatial", fed))
        stored = self._products.times(visits, self._products.words(operand, "array"))
        return self._priced(prices.noc, delivered) + self._priced(prices.spm, stored)

    def _dram(self, k: int) -> Any:
        """Energy of DMA transfers: a partial sum goes both ways, but one that starts from zero comes in once less."""
        price, operand = self._limits.energies.dram, self._nest.operands[k]
        words = self._products.words(operand, "spm")
        moved = self._priced(price, self._products.times(self._of.dram_visits(k), words))
        if not operand.is_updated:
            return moved
        distinct = self._products.times(words, self._products.factors("dram", operand.loops))
        return 2 * moved - (self._priced(price, distinct) if operand.zero_initialised else 0)

    def _priced(self, price: int, product: Product) -> Any:
        return price * self._made.value(product, self._limits.energy // price) if price else 0

    def _reducing(self, k: int, visits: Product) -> Any:
        """Cycles in which PEs add up partial sums; groups of PEs that a mesh joins side by side add at once, and a
        systolic array adds in the cycles in which it computes."""
        if self._machine.noc.reduction == "systolic":
            return 0
        return self._added(k, visits, self._limits.cycles, self._machine.noc.reduction == "mesh")

    def _added(self, k: int, visits: Product, most: int, beside: bool = False) -> Any:
        """Additions of partial sums of different PEs in so many visits, of one group if groups add ``beside`` each
        other. With m PEs to a sum they are m - 1 of m, at least half if there are several."""
        operand, products, made = self._nest.operands[k], self._products, self._made
        members = products.factors("spatial", self._of.loops - operand.loops)
        if members.is_number:
            return 0
        groups = Product() if beside else products.factors("spatial", operand.loops)
        sums = products.times(visits, products.words(operand, "rf"), groups)
        every = made.value(products.times(sums, members))
        name = f"added_{operand.name}_{len(self._of.model.proto.variables)}"
        several, added = self._of.model.new_bool_var(f"{name}_several"), made.integer(name, most)
        exponents = sum(self._of.exponent[level][axis] for (level, axis), _ in members.powers)
        self._of.model.add(exponents >= 1).only_enforce_if(several)
        self._of.model.add(exponents == 0).only_enforce_if(~several)
        self._of.model.add(added == every - made.value(sums))
        self._of.model.add(2 * added >= every).only_enforce_if(several)
        self._of.model.add(added == 0).only_enforce_if(~several)
        return added

    def _computing(self, layer: frozenset[str]) -> Any:
        """Cycles of computing in the RF passes in which operands of a layer move."""
        cycles = tile.iteration_cycles(self._nest, self._machine)
        product = self._products.times(self._of.passes(layer), self._products.factors("rf", self._of.loops))
        return cycles * self._made.value(product, self._limits.cycles // cycles)

    def _one_pass(self) -> Any:
        cycles = tile.iteration_cycles(self._nest, self._machine)
        return cycles * self._made.value(
            self._products.factors("rf", self._of.loops), self._limits.cycles // cycles
        )

    def _noc_cycles(self, k: int) -> Any:
        """Cycles in which a network carries one tile of an operand."""
        words = self._made.value(self._products.words(self._nest.operands[k], "array"))
        width = self._widths[k]
        if width == 1 or isinstance(words, int):
            return -(-words // width) if isinstance(words, int) else words
        if k not in self._ceilings:
            found = self._ceilings[k] = self._made.integer(f"noc_{k}", self._limits.cycles)
            self._of.model.add(width * found >= words)
            self._of.model.add(width * found <= words + width - 1)
        return self._ceilings[k]

    def _load(self, k: int, layer: frozenset[str]) -> Any:
        """Cycles in which a network carries the tiles of an operand in the passes in which a layer moves."""
        words = self._products.words(self._nest.operands[k], "array")
        moved = self._products.times(self._of.passes(layer), words)
        limit, width = self._limits.cycles, self._widths[k]
        if width == 1:
            return self._made.value(moved, limit)
        passes = self._made.value(self._of.passes(layer), limit)
        found = self._made.multiplied(f"load_{k}_{len(layer)}", limit, self._noc_cycles(k), passes)
        self._of.model.add(width * found >= self._made.value(moved, width * limit))
        return found

    def _loads(self, moving: tuple[int, ...], layer: frozenset[str]) -> list[Any]:
        """Of each network: cycles in which it carries what moves, in the passes in which a layer does."""
        return self._by_network(moving, lambda k: self._load(k, layer))

    def _tile_loads(self, moving: tuple[int, ...]) -> list[Any]:
        return self._by_network(moving, self._noc_cycles)

    def _by_network(self, moving: tuple[int, ...], cycles: Any) -> list[Any]:
        found = []
        for network in range(len(self._machine.noc.networks)):
            uses = [cycles(k) for k in moving if network in (self._read[k], self._write[k])]
            if uses:
                found.append(sum(uses))
        return found

    def _wait(self, layer: frozenset[str], hidden: list[Any], loads: list[Any]) -> Any:
        """Cycles beyond what is hidden in which the busiest network is waited for."""
        if not loads:
            return 0
        hides = self._longest(hidden)
        found = self._made.integer(f"wait_{len(layer)}", self._limits.cycles)
        self._of.model.add(found == self._longest([hides, *loads]) - hides)
        return found

    def _longest(self, of: list[Any]) -> Any:
        if len(of) <= 1:
            return of[0] if of else 0
        longest = self._made.integer(
            f"longest_{len(self._of.model.proto.variables)}", 2 * self._limits.cycles
        )
        self._of.model.add_max_equality(longest, of)
        return longest
