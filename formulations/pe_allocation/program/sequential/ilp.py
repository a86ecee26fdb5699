"""The integer linear program of layers that run one after another [Heidorn2019, sec. 5.1].

The closed form (``sequential``) solves it; the program says what it solves, and is held against it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulp

from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.sequential.closed_form import rule_of
from mapper.formulations.pulp_formulation import PulpFormulation
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamLayer

Option = tuple[int, int, int]
"""PEs, units, and cycles of a position."""


class SequentialProgram(PulpFormulation):
    """The program of one instance."""

    title = "PE allocation layer by layer as an integer linear program"

    def __init__(self, problem: AllocationProblem) -> None:
        super().__init__("layer_by_layer")
        self.problem, self.layers = problem, problem.network.layers
        self.options = [_options_of(problem, layer) for layer in self.layers]

    def instance(self) -> str:
        problem = self.problem
        return f"{problem.network.name} on {problem.machine.name} ({problem.most_pes} PEs), model {problem.model}"

    @index_set(r"V")
    def network_layers(self) -> int:
        """Layers that run on the array."""
        return len(self.layers)

    @index_set(r"Q_i \subseteq \{1, \dots, P\}")
    def useful_choices(self) -> int:
        """PE counts of each layer, with numbers of units where these are free, of which no smaller one is as
        fast."""
        return sum(map(len, self.options))

    @variables(r"x_{i,q} \in \{0, 1\}")
    def chosen(self) -> None:
        """Whether layer i gets choice q."""
        self.x = [
            [self.integer(f"x_{i}_{pes}_{delta}", 1) for pes, delta, _ in options]
            for i, options in enumerate(self.options)
        ]

    @variables(r"P, L \in \mathbb Z_{\ge 0}")
    def costs(self) -> None:
        """PEs, and cycles per frame."""
        self.pes = self.integer("pes", self.problem.most_pes)
        self.cycles = self.integer("cycles", self.problem.longest_interval)

    @family(r"\sum_{q} x_{i,q} = 1 \quad \forall i")
    def one_choice(self) -> None:
        """Every layer gets one choice."""
        for literals in self.x:
            self.model += pulp.lpSum(literals) == 1

    @family(r"P \ge \sum_q q\, x_{i,q} \quad \forall i")
    def array_size(self) -> None:
        """Every layer has the array to itself, which is as large as the layer with the most PEs needs."""
        for options, literals in zip(self.options, self.x, strict=True):
            used = [pes * literal for (pes, _, _), literal in zip(options, literals, strict=True)]
            self.model += self.pes >= pulp.lpSum(used)

    @family(r"L = \sum_i \left(d_i + R_{i+1} C_{i+1} \sum_q z_{i,q}\, x_{i,q}\right)")
    def frame_time(self) -> None:
        """A frame takes the cycles of all layers, one after another (Eqs. 3 and 4), and the next frame starts
        when it ends (Eq. 5); in the streaming model a layer's last pixels leave its units d cycles later."""
        terms = [
            layer.positions * cycles * literal
            for layer, options, literals in zip(self.layers, self.options, self.x, strict=True)
            for (_, _, cycles), literal in zip(options, literals, strict=True)
        ]
        self.model += self.cycles == pulp.lpSum(terms) + sum(self.problem.drains)

    @objective(r"\min L \text{ or } P")
    def least(self) -> None:
        """Fewest cycles, which is also the highest throughput, or fewest PEs."""
        self.model.setObjective(self.pes if self.problem.objective == "pes" else self.cycles)

    def extract(self, value_of: Callable[[Any], int]) -> Allocation:
        """The allocation of a solution."""
        taken = [
            next(option for option, literal in zip(options, literals, strict=True) if value_of(literal))
            for options, literals in zip(self.options, self.x, strict=True)
        ]
        return Allocation(
            "layer-by-layer",
            tuple(pes for pes, _, _ in taken),
            tuple(self.problem.pin(layer).throttle or 0 for layer in self.layers),
            tuple(delta for _, delta, _ in taken),
        )


def _options_of(problem: AllocationProblem, layer: StreamLayer) -> list[Option]:
    pin, units, rule = problem.pin(layer), problem.units(layer), rule_of(problem)
    counts = range(1, problem.most_pes + 1) if pin.pes is None else (pin.pes,)
    deltas: tuple[int, ...] = (units,) if pin.delta is None else (pin.delta,)
    if problem.free_delta and pin.delta is None:
        deltas = tuple(range(1, units + 1))
    found: dict[tuple[int, int], Option] = {}
    for pes in counts:
        for delta in deltas:
            cycles = rule(layer, pes, delta)
            found.setdefault((delta, cycles), (pes, delta, cycles + (pin.throttle or 0)))
    return list(found.values())
