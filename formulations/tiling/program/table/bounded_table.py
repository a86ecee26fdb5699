"""Tiling as a choice from tables [Dave2019, secs. 4.1 to 4.3], of which floors and an incumbent leave a few rows.

One row of the scratch-pad's table and one of the PE array's make a mapping. What a row costs by itself is
read from its table; what couples the two is stated here. docs/formulation/tiling.md says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.tiling.program.counting import LARGEST
from mapper.formulations.tiling.program.lattice import exponent_of
from mapper.formulations.tiling.program.table.instance import Columns, TilingInstance
from mapper.formulations.tiling.program.table.tables import spm_pins
from mapper.models.tiling.mapping import LEVELS, TilingMapping

DECIDED = ("walk", "reuse_case", "dram_", "rf_", "spatial_")
"""Columns that are decisions and not quantities."""


class BoundedTable(CpSatFormulation):
    """The program of one instance."""

    title = "Tiling as bounded tables"

    def __init__(self, instance: TilingInstance) -> None:
        super().__init__()
        self.of = instance
        self.axes = instance.tables.lattice.axes

    def instance(self) -> str:
        problem = self.of.problem
        bounds = " ".join(f"{loop}={bound}" for loop, bound in problem.nest.bounds)
        return (
            f"{problem.nest.name or 'nest'} ({bounds}) on {problem.machine.name}, least {problem.objective}"
        )

    @index_set(r"\mathcal L = \prod_{l} \{d : d \mid B_l\}")
    def tiles(self) -> int:
        """Tiles: trip counts that divide the bounds B of the loops."""
        return self.of.tables.lattice.size

    @index_set(r"\{(r,s) : \prod_l s_l \le P,\ \sum_k D_k(r) \le R,\ r s \in \mathcal L\}")
    def splits(self) -> int:
        """Array tiles, split into trip counts s in space and r in register files: they need at most P PEs,
        and the words D of all operands k fit the R words of a register file."""
        return self.of.tables.split_count

    @index_set(r"\{(c,o) : \sum_k \lceil w D_k(c) / \beta \rceil \le K,\ o \in \mathcal O(B/c)\}")
    def scratch_pad_tiles(self) -> int:
        """Scratch-pad tiles c within K banks of beta bytes, each with the classes o of orders at DRAM that
        its loops allow; orders of equal reuse are one class."""
        return len(self.of.tables.outer.point)

    @index_set(r"\Omega = \{(u, \Sigma)\}")
    def walks(self) -> int:
        """Ways to walk through a scratch-pad tile: a class u of orders, and the operands that stay in the
        array."""
        return len(self.of.tables.modes)

    @index_set(r"J = \{(c,o,\omega) : \underline F(c,o,\omega) \le F^*\}")
    def scratch_pad_domain(self) -> int:
        """Scratch-pad tiles with a walk whose floor is not above the incumbent F*. The floor is the cost of
        DRAM and the least that any array tile dividing c adds."""
        return len(self.of.outer["walk"])

    @index_set(r"I = \{(r,s,\omega) : \underline F(r,s,\omega) \le F^*\}")
    def array_domain(self) -> int:
        """Splits with a walk whose floor, over the scratch-pad tiles that remain, is not above the
        incumbent."""
        return len(self.of.inner["walk"])

    @variables(
        r"e^{\lambda}_{l,p} \in \{0,\dots,E_{l,p}\} \quad \lambda \in \{\text{dram, spm, rf, spatial}\}"
    )
    def factors(self) -> None:
        """The exponent of every prime p of every bound B_l in the factor of each level."""
        self.exponent = {
            level: [
                self.model.new_int_var(0, axis.largest, f"{level}_{axis.loop}_{axis.prime}")
                for axis in self.axes
            ]
            for level in LEVELS
        }

    @variables(r"j \in J,\quad i \in I,\quad \omega \in \Omega")
    def rows(self) -> None:
        """The row of each table, and the walk that both share."""
        self.outer_row = self.model.new_int_var(0, max(0, len(self.of.outer["walk"]) - 1), "scratch_pad_row")
        self.inner_row = self.model.new_int_var(0, max(0, len(self.of.inner["walk"]) - 1), "array_row")
        self.walk = self.model.new_int_var(0, len(self.of.tables.modes) - 1, "walk")
        self.reuse_case = self.model.new_int_var(0, max(0, len(self.of.reuse_cases) - 1), "reuse_case")

    @variables(r"a_l \in \{0, 1\}")
    def running(self) -> None:
        """Whether a loop runs more than once in the scratch-pad."""
        self.runs = {loop: self.model.new_bool_var(f"runs_{loop}") for loop in self.of.problem.nest.loops}

    @variables(r"q_j, q_i \in \mathbb Z_{\ge 0}")
    def quantities(self) -> None:
        """What each row costs by itself: one integer for every such column of the two tables."""
        self.q_outer = self._quantities(self.of.outer, "scratch_pad")
        self.q_inner = self._quantities(self.of.inner, "array")

    @variables(r"E, C \in \mathbb Z_{\ge 0}")
    def costs(self) -> None:
        """Energy, in pJ, or in the machine's own unit where it does not round; and cycles."""
        per_unit = self.of.tables.energies.per_pj if self.of.counting.rounds else 1
        self.energy = self.model.new_int_var(0, self.of.energy_limit // per_unit + 1, "energy")
        self.cycles = self.model.new_int_var(0, self.of.cycles_limit, "cycles")

    @family(r"\sum_{\lambda} e^{\lambda}_{l,p} = E_{l,p} \quad \forall l, p")
    def factorisation(self) -> None:
        """The factors of the four levels multiply to the bound, so that tiles divide each other."""
        for place, axis in enumerate(self.axes):
            self.model.add(sum(self.exponent[level][place] for level in LEVELS) == axis.largest)

    @family(r"(j, \omega, e^{\text{dram}}, q_j) \in T_J")
    def scratch_pad_table(self) -> None:
        """A scratch-pad row fixes the factors at DRAM, the walk, and what DMA costs."""
        known = {"walk": self.walk, "reuse_case": self.reuse_case, **self.q_outer}
        known |= {f"dram_{place}": variable for place, variable in enumerate(self.exponent["dram"])}
        self._table(self.outer_row, known, self.of.outer)

    @family(r"(i, \omega, e^{\text{rf}}, e^{\text{spatial}}, q_i) \in T_I")
    def array_table(self) -> None:
        """An array row fixes the factors in space and in register files, the walk, and what the array
        costs."""
        known = {"walk": self.walk, **self.q_inner}
        for level in ("rf", "spatial"):
            known |= {f"{level}_{place}": variable for place, variable in enumerate(self.exponent[level])}
        self._table(self.inner_row, known, self.of.inner)

    @family(r"a_l \Leftrightarrow \sum_p e^{\text{spm}}_{l,p} \ge 1 \quad \forall l")
    def running_loops(self) -> None:
        """A loop runs in the scratch-pad if it has a factor there."""
        for loop, runs in self.runs.items():
            total = sum(
                e for axis, e in zip(self.axes, self.exponent["spm"], strict=True) if axis.loop == loop
            )
            self.model.add(total >= 1).only_enforce_if(runs)
            self.model.add(total == 0).only_enforce_if(~runs)

    @family(r"(\omega, o) \Rightarrow \bigvee_{l \in \Lambda} \neg a_l \vee \bigvee_{l \in \Gamma} a_l")
    def orders(self) -> None:
        """The loops that run have an order for the walk: what ends a reuse runs before anything else outside
        it, and the operands that stay are exactly those that are reused in all RF passes and at DRAM."""
        for number, (mode, reused) in enumerate(self.of.reuse_cases):
            here = self.model.new_bool_var(f"reuse_case_{number}")
            self.model.add(self.reuse_case == number).only_enforce_if(here)
            self.model.add(self.reuse_case != number).only_enforce_if(~here)
            for idle, running in mode.clauses(reused):
                still = [~self.runs[loop] for loop in sorted(idle)]
                self.model.add_bool_or([~here, *still, *(self.runs[loop] for loop in sorted(running))])

    @family(r"e^{\text{spm}}_{l,p} = \bar e_{l,p}")
    def pinned_factors(self) -> None:
        """Factors that are given at the scratch-pad are kept; the tables hold only rows with those given at
        other levels."""
        for loop, factor in spm_pins(self.of.problem).items():
            left = factor
            for axis, exponent in zip(self.axes, self.exponent["spm"], strict=True):
                if axis.loop == loop:
                    power, left = exponent_of(axis.prime, left)
                    self.model.add(exponent == power)
            if left != 1:
                self._impossible()

    @family(r"E = \varepsilon + \varepsilon_j + \varepsilon_i + \sum_t \gamma_{i,t}\, g_{j,t}")
    def energy_balance(self) -> None:
        """Energy is that of operations and register files, of DRAM, of what crosses NoC and scratch-pad in
        every RF pass, and of the visits of reused operands t; where the machine rounds, it is rounded to the
        nearest pJ (a tie may go down)."""
        total = self.q_outer["energy"] + self.q_inner["energy"] + self.of.tables.energies.constant
        for t in range(self.of.terms):
            slope, repeats = self.q_inner[f"energy_slope_{t}"], self.q_outer[f"repeats_{t}"]
            total = total + self._product(f"energy_{t}", 2 * self.of.energy_limit, slope, repeats)
        if self.of.counting.rounds:
            per_pj = self.of.tables.energies.per_pj
            self.model.add(2 * per_pj * self.energy >= 2 * total - per_pj)
            self.model.add(2 * per_pj * self.energy <= 2 * total + per_pj)
        else:
            self.model.add(self.energy == total)

    @family(r"n_j\, \pi = \pi_i + \sum_t \sigma_{i,t}\, g_{j,t}")
    def processing(self) -> None:
        """One scratch-pad pass of the array takes its share of computing and waiting in every RF pass and in
        the visits of reused operands t; n passes make up the layer."""
        limit = self.of.cycles_limit
        total = self.q_inner["cycles"]
        for t in range(self.of.terms):
            slope, repeats = self.q_inner[f"cycles_slope_{t}"], self.q_outer[f"repeats_{t}"]
            total = total + self._product(f"cycles_{t}", limit, slope, repeats)
        self.one_pass = self.model.new_int_var(0, limit, "one_pass")
        self.model.add(self._product("all_passes", limit, self.one_pass, self.q_outer["passes"]) == total)

    @family(
        r"C = n_j \mu + \sum_h (\Delta_h - \Delta_{h-1})\, v_{j,h},\quad "
        r"\mu = \delta_j \circ \pi,\ \circ \in \{\max, +\}"
    )
    def overlap(self) -> None:
        """A pass takes the longer of DMA and array, or both in turn if the scratch-pad has one buffer, and more where
        operands h that stay through several passes change their tiles: DMA fetches the new tiles in the pass before
        and returns partial sums in the pass after."""
        limit, outer, inner = self.of.cycles_limit, self.q_outer, self.q_inner
        together = self._longest if self.of.problem.machine.spm.double_buffered else self._in_turn
        usual = together("usual_pass", outer["always"], self.one_pass)
        total = self._product("usual_passes", limit, usual, outer["passes"])
        charged: Any = 0
        for h in range(self.of.tables.levels):
            first, last = self.one_pass + inner[f"first_{h}"], self.one_pass + inner[f"last_{h}"]
            before = together(f"with_fetch_{h}", outer[f"fetched_{h}"], last)
            before = self._longest(f"before_{h}", usual, before)
            after = together(f"with_return_{h}", outer[f"returned_{h}"], first)
            after = self._longest(f"after_{h}", usual, after)
            over = before + after - 2 * usual
            more = self.model.new_int_var(0, 2 * limit, f"more_{h}")
            self.model.add(more == over - charged)
            total = total + self._product(f"changes_{h}", limit, more, outer[f"changes_{h}"])
            charged = over
        self.model.add(self.cycles == total)

    @family(r"F = E\,C,\ E \text{ or } C, \qquad F \le F^*")
    def value(self) -> None:
        """The value to minimise is energy times cycles, energy, or cycles, and is not above the
        incumbent's."""
        self.minimised: Any = {"energy": self.energy, "latency": self.cycles}.get(self.of.problem.objective)
        if self.minimised is None:
            energy: Any = self.energy
            if self.of.counting.coarse:
                energy = self.model.new_int_var(0, LARGEST, "coarse_energy")
                self.model.add_division_equality(energy, self.energy, 1 << self.of.counting.coarse)
            self.minimised = self._product("edp", LARGEST, energy, self.cycles)
        if self.of.reduction.value is not None:
            self.model.add(self.minimised <= self.of.counting.whole(self.of.reduction.value))

    @family(r"F \ge \underline F_j")
    def floors(self) -> None:
        """Redundant: the value is not below the floor of the scratch-pad row."""
        self.model.add(self.minimised >= self.q_outer["floor"])

    @objective(r"\min F")
    def least_value(self) -> None:
        """The least value."""
        self.model.minimize(self.minimised)

    def hint(self) -> None:
        """Start from the incumbent's factors."""
        mapping = self.of.reduction.incumbent
        if mapping is not None:
            for place, level in enumerate(LEVELS):
                for axis, variable in zip(self.axes, self.exponent[level], strict=True):
                    factor = mapping.factors[mapping.loops.index(axis.loop)][place]
                    self.model.add_hint(variable, exponent_of(axis.prime, factor)[0])

    def improve(self, value: int | float) -> None:
        """Ask for mappings not worse than ``value`` only."""
        self.model.add(self.minimised <= self.of.counting.whole(value))

    def leave_out(self, value_of: Callable[[Any], int]) -> None:
        """Forbid the pair of rows of a solution: its mapping costs more than the program counts."""
        pair = (value_of(self.outer_row), value_of(self.inner_row))
        self.model.add_forbidden_assignments([self.outer_row, self.inner_row], [pair])

    def break_ties(self, least: int) -> None:
        """Among mappings of the ``least`` value ask for the next in rank: fewer cycles where energy is the
        value, else less energy; the energy-delay product follows."""
        self.model.add(self.minimised == least)
        self.model.minimize(self.cycles if self.of.problem.objective == "energy" else self.energy)

    def extract(self, value_of: Callable[[Any], int]) -> TilingMapping:
        """The mapping of a solution, of which ``value_of`` gives a variable's value."""
        rows, place = self.of.reduction.outer, value_of(self.outer_row)
        inner = value_of(self.inner_row)
        for part in self.of.reduction.inner:
            if inner < len(part.tiles.point):
                split = int(part.tiles.point[inner]), int(part.tiles.rf[inner])
                return self.of.tables.mapping(int(rows.row[place]), part.mode, *split)
            inner -= len(part.tiles.point)
        raise AssertionError("an array row outside its table")

    def _quantities(self, columns: Columns, prefix: str) -> dict[str, Any]:
        found = {}
        for name, column in columns.items():
            if not name.startswith(DECIDED):
                values = np.unique(column) if len(column) else np.zeros(1, dtype=np.int64)
                domain = cp_model.Domain.from_values([int(value) for value in values])
                found[name] = self.model.new_int_var_from_domain(domain, f"{prefix}_{name}")
        return found

    def _table(self, row: Any, known: dict[str, Any], columns: Columns) -> None:
        count = len(columns["walk"])
        tuples = np.column_stack([np.arange(count), *(columns[name] for name in known)])
        if count:
            self.model.add_allowed_assignments([row, *known.values()], tuples.tolist())
        else:
            self._impossible()

    def _product(self, name: str, limit: int, one: Any, other: Any) -> Any:
        product = self.model.new_int_var(0, limit, name)
        self.model.add_multiplication_equality(product, [one, other])
        return product

    def _longest(self, name: str, *of: Any) -> Any:
        longest = self.model.new_int_var(0, 2 * self.of.cycles_limit, name)
        self.model.add_max_equality(longest, of)
        return longest

    def _in_turn(self, name: str, *of: Any) -> Any:
        both = self.model.new_int_var(0, 2 * self.of.cycles_limit, name)
        self.model.add(both == sum(of))
        return both

    def _impossible(self) -> None:
        self.model.add_bool_or([])
