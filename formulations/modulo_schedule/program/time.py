"""The first half of modulo scheduling, decoupled: when operations issue, not yet where [Bae2018, sec. V-C].

Every schedule keeps these constraints: if they have no solution, there is no schedule. A solution is a set of issue
times, for which the second half, `ModuloProgram` with these times fixed, seeks PEs and routes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.formulations.modulo_schedule.program.symmetry import interchangeable


class TimeProgram(CpSatFormulation):
    """The program of one instance's issue times."""

    title = "Issue times of a modulo schedule as a constraint program"

    def __init__(self, instance: ModuloInstance) -> None:
        super().__init__()
        self.of = instance

    @property
    def terms(self) -> int:
        """About how many terms the program has once it is built."""
        return 4 * len(self.of.graph.operations) * self.of.ii + 6 * len(self.of.graph.edges)

    def instance(self) -> str:
        graph, machine = self.of.graph, self.of.machine
        return f"{graph.name} ({len(graph.operations)} operations) on {machine.name} at II {self.of.ii}"

    @index_set(r"V")
    def operations(self) -> int:
        """Operations of the loop body."""
        return len(self.of.graph.operations)

    @variables(
        r"y_{v,s} \in \{0,1\},\quad k_v \in \mathbb{Z},\ n_u \in \{0,\dots,|S|-|V|\},"
        r"\quad t_v = \sum_s s\,y_{v,s} + II\,k_v"
    )
    def times(self) -> None:
        """Operation v issues in cycle s modulo II (y), in stage k; the value of u takes n moves."""
        count = range(len(self.of.graph.operations))
        spare = max(0, self.of.spare_slots)
        horizon = self.of.horizon_stages(spare + 1)
        self.at = [[self.model.new_bool_var(f"y_{v}_{s}") for s in range(self.of.ii)] for v in count]
        self.stage = [self.model.new_int_var(-horizon, horizon, f"k_{v}") for v in count]
        reach = self.of.ii * (horizon + 1)
        self.time = [self.model.new_int_var(-reach, reach, f"t_{v}") for v in count]
        self.count = {u: self.model.new_int_var(0, spare, f"n_{u}") for u in self.of.values}

    @family(r"\sum_s y_{v,s} = 1 \quad \forall v, \qquad y_{0,0} = 1,\ k_0 = 0")
    def one_cycle(self) -> None:
        """Every operation issues in one cycle modulo II; the first issues in cycle 0, since delaying all
        operations alike changes nothing."""
        for at, stage, time in zip(self.at, self.stage, self.time, strict=True):
            self.model.add_exactly_one(at)
            self.model.add(time == sum(s * literal for s, literal in enumerate(at)) + self.of.ii * stage)
        self.model.add_bool_and([self.at[0][0]])
        self.model.add(self.stage[0] == 0)

    @family(r"\sum_{v : Q_v \subseteq U} y_{v,s} \le |U| \quad \forall s, U")
    def capacity(self) -> None:
        """The operations issued in a cycle that only PEs of a set U can execute are no more than the PEs of
        U."""
        able = [frozenset(pes) for pes in self.of.able]
        for pes in {*able, frozenset(self.of.pes)}:
            confined = [v for v, own in enumerate(able) if own <= pes]
            for s in range(self.of.ii):
                self.model.add(sum(self.at[v][s] for v in confined) <= len(pes))

    @family(r"\sum_{v \in V_{mem}} y_{v,s} \le \text{ports} \quad \forall s")
    def memory_ports(self) -> None:
        """The loads and stores issued in a cycle are no more than the memory has ports."""
        ports = self.of.machine.memory_ports
        memory = [v for v, o in enumerate(self.of.graph.operations) if o.opcode in ("load", "store")]
        if ports is not None:
            for s in range(self.of.ii):
                self.model.add(sum(self.at[v][s] for v in memory) <= ports)

    @family(r"t_w + \delta\,II \ge t_v + \lambda_e \quad \forall e = (v, w, \delta)")
    def dependences(self) -> None:
        """The destination of every edge issues no earlier than the edge's latency after its source."""
        for edge in self.of.graph.edges:
            after = self.time[edge.source] + self.of.edge_latency(edge)
            self.model.add(self.time[edge.destination] + edge.distance * self.of.ii >= after)

    @family(r"t_w + \delta\,II - t_u - \lambda_u < II\,(n_u + 1),\quad \sum_u n_u \le |S| - |V|")
    def moves(self) -> None:
        """A place holds a value for at most II cycles, so a value that waits longer takes moves; moves take
        the slots that operations leave free."""
        ii = self.of.ii
        for demand in self.of.demands:
            u = demand.source
            waited = self.time[demand.destination] + demand.distance * ii - self.time[u]
            self.model.add(waited - self.of.latency[u] <= ii - 1 + ii * self.count[u])
        self.model.add(sum(self.count.values()) <= self.of.spare_slots)

    @family(
        r"\sum_{d = (u, \cdot, \cdot)} [t_w + \delta\,II - t_u - \lambda_u = c] \le D\,(n_u + 1),"
        r"\quad \ldots \le D \text{ for } c = 0"
    )
    def crowding(self) -> None:
        """At most D operations read a result in one cycle, one on every PE within reach; more readers need
        moves, which come after the result is ready."""
        ii, shared = self.of.ii, set(self.of.sharing)
        reached = [{*readers, *(shared if pe in shared else ())} for pe, readers in self.of.readers.items()]
        widest = max(map(len, reached), default=1)
        reading = {u: [d for d in self.of.demands if d.source == u] for u in self.of.values}
        for u, demands in reading.items():
            if len(demands) <= widest:
                continue
            ages = range(ii * (len(demands) // widest + 1))
            read: list[list[Any]] = [[] for _ in ages]
            for demand in demands:
                literals = [self.model.new_bool_var("") for _ in ages]
                later = self.model.new_bool_var("")
                self.model.add_exactly_one([*literals, later])
                waited = self.time[demand.destination] + demand.distance * ii - self.time[u]
                ready = self.of.latency[u]
                self.model.add(waited - ready >= len(ages)).only_enforce_if(later)
                for age, literal in enumerate(literals):
                    self.model.add(waited - ready == age).only_enforce_if(literal)
                    read[age].append(literal)
            for age, literals in enumerate(read):
                self.model.add(sum(literals) <= (widest if age == 0 else widest * (1 + self.count[u])))

    @family(r"t_a \le t_b \quad \forall (a, b) \text{ interchangeable}")
    def alike_operations(self) -> None:
        """Of two operations that an automorphism of the graph exchanges, the first issues no later than the
        second."""
        for a, b in interchangeable(self.of):
            self.model.add(self.time[a] <= self.time[b])

    @objective(r"\min \sum_{(u,w,\delta) \in D} (t_w + \delta\,II - t_u)")
    def waiting(self) -> None:
        """Values wait as little as possible: a short-lived value needs few moves and registers."""
        ii = self.of.ii
        self.model.minimize(
            sum(self.time[d.destination] + d.distance * ii - self.time[d.source] for d in self.of.demands)
        )

    def extract(self, value_of: Callable[[Any], int]) -> tuple[int, ...]:
        """The issue times."""
        slots = (next(s for s, at in enumerate(ats) if value_of(at)) for ats in self.at)
        return tuple(
            slot + self.of.ii * value_of(stage) for slot, stage in zip(slots, self.stage, strict=True)
        )

    def leave_out(self, times: Mapping[int, int], operations: Sequence[int]) -> None:
        """Forbid ``operations`` to issue at these times, up to a common delay."""
        first = operations[0]
        differs = []
        for v in operations[1:]:
            other = self.model.new_bool_var("")
            apart = self.time[v] - self.time[first]
            self.model.add(apart != times[v] - times[first]).only_enforce_if(other)
            differs.append(other)
        self.model.add_bool_or(differs)
