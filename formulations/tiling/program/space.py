"""The mappings of one class of orders as constraints: factors, orders, and what fits [Dave2019, secs. 4.1, 4.2]."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, variables
from mapper.formulations.tiling.array_axes import ArrayAxes, on_axes
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.admissible import may_be
from mapper.formulations.tiling.program.factor_model import FactorModel
from mapper.formulations.tiling.program.lattice import Lattice
from mapper.formulations.tiling.program.product import Product, Products
from mapper.formulations.tiling.program.reuse_class import ReuseClass
from mapper.models.tiling.mapping import AXES, LEVELS, ORDERED_LEVELS, TilingMapping


class TilingSpace(CpSatFormulation):
    """Factors and orders of one class of equal reuse, of ``classes`` that the problem has."""

    def __init__(self, problem: TilingProblem, reuse: ReuseClass, classes: int) -> None:
        super().__init__()
        self.problem, self.reuse, self.count = problem, reuse, classes
        self.axes = Lattice.of(problem.nest).axes
        self.products = Products(problem.nest, self.axes)
        self.array = ArrayAxes.of(problem)

    def instance(self) -> str:
        problem, nest = self.problem, self.problem.nest
        bounds = " ".join(f"{loop}={bound}" for loop, bound in nest.bounds)
        one = self.reuse.named(tuple(operand.name for operand in nest.operands))
        return f"{nest.name or 'nest'} ({bounds}) on {problem.machine.name}, least {problem.objective}; {one}"

    @cached_property
    def loops(self) -> frozenset[str]:
        return frozenset(self.problem.nest.loops)

    def passes(self, layer: frozenset[str]) -> Product:
        """RF passes of the layer in which operands move that are reused over the loops of ``layer``."""
        factors = self.products.factors
        return self.products.times(factors("dram", self.loops), factors("spm", self.loops - layer))

    def dram_visits(self, k: int) -> Product:
        """Scratch-pad passes for which operand ``k`` has a new tile."""
        return self.products.factors("dram", self.loops - self.reuse.dram.reuse[k])

    def visits(self, k: int) -> Product:
        """Times that a tile of operand ``k`` comes to the array."""
        walk = self.reuse.walk
        return self.dram_visits(k) if k in walk.stays else self.passes(walk.pattern.reuse[k])

    @index_set(r"\Omega = \{(o, \omega)\}")
    def classes(self) -> int:
        """Classes: an order at DRAM matters by what it reuses over which loops, and so does one at the scratch-pad,
        with the operands that stay in the array. Each class is a program of its own; this is one of them."""
        return self.count

    @index_set(r"\{(l, p) : p \mid B_l,\ p \text{ prime}\}")
    def primes(self) -> int:
        """Primes p of the bounds B of the loops l, each with the exponent E that it has there."""
        return len(self.axes)

    @variables(
        r"e^{\lambda}_{l,p} \in \{0,\dots,E_{l,p}\} \quad \lambda \in \{\text{dram, spm, rf, spatial}\}"
    )
    def factors(self) -> None:
        """The exponent of every prime of every bound in the factor of each level, and where the machine tells the axes
        of its array apart in the factor along each of them."""
        self.exponent = {
            level: [
                self.model.new_int_var(0, axis.largest, f"{level}_{axis.loop}_{axis.prime}")
                for axis in self.axes
            ]
            for level in LEVELS
        }
        if self.array is not None:
            for axis in AXES:
                self.exponent[axis] = [
                    self.model.new_int_var(0, one.largest, f"{axis}_{one.loop}_{one.prime}")
                    for one in self.axes
                ]
        self.made = FactorModel(self.model, self.axes, self.exponent)

    @variables(r"a^{\lambda}_l \in \{0, 1\} \quad \lambda \in \{\text{dram, spm}\}")
    def running(self) -> None:
        """Whether a loop runs more than once at a level."""
        self.runs = {
            (level, loop): self.model.new_bool_var(f"{level}_runs_{loop}")
            for level in ORDERED_LEVELS
            for loop in self.problem.nest.loops
        }

    @family(r"\sum_{\lambda} e^{\lambda}_{l,p} = E_{l,p} \quad \forall l, p")
    def factorisation(self) -> None:
        """The factors of the four levels multiply to the bound, so that tiles divide each other."""
        for place, axis in enumerate(self.axes):
            self.model.add(sum(self.exponent[level][place] for level in LEVELS) == axis.largest)

    @family(r"\textstyle\prod_p p^{e^{\lambda}_{l,p}} \in A^{\lambda}_l")
    def admissible_factors(self) -> None:
        """Pins hold, loops that carry a dependence stay out of space, and those along which one runs backwards stay
        whole in the register files."""
        for loop in self.problem.nest.loops:
            places = [place for place, axis in enumerate(self.axes) if axis.loop == loop]
            factors = Lattice((loop,), tuple(self.axes[place] for place in places))
            for level in LEVELS:
                allowed = [
                    point
                    for point, factor in enumerate(factors.tiles[loop])
                    if may_be(self.problem, loop, level, int(factor))
                ]
                if not allowed:
                    self.model.add_bool_or([])
                elif len(allowed) < factors.size:
                    exponents = [self.exponent[level][place] for place in places]
                    tuples = factors.exponents[:, allowed].T.tolist()
                    self.model.add_allowed_assignments(exponents, tuples)

    @family(r"a^{\lambda}_l \Leftrightarrow \sum_p e^{\lambda}_{l,p} \ge 1 \quad \forall l")
    def running_loops(self) -> None:
        """A loop runs at a level if it has a factor there."""
        for (level, loop), runs in self.runs.items():
            total = sum(
                e for axis, e in zip(self.axes, self.exponent[level], strict=True) if axis.loop == loop
            )
            self.model.add(total >= 1).only_enforce_if(runs)
            self.model.add(total == 0).only_enforce_if(~runs)

    @family(r"\bigvee_{l \in \Lambda} \neg a^{\lambda}_l \vee \bigvee_{l \in \Gamma} a^{\lambda}_l")
    def orders(self) -> None:
        """The loops that run have an order of the class at both levels: what ends a reuse runs before anything else
        outside it, and the operands that stay are exactly those that are reused in all RF passes and at DRAM."""
        walk = self.reuse.walk.clauses(self.reuse.reused)
        for level, clauses in (("dram", self.reuse.dram.clauses), ("spm", walk)):
            for idle, running in clauses:
                still = [~self.runs[level, loop] for loop in sorted(idle)]
                self.model.add_bool_or([*still, *(self.runs[level, loop] for loop in sorted(running))])

    @family(r"\textstyle\prod_l s_l \le P")
    def processing_elements(self) -> None:
        """The factors s in space need no more than the P PEs."""
        pes = self.products.factors("spatial", self.loops)
        self.model.add(self.made.value(pes, self.problem.machine.pes) <= self.problem.machine.pes)
        self.made.keep_below(pes, self.problem.machine.pes)

    @family(
        r"e^{\text{rows}}_{l,p} + e^{\text{columns}}_{l,p} = e^{\text{spatial}}_{l,p},"
        r"\quad \textstyle\prod_l s^{\alpha}_l \le P_\alpha"
    )
    def array_axes(self) -> None:
        """Where the machine tells the axes alpha of its array apart, what is in space is divided between them, needs no
        more than their rows and columns, and keeps to the axes along which it may and must run."""
        if self.array is None:
            return
        for place in range(len(self.axes)):
            along = sum(self.exponent[axis][place] for axis in AXES)
            self.model.add(along == self.exponent["spatial"][place])
        for turn, (axis, size) in enumerate(zip(AXES, self.array.size, strict=True)):
            steps = self.products.factors(axis, self.loops)
            self.model.add(self.made.value(steps, size) <= size)
            self.made.keep_below(steps, size)
            for loop, rule in zip(self.problem.nest.loops, self.array.loops, strict=True):
                own = [e for one, e in zip(self.axes, self.exponent[axis], strict=True) if one.loop == loop]
                if not rule.may[turn]:
                    self.model.add(sum(own) == 0)
                if rule.must[turn]:
                    self.model.add(sum(own) >= 1)

    @family(r"\textstyle\sum_k D_k(r) \le R")
    def register_files(self) -> None:
        """The words D of all operands' register-file tiles fit the R words of a register file."""
        most = self.problem.machine.rf_words
        tiles = [self.products.words(operand, "rf") for operand in self.problem.nest.operands]
        self.model.add(sum(self.made.value(tile, most) for tile in tiles) <= most)
        for tile in tiles:
            self.made.keep_below(tile, most)

    @family(r"\textstyle\sum_k \lceil w D_k(c) / \beta \rceil \le K")
    def scratch_pad(self) -> None:
        """The scratch-pad tiles c of all operands fit its K visible banks of beta bytes; each takes whole banks."""
        machine = self.problem.machine
        most, bank = machine.spm.visible_banks, machine.spm.bank_bytes
        taken = []
        for operand in self.problem.nest.operands:
            tile = self.products.words(operand, "spm")
            words = most * bank // machine.word_bytes
            banks = self.made.integer(f"banks_{operand.name}", most, 1)
            self.model.add(self.made.value(tile, words) * machine.word_bytes <= bank * banks)
            self.made.keep_below(tile, words)
            taken.append(banks)
        self.model.add(sum(taken) <= most)

    def extract(self, value_of: Any) -> TilingMapping:
        """The mapping of a solution, of which ``value_of`` gives a variable's value: one order of the class."""
        nest = self.problem.nest
        factors = {(loop, level): 1 for loop in nest.loops for level in LEVELS}
        for level in LEVELS:
            for axis, exponent in zip(self.axes, self.exponent[level], strict=True):
                factors[axis.loop, level] *= axis.prime ** value_of(exponent)
        outer, inner = (
            frozenset(loop for loop in nest.loops if factors[loop, level] > 1) for level in ORDERED_LEVELS
        )
        found = TilingMapping(
            nest.loops,
            tuple(tuple(factors[loop, level] for level in LEVELS) for loop in nest.loops),  # type: ignore[misc]
            self.reuse.dram.order(outer),
            self.reuse.walk.pattern.order(inner),
        )
        return on_axes(self.problem, found)

    def leave_out(self, value_of: Any) -> None:
        """Forbid the factors of a solution: its mapping costs more than the program counts."""
        every = [exponent for level in LEVELS for exponent in self.exponent[level]]
        self.model.add_forbidden_assignments(every, [[value_of(exponent) for exponent in every]])
