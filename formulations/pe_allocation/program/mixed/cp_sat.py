"""The constraint program of mixed mode, layer by layer: where runs end, and the PEs and pace of each layer.

It needs no trade-offs of runs: start times, PEs and words of a run add up from layer to layer until there is a cut.
Maps all leave the chip between runs, which needs the least words and costs no time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import Choice, choices
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.storage import receptive_fields

Goal = Literal["interval", "cycles", "pes"]


class MixedConstraintProgram(CpSatFormulation):
    """The program of one instance: least ``goal``, the others at most ``limits``."""

    title = "Mixed mode as a constraint program"

    def __init__(self, problem: AllocationProblem, goal: Goal, limits: dict[Goal, int]) -> None:
        super().__init__()
        self.problem, self.goal, self.limits = problem, goal, limits
        self.network, self.layers = problem.network, problem.network.layers
        self.choices = [choices(problem, layer) for layer in self.layers]
        idle = [problem.pin(layer).throttle or 0 for layer in self.layers]
        slowest = [
            max((c.cycles for c in left), default=1) + wait
            for left, wait in zip(self.choices, idle, strict=True)
        ]
        for at, layer in enumerate(self.layers):
            fed = (layer.new_pixels * slowest[feed] for feed in layer.feeds)
            slowest[at] = max([slowest[at], *fed])
        self.slowest = slowest
        self.longest = sum(
            z * (layer.positions + layer.new_pixels + sum(self.layers[at].new_pixels for at in readers))
            for z, layer, readers in zip(slowest, self.layers, self.network.readers, strict=True)
        )

    def instance(self) -> str:
        problem = self.problem
        return f"{problem.network.name} on {problem.machine.name} ({problem.most_pes} PEs), least {self.goal}"

    @index_set(r"V")
    def network_layers(self) -> int:
        """Layers that run on the array."""
        return len(self.layers)

    @variables(r"x_{i,q} \in \{0, 1\}")
    def chosen(self) -> None:
        """Whether layer i gets choice q of PEs and units."""
        self.x = [
            [self.model.new_bool_var(f"x_{i}_{c.pes}_{c.delta}") for c in left]
            for i, left in enumerate(self.choices)
        ]

    @variables(r"c_i \in \{0, 1\},\quad u_{j,i} \in \{0,1\}")
    def cuts(self) -> None:
        """Whether a run starts with layer i; whether layer i is in the same run as layer j, which it
        reads."""
        new = self.model.new_bool_var
        self.cut = [new(f"c_{i}") for i in range(len(self.layers))]
        self.together = {
            (j, i): new(f"u_{j}_{i}") for i, layer in enumerate(self.layers) for j in layer.feeds
        }
        self.any_cut = new("any")

    @variables(r"z_i, b_i, t_i, d_i, p_i, w_i, D_i")
    def quantities(self) -> None:
        """For each layer its pace, when its run starts, when it starts itself, when everything up to it ends,
        the PEs and words of its run so far, and its receptive field."""
        count = range(len(self.layers))
        number = self.model.new_int_var
        fields = receptive_fields(self.network, count)
        tallest = max(field[0] for field in fields.values())
        self.most_words = sum(
            layer.weight_words
            + layer.maps
            + (fields[at][0] + layer.strides[0]) * layer.size[1] * layer.channels
            for at, layer in enumerate(self.layers)
        )
        room = self.most_words
        self.z = [number(0, self.slowest[i], f"z_{i}") for i in count]
        self.begin = [number(0, self.longest, f"b_{i}") for i in count]
        self.start = [number(0, self.longest, f"t_{i}") for i in count]
        self.done = [number(0, self.longest, f"d_{i}") for i in count]
        self.used = [number(0, self.problem.most_pes, f"p_{i}") for i in count]
        self.words = [number(-room, room, f"w_{i}") for i in count]
        self.field = [number(1, tallest, f"D_{i}") for i in count]
        self.cost = {
            "interval": number(0, min(self.limits.get("interval", self.longest), self.longest), "interval"),
            "cycles": number(0, min(self.limits.get("cycles", self.longest), self.longest), "cycles"),
            "pes": number(
                0, min(self.limits.get("pes", self.problem.most_pes), self.problem.most_pes), "pes"
            ),
        }

    @family(r"\sum_q x_{i,q} = 1,\quad z_i \ge \sum_q z_q x_{i,q}")
    def work(self) -> None:
        """Every layer gets one choice and takes no fewer cycles than its work (Eq. 6)."""
        for i, layer in enumerate(self.layers):
            self.model.add_exactly_one(self.x[i])
            work = sum(c.cycles * x for c, x in zip(self.choices[i], self.x[i], strict=True))
            idle = self.problem.pin(layer).throttle
            if idle is None:
                self.model.add(self.z[i] >= work)
            else:
                self.model.add(self.z[i] == work + idle)

    @family(r"u_{j,i} \Leftrightarrow \bigwedge_{j < k \le i} \lnot c_k, \qquad c_0 = 1")
    def runs(self) -> None:
        """Layers are in one run if there is no cut between them; runs that are given are kept."""
        self.model.add(self.cut[0] == 1)
        for (j, i), literal in self.together.items():
            between = self.cut[j + 1 : i + 1]
            self.model.add_bool_or([*between, literal])
            for cut in between:
                self.model.add_implication(literal, ~cut)
        self.model.add_max_equality(self.any_cut, [0, *self.cut[1:]])
        if self.problem.segments is not None:
            for i, cut in enumerate(self.cut):
                self.model.add(cut == (i in self.problem.segments))

    @family(r"u_{j,i} \Rightarrow z_i \ge F_i z_j \wedge t_i \ge t_j + F_i z_j")
    def streams(self) -> None:
        """Within a run rates match, and a layer starts once its first pixels are there (Eqs. 8 to 10)."""
        for (j, i), literal in self.together.items():
            new = self.layers[i].new_pixels
            self.model.add(self.z[i] >= new * self.z[j]).only_enforce_if(literal)
            self.model.add(self.start[i] >= self.start[j] + new * self.z[j]).only_enforce_if(literal)

    @family(r"c_i \Rightarrow b_i \ge d_{i-1},\quad \lnot c_i \Rightarrow b_i = b_{i-1},\quad t_i \ge b_i")
    def sequence(self) -> None:
        """A run starts when the run before it has ended."""
        for i, layer in enumerate(self.layers):
            self.model.add(self.start[i] >= self.begin[i])
            self.model.add(self.done[i] >= self.start[i] + layer.positions * self.z[i])
            if i:
                self.model.add(self.done[i] >= self.done[i - 1])
                self.model.add(self.begin[i] >= self.done[i - 1]).only_enforce_if(self.cut[i])
                self.model.add(self.begin[i] == self.begin[i - 1]).only_enforce_if(~self.cut[i])

    @family(
        r"L \ge t_i + R C z_i,\quad \Lambda \ge R C z_i,\quad \bigvee c_i \Rightarrow \Lambda \ge L \ge d_{V-1}"
    )
    def frame_times(self) -> None:
        """A frame ends with the layers that no other layer reads, or with the last run; frames overlap only
        if there is a single run."""
        for i, layer in enumerate(self.layers):
            self.model.add(self.cost["interval"] >= layer.positions * self.z[i])
        for i in self.network.sinks:
            self.model.add(self.cost["cycles"] >= self.start[i] + self.layers[i].positions * self.z[i])
        self.model.add(self.cost["cycles"] >= self.done[-1]).only_enforce_if(self.any_cut)
        self.model.add(self.cost["interval"] >= self.cost["cycles"]).only_enforce_if(self.any_cut)

    @family(r"p_i \ge P_i + \lnot c_i\, p_{i-1},\quad P \ge p_i")
    def array_size(self) -> None:
        """Each run has the array to itself."""
        for i, left in enumerate(self.choices):
            own = sum(c.pes * x for c, x in zip(left, self.x[i], strict=True))
            self._carried(self.used, i, own)
            self.model.add(self.cost["pes"] >= self.used[i])

    @family(
        r"u_{i,r} \Rightarrow D_i \ge (D_r - 1) S_i + K_i,\quad w_i \ge B_i + \lnot c_i\, w_{i-1},\quad w \le B"
    )
    def storage(self) -> None:
        """The weights and intermediate words of a run fit the buffers (Eqs. 2 and 15 to 17)."""
        most = self.problem.most_bytes
        if most is None:
            return
        room = min(most // self.problem.machine.word_bytes, self.most_words)
        for i, layer in enumerate(self.layers):
            own: Any = layer.weight_words + layer.maps
            if layer.operation == "convolution":
                held = (self.field[i] - layer.strides[0]) * (layer.size[1] * layer.channels)
                own = layer.weight_words + held
            self.model.add(self.field[i] >= layer.reach[0])
            for r in self.network.readers[i]:
                grown = (self.field[r] - 1) * layer.strides[0] + layer.reach[0]
                self.model.add(self.field[i] >= grown).only_enforce_if(self.together[i, r])
            self._carried(self.words, i, own)
            if i + 1 < len(self.layers):
                self.model.add(self.words[i] <= room).only_enforce_if(self.cut[i + 1])
            else:
                self.model.add(self.words[i] <= room)

    @objective(r"\min \Lambda,\ L \text{ or } P")
    def least(self) -> None:
        """The least of one quantity; ties are broken by further programs that have it as a limit."""
        self.model.minimize(self.cost[self.goal])

    def extract(self, value_of: Callable[[Any], int]) -> Allocation:
        """The allocation, with the least idle cycles that its rates need and all maps off the chip."""
        starts = tuple(i for i, cut in enumerate(self.cut) if i == 0 or value_of(cut))
        taken: list[Choice] = [
            next(c for c, x in zip(left, xs, strict=True) if value_of(x))
            for left, xs in zip(self.choices, self.x, strict=True)
        ]
        paces: list[int] = []
        for i, (layer, choice) in enumerate(zip(self.layers, taken, strict=True)):
            idle = self.problem.pin(layer).throttle
            fed = [layer.new_pixels * paces[j] for j in layer.feeds if value_of(self.together[j, i])]
            paces.append(max([choice.cycles, *fed]) if idle is None else choice.cycles + idle)
        return Allocation(
            "mixed",
            tuple(choice.pes for choice in taken),
            tuple(pace - choice.cycles for pace, choice in zip(paces, taken, strict=True)),
            tuple(choice.delta for choice in taken),
            segments=starts,
            on_chip=(False,) * (len(starts) - 1),
        )

    def _carried(self, total: list[Any], i: int, own: Any) -> None:
        """``total`` of the run up to layer i, if ``own`` is what the layer adds."""
        self.model.add(total[i] >= own).only_enforce_if(self.cut[i])
        if i:
            self.model.add(total[i] >= total[i - 1] + own).only_enforce_if(~self.cut[i])
