"""The constraint program of modulo scheduling at one initiation interval [Bae2018, sec. V-C].

No constraint on places mentions an issue time: values live in their own time, to which issue times are tied by the
round in which a reader reads. Neither time nor moves are limited: docs/formulation/modulo-schedule.md says why no
schedule is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from mapper.formulations.formulation import family, objective
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.formulations.modulo_schedule.program.own_time import OwnTimeProgram
from mapper.formulations.modulo_schedule.program.route import Solution
from mapper.formulations.modulo_schedule.program.symmetry import (
    Image,
    array_symmetries,
    interchangeable,
    orbit_leaders,
)
from mapper.models.modulo_schedule.bound import mii

MOST_PES = 36
"""PEs of the largest array for which distances are stated."""
ANCHORS = 3
"""Operations that are kept to one PE of every orbit."""


class ModuloProgram(OwnTimeProgram):
    """The program of one instance."""

    title = "Modulo scheduling as a constraint program"

    @family(r"k_w + \delta - k_u - \lfloor (s_u + \lambda_u) / II \rfloor = \sum_g g\,b_{d,g}")
    def reading_rounds(self) -> None:
        """The stages of reader and producer determine the round of its value's time in which a demand
        reads."""
        for demand, literals in zip(self.of.demands, self.round, strict=True):
            u, w = demand.source, demand.destination
            self.model.add_exactly_one(list(literals.values()))
            carried = sum((s + self.of.latency[u]) // self.of.ii * at for s, at in enumerate(self.at[u]))
            stage = self.stage[w] + demand.distance - self.stage[u] - carried
            self.model.add(stage == sum(g * literal for g, literal in literals.items()))

    @family(
        r"x_{w,q,s} \wedge b_{d,g} \Rightarrow r_{u,g,q,s} \vee \bigvee_{q' \to q} o_{u,g,q',s}"
        r"\; [\vee\, p_{u,g,s}: q \in P]"
    )
    def demanded_values(self) -> None:
        """Wherever and whenever an operation issues, every value that it reads is within reach."""
        self.bring_within_reach()

    @family(r"t_w + \delta\,II \ge t_v + \lambda_e \quad \forall e = (v, w, \delta)")
    def dependences(self) -> None:
        """The destination of every edge issues no earlier than the edge's latency after its source."""
        for edge in self.of.graph.edges:
            after = self.time[edge.source] + self.of.edge_latency(edge)
            self.model.add(self.time[edge.destination] + edge.distance * self.of.ii >= after)

    @family(r"\sum_{v \in V_{mem}} y_{v,s} \le \text{ports} \quad \forall s")
    def memory_ports(self) -> None:
        """The loads and stores issued in a cycle are no more than the memory has ports."""
        self.limit_memory()

    @family(
        r"x_{w,q,s} \wedge b_{d,g} \Rightarrow f_d \vee \bigvee_{q' \to q} o_{u,g,q',s}"
        r"\; [\vee\, p_{u,g,s}: q \in P],"
        r"\quad \sum_{d = (\cdot, w, \cdot)} f_d \le \text{ports} \quad \forall w"
    )
    def read_ports(self) -> None:
        """The operands that an operation reads from its PE's own registers are no more than the file has read
        ports. A move reads one place, and a PE never writes more than one register, since it gets one result
        ready in a cycle."""
        self.limit_reads()

    @family(
        r"n_u = \sum_{g,q,s} m_{u,g,q,s},\ \sum_u n_u \le M,\quad t_w + \delta\,II - t_u - \lambda_u < II\,(n_u + 1)"
    )
    def spare_slots(self) -> None:
        """Implied: moves take the slots that operations leave free, and each move bridges at most II cycles
        of waiting."""
        ii = self.of.ii
        of_value: dict[int, list[Any]] = {u: [] for u in self.of.values}
        in_cycle: list[list[Any]] = [[at[s] for at in self.at] for s in range(ii)]
        for (u, _, _, s), move in self.move.items():
            of_value[u].append(move)
            in_cycle[s].append(move)
        for u, literals in of_value.items():
            self.model.add(sum(literals) == self.count[u])
        self.model.add(sum(self.count.values()) <= self.most_moves)
        for literals in in_cycle:
            self.model.add(sum(literals) <= len(self.of.pes))
        for demand, of_round in zip(self.of.demands, self.round, strict=True):
            u, w = demand.source, demand.destination
            latency = self.of.latency[u]
            waited = self.time[w] + demand.distance * ii - self.time[u] - latency
            self.model.add(waited <= ii - 1 + ii * self.count[u])
            if 0 in of_round:
                for s, at in enumerate(self.at[w]):
                    early = [self.at[u][other] for other in range(ii) if (other + latency) % ii <= s]
                    self.model.add_bool_or([~of_round[0], ~at, *early])

    @family(
        r"z_{u,q} \wedge z_{w,q'} \Rightarrow n_u \ge h(q, q'),"
        r"\ t_w + \delta\,II - t_u - \lambda_u \ge h(q, q') \quad \forall (u, w, \delta),\ h(q, q') > 0"
    )
    def distances(self) -> None:
        """Implied: to a PE at distance h a value takes h moves, and a cycle for each (stated on arrays of up
        to 36 PEs without shared registers, which would shorten the route)."""
        if len(self.of.pes) > MOST_PES or self.of.machine.shared_register_file is not None:
            return
        moves = self.of.least_moves
        for demand in self.of.demands:
            u, w = demand.source, demand.destination
            waited = self.time[w] + demand.distance * self.of.ii - self.time[u] - self.of.latency[u]
            pairs = product(self.of.able[u], self.of.able[w])
            far = max((moves[q].get(reader, 0) for q, reader in pairs if u != w), default=0)
            for least in range(1, far + 1):
                travels = self.literal("h", u, w, demand.distance, least)
                self.model.add(self.count[u] >= least).only_enforce_if(travels)
                self.model.add(waited >= least).only_enforce_if(travels)
                for q in self.of.able[u]:
                    near = [self.on[w, to] for to in self.of.able[w] if moves[q].get(to, far) < least]
                    self.model.add_bool_or([~self.on[u, q], travels, *near])

    @family(r"s_0 = 0,\ k_0 = 0")
    def origin(self) -> None:
        """The first operation issues in cycle 0, since delaying everything alike keeps a schedule valid.
        Where issue times are fixed, the other operations keep theirs."""
        for v, time in {**({0: 0} if self.at else {}), **self.times}.items():
            stage, slot = divmod(time, self.of.ii)
            self.model.add_bool_and([self.at[v][slot]])
            self.model.add(self.stage[v] == stage)

    @family(r"z_{v,q} = 0 \quad q \text{ no leader of its orbit}")
    def alike_pes(self) -> None:
        """The operation with the most demands is on one PE of every orbit under the array's symmetries; each
        of the next two is on one PE of every orbit under the symmetries that keep the operations before it in
        place."""
        if self.of.places is None:  # given PEs are not for exchange
            self._break(self._most_tied(), array_symmetries(self.of), [])

    @family(r"t_a \le t_b \quad \forall (a, b) \text{ interchangeable}")
    def alike_operations(self) -> None:
        """Of two operations that an automorphism of the graph exchanges, the first issues no later than the
        second."""
        for a, b in interchangeable(self.of) if self.of.places is None else ():
            self.model.add(self.time[a] <= self.time[b])

    @objective(r"\text{find any; } II \text{ is minimised by solving from } MII \text{ upwards}")
    def least_interval(self) -> None:
        """The II is given: any schedule is an answer, and so is a proof that there is none."""

    def extract(self, value_of: Callable[[Any], int]) -> Solution:
        """Placements, moves and what is held where."""
        stage = [value_of(stage) for stage in self.stage]
        placed = {v: (q, s) for (v, q, s), issue in self.issue.items() if value_of(issue)}
        return Solution(
            self.of,
            tuple((placed[v][0], placed[v][1] + self.of.ii * stage[v]) for v in range(len(placed))),
            frozenset(key for key, move in self.move.items() if value_of(move)),
            frozenset(key for key, output in self.output.items() if value_of(output)),
            {held: copy for (held, copy), kept in self.kept.items() if value_of(kept)},
            self.shared_values(value_of),
            frozenset(cell for cell, write in self.shared_write.items() if value_of(write)),
            self.is_named,
        )

    def _break(self, order: list[int], symmetries: list[Image], chosen: list[Any]) -> None:
        """Keep the first of ``order`` to leaders of orbits where all before it are as ``chosen``."""
        if not order or len(symmetries) == 1:
            return
        v, *rest = order
        leaders = orbit_leaders(symmetries, self.of.able[v])
        for q in self.of.able[v]:
            on = self.on[v, q]
            if q not in leaders:
                self.model.add_bool_or([~on, *(~literal for literal in chosen)])
            else:
                self._break(rest, [image for image in symmetries if image[q] == q], [*chosen, on])

    def _most_tied(self) -> list[int]:
        """The operation with most demands, then those with most demands from and to the ones before."""
        tied: list[set[int]] = [set() for _ in self.of.able]
        for demand in self.of.demands:
            tied[demand.source].add(demand.destination)
            tied[demand.destination].add(demand.source)
        order: list[int] = []
        while len(order) < min(ANCHORS, len(tied)):
            rest = [v for v in range(len(tied)) if v not in order]
            order.append(max(rest, key=lambda v: (len(tied[v] & set(order)), len(tied[v]), -v)))
        return order


def instance_to_explain(problem: ModuloProblem) -> ModuloInstance:
    """``problem`` on the whole array at its pinned II, or else at MII.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    least = mii(problem.kernel.graph, problem.machine).value
    ii = least if problem.fixed_ii is None else problem.fixed_ii
    return ModuloInstance(problem, ii, problem.machine.all_pes)
