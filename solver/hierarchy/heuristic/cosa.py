"""One shot of an integer program on a proxy of the cost, as CoSA schedules [Huang2021].

Prime factors of the loops are placed at levels in time and along axes in space; all is a sum of logarithms. Tiles fit
if the logarithms of their sizes do, each tensor having an equal share of what its level holds; levels keep all tensors
that they may. The words of a tensor that arrive at a level are those of the whole tensor times the trips outside of all
loops that do not move it, but for those of levels where it stays: one tensor stays at each level, and the loops that do
not move it run innermost. The proxy adds logarithms of these words, each weighted with the energy of the tensor's words
on that link, and that of the cycles of computing; it sees no windows, blocks, bandwidths and partial sums.

HiGHS solves it to a gap, or a number of nodes. Windows are larger than the program thinks: if tiles do not fit, shares
are halved, and it is solved again.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.choice import Choice
from mapper.solver.hierarchy.space import Space, prime_factors
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.highs import HighsLimit, run_highs
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.workloads.nest.loop_nest import Operand

LIMIT = HighsLimit(gap=0.01, nodes=2_000)
MOST_ROUNDS = 6
"""Halvings of the shares that tensors have of a level."""
TIME, ENERGY = 1.0, 1.0
"""Weights of cycles and of energy in the proxy of an objective that has both."""


class _Program:
    """The integer program of one problem, with ``share`` of each level's words to be used."""

    def __init__(self, problem: HierarchyProblem, space: Space, share: float) -> None:
        from ortools.linear_solver import pywraplp

        self.problem, self.space = problem, space
        self.solver = pywraplp.Solver.CreateSolver("SCIP")
        self.levels = problem.machine.levels
        self.placed: dict[tuple[str, int, int], Any] = {}
        self.stays: dict[tuple[int, str], Any] = {}
        self.again: dict[tuple[int, str], Any] = {}
        self._place_factors()
        self._give_trips()
        self._fit_tiles(share)
        self._fill_axes()
        for place in range(len(self.levels)):
            self._stay_at(place)
        self.solver.Minimize(self._proxy())

    def _place_factors(self) -> None:
        """Each prime factor of a loop lies at one slot."""
        for loop, bound in self.problem.bounds.items():
            for prime, times in Counter(prime_factors(bound)).items():
                slots = range(len(self.space.slots))
                row = [self.solver.IntVar(0, times, f"{loop}.{prime}.{slot}") for slot in slots]
                self.solver.Add(sum(row) == times)
                self.placed |= {(loop, prime, slot): one for slot, one in enumerate(row)}
            for slot, most in enumerate(self.space.limits[loop]):
                self.solver.Add(self._trips(loop, slot) <= _log(most))

    def _give_trips(self) -> None:
        """Trips that the machine or a pin gives are those."""
        for loop in self.problem.bounds:
            for place in range(len(self.levels)):
                for axes in (("temporal",), ("x", "y")):
                    given = self.problem.exact(place, axes[0], loop)
                    if given is None:
                        continue
                    own = [
                        slot
                        for slot, one in enumerate(self.space.slots)
                        if one[0] == place and one[1] in axes
                    ]
                    self.solver.Add(sum(self._trips(loop, slot) for slot in own) >= math.log(given) - 1e-9)
                    self.solver.Add(sum(self._trips(loop, slot) for slot in own) <= _log(given))

    def _fit_tiles(self, share: float) -> None:
        """Tiles of tensors fit their shares of a level."""
        for place, level in enumerate(self.levels):
            kept = self._kept(place)
            if level.capacity is None or not kept:
                continue
            words = max(1.0, level.capacity * share / len(kept))
            for operand in kept:
                self.solver.Add(self._inside(operand, place) <= _log(words))

    def _fill_axes(self) -> None:
        """Loops along an axis fit it."""
        for slot, (place, axis) in enumerate(self.space.slots):
            fanout = self.levels[place].fanout
            if axis != "temporal":
                width = fanout.x if axis == "x" else fanout.y
                self.solver.Add(sum(self._trips(loop, slot) for loop in self.problem.bounds) <= _log(width))

    def _proxy(self) -> Any:
        """The objective's logarithm, as far as it is one: cycles of computing, and energy of the words on links."""
        problem = self.problem
        proxy = 0
        if problem.objective != "energy":
            slots = [slot for slot, (_, axis) in enumerate(self.space.slots) if axis == "temporal"]
            proxy += TIME * sum(self._trips(loop, slot) for loop in problem.bounds for slot in slots)
        weights = self._weights()
        for (place, name), weight in weights.items():
            share = weight / math.fsum(weights.values())
            if problem.objective == "latency":
                share *= 0.01  # of mappings equally fast one that moves little, as bandwidths may bind
            proxy += ENERGY * share * sum(self.again[outer, name] for outer in range(place))
        return proxy

    def _weights(self) -> dict[tuple[int, str], float]:
        """Energy of all words of a tensor on their way to a level that keeps it; 1 for each link without energies."""
        found: dict[tuple[int, str], float] = {}
        for operand in self.problem.nest.operands:
            words = operand.words(self.problem.bounds)
            kept = [place for place in range(len(self.levels)) if operand in self._kept(place)]
            for outer, inner in zip(kept, (*kept[1:], len(self.levels)), strict=True):
                actions = self.levels[outer].actions
                read = 1.0 if actions is None else actions.read / self.levels[outer].block
                found[inner, operand.name] = words * (read + 1e-9)
        return found

    def _stay_at(self, place: int) -> None:
        """One tensor stays at a level; the others are brought again by its loops that do not move them: the logarithm
        of how often."""
        slots = [slot for slot, one in enumerate(self.space.slots) if one == (place, "temporal")]
        most = sum(math.log(bound) for bound in self.problem.bounds.values())
        for operand in self.problem.nest.operands:
            key = place, operand.name
            self.stays[key] = self.solver.BoolVar(f"stays.{place}.{operand.name}")
            self.again[key] = self.solver.NumVar(0, most, f"again.{place}.{operand.name}")
            others = [loop for loop in self.problem.bounds if loop not in operand.loops]
            turns = sum(self._trips(loop, slot) for loop in others for slot in slots)
            self.solver.Add(self.again[key] >= turns - most * self.stays[key])
        self.solver.Add(sum(self.stays[place, one.name] for one in self.problem.nest.operands) == 1)

    def _trips(self, loop: str, slot: int) -> Any:
        """The logarithm of a loop's trips at a slot."""
        primes = sorted(set(prime_factors(self.problem.bounds[loop])))
        return sum(math.log(prime) * self.placed[loop, prime, slot] for prime in primes)

    def _inside(self, operand: Operand, place: int) -> Any:
        """The logarithm of a tensor's tile at a level, windows apart."""
        slots = [slot for slot, (own, _) in enumerate(self.space.slots) if own >= place]
        return sum(self._trips(loop, slot) for loop in sorted(operand.loops) for slot in slots)

    def _kept(self, place: int) -> list[Operand]:
        """What a level keeps: all that it may, or, if there is no room for a word of each, what it must."""
        must, may = self.problem.kept(place)
        room = self.levels[place].capacity
        names = must if room is not None and room < len(may) else may
        return [one for one in self.problem.nest.operands if one.name in names]

    def choice(self, values: tuple[float, ...]) -> Choice:
        """What the program's variables say: trips, what is kept, and orders in which a tensor stays."""
        loops = self.problem.nest.loops
        factors = {loop: [1] * len(self.space.slots) for loop in loops}
        for (loop, prime, slot), variable in self.placed.items():
            factors[loop][slot] *= prime ** round(values[variable.index()])
        orders = []
        for place in range(len(self.levels)):
            stays = max(
                self.problem.nest.operands, key=lambda one: values[self.stays[place, one.name].index()]
            )
            orders.append(tuple(sorted(loops, key=lambda loop: loop not in stays.loops)))
        keep = tuple(tuple(one.name for one in self._kept(place)) for place in range(len(self.levels)))
        return Choice({loop: tuple(row) for loop, row in factors.items()}, tuple(orders), keep)


def cosa(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """The mapping that is best by the proxy."""
    space, trials = Space(problem), Trials(problem, effort)
    for round_ in range(MOST_ROUNDS):
        stop = effort.stopped()
        if stop is not None:
            return trials.ended(stop)
        program = _Program(problem, space, 0.5**round_)
        values = run_highs(program.solver, effort, LIMIT)
        if values is None:
            break
        if trials.take(program.choice(values).mapping(space)) is not None:
            break
    return trials.ended(effort.stopped() or "heuristic")


def _log(number: float) -> float:
    """The logarithm of a limit, with room for rounding."""
    return math.log(number) + 1e-9


COSA: Method[HierarchyProblem, HierarchyMapping] = Method(
    "cosa",
    False,
    "an integer program that places prime factors by a proxy of the cost, sums of logarithms, as CoSA does (HiGHS)",
    cosa,
)
