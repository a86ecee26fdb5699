"""The constraint program of tiling [Dave2019, secs. 4.1 to 4.3]: which tiles, in which orders, at least cost.

One program for each class of orders. Factors are exponents of primes, and what a mapping costs is a sum of products of
trip counts, which are convex in exponents: their tangents are the program's bound. docs/formulation/tiling.md says why.
"""

from __future__ import annotations

import math
from typing import Any

from mapper.formulations.formulation import family, objective, variables
from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.admissible import refusal
from mapper.formulations.tiling.program.counting import LARGEST
from mapper.formulations.tiling.program.crossing import Crossings
from mapper.formulations.tiling.program.dma import DmaTile
from mapper.formulations.tiling.program.energy import CostsTooLargeError
from mapper.formulations.tiling.program.limit import Limits
from mapper.formulations.tiling.program.mode import levels_of
from mapper.formulations.tiling.program.reuse_class import ReuseClass, reuse_classes
from mapper.formulations.tiling.program.space import TilingSpace
from mapper.workloads.document import InputError

RATIO = 1.25
"""Between two tangents: each is at most 0.7 % below what it touches."""
STEP = 1.15
"""Between two pieces of the range of cycles."""
FIRST_LIMITS = (4, 32, 1e3, 1e6)
"""Limits on the objective under which a first mapping is looked for, as multiples of the bound by argument."""


class TilingProgram(TilingSpace):
    """The program of one class of an instance. ``value``: of the best mapping that is known, which others must equal
    or better; without one, energy-delay products are replaced by a weighted sum of energy and cycles."""

    title = "Tiling as a constraint program"

    def __init__(
        self, problem: TilingProblem, reuse: ReuseClass, classes: int, value: int | float | None
    ) -> None:
        super().__init__(problem, reuse, classes)
        self.known = value
        self.limits = Limits.of(problem, value)

    @variables(r"E, C \in \mathbb Z_{\ge 0}")
    def costs(self) -> None:
        """Energy, in pJ, or in the machine's own unit where it does not round; and cycles. Bounds by argument alone
        hold of both."""
        limits = self.limits
        self.steps = self.made.integer("energy_steps", limits.energy, limits.energies.constant)
        self.energy = self.made.integer("energy", limits.counted(limits.energy), limits.least_energy)
        self.cycles = self.made.integer("cycles", limits.cycles, limits.least_cycles)

    @family(
        r"E = \varepsilon + \sum_k n_k\,(\varepsilon_N N_k + \varepsilon_S D_k(b) + \varepsilon_A A_k) "
        r"+ \varepsilon_D\, m_k D_k(c)"
    )
    def energy_balance(self) -> None:
        """Energy is that of operations and register files, of each visit n of an operand's tile to the array (words N
        to PEs over the NoC, words D at the scratch-pad, additions A between PEs), and of its transfers m by DMA; where
        the machine rounds, it is rounded to the nearest pJ (a tie may go down)."""
        self.crossings = Crossings(self)
        total = self.limits.energies.constant + self.crossings.energy()
        self.model.add(self.steps == total)
        if self.limits.counting.rounds:
            per_pj = self.limits.energies.per_pj
            self.model.add(2 * per_pj * self.energy >= 2 * self.steps - per_pj)
            self.model.add(2 * per_pj * self.energy <= 2 * self.steps + per_pj)
        else:
            self.model.add(self.energy == self.steps)

    @family(r"\Pi = \sum_u n_u\,(\max(0, \lambda_u - \eta_u) + \alpha_u), \qquad \Pi = n\,\pi")
    def processing(self) -> None:
        """All scratch-pad passes together compute, wait for what the networks carry (lambda) beyond what is hidden
        (eta), in every RF pass or as often as operands reused over a layer u of loops move, and add up partial sums
        (alpha); each of the n passes takes the same pi."""
        self.processing_cycles = self.made.integer("processing", self.limits.cycles)
        self.model.add(self.processing_cycles == self.crossings.cycles())
        self.one_pass = self.made.integer("one_pass", self.limits.cycles)
        passes = self.made.value(self.products.factors("dram", self.loops), self.limits.cycles)
        product = self.made.multiplied("all_passes", self.limits.cycles, self.one_pass, passes)
        self.model.add(product == self.processing_cycles)

    @family(r"\delta_k = q_k(c)\, \lceil (f + w\, d_k(c)) / v \rceil")
    def bursts(self) -> None:
        """DMA of an operand's scratch-pad tile takes q bursts of d words: what is contiguous in DRAM."""
        self.dma = [DmaTile(self, k, self.limits.cycles) for k in range(len(self.problem.nest.operands))]

    @family(
        r"C = n \mu + \sum_h (\Delta_h - \Delta_{h-1})\, v_h,\quad \mu = \delta \circ \pi,\ \circ \in \{\max, +\}"
    )
    def overlap(self) -> None:
        """A pass takes the longer of DMA and array, or both in turn if the scratch-pad has one buffer, and more where
        operands h that stay through several passes change their tiles: DMA fetches the new tiles in the pass before
        and returns partial sums in the pass after."""
        limit, passes = self.limits.cycles, self.products.factors("dram", self.loops)
        always, in_layer = self.always = self._always()
        together = self._longest if self.problem.machine.spm.double_buffered else self._in_turn
        usual = together("usual_pass", always, self.one_pass)
        total = self.made.multiplied("usual_passes", limit, usual, self.made.value(passes, limit))
        if self.problem.machine.spm.double_buffered:
            self.model.add(total >= self.processing_cycles)
            self.model.add(total >= in_layer)
        else:
            self.model.add(total == self.processing_cycles + in_layer)
        levels = levels_of(self.reuse.dram)
        charged: Any = 0
        for level in range(1, len(self.reuse.dram.layers)):
            here = [k for k, other in enumerate(levels) if other == level]
            fetched = [k for k, other in enumerate(levels) if 1 <= other <= level]
            updated = [k for k in fetched if self.problem.nest.operands[k].is_updated]
            first, last = self.crossings.around(level)
            new = always + sum(self.dma[k].cycles for k in fetched)
            old = always + sum(self.dma[k].cycles for k in updated)
            before = together(f"with_fetch_{level}", new, self.one_pass + last)
            after = together(f"with_return_{level}", old, self.one_pass + first)
            before = self._longest(f"before_{level}", usual, before)
            after = self._longest(f"after_{level}", usual, after)
            more = self.made.integer(f"more_{level}", 2 * limit)
            self.model.add(more == before + after - 2 * usual - charged)
            visits = self.made.value(self.dram_visits(here[0]), limit)
            total = total + self.made.multiplied(f"changes_{level}", limit, more, visits)
            charged = before + after - 2 * usual
        self.model.add(self.cycles == total)

    @family(r"C \le C_{\max}")
    def latency_limit(self) -> None:
        """The layer takes no more cycles than it may, where there is such a limit."""
        if self.problem.max_cycles is not None:
            self.model.add(self.cycles <= self.problem.max_cycles)

    @family(r"C \ge \sum_k v_k \delta_k")
    def all_of_dma(self) -> None:
        """Implied: cycles are no fewer than those of DMA in the whole layer, where what is reused is fetched once for
        each change and returned once if it is updated."""
        _, in_layer = self.always
        for k in sorted(self.reuse.reused):
            both_ways = 2 if self.problem.nest.operands[k].is_updated else 1
            in_layer = in_layer + both_ways * self.dma[k].in_layer
        self.model.add(self.cycles >= in_layer)

    @family(r"F = E\,C,\ E \text{ or } C, \qquad F \le F^*")
    def value(self) -> None:
        """The value to minimise is energy times cycles, energy, or cycles, and not above that of the best mapping
        known; as long as there is none, energy plus cycles at the price of the least of both."""
        limits, counting = self.limits, self.limits.counting
        self.minimised: Any = {"energy": self.energy, "latency": self.cycles}.get(self.problem.objective)
        if self.minimised is None and self.known is None:
            self.minimised = self.energy + limits.price * self.cycles
        elif self.minimised is None:
            energy: Any = self.energy
            if counting.coarse:
                energy = self.made.integer("coarse_energy", LARGEST)
                self.model.add_division_equality(energy, self.energy, 1 << counting.coarse)
            most = LARGEST if self.known is None else min(LARGEST, counting.whole(self.known))
            self.minimised = self.made.multiplied("edp", most, energy, self.cycles)
        if self.known is not None:
            self.model.add(self.minimised <= counting.whole(self.known))

    @family(r"C_i z_i \le C < C_{i+1},\quad E \le F^* / C_i \quad \text{if } z_i")
    def pieces(self) -> None:
        """Implied: cycles lie in one of several pieces, and in each energy is not above what the best mapping known
        leaves it."""
        if self.problem.objective != "edp" or self.known is None:
            return
        ends = self.limits.pieces(STEP)
        chosen = [self.model.new_bool_var(f"piece_{turn}") for turn in range(len(ends) - 1)]
        self.model.add_exactly_one(chosen)
        least = sum(end * one for end, one in zip(ends, chosen, strict=False))
        most = sum(end * one for end, one in zip(ends[1:], chosen, strict=True))
        self.model.add(self.cycles >= least)
        self.model.add(self.cycles <= most)
        left = sum(self.limits.energy_beside(end) * one for end, one in zip(ends, chosen, strict=False))
        self.model.add(self.energy <= left)

    @family(r"y \ge t\,(1 + \textstyle\sum_{\lambda,l,p} e^{\lambda}_{l,p} \log p - \log t) \quad \forall t")
    def tangents(self) -> None:
        """Implied: every product y of factors above is convex in their exponents, and not below its tangents."""
        self.made.touch(RATIO)

    @objective(r"\min F")
    def least_value(self) -> None:
        """The least value."""
        self.model.minimize(self.minimised)

    def break_ties(self, least: int) -> None:
        """Among mappings of the ``least`` value ask for the next in rank: fewer cycles where energy is the
        value, else less energy; the energy-delay product follows."""
        self.model.add(self.minimised == least)
        self.model.minimize(self.cycles if self.problem.objective == "energy" else self.energy)

    def _always(self) -> tuple[Any, Any]:
        """Cycles of what DMA moves in every scratch-pad pass: of one pass, and of the layer."""
        rules, nest = self.problem.machine.rules, self.problem.nest
        one: Any = 0
        every: Any = 0
        for k, operand in enumerate(nest.operands):
            if k in self.reuse.reused:
                continue
            one, every = one + self.dma[k].cycles, every + self.dma[k].in_layer
            if operand.is_updated and (rules.partial_sums == "doubled" or not operand.zero_initialised):
                one, every = one + self.dma[k].cycles, every + self.dma[k].in_layer
            elif operand.is_updated:
                again = self._brought_back(k)
                one, every = one + again[0], every + again[1]
        return one, every

    def _brought_back(self, k: int) -> tuple[Any, Any]:
        """Cycles in which DMA brings back a partial sum that starts from zero: none if no loop at DRAM visits it
        again."""
        operand = self.problem.nest.operands[k]
        again = self.model.new_bool_var(f"again_{operand.name}")
        visiting = [self.runs["dram", loop] for loop in sorted(self.loops - operand.loops)]
        self.model.add_max_equality(again, [0, *visiting])
        found = []
        for name, cycles in (("pass", self.dma[k].cycles), ("layer", self.dma[k].in_layer)):
            back = self.made.integer(f"back_{operand.name}_{name}", self.limits.cycles)
            self.model.add(back == cycles).only_enforce_if(again)
            self.model.add(back == 0).only_enforce_if(~again)
            found.append(back)
        return found[0], found[1]

    def _longest(self, name: str, *of: Any) -> Any:
        longest = self.made.integer(name, 2 * self.limits.cycles)
        self.model.add_max_equality(longest, of)
        return longest

    def _in_turn(self, name: str, *of: Any) -> Any:
        both = self.made.integer(name, 2 * self.limits.cycles)
        self.model.add(both == sum(of))
        return both


def build(problem: TilingProblem) -> TilingProgram:
    """The program of the last class of ``problem``, for mappings worth up to ``FIRST_LIMITS[0]`` times the bound by
    argument, as it is first solved.

    Raises: InputError if costs follow a timeline, or leave CP-SAT's integers.
    """
    name = problem.nest.name or "nest"
    reason = refusal(problem)
    if reason is not None:
        raise InputError(name, "rules", reason)
    classes = reuse_classes(problem)
    try:
        limit = math.ceil(bound_of(problem) * FIRST_LIMITS[0])
        program = TilingProgram(problem, classes[-1], len(classes), limit or None)
        program.build()
    except CostsTooLargeError as error:
        raise InputError(name, "loops", f"{error}; give a smaller nest") from None
    return program
