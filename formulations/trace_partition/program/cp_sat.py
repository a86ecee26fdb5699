"""The constraint program of trace partitioning [Chang2018, sec. 4]: one option a layer, and what stays in Buf.

What an option costs is the model's to say; what couples layers, the maps that stay between them, is stated here.
docs/formulation/trace-partition.md says why that is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.trace_partition.program.option_cost import CostedOption
from mapper.formulations.trace_partition.program.option_table import OptionTable
from mapper.formulations.trace_partition.program.residency import Residency
from mapper.models.trace_partition.mapping import Partition


class PartitionProgram(CpSatFormulation):
    """The program of one instance."""

    title = "Trace partitioning as a constraint program"

    def __init__(self, table: OptionTable) -> None:
        super().__init__()
        self.of = table
        self.options: list[dict[Residency, CostedOption]] = [
            {at: found.best for at, found in layer.items() if found.best is not None}
            for layer in table.layers
        ]

    def instance(self) -> str:
        problem = self.of.problem
        where = f"{problem.machine.name} as {problem.configuration.name}"
        return f"{problem.network.name} on {where}, least {problem.objective}"

    @index_set(r"l \in L")
    def layers(self) -> int:
        """Layers on the accelerator, in the order in which they run."""
        return len(self.options)

    @index_set(r"P_l = \{(m, \omega, s, \kappa, r, c, i, o)\}")
    def decisions(self) -> int:
        """Decisions of the layers: mode, loop order, splits over units and over clusters, and the tile's
        rows, columns, summed channels and output channels, each of any size."""
        return self.of.size

    @index_set(r"O_l = \{\operatorname{arg\,min} \{C(p) : p \in P_l(\sigma)\} : \sigma \in S_l\}")
    def best_options(self) -> int:
        """Options: for each residency (what stays in Buf before and after a layer, and how it lies in the
        units), the decisions of least cost that fit the buffers. The cost is that of loads, computation and
        stores that overlap in steps, as the model counts it."""
        return sum(map(len, self.options))

    @index_set(r"A = \{(l, \sigma, \sigma') : \sigma \sim \sigma'\}")
    def agreements(self) -> int:
        """Pairs of residencies of a layer and the next in which every unit holds, after the first layer,
        exactly what it needs before the second: nothing, or the same part of a tensor that only the next
        layer reads."""
        return sum(map(len, self.of.residencies.agreed))

    @variables(r"x_{l,o} \in \{0, 1\}")
    def chosen(self) -> None:
        """Whether layer l takes option o."""
        self.x = [
            {at: self.model.new_bool_var(f"x_{place}_{number}") for number, at in enumerate(layer)}
            for place, layer in enumerate(self.options)
        ]

    @family(r"\sum_o x_{l,o} = 1 \quad \forall l")
    def one_option(self) -> None:
        """Every layer takes one option."""
        for literals in self.x:
            self.model.add_exactly_one(literals.values())

    @family(r"x_{l,o} \le \sum_{o' \sim o} x_{l+1,o'}, \quad x_{l+1,o'} \le \sum_{o \sim o'} x_{l,o}")
    def residency(self) -> None:
        """What stays after a layer stays before the next and lies in the units as the next layer needs it;
        nothing stays before a layer that did not stay after the layer before it."""
        for agreed, one, other in zip(self.of.residencies.agreed, self.x[:-1], self.x[1:], strict=True):
            for a, literal in one.items():
                self.model.add_bool_or([~literal, *(other[b] for b in other if (a, b) in agreed)])
            for b, literal in other.items():
                self.model.add_bool_or([~literal, *(one[a] for a in one if (a, b) in agreed)])

    @family(r"\sum_o M_o\, x_{l,o} \le M \quad \forall l")
    def maps_buffer(self) -> None:
        """Double-buffered maps, results and biases, partial sums, and the maps that stay fit the Buf of each
        unit."""
        words = self.of.problem.machine.unit_words
        for layer, literals in zip(self.options, self.x, strict=True):
            self.model.add(sum(layer[at].unit_words * x for at, x in literals.items()) <= words)

    @family(r"\sum_o W_o\, x_{l,o} \le W \quad \forall l")
    def weight_buffers(self) -> None:
        """Double-buffered weights fit the WBuf of each vMAC."""
        words = self.of.problem.machine.vmac_words
        for layer, literals in zip(self.options, self.x, strict=True):
            self.model.add(sum(layer[at].vmac_words * x for at, x in literals.items()) <= words)

    @objective(r"\min \sum_l \sum_o C_o\, x_{l,o}")
    def least_cost(self) -> None:
        """The least cycles, bytes or energy of all layers together."""
        self.model.minimize(self._total(0))

    def _total(self, place: int) -> Any:
        """The sum of one place of the options' ranks."""
        return sum(
            layer[at].rank[place] * x
            for layer, literals in zip(self.options, self.x, strict=True)
            for at, x in literals.items()
        )

    def total(self, place: int, value_of: Callable[[Any], int]) -> int:
        """One place of a solution's rank."""
        taken = (
            layer[at].rank[place] * value_of(x)
            for layer, literals in zip(self.options, self.x, strict=True)
            for at, x in literals.items()
        )
        return sum(taken)

    def break_ties(self, place: int, least: int) -> None:
        """Among partitions of the ``least`` total in one place of the rank ask for the least in the next."""
        self.model.add(self._total(place) == least)
        self.model.minimize(self._total(place + 1))

    def extract(self, value_of: Callable[[Any], int]) -> Partition:
        """The partition of a solution."""
        return Partition(
            tuple(
                next(layer[at].mapping for at, x in literals.items() if value_of(x))
                for layer, literals in zip(self.options, self.x, strict=True)
            )
        )
