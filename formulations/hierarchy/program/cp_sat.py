"""The constraint program of mappings onto a hierarchy: which trips, orders and tensors kept cost least.

Costs are those of Timeloop's dense model, or less: docs/formulation/hierarchy.md says where.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mapper.formulations.formulation import family, objective, variables
from mapper.formulations.hierarchy.neighbour import loops_of_windows, may_hand
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.formulations.hierarchy.program.counting import (
    LARGEST,
    Counting,
    NumbersTooLargeError,
    first_limit,
)
from mapper.formulations.hierarchy.program.space import HierarchySpace
from mapper.models.hierarchy.bound import ideal_cycles
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import Operand


class HierarchyProgram(HierarchySpace):
    """The program of an instance, for mappings that are worth no more than ``counting`` says."""

    title = "Mapping onto a memory hierarchy as a constraint program"

    def __init__(self, problem: HierarchyProblem, counting: Counting) -> None:
        super().__init__(problem, counting)
        self.whole = math.prod(problem.bounds.values())
        self.shared = {operand.name: loops_of_windows(operand, self.loops) for operand in self.operands}

    @variables(r"r_{l,m,t,j} \in \{0, 1\}")
    def runs(self) -> None:
        """Whether, seen from the tile at level m, loop j of a level l further out turns while tensor t stays."""
        self.run = {
            (level, inner, operand.name, loop): self.model.new_bool_var(
                f"run_{level}_{inner}_{operand.name}_{loop}"
            )
            for inner in range(1, self.depth)
            for operand in self.operands
            if operand.name in self.problem.kept(inner)[1]
            for level in range(inner)
            for loop in self.loops
            if loop not in operand.loops and not isinstance(self.time[level, loop], int)
        }

    @family(
        r"r_{l,m,t,j} \le [n_{l',j'} = 1]\ (l < l' < m), \quad p_{l,j} < p_{l,j'} \text{ if } r_{l,m,t,j},\ "
        r"n_{l,j'} > 1, "
        r"\quad j' \in J(t)"
    )
    def staying(self) -> None:
        """A tensor stays while a loop turns if no loop that indexes it turns inside that loop."""
        for (level, inner, tensor, loop), run in self.run.items():
            operand = next(one for one in self.operands if one.name == tensor)
            for other in self.loops:
                if other not in operand.loops:
                    continue
                for between in range(level + 1, inner):
                    self.model.add_implication(run, ~self.turns[between, other])
                inside = self.place[level, loop] < self.place[level, other]
                self.model.add(inside).only_enforce_if(run, self.turns[level, other])

    @family(
        r"a_{m,t} = w_{m,t} \prod_{l < m} \prod_{j \notin S(t)} n_{l,j}^{\,1 - r_{l,m,t,j}}, \qquad "
        r"a_{L,t} = \prod_{l,j} n_{l,j}"
    )
    def arrivals(self) -> None:
        """Words a that arrive at an instance: its tile whenever a loop outside turns and the tensor does not stay.
        Loops that share a dimension slide the tile, and are counted as if they brought nothing (exact without such
        loops); compute units take a word for each operation."""
        self.passes = self._product("passes", [*self.time.values()], self.whole)
        self.arriving: dict[tuple[int, str], Any] = {}
        for operand in self.operands:
            self.arriving[self.depth, operand.name] = self.passes
            for inner in range(1, self.depth):
                if operand.name in self.problem.kept(inner)[1]:
                    brought = [
                        self._brought(level, inner, operand, loop)
                        for level in range(inner)
                        for loop in self.loops
                        if loop not in self.shared[operand.name]
                    ]
                    tiles = self._product(f"visits_{inner}_{operand.name}", brought, self.whole)
                    words = [self.words[inner, operand.name], tiles]
                    most = operand.words(self.problem.bounds) * self.whole
                    self.arriving[inner, operand.name] = self._product(
                        f"arrive_{inner}_{operand.name}", words, most
                    )

    @variables(r"\lambda_{l,m,t} = k_{l,t}\, k_{m,t} \prod_{l < l' < m} (1 - k_{l',t})")
    def links(self) -> None:
        """Whether tensor t goes from level l straight to level m: both keep it, and none between."""
        self.link: dict[tuple[int, int, str], Any] = {}
        for operand in self.operands:
            name = operand.name
            for outer in range(self.depth):
                for inner in range(outer + 1, self.depth + 1):
                    ends = [
                        self.keeps[outer, name],
                        *([self.keeps[inner, name]] if inner < self.depth else []),
                    ]
                    none = [~self.keeps[between, name] for between in range(outer + 1, inner)]
                    if not self._may_link(name, outer, inner):
                        continue
                    own = self.model.new_bool_var(f"link_{outer}_{inner}_{name}")
                    self.model.add_bool_and([*ends, *none]).only_enforce_if(own)
                    self.model.add_bool_or([own, *(~one for one in (*ends, *none))])
                    self.link[outer, inner, name] = own

    @family(
        r"R_{l,t} \ge \lambda_{l,m,t} \big(a_{m,t} \prod_{l \le l' < m} \pi_{l',t} - z_{l,t}\big), \quad "
        r"U_{l,t} \ge \lambda_{l,m,t}\, a_{m,t} \prod \pi_{l',t}, \quad "
        r"F_{m,t} \ge \lambda_{l,m,t} (a_{m,t} - z'_{m,t})"
    )
    def accesses(self) -> None:
        """Words read, updated and filled at an instance: of pi different tiles below each instance that a link passes,
        less the part z of a sum that is still zero and need not be read (z') or filled; none read and updated where
        neighbours may hand words on."""
        self.reads: dict[tuple[int, str], Any] = {}
        self.updates: dict[tuple[int, str], Any] = {}
        self.fills: dict[tuple[int, str], Any] = {}
        for operand in self.operands:
            most = operand.words(self.problem.bounds) * self.whole
            for level in range(self.depth):
                if operand.name in self.problem.kept(level)[1]:
                    for name, counts in (
                        ("read", self.reads),
                        ("update", self.updates),
                        ("fill", self.fills),
                    ):
                        counts[level, operand.name] = self._counted(f"{name}_{level}_{operand.name}", most)
        rules = self.problem.machine.rules
        for (outer, inner, name), link in self.link.items():
            operand = next(one for one in self.operands if one.name == name)
            different = [self._different(level, operand) for level in range(outer, inner)]
            most = operand.words(self.problem.bounds) * self.whole
            moved = self._product(
                f"moved_{outer}_{inner}_{name}", [self.arriving[inner, name], *different], most
            )
            first = operand.writes and operand.zero_initialised
            unread = self._part(outer, operand) if first and rules.first_read == "elided" else 0
            if may_hand(self.problem, operand, outer, inner):
                moved = unread = 0
            self.model.add(self.reads[outer, name] >= moved - unread).only_enforce_if(link)
            if operand.writes:
                self.model.add(self.updates[outer, name] >= moved).only_enforce_if(link)
            if inner < self.depth:
                empty = self._part(inner, operand) if first and rules.first_fill == "elided" else 0
                self.model.add(self.fills[inner, name] >= self.arriving[inner, name] - empty).only_enforce_if(
                    link
                )

    @family(
        r"E \ge \varepsilon N + C \Lambda + \sum_{l,t} \min(i_l, G_l) \big("
        r"\varepsilon^R_l \lceil R_{l,t}/\beta_l \rceil "
        r"+ \varepsilon^U_l \lceil U_{l,t}/\beta_l \rceil + \varepsilon^F_l \lceil F_{l,t}/\beta_l \rceil\big)"
    )
    def energy_balance(self) -> None:
        """Energy is that of N operations, of leaks in every cycle, and of accesses to whole blocks of beta words by all
        instances, of which clusters share one; energies are rounded down to the program's unit."""
        problem = self.problem
        most = min(self.counting.cycles, _most_cycles(problem))
        self.cycles = self._counted("cycles", most, ideal_cycles(problem.nest, problem.machine))
        self.energy = self._counted("energy", self.counting.energy)
        if self.problem.objective == "latency":
            return
        units, machine, present = self.counting.units, self.problem.machine, 1
        leaking: Any = units(machine.compute.leak_pj) * self.instances[-1]
        total: Any = self.whole * units(machine.compute.energy_pj or 0)
        for level, memory in enumerate(machine.levels):
            actions, clusters = memory.actions, max(1, present // memory.cluster)
            present *= memory.fanout.x * memory.fanout.y
            if actions is None:
                continue
            pays = self._least(f"pays_{level}", self.instances[level], clusters)
            for counts, energy in (
                (self.reads, actions.read),
                (self.updates, actions.update),
                (self.fills, actions.fill),
            ):
                for (place, name), words in counts.items():
                    if place == level and units(energy):
                        total = total + units(energy) * self._all_blocks(
                            words, memory.block, pays, units(energy), name
                        )
            leaking = leaking + units(actions.leak) * self._used(level)
        if not isinstance(leaking, int):
            leaking = self._named("leaking", leaking, self.counting.energy)
        total = total + self._product("leaked", [leaking, self.cycles], self.counting.energy)
        self.model.add(self.energy >= total)

    @family(r"\rho\, C \ge \prod_{l,j} n_{l,j}, \qquad b_l\, C \ge \sum_t (R_{l,t} + F_{l,t} + U_{l,t})")
    def throughput(self) -> None:
        """Cycles are those of computing at rate rho, or of the level whose words take longest at its bandwidth b: for
        reads, for writes (fills and updates), or for both."""
        self.model.add(self.cycles * self.problem.machine.compute.rate >= self.passes)
        for level, memory in enumerate(self.problem.machine.levels):
            sums = [sum(words for (place, _), words in counts.items() if place == level)
                    for counts in (self.reads, self.fills, self.updates)]  # fmt: skip
            reads, writes = sums[0], sums[1] + sums[2]
            bandwidth = memory.bandwidth
            for rate, words in (
                (bandwidth.read, reads),
                (bandwidth.write, writes),
                (bandwidth.shared, reads + writes),
            ):
                if rate is not None and not isinstance(words, int):
                    exact = Fraction(str(rate))
                    self.model.add(self.cycles * exact.numerator >= words * exact.denominator)

    @family(r"C \le C_{\max}")
    def latency_limit(self) -> None:
        """No more cycles than may be taken, where there is such a limit."""
        if self.problem.max_cycles is not None:
            self.model.add(self.cycles <= self.problem.max_cycles)

    @family(r"V = E\,C,\ E \text{ or } C, \qquad V \le V^*")
    def value(self) -> None:
        """The value is energy times cycles, energy, or cycles, and not above that of the best mapping known."""
        chosen = {"energy": self.energy, "latency": self.cycles}
        if self.problem.objective == "edp":
            self.minimised = self.model.new_int_var(0, self.counting.value, "edp")
            self.model.add_multiplication_equality(self.minimised, [self.energy, self.cycles])
        else:
            self.minimised = chosen[self.problem.objective]
            self.model.add(self.minimised <= self.counting.value)

    @objective(r"\min V")
    def least_value(self) -> None:
        """The least value."""
        self.model.minimize(self.minimised)

    def _counted(self, name: str, most: int, least: int = 0) -> Any:
        return self.model.new_int_var(min(least, most), min(most, LARGEST), name)

    def _brought(self, level: int, inner: int, operand: Operand, loop: str) -> Any:
        """The trips of a loop, 1 if the tensor stays."""
        run = self.run.get((level, inner, operand.name, loop))
        trips = self.time[level, loop]
        if run is None:
            return trips
        brought = self._divisor(f"brought_{level}_{inner}_{operand.name}_{loop}", self.problem.bounds[loop])
        self.model.add(brought == 1).only_enforce_if(run)
        self.model.add(brought == trips).only_enforce_if(~run)
        return brought

    def _may_link(self, name: str, outer: int, inner: int) -> bool:
        ends = [outer] if inner == self.depth else [outer, inner]
        may = all(name in self.problem.kept(level)[1] for level in ends)
        return may and not any(name in self.problem.kept(level)[0] for level in range(outer + 1, inner))

    def _different(self, level: int, operand: Operand) -> Any:
        """Different tiles of a tensor below an instance of a level, at least: of dimensions that a loop has in common
        only the first counts, since places may lie on a diagonal."""
        fanout = self.problem.machine.levels[level].fanout
        name = f"different_{level}_{operand.name}_{len(self.model.proto.variables)}"
        if not (fanout.reduction if operand.writes else fanout.multicast):
            return self._product(
                name, [self.space[level, loop, "both"] for loop in self.loops], fanout.x * fanout.y
            )
        extents: list[Any] = []
        seen: set[str] = set()
        for index in operand.index:
            loops = {loop for loop, _ in index.coefficients if loop in self.loops}
            if loops & seen:
                continue
            seen |= loops
            own = [self.space[level, loop, "both"] for loop in self.loops if loop in loops]
            moving = [one for one in own if not (isinstance(one, int) and one == 1)]
            if len(moving) < 2:
                extents += moving
            else:
                total = 1 + sum(one - 1 for one in moving)
                extents.append(self._named(f"{name}_{len(extents)}", total, fanout.x * fanout.y))
        return self._product(name, extents, fanout.x * fanout.y)

    def _part(self, level: int, operand: Operand) -> Any:
        """Words of a tensor for which an instance of a level is responsible, at most."""
        words = operand.words(self.problem.bounds)
        spread = [
            self.space[outer, loop, "both"]
            for outer in range(level)
            for loop in self.loops
            if loop in operand.loops
        ]
        if not _is_plain(operand, self.loops) or all(isinstance(one, int) for one in spread):
            return words
        part = self._counted(f"part_{level}_{operand.name}_{len(self.model.proto.variables)}", words)
        self.model.add_multiplication_equality(words, [part, self._product(f"spread_{level}", spread, words)])
        return part

    def _least(self, name: str, one: Any, limit: int) -> Any:
        if isinstance(one, int):
            return min(one, limit)
        found = self.model.new_int_var(1, limit, name)
        self.model.add_min_equality(found, [one, self.model.new_constant(limit)])
        return found

    def _used(self, level: int) -> Any:
        """Instances of a level that leak: those in use, one if it keeps nothing."""
        if isinstance(self.instances[level], int):
            return self.instances[level]
        used = self.model.new_int_var(1, LARGEST >> 30, f"leaking_{level}")
        for operand in self.operands:
            self.model.add(used >= self.instances[level]).only_enforce_if(self.keeps[level, operand.name])
        return used

    def _all_blocks(self, words: Any, block: int, pays: Any, energy: int, name: str) -> Any:
        """Accesses to whole blocks, by all instances that pay for one."""
        most = self.counting.energy // energy
        blocks = words
        if block > 1:
            blocks = self._counted(f"blocks_{name}_{len(self.model.proto.variables)}", most)
            self.model.add(blocks * block >= words)
        return self._product(f"paid_{name}_{len(self.model.proto.variables)}", [blocks, pays], most)


def refusal(problem: HierarchyProblem) -> str | None:
    """Why the program does not state a problem; None if it does."""
    loops = [loop for loop, bound in problem.bounds.items() if bound > 1]
    for operand in problem.nest.operands:
        if operand.writes and operand.zero_initialised and not _is_plain(operand, loops):
            return f"parts of {operand.name} that are still zero depend on tiles, which the program does not state"
    if (
        _most_cycles(problem) * max([one[0].denominator * one[1] for one in _rates(problem)], default=1)
        > LARGEST
    ):
        return "words and cycles leave the integers of CP-SAT"
    return None


def _rates(problem: HierarchyProblem) -> list[tuple[Fraction, int]]:
    """What each bandwidth is, with its numerator."""
    found = []
    for level in problem.machine.levels:
        for rate in (level.bandwidth.read, level.bandwidth.write, level.bandwidth.shared):
            if rate is not None:
                exact = Fraction(str(rate))
                found.append((exact, exact.numerator))
    return found


def _most_cycles(problem: HierarchyProblem) -> int:
    """Cycles of the slowest mapping: every word at every iteration, at the least bandwidth."""
    iterations = math.prod(problem.bounds.values())
    words = 3 * iterations * sum(operand.words(problem.bounds) for operand in problem.nest.operands)
    slowest = min((rate for rate, _ in _rates(problem)), default=Fraction(words))
    return max(iterations, math.ceil(words / slowest))


def _is_plain(operand: Operand, loops: list[str]) -> bool:
    """Whether each dimension is indexed by one loop at most, without gaps."""
    return all(
        sum(abs(factor) for loop, factor in one.coefficients if loop in loops) < 2 for one in operand.index
    )


def build(problem: HierarchyProblem) -> HierarchyProgram:
    """The program of a problem, for mappings worth up to a multiple of the bound by argument.

    Raises: InputError if the program does not state the problem, or numbers leave CP-SAT's integers.
    """
    reason = refusal(problem)
    if reason is not None:
        raise InputError(problem.nest.name or "nest", "rules", reason)
    program = HierarchyProgram(problem, Counting.of(problem, first_limit(problem)))
    try:
        program.build()
    except NumbersTooLargeError as error:
        raise InputError(problem.nest.name or "nest", "loops", f"{error}; give a smaller nest") from None
    return program
