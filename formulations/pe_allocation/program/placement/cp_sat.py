"""The constraint program of placement: connected regions on the grid with least wiring [Heidorn2019, Fig. 6(a)].

The paper places its example by hand; this program does it. Regions are kept connected by a forest whose trees span
them, so that a region is exactly what its tree reaches. A distance is stated by what lies within reach of a chosen end:
a route is longer than k links unless the other region has a PE that near.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pe_allocation.program.placement.grid import Grid
from mapper.models.pe_allocation.stream.plan import StreamPlan, biclique_excess, least_wiring


class PlacementProgram(CpSatFormulation):
    """Place the blocks of ``plan`` on ``machine`` with a wiring of at most ``most`` links."""

    title = "Placement on the grid as a constraint program"

    def __init__(self, plan: StreamPlan, machine: TcpaMachine, most: int) -> None:
        super().__init__()
        self.plan = plan
        self.machine = machine
        self.grid = Grid(machine)
        self.most = most
        self.spare = most - sum(plan.feeds.values())

    def instance(self) -> str:
        blocks = len(self.plan.blocks)
        return f"{blocks} blocks of {self.plan.pes} PEs on {self.machine.name}, wiring of at most {self.most}"

    @index_set(r"B")
    def blocks(self) -> int:
        """Blocks: layers, or groups of layers that share a PE."""
        return len(self.plan.blocks)

    @index_set(r"E \subseteq B \times B")
    def pairs(self) -> int:
        """Pairs of blocks with streams between them; n_ab says how many."""
        return len(self.plan.feeds)

    @index_set(r"A = \{(p, q)\}")
    def links(self) -> int:
        """Links between PEs p and q, one for each direction."""
        return sum(map(len, self.machine.neighbours.values()))

    @variables(r"x_{b,p} \in \{0,1\}")
    def standing(self) -> None:
        """Whether block b occupies PE p."""
        self.on = [
            {pe: self.model.new_bool_var(f"x_{b}_{pe[0]}_{pe[1]}") for pe in self.machine.all_pes}
            for b in range(len(self.plan.blocks))
        ]

    @variables(r"r_{b,p}, a_{p,q} \in \{0,1\},\quad l_p \in \{0, \dots, \max_b P_b - 1\}")
    def trees(self) -> None:
        """Whether the tree of block b has its root at p, whether q hangs on p in its tree, and how deep p
        lies; a block of one PE is its own root."""
        deepest = max(self.plan.sizes) - 1
        self.root = [
            on if size == 1 else {pe: self.model.new_bool_var(f"r_{b}_{pe[0]}_{pe[1]}") for pe in on}
            for b, (on, size) in enumerate(zip(self.on, self.plan.sizes, strict=True))
        ]
        self.depth: dict[Pe, Any] = {}
        self.hangs: dict[tuple[Pe, Pe], Any] = {}
        if deepest > 0:
            for pe, near in self.machine.neighbours.items():
                self.depth[pe] = self.model.new_int_var(0, deepest, f"l_{pe[0]}_{pe[1]}")
                for other in near:
                    name = f"a_{other[0]}_{other[1]}_{pe[0]}_{pe[1]}"
                    self.hangs[other, pe] = self.model.new_bool_var(name)

    @variables(r"e_{ab,p} \in \{0,1\},\quad f_{ab,k} \in \{0,1\} \quad 1 \le k < K_{ab}")
    def routes(self) -> None:
        """At which PE of a block the streams of a pair end, and whether their route takes more than k links;
        K is the longest route that the limit on the wiring allows."""
        self.end: dict[tuple[int, int], dict[Pe, Any]] = {}
        self.far: dict[tuple[int, int], list[Any]] = {}
        for (a, b), streams in self.plan.feeds.items():
            longest = max(1, min(self.grid.longest, 1 + self.spare // streams))
            self.far[a, b] = [self.model.new_bool_var(f"f_{a}_{b}_{k}") for k in range(1, longest)]
            self.end[a, b] = (
                self.on[a]
                if self.plan.sizes[a] == 1
                else {pe: self.model.new_bool_var(f"e_{a}_{b}_{pe[0]}_{pe[1]}") for pe in self.on[a]}
            )

    @variables(r"o_{b,k} \in \{0,1\} \quad 0 \le k < K_b")
    def routes_out(self) -> None:
        """Whether block b is more than k links from all PEs with buffers."""
        farthest = max(self.grid.to_border.values())
        self.out = [
            [
                self.model.new_bool_var(f"o_{b}_{k}")
                for k in range(min(farthest, max(0, self.spare // streams)))
            ]
            for b, streams in enumerate(self.plan.outside)
        ]

    @family(r"\sum_p x_{b,p} = P_b \quad \forall b, \qquad \sum_b x_{b,p} \le 1 \quad \forall p")
    def regions(self) -> None:
        """Every block has as many PEs as it needs, and no two blocks share one."""
        for on, size in zip(self.on, self.plan.sizes, strict=True):
            self.model.add(sum(on.values()) == size)
        for pe in self.machine.all_pes:
            self.model.add_at_most_one(on[pe] for on in self.on)

    @family(
        r"\sum_p r_{b,p} = 1,\quad r_{b,p} \le x_{b,p},\quad \sum_b r_{b,q} + \sum_p a_{p,q} = \sum_b x_{b,q},"
        r"\quad a_{p,q} \Rightarrow (x_{b,p} = x_{b,q}) \wedge l_q = l_p + 1"
    )
    def connected(self) -> None:
        """A PE of a block is the root of its tree, or hangs on one other PE of the block that is nearer to
        the root."""
        large = [b for b, size in enumerate(self.plan.sizes) if size > 1]
        for b in large:
            self.model.add_exactly_one(self.root[b].values())
            for pe, root in self.root[b].items():
                self.model.add_implication(root, self.on[b][pe])
        for pe, near in self.machine.neighbours.items():
            if large:
                held = sum(self.root[b][pe] for b in large) + sum(self.hangs[other, pe] for other in near)
                self.model.add(held == sum(self.on[b][pe] for b in large))
        for (above, below), hangs in self.hangs.items():
            self.model.add(self.depth[below] == self.depth[above] + 1).only_enforce_if(hangs)
            for b in large:
                self.model.add_bool_or([~hangs, ~self.on[b][below], self.on[b][above]])
                self.model.add_bool_or([~hangs, ~self.on[b][above], self.on[b][below]])

    @family(
        r"r_{b,p} \wedge x_{b,q} \Rightarrow p \le q,\quad x_{b,q} \le \sum_{p:\, 0 < d(p,q) < P_b} r_{b,p} + r_{b,q}"
    )
    def first_roots(self) -> None:
        """The root is the first PE of the block, row by row, and every PE of the block is fewer links away
        from it than the block has PEs: no region is lost, and each has fewer trees."""
        for b, size in enumerate(self.plan.sizes):
            if size > 1:
                for pe, on in self.on[b].items():
                    roots = [
                        self.root[b][other] for other in [pe, *self.grid.within(pe, size - 1)] if other <= pe
                    ]
                    self.model.add_bool_or([~on, *roots])

    @family(r"x_{b,p} \Rightarrow \bigvee_{q \sim p} x_{b,q} \quad \forall b : P_b > 1")
    def companions(self) -> None:
        """Implied: a PE of a block of several PEs has another one of the block next to it."""
        for on, size in zip(self.on, self.plan.sizes, strict=True):
            if size > 1:
                for pe, near in self.machine.neighbours.items():
                    self.model.add_bool_or([~on[pe], *(on[other] for other in near)])

    @family(
        r"\sum_p e_{ab,p} = 1,\quad e_{ab,p} \le x_{a,p},\quad"
        r" e_{ab,p} \Rightarrow f_{ab,k} \vee \bigvee_{0 < d(p,q) \le k} x_{b,q}"
    )
    def reached(self) -> None:
        """A route takes more than k links unless the other block has a PE within k links of the end."""
        for (a, b), far in self.far.items():
            end = self.end[a, b]
            if self.plan.sizes[a] > 1:
                self.model.add_exactly_one(end.values())
                for pe, literal in end.items():
                    self.model.add_implication(literal, self.on[a][pe])
            for shorter, longer in itertools.pairwise(far):
                self.model.add_implication(longer, shorter)
            for pe, literal in end.items():
                for links in range(1, len(far) + 2):
                    places = [self.on[b][other] for other in self.grid.within(pe, links)]
                    self.model.add_bool_or([~literal, *far[links - 1 : links], *places])

    @family(r"o_{b,k} \vee \bigvee_{p:\, d(p) \le k} x_{b,p}")
    def reached_outside(self) -> None:
        """A block is more than k links from the buffers unless it has a PE within k links of them."""
        for b, far in enumerate(self.out):
            for shorter, longer in itertools.pairwise(far):
                self.model.add_implication(longer, shorter)
            for links in range(len(far) + 1):
                places = [self.on[b][pe] for pe, away in self.grid.to_border.items() if away <= links]
                self.model.add_bool_or([*far[links : links + 1], *places])

    @family(r"\sum_{(a,b) \in K} d_{ab} \ge 2|K| - (2|V(K)| - 4)")
    def crowded(self) -> None:
        """Implied where PEs have links to four neighbours alone: regions that touch form a planar graph, so
        that at most 2n - 4 pairs of a biclique touch."""
        if set(self.machine.links) == {"mesh"}:
            for pairs in self.plan.bicliques:
                excess = biclique_excess(pairs)
                if excess:
                    self.model.add(sum(self._links(pair) for pair in pairs) >= len(pairs) + excess)

    @family(r"x_{b,p} = 0 \text{ or } e_{ab,p} = 0 \quad p \text{ not the first of its orbit}")
    def alike_places(self) -> None:
        """The first block of one PE, or else the end of the first pair's route, lies on one PE of every orbit
        under the grid's symmetries."""
        single = [on for on, size in zip(self.on, self.plan.sizes, strict=True) if size == 1]
        for places in [*single, *self.end.values()][:1]:
            leaders = self.grid.leaders()
            self.model.add_bool_and([~literal for pe, literal in places.items() if pe not in leaders])

    @objective(
        r"\min W = \sum_{(a,b) \in E} n_{ab} d_{ab} + \sum_b s_b d_b,\quad \underline W \le W \le \overline W"
    )
    def least(self) -> None:
        """Links of all streams, those between blocks and those between blocks and the buffers (s_b streams):
        no fewer than the bound by argument and no more than the limit."""
        total = sum(streams * self._links(pair) for pair, streams in self.plan.feeds.items()) + sum(
            streams * sum(far) for streams, far in zip(self.plan.outside, self.out, strict=True)
        )
        self.model.add_linear_constraint(total, least_wiring(self.plan, self.machine), self.most)
        self.model.minimize(total)

    def _links(self, pair: tuple[int, int]) -> Any:
        """d_ab: links of the route between a pair of blocks."""
        return 1 + sum(self.far[pair])

    def extract(self, value_of: Callable[[Any], int]) -> tuple[tuple[Pe, ...], ...]:
        """The PEs of every block."""
        return tuple(tuple(pe for pe, literal in on.items() if value_of(literal)) for on in self.on)
