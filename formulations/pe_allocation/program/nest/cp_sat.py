"""The constraint program of loop nests on a TCPA: layout, tiles, order and starts for the fewest cycles.

Loops within a tile stand in any order. The cycles from a step of a loop to its next are the interval times the steps of
all loops inside it, which a running product over the places of the order states.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from mapper.formulations.cp_sat_formulation import CpSatFormulation
from mapper.formulations.formulation import family, index_set, objective, variables
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.pe_allocation.program.nest.link import exclude_crowded
from mapper.models.pe_allocation.nest.work import LINK_LATENCY, UNIT_LATENCY, reductions, written

MOST_SIZES, MOST_CYCLES, MOST_PES, MOST_LAYOUTS = 1 << 14, 1 << 40, 1 << 10, 1 << 14
AXES = ("rows", "columns")
Answer = tuple[tuple[str | None, str | None], dict[str, int], tuple[str, ...]]


def refusal(problem: NestProblem) -> str | None:
    """Why the program of ``problem`` would be too large to build, None if it is not."""
    if sum(problem.nest.trip_counts.values()) > MOST_SIZES:
        return f"loops of more than {MOST_SIZES:,} iterations together have too large tables"
    if problem.nest.iterations * problem.work.interval > MOST_CYCLES:
        return f"more than {MOST_CYCLES:,} cycles on a single PE are not stated"
    if problem.machine.pe_count > MOST_PES:
        return f"more than {MOST_PES:,} PEs are not stated one by one"
    layouts = problem.machine.pe_count * (len(problem.nest.loops) + 1) ** 3
    if problem.machine.has_limits and layouts > MOST_LAYOUTS:
        return f"more than {MOST_LAYOUTS:,} layouts are not tried for what links carry and border PEs hold"
    return None


class NestProgram(CpSatFormulation):
    """Map the nest of ``problem`` for the fewest cycles."""

    title = "A loop nest on a TCPA as a constraint program"

    def __init__(self, problem: NestProblem) -> None:
        super().__init__()
        self.problem = problem
        self.nest, self.machine, self.work = problem.nest, problem.machine, problem.work
        self.loops = self.nest.loops
        self.room = {"rows": self.machine.rows, "columns": self.machine.columns}
        self.far = int(problem.grid.to_border.max())
        self.most = self.nest.iterations * self.work.interval
        # Tiles one after another, each with a link between: later starts help nobody.
        links = self.machine.rows + self.machine.columns + 2
        self.latest = (self.most + UNIT_LATENCY + LINK_LATENCY * links) * (self.machine.columns + 1)

    def instance(self) -> str:
        bounds = ", ".join(f"{loop} {bound:,}" for loop, bound in self.nest.bounds)
        return f"{self.nest.name} ({bounds}) on {self.machine.name}"

    @index_set(r"L")
    def all_loops(self) -> int:
        """Loops of the nest."""
        return len(self.loops)

    @index_set(r"R \subseteq L")
    def summing(self) -> int:
        """Loops along which the results are summed."""
        return len(reductions(self.nest))

    @index_set(r"Q = \{(r, c)\}")
    def pes(self) -> int:
        """PEs of the array."""
        return self.machine.pe_count

    @variables(r"x_{a,l} \in \{0,1\}")
    def laid_out(self) -> None:
        """Whether the tiles of loop l stand along the axis a, rows or columns."""
        self.on = {a: {loop: self.model.new_bool_var(f"x_{a}_{loop}") for loop in self.loops} for a in AXES}

    @variables(r"p_l, t_l, e_l \in \mathbb{N}")
    def tiles(self) -> None:
        """Iterations of loop l in a tile, how many tiles it has, and iterations in the last one."""
        self.extent, self.count, self.last = {}, {}, {}
        for loop, bound in self.nest.bounds:
            most = min(bound, max(self.room.values()))
            self.extent[loop] = self.model.new_int_var(1, bound, f"p_{loop}")
            self.count[loop] = self.model.new_int_var(1, most, f"t_{loop}")
            self.last[loop] = self.model.new_int_var(1, bound, f"e_{loop}")

    @variables(r"o_{l,k} \in \{0,1\}")
    def order(self) -> None:
        """Whether loop l stands at place k of the order within a tile; place 0 is innermost."""
        places = range(len(self.loops))
        self.at = {loop: [self.model.new_bool_var(f"o_{loop}_{k}") for k in places] for loop in self.loops}

    @variables(r"\lambda_l, w_l, v_l \in \mathbb{N}")
    def steps(self) -> None:
        """Cycles from a step of loop l to its next; its steps in a full tile and in the last one."""
        self.inner, self.full, self.short = {}, {}, {}
        for loop, bound in self.nest.bounds:
            self.inner[loop] = self.model.new_int_var(1, self.most, f"lambda_{loop}")
            self.full[loop] = self.model.new_int_var(1, bound, f"w_{loop}")
            self.short[loop] = self.model.new_int_var(1, bound, f"v_{loop}")

    @variables(r"\mu_a, T_a, F, z \in \mathbb{N}")
    def starts(self) -> None:
        """Cycles from a tile to the next along axis a, and tiles along it; cycles to fill the array, and of all."""
        new = self.model.new_int_var
        self.outer = {a: new(0, self.latest, f"mu_{a}") for a in AXES}
        self.tiles_on = {a: new(1, self.room[a], f"T_{a}") for a in AXES}
        self.beyond = {a: [self.model.new_bool_var(f"b_{a}_{k}") for k in range(self.room[a])] for a in AXES}
        self.fill = new(0, LINK_LATENCY * self.far, "F")
        self.cycles = new(0, self.most + self.work.depth + 2 * LINK_LATENCY * self.far, "z")

    @family(
        r"\sum_l x_{a,l} \le 1,\quad \sum_a x_{a,l} \le 1,\quad T_a = t_l \text{ if } x_{a,l}, \text{ else } 1"
    )
    def layout(self) -> None:
        """An axis has the tiles of one loop or a single line; a loop that is on none has one tile."""
        for a in AXES:
            chosen = self.on[a]
            self.model.add_at_most_one(chosen.values())
            self.model.add(self.tiles_on[a] == 1).only_enforce_if([~one for one in chosen.values()])
            for loop, one in chosen.items():
                self.model.add(self.tiles_on[a] == self.count[loop]).only_enforce_if(one)
            for k, beyond in enumerate(self.beyond[a]):
                self.model.add(self.tiles_on[a] >= k + 1).only_enforce_if(beyond)
                self.model.add(self.tiles_on[a] <= k).only_enforce_if(~beyond)
        for loop in self.loops:
            both = [self.on[a][loop] for a in AXES]
            self.model.add_at_most_one(both)
            self.model.add(self.count[loop] == 1).only_enforce_if([~one for one in both])

    @family(r"(p_l, t_l, e_l) \in \{(p, \lceil N_l / p \rceil, N_l - (\lceil N_l / p \rceil - 1) p)\}")
    def sizes(self) -> None:
        """Tiles are equal but for the last, which has what remains of the loop's iterations."""
        for loop, bound in self.nest.bounds:
            rows = []
            for size in self.problem.sizes(loop, min(bound, max(self.room.values()))):
                count = -(-bound // size)
                rows.append((size, count, bound - (count - 1) * size))
            self.model.add_allowed_assignments([self.extent[loop], self.count[loop], self.last[loop]], rows)

    @family(r"\sum_k o_{l,k} = 1,\quad \sum_l o_{l,k} = 1")
    def places(self) -> None:
        """Every loop has one place of the order, and every place one loop."""
        for places in self.at.values():
            self.model.add_exactly_one(places)
        for k in range(len(self.loops)):
            self.model.add_exactly_one(self.at[loop][k] for loop in self.loops)
        pinned = self.problem.pins.order
        if pinned is not None:
            for k, loop in enumerate(reversed(pinned)):
                self.model.add(self.at[loop][k] == 1)
        for a, axis_loop in self.problem.pins.axes.items():
            for loop, one in self.on[a].items():
                self.model.add(one == (loop == axis_loop))

    @family(
        r"w_l = \lceil p_l / u \rceil \text{ if } o_{l,0}, \text{ else } p_l \qquad (v_l \text{ of } e_l)"
    )
    def words(self) -> None:
        """A step of the innermost loop is a word of u iterations."""
        lanes = self.work.lanes
        for loop in self.loops:
            inside = self.at[loop][0]
            for steps, size in ((self.full, self.extent), (self.short, self.last)):
                self.model.add(steps[loop] == size[loop]).only_enforce_if(~inside)
                self.model.add(steps[loop] * lanes >= size[loop]).only_enforce_if(inside)
                self.model.add(steps[loop] * lanes <= size[loop] + lanes - 1).only_enforce_if(inside)

    @family(
        r"\Lambda_0 = \pi,\quad \Lambda_{k+1} = \Lambda_k w_l,\quad \lambda_l = \Lambda_k \text{ if } o_{l,k}"
    )
    def sequence(self) -> None:
        """A PE takes words in turn, an interval apart: a step of a loop lasts as long as all steps of the loops
        inside it."""
        new, longest = self.model.new_int_var, max(self.nest.trip_counts.values())
        product: Any = self.work.interval
        for k in range(len(self.loops)):
            chosen = new(1, longest, f"w_at_{k}")
            for loop in self.loops:
                self.model.add(chosen == self.full[loop]).only_enforce_if(self.at[loop][k])
                self.model.add(self.inner[loop] == product).only_enforce_if(self.at[loop][k])
            following = new(1, self.most, f"Lambda_{k + 1}")
            self.model.add_multiplication_equality(following, [product, chosen])
            product = following

    @family(r"d_l = \lambda_l (w_l - 1),\quad d'_l = \lambda_l (v_l - 1)")
    def spans(self) -> None:
        """Cycles from the first step of a loop to its last, in a full tile and in the last one."""
        self.span: dict[str, Any] = {}
        self.span_last: dict[str, Any] = {}
        for loop in self.loops:
            for spans, steps, name in ((self.span, self.full, "d"), (self.span_last, self.short, "e")):
                spans[loop] = self.model.new_int_var(0, self.most, f"{name}_{loop}")
                self.model.add_multiplication_equality(spans[loop], [self.inner[loop], steps[loop] - 1])

    @family(r"\mu_a \ge \ell \text{ if } T_a > 1 \text{ and an input is the same along } a")
    def handed_on(self) -> None:
        """An input that several tiles read takes a link's cycles from each to the next."""
        target = written(self.nest)
        for a in AXES:
            for loop, one in self.on[a].items():
                if any(loop not in operand.loops for operand in self.nest.operands if operand is not target):
                    more = self.beyond[a][1:2]
                    for beyond in more:
                        self.model.add(self.outer[a] >= LINK_LATENCY).only_enforce_if(one, beyond)

    @family(
        r"\mu_a \ge \sum_{l \in R} d_l + \upsilon + \ell,\quad \mu_r \ge (T_c - 1) \mu_c + \sum_{l \in R} d'_l + \dots"
    )
    def summed(self) -> None:
        """A sum is ready, and over the link, when the next tile adds to it; where both axes sum, it goes from the
        end of a row to the beginning of the next."""
        summing = [loop for loop in self.loops if loop in reductions(self.nest)]
        whole = sum(self.span[loop] for loop in summing)
        ready = UNIT_LATENCY + LINK_LATENCY
        for a in AXES:
            for loop, beyond in itertools.product(summing, self.beyond[a][1:2]):
                self.model.add(self.outer[a] >= whole + ready).only_enforce_if(self.on[a][loop], beyond)
        if len(summing) < 2 or min(self.room.values()) < 2:
            return
        before = self.model.new_int_var(0, self.latest * self.room["columns"], "row")
        self.model.add_multiplication_equality(before, [self.outer["columns"], self.tiles_on["columns"] - 1])
        for down, across in itertools.permutations(summing, 2):
            short = whole - self.span[across] + self.span_last[across]
            for k in range(1, self.room["columns"]):
                links = self.problem.grid.between((0, k), (1, 0))
                when = [self.on["rows"][down], self.on["columns"][across]]
                when += [self.beyond["rows"][1], self.beyond["columns"][k], *self.none_after("columns", k)]
                needed = before + short + UNIT_LATENCY + LINK_LATENCY * links
                self.model.add(self.outer["rows"] >= needed).only_enforce_if(*when)

    @family(r"\prod_a T_a \le P,\quad \sum_{o} \prod_{a:\, o \text{ varies along } a} T_a \le G")
    def limits(self) -> None:
        """No more PEs and address generators than there are."""
        used = self.model.new_int_var(1, self.machine.pe_count, "P")
        self.model.add_multiplication_equality(used, [self.tiles_on[a] for a in AXES])
        self.model.add(used <= self.problem.most_pes)
        generators = self.machine.border.address_generators
        if generators is None:
            return
        total: list[Any] = []
        for place, operand in enumerate(self.nest.operands):
            lines = []
            for a in AXES:
                line = self.model.new_int_var(1, self.room[a], f"s_{place}_{a}")
                varies = sum(self.on[a][loop] for loop in operand.loops)
                various = self.model.new_bool_var(f"y_{place}_{a}")
                self.model.add(varies == various)
                self.model.add(line == self.tiles_on[a]).only_enforce_if(various)
                self.model.add(line == 1).only_enforce_if(~various)
                lines.append(line)
            streams = self.model.new_int_var(1, self.machine.pe_count, f"s_{place}")
            self.model.add_multiplication_equality(streams, lines)
            total.append(2 * streams if operand.is_updated and not operand.zero_initialised else streams)
        self.model.add(sum(total) <= generators)

    @family(r"\sum_{o} W_{o,l} \le C \quad \text{for each link that carries } o, \text{ if } o_{l,0}")
    def carried(self) -> None:
        """No link carries more words a cycle than it can, and no border PE has more buffers than it reaches: such
        layouts and innermost loops are excluded one by one."""
        if not self.machine.has_limits:
            return
        for axes in itertools.product((None, *self.loops), repeat=2):
            if axes[0] is None or axes[0] != axes[1]:
                exclude_crowded(self, (axes[0], axes[1]))

    @family(r"F \ge \ell\, b_{r,c} \quad \forall (r, c) \text{ that is fed}")
    def filled(self) -> None:
        """The array starts when the first words have reached the farthest PE that is fed from the border."""
        for operand in self.nest.operands:
            if operand.access == "write" or (operand.is_updated and operand.zero_initialised):
                continue
            for (row, column), links in self._distances():
                # Beyond the first line it is fed where its words differ from line to line.
                when = [[self.beyond["rows"][row], self.beyond["columns"][column]]]
                for a, place in (("rows", row), ("columns", column)):
                    if place > 0:
                        when = [[*one, self.on[a][loop]] for one in when for loop in sorted(operand.loops)]
                for one in when:
                    self.model.add(self.fill >= LINK_LATENCY * links).only_enforce_if(*one)

    @family(
        r"z \ge F + \mu_r r + \mu_c c + \sum_l d_l^{(r,c)} + \delta + \ell\, b_{r,c}"
        r" \quad \forall (r,c) \text{ with results}"
    )
    def ended(self) -> None:
        """The last result of every tile that finishes results is back in a buffer; of a sum it is the last tile of
        its chain."""
        summing = reductions(self.nest)
        # Of a loop on an axis: what the last tile along it saves.
        saved = {}
        for a in AXES:
            saved[a] = self.model.new_int_var(0, self.most, f"g_{a}")
            for loop, one in self.on[a].items():
                self.model.add(saved[a] == self.span[loop] - self.span_last[loop]).only_enforce_if(one)
            self.model.add(saved[a] == 0).only_enforce_if([~one for one in self.on[a].values()])
        whole = sum(self.span.values())
        sums = {a: [one for loop, one in self.on[a].items() if loop in summing] for a in AXES}
        for (row, column), links in self._distances():
            for last_row, last_column in itertools.product((True, False), repeat=2):
                when: list[Any] = [self.beyond["rows"][row], self.beyond["columns"][column]]
                end = self.fill + self.outer["rows"] * row + self.outer["columns"] * column + whole
                for a, place, last in (("rows", row, last_row), ("columns", column, last_column)):
                    after = self.none_after(a, place)
                    if last:
                        when += after
                        end = end - saved[a]
                    else:
                        if not after:
                            break
                        when += [~one for one in after] + [~one for one in sums[a]]
                else:
                    end = end + self.work.depth + LINK_LATENCY * links
                    self.model.add(self.cycles >= end).only_enforce_if(*when)

    @objective(r"\min z")
    def fewest_cycles(self) -> None:
        """The fewest cycles from the first word that leaves a buffer to the last that is back."""
        self.model.minimize(self.cycles)

    def _distances(self) -> list[tuple[tuple[int, int], int]]:
        """Every PE with its links to the border."""
        return [((r, c), int(self.problem.grid.to_border[r, c])) for r, c in self.machine.all_pes]

    def none_after(self, axis: str, place: int) -> list[Any]:
        """What holds if a place is the last of its axis; nothing where the array ends there."""
        return [~self.beyond[axis][place + 1]] if place + 1 < self.room[axis] else []

    def extract(self, value_of: Callable[[Any], int]) -> Answer:
        """The loops on rows and columns, the tiles, and the order within them, outer to inner."""
        axes = [next((loop for loop, one in self.on[a].items() if value_of(one)), None) for a in AXES]
        tile = {loop: value_of(self.extent[loop]) for loop in self.loops}
        places = {
            loop: next(k for k, one in enumerate(self.at[loop]) if value_of(one)) for loop in self.loops
        }
        order = tuple(sorted(self.loops, key=lambda loop: -places[loop]))
        return (axes[0], axes[1]), tile, order


def build(problem: NestProblem) -> NestProgram:
    """The program of ``problem``, built."""
    program = NestProgram(problem)
    program.build()
    return program
