"""Simulated annealing over the whole partition: tiles, orders, modes, splits, and what stays between layers."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.formulations.trace_partition.program.option import Family, families
from mapper.formulations.trace_partition.program.option_cost import CostedOption, costed, nameless
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.residency import linked, obstacle
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.trace_partition.heuristic.greedy import GreedyRule
from mapper.solver.trace_partition.outcome import heuristic

CHANGES = 250
"""Changes tried for each layer that is a problem of its own."""
HOTTEST, COLDEST = 0.1, 0.001
"""Temperatures as parts of a layer's share of the first value."""
RESIDENCY = 0.1
"""How often a change is one of residency."""
TRIES = 12
"""Tiles drawn for a pair of layers between which maps are to stay."""


@dataclass
class _State:
    """A partition, and the best one seen."""

    options: list[CostedOption]
    best: list[CostedOption]
    value: int
    least: int


def anneal(problem: PartitionProblem, effort: Effort) -> Outcome[Partition]:
    """From the greedy partition on, or from the one that is known: one layer's decisions change at a time, or the
    residency between two. Where the rule finds no partition (a pin asks for residency), none is looked for."""
    known = effort.known(problem)
    start = GreedyRule(problem, effort).partition() if known is None else known.mapping
    if start is None:
        return heuristic(problem, None, effort, 0)
    run = _Run(problem, random.Random(effort.seed))
    found = run.anneal(start, effort)
    return heuristic(problem, found, effort, run.seen)


class _Run:
    def __init__(self, problem: PartitionProblem, draw: random.Random) -> None:
        self.problem, self.draw = problem, draw
        self.layers = problem.network.traced
        self.links = linked(problem.network)
        self.seen = 0
        self._keys = [(nameless(layer), problem.pin(layer.name)) for layer in self.layers]
        self._costed: dict[tuple[TraceLayer, Pin, LayerMapping], CostedOption | None] = {}
        self._families: dict[tuple[TraceLayer, Pin, bool, bool], tuple[Family, ...]] = {}

    def anneal(self, start: Partition, effort: Effort) -> Partition:
        options = [self._cost(at, mapping) for at, mapping in enumerate(start.layers)]
        taken = [option for option in options if option is not None]
        value = sum(option.rank[0] for option in taken)
        state = _State(taken, list(taken), value, value)
        steps = CHANGES * len(set(self._keys))
        heat = HOTTEST * value / max(1, len(taken))
        for step in range(steps):
            if effort.stopped() is not None:
                break
            self._step(state, heat * (COLDEST / HOTTEST) ** (step / steps))
            if state.value < state.least:
                state.best, state.least = list(state.options), state.value
                effort.report(Progress(None, None, self.seen))
        return Partition(tuple(option.mapping for option in state.best))

    def _step(self, state: _State, heat: float) -> None:
        draw, possible = self.draw, [at for at, link in enumerate(self.links) if link]
        if possible and draw.random() < RESIDENCY:
            changed = self._residency(state, draw.choice(possible))
        else:
            changed = self._one_layer(state, draw.randrange(len(self.layers)))
        change = sum(option.rank[0] - state.options[at].rank[0] for at, option in changed.items())
        if changed and (change <= 0 or draw.random() < math.exp(-change / max(heat, 1e-9))):
            state.value += change
            for at, option in changed.items():
                state.options[at] = option

    def _one_layer(self, state: _State, at: int) -> dict[int, CostedOption]:
        """Other decisions of one layer with the same residency."""
        now = state.options[at].mapping
        option = self._cost(at, self._near(at, now, now.input_resident, now.output_resident))
        return {} if option is None or not self._agrees(state, {at: option}) else {at: option}

    def _residency(self, state: _State, at: int) -> dict[int, CostedOption]:
        """The other residency between layer ``at`` and the next, with the best of some tiles of both."""
        one, other = state.options[at].mapping, state.options[at + 1].mapping
        stays = not one.output_resident
        best: dict[int, CostedOption] = {}
        for _ in range(TRIES):
            first = self._cost(at, self._near(at, one, one.input_resident, stays))
            second = self._cost(at + 1, self._near(at + 1, other, stays, other.output_resident))
            if first is None or second is None:
                continue
            pair = {at: first, at + 1: second}
            if self._agrees(state, pair) and (not best or _sum(pair) < _sum(best)):
                best = pair
        return best

    def _near(self, at: int, now: LayerMapping, before: bool, after: bool) -> LayerMapping | None:
        """A mapping with one or two decisions drawn again."""
        key = (*self._keys[at], before, after)
        if key not in self._families:
            found = families(self.problem, self.layers[at], before, after)
            self._families[key] = tuple(family.usual for family in found)
        group, draw = self._families[key], self.draw
        if not group:
            return None
        family = min(group, key=lambda one: (_distance(one, now), draw.random()))
        if draw.random() < 0.25:
            family = draw.choice(group)
        tile = now.tile
        sizes = (family.rows, family.columns, family.in_channels, family.out_channels)
        sides = (tile.rows, tile.columns, tile.in_channels, tile.out_channels)
        places = [_closest(of, side) for of, side in zip(sizes, sides, strict=True)]
        for _ in range(draw.randint(1, 2)):
            side = draw.randrange(4)
            step = (
                draw.randint(-3, 3)
                if draw.random() < 0.7
                else draw.randint(-len(sizes[side]), len(sizes[side]))
            )
            places[side] = min(len(sizes[side]) - 1, max(0, places[side] + step))
        return family.mapping(*places)

    def _agrees(self, state: _State, changed: dict[int, CostedOption]) -> bool:
        """Whether neighbours still agree on what stays."""
        mappings = {at: option.mapping for at, option in changed.items()}
        for at in {place for one in changed for place in (one - 1, one)} & set(range(len(self.layers) - 1)):
            one = mappings.get(at, state.options[at].mapping)
            other = mappings.get(at + 1, state.options[at + 1].mapping)
            if one.output_resident:
                sharing = self.problem.configuration.sharing
                if obstacle(self.layers[at], one, self.layers[at + 1], other, sharing) is not None:
                    return False
        return True

    def _cost(self, at: int, mapping: LayerMapping | None) -> CostedOption | None:
        if mapping is None:
            return None
        key = (*self._keys[at], mapping)
        if key not in self._costed:
            self.seen += 1
            self._costed[key] = costed(self.problem, self.layers[at], mapping)
        return self._costed[key]


def _sum(options: dict[int, CostedOption]) -> int:
    return sum(option.rank[0] for option in options.values())


def _distance(family: Family, mapping: LayerMapping) -> int:
    taken = (mapping.mode, mapping.order, mapping.unit_split, mapping.cluster_split)
    own = (family.mode, family.order, family.unit_split, family.cluster_split)
    return sum(one != other for one, other in zip(own, taken, strict=True))


def _closest(sizes: tuple[int, ...], size: int) -> int:
    return min(range(len(sizes)), key=lambda place: abs(sizes[place] - size))


ANNEALING: Method[PartitionProblem, Partition] = Method(
    "annealing", False, "simulated annealing over tiles, orders, modes, splits and residency", anneal
)
