"""The constraint program of placement with a way for every stream, within the limits of links and border PEs.

What streams load within regions depends on where they enter, and is left out: what the program rules out has no
placement, and what it finds is judged afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.formulations.formulation import family, index_set, variables
from mapper.formulations.pe_allocation.program.placement.cp_sat import PlacementProgram
from mapper.models.pe_allocation.stream.plan import StreamPlan
from mapper.models.pe_allocation.stream.traffic import StreamKey, Traffic

UNIT = 1 << 20
"""What a word a cycle is counted as; rates are rounded down to it, so that nothing is ruled out that is not."""


class RoutedPlacementProgram(PlacementProgram):
    """Place the blocks of ``plan`` on ``machine`` with least wiring such that all streams of ``traffic`` find ways."""

    title = "Placement on the grid with ways as a constraint program"

    def __init__(self, plan: StreamPlan, machine: TcpaMachine, traffic: Traffic) -> None:
        super().__init__(plan, machine, 0)
        streams = sum(plan.feeds.values()) + sum(plan.outside)
        self.most = streams * self.grid.longest
        self.spare = self.most - sum(plan.feeds.values())
        self.traffic = traffic
        self.block_of = {at: block for block, together in enumerate(plan.blocks) for at in together}

    @index_set(r"S")
    def streams(self) -> int:
        """Streams between layers, and between layers and the buffers."""
        return len(self.traffic.demands)

    @variables(r"y_{s,pq}, u_{s,p}, v_{s,p} \in \{0,1\}")
    def ways(self) -> None:
        """Whether stream s takes the link from p to q, and whether it begins and ends at p."""
        self.takes: list[dict[tuple[Pe, Pe], Any]] = []
        self.begins: list[dict[Pe, Any]] = []
        self.ends: list[dict[Pe, Any]] = []
        for number, demand in enumerate(self.traffic.demands):
            self.takes.append(
                {
                    (pe, other): self.model.new_bool_var(f"y_{number}_{pe}_{other}")
                    for pe, near in self.machine.neighbours.items()
                    for other in near
                }
            )
            self.begins.append(self._places(f"u_{number}", demand.source))
            self.ends.append(self._places(f"v_{number}", demand.target))

    def _places(self, name: str, at: int | None) -> dict[Pe, Any]:
        places = sorted(self.machine.border_pes) if at is None else self.machine.all_pes
        return {pe: self.model.new_bool_var(f"{name}_{pe}") for pe in places}

    @family(
        r"\sum_p u_{s,p} = \sum_p v_{s,p} = 1,\quad u_{s,p} \le x_{a,p},\ v_{s,p} \le x_{b,p},"
        r"\quad u_{s,p} + \sum_q y_{s,qp} = v_{s,p} + \sum_q y_{s,pq} \le 1 \quad s : a \to b"
    )
    def joined(self) -> None:
        """A stream begins in the region of its layer or at a PE with buffers, goes from PE to PE, and ends where it is
        wanted."""
        for demand, takes, begins, ends in zip(
            self.traffic.demands, self.takes, self.begins, self.ends, strict=True
        ):
            for at, places in ((demand.source, begins), (demand.target, ends)):
                self.model.add_exactly_one(places.values())
                if at is not None:
                    for pe, literal in places.items():
                        self.model.add_implication(literal, self.on[self.block_of[at]][pe])
            for pe, near in self.machine.neighbours.items():
                entered = sum(takes[other, pe] for other in near) + begins.get(pe, 0)
                left = sum(takes[pe, other] for other in near) + ends.get(pe, 0)
                self.model.add(entered == left)
                self.model.add(left <= 1)

    @family(r"\sum_s (w_s\, y_{s,pq} + w'_s\, y_{s,qp}) \le W \quad \forall (p, q)")
    def carried(self) -> None:
        """Streams over a link carry no more than it can, with what goes back on their ways (w')."""
        most = self.machine.link_words
        for link in self.takes[0] if most is not None else ():
            back = link[1], link[0]
            self.model.add(
                sum(
                    self._rate(demand.down) * takes[link] + self._rate(demand.up) * takes[back]
                    for demand, takes in zip(self.traffic.demands, self.takes, strict=True)
                )
                <= (most or 0) * UNIT
            )

    @family(
        r"\sum_{s : a = \text{buffers}} w_s\, u_{s,p} \le c_p W,\quad"
        r"\sum_{s : b = \text{buffers}} w_s\, v_{s,p} + \sum_s w'_s\, u_{s,p} \le c_p W"
    )
    def exchanged(self) -> None:
        """A border PE exchanges with its buffers what its links to them carry, one at each of its c_p sides."""
        words = self.machine.link_words
        for pe in sorted(self.machine.border_pes) if words is not None else ():
            most = (words or 0) * len(self.machine.sides_of(pe)) * UNIT
            into, out = [], []
            for number, demand in enumerate(self.traffic.demands):
                if demand.source is None:
                    into.append(self._rate(demand.down) * self.begins[number][pe])
                    out.append(self._rate(demand.up) * self.begins[number][pe])
                if demand.target is None:
                    out.append(self._rate(demand.down) * self.ends[number][pe])
            self.model.add(sum(into) <= most)
            self.model.add(sum(out) <= most)

    @family(r"\sum_s h_s (u_{s,p} + v_{s,p}) \le B \quad \forall p \text{ at the border}")
    def held(self) -> None:
        """No border PE is given more buffers than it reaches."""
        most = self.machine.border.buffers
        for pe in sorted(self.machine.border_pes) if most is not None else ():
            self.model.add(
                sum(
                    demand.buffers * (self.begins if demand.source is None else self.ends)[number][pe]
                    for number, demand in enumerate(self.traffic.demands)
                    if demand.buffers
                )
                <= (most or 0)
            )

    def _rate(self, words: int) -> int:
        return words * UNIT // self.traffic.cycles

    def found_ways(self, value_of: Callable[[Any], int]) -> dict[StreamKey, tuple[Pe, ...]]:
        """The way of every stream."""
        return {
            demand.key: self._followed(number, value_of) for number, demand in enumerate(self.traffic.demands)
        }

    def _followed(self, number: int, value_of: Callable[[Any], int]) -> tuple[Pe, ...]:
        next_of = {pe: other for (pe, other), literal in self.takes[number].items() if value_of(literal)}
        way = [next(pe for pe, literal in self.begins[number].items() if value_of(literal))]
        last = next(pe for pe, literal in self.ends[number].items() if value_of(literal))
        while way[-1] != last:
            way.append(next_of[way[-1]])
        return tuple(way)
