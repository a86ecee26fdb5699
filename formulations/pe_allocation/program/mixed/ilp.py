"""The integer linear program of mixed mode: which runs of fused layers follow each other, and which maps stay.

Beyond the paper, which has all layers fused or none [Heidorn2019, sec. 5.3]. A run is an interval of layers; what it
can do by itself (PEs, latency) is given exactly, so that cycles add up in whole numbers. What couples the runs are
PEs, the interval between frames, and the words of maps that stay in the buffers while later runs work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import pulp

from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.mixed.fused_run import refuse_streaming
from mapper.formulations.pe_allocation.program.mixed.run_choice import RunChoice, run_choices
from mapper.formulations.pulp_formulation import PulpFormulation
from mapper.models.pe_allocation.storage import output_words

MixedGoal = Literal["interval", "cycles", "pes", "traffic"]
GOALS: dict[str, tuple[MixedGoal, ...]] = {
    "throughput": ("interval", "cycles", "pes", "traffic"),
    "latency": ("cycles", "interval", "pes", "traffic"),
    "pes": ("pes", "interval", "cycles", "traffic"),
}
"""What is least by objective, in the order of ties."""
SENSES: dict[MixedGoal, str] = {
    "interval": "cycles between frames",
    "cycles": "cycles of latency",
    "pes": "PEs",
    "traffic": "words off the chip",
}


class MixedProgram(PulpFormulation):
    """The program of one instance: least ``goal``, the others at most ``limits``."""

    title = "Mixed mode as an integer linear program"

    def __init__(
        self,
        problem: AllocationProblem,
        runs: Sequence[RunChoice],
        goal: MixedGoal,
        limits: dict[MixedGoal, int],
    ) -> None:
        super().__init__("mixed_mode")
        self.problem, self.runs, self.goal, self.limits = problem, runs, goal, limits
        self.layers = problem.network.layers
        most = problem.most_bytes
        self.room = None if most is None else most // problem.machine.word_bytes
        # The maps that can cross a boundary, with their last reader.
        self.crossing = {at: max(readers) for at, readers in enumerate(problem.network.readers) if readers}

    def instance(self) -> str:
        problem = self.problem
        return f"{problem.network.name} on {problem.machine.name} ({problem.most_pes} PEs), least {SENSES[self.goal]}"

    @index_set(r"V")
    def network_layers(self) -> int:
        """Layers that run on the array."""
        return len(self.layers)

    @index_set(r"R = \{[a,b]\}")
    def intervals(self) -> int:
        """Runs: intervals of layers whose words fit the buffers."""
        return len({(run.first, run.last) for run in self.runs})

    @index_set(r"Q = \{([a,b], P_q, L_q, \Lambda_q)\}")
    def trade_offs(self) -> int:
        """Trade-offs between PEs and latency of the runs; none is better in both than another of its run."""
        return len(self.runs)

    @variables(r"y_q \in \{0, 1\}")
    def chosen(self) -> None:
        """Whether trade-off q is taken, which makes its layers one run."""
        self.y = [self.binary(f"y_{run.first}_{run.last}_{at}") for at, run in enumerate(self.runs)]

    @variables(r"k_c, h_i, o_i \in \{0, 1\}")
    def kept(self) -> None:
        """Whether the maps that the run before boundary c leaves stay on the chip; whether the map of layer i
        is one that stays, or one that leaves."""
        self.keep = {cut: self.binary(f"k_{cut}") for cut in range(1, len(self.layers))}
        self.held = {at: self.binary(f"h_{at}") for at in self.crossing}
        self.gone = {at: self.binary(f"o_{at}") for at in self.crossing}

    @variables(r"f_{i,[a,b]} \ge 0")
    def fetched(self) -> None:
        """Whether a run fetches the map of layer i from off the chip."""
        self.fetch = {
            (at, first, last): self.continuous(f"f_{at}_{first}_{last}", 1)
            for first, last in sorted({(run.first, run.last) for run in self.runs})
            for at in self.crossing
            if at < first and any(first <= reader <= last for reader in self.problem.network.readers[at])
        }

    @variables(r"\Lambda, L, P, W")
    def costs(self) -> None:
        """Cycles between frames, cycles of latency, PEs, and words off the chip per frame."""
        goals: tuple[MixedGoal, ...] = ("interval", "cycles", "pes", "traffic")
        self.cost = {goal: self.continuous(goal, self.limits.get(goal)) for goal in goals}

    @family(r"\sum_{q: a \le i \le b} y_q = 1 \quad \forall i \in V")
    def cover(self) -> None:
        """Every layer is in one run."""
        for at in range(len(self.layers)):
            self.model += pulp.lpSum(y for run, y in self._taken() if run.first <= at <= run.last) == 1

    @family(r"P \ge \sum_{q: a \le i \le b} P_q\, y_q \quad \forall i \in V")
    def array_size(self) -> None:
        """Each run has the array to itself."""
        for at in range(len(self.layers)):
            used = (run.pes * y for run, y in self._taken() if run.first <= at <= run.last)
            self.model += self.cost["pes"] >= pulp.lpSum(used)

    @family(r"L = \sum_q L_q\, y_q, \qquad \Lambda = \sum_q \Lambda_q\, y_q")
    def frame_times(self) -> None:
        """Runs follow each other, and so do frames unless there is a single run."""
        self.model += self.cost["cycles"] == pulp.lpSum(run.cycles * y for run, y in self._taken())
        self.model += self.cost["interval"] == pulp.lpSum(run.interval * y for run, y in self._taken())

    @family(
        r"h_i \ge k_c + \sum_{q: a \le i,\, b = c-1} y_q - 1, \qquad o_i \ge \sum_{q: a \le i,\, b = c-1} y_q - k_c"
        r" \quad \forall i < c \le \max\text{reader}(i)"
    )
    def crossing_maps(self) -> None:
        """A map that a later run reads stays on the chip if the maps of its run do, and leaves it if they do
        not."""
        for at, reader in self.crossing.items():
            for cut in range(at + 1, reader + 1):
                ends = pulp.lpSum(y for run, y in self._taken() if run.first <= at and run.last == cut - 1)
                self.model += self.held[at] >= self.keep[cut] + ends - 1
                self.model += self.gone[at] >= ends - self.keep[cut]

    @family(
        r"B_{[a,b]} y_{[a,b]} + \sum_{i \le b,\, \max\text{reader}(i) \ge a} w_i h_i \le B + M (1 - y_{[a,b]})"
    )
    def storage(self) -> None:
        """While a run works, its weights and intermediate words and the maps that stay fit the buffers."""
        if self.room is None:
            return
        for first, last in sorted({(run.first, run.last) for run in self.runs}):
            these = [(run, y) for run, y in self._taken() if (run.first, run.last) == (first, last)]
            maps = [
                (output_words(self.layers[at]), self.held[at])
                for at, reader in self.crossing.items()
                if at <= last and reader >= first
            ]
            words = these[0][0].words
            most = sum(size for size, _ in maps)
            if words + most > self.room:
                slack = max(0, most - self.room)
                taken = pulp.lpSum(y for _, y in these)
                stored = pulp.lpSum(size * held for size, held in maps) + words * taken
                self.model += stored <= self.room + slack * (1 - taken)

    @family(r"f_{i,[a,b]} \ge o_i + y_{[a,b]} - 1")
    def fetches(self) -> None:
        """A run that reads a map that has left the chip fetches it."""
        for (at, first, last), fetch in self.fetch.items():
            taken = pulp.lpSum(y for run, y in self._taken() if (run.first, run.last) == (first, last))
            self.model += fetch >= self.gone[at] + taken - 1

    @family(r"W = \sum_q W_q y_q + \sum_i w_i \bigl(o_i + \sum_{[a,b]} f_{i,[a,b]}\bigr)")
    def off_chip_words(self) -> None:
        """Weights, the frame and the results, and the maps that leave the chip and come back."""
        fixed = pulp.lpSum(run.traffic * y for run, y in self._taken())
        gone = pulp.lpSum(output_words(self.layers[at]) * o for at, o in self.gone.items())
        back = pulp.lpSum(output_words(self.layers[key[0]]) * f for key, f in self.fetch.items())
        self.model += self.cost["traffic"] == fixed + gone + back

    @objective(r"\min \Lambda,\ L,\ P \text{ or } W")
    def least(self) -> None:
        """The least of one quantity; ties are broken by further programs that have it as a limit."""
        self.model.setObjective(self.cost[self.goal])

    def extract(self, value_of: Callable[[Any], int]) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        """The numbers of the trade-offs taken, by their first layers, and whether the maps of each run but the last
        stay. What rounding makes of a solution may be no runs that follow each other."""
        taken = sorted((at for at, y in enumerate(self.y) if value_of(y)), key=lambda at: self.runs[at].first)
        cuts = [self.keep.get(self.runs[at].last + 1) for at in taken[:-1]]
        return tuple(taken), tuple(cut is not None and bool(value_of(cut)) for cut in cuts)

    def _taken(self) -> list[tuple[RunChoice, Any]]:
        return list(zip(self.runs, self.y, strict=True))


def build(problem: AllocationProblem) -> MixedProgram:
    """The program of the problem's objective with all its runs, built.

    Raises: InputError for another model than the calculus.
    """
    refuse_streaming(problem)
    limits: dict[MixedGoal, int] = {}
    if problem.longest_interval is not None:
        limits["interval"] = problem.longest_interval
    runs = [choice for choice, _ in run_choices(problem)]
    program = MixedProgram(problem, runs, GOALS[problem.objective][0], limits)
    program.build()
    return program
