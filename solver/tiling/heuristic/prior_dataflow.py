"""Execution methods of earlier accelerators, fixed by rule [Dave2019, sec. 6, "Techniques evaluated"].

Each dataflow fixes which loops run in space, fills the register files and then the scratch-pad by a stated
rule, and fixes one loop order for both levels. Loops are known by their role in the index expressions: the
sliding loops of the output map (Ox, Oy), the window loops (Fx, Fy), the channels that are summed (C), the
channels of which the input map is invariant (M), and the rest (N, groups). The paper gives each technique one
sentence; this is how they are read here. To grow a loop is to give it the largest factor that still fits.

- ``soc``, Oy|Ox: the whole array works on one output channel. "The schedule iterates over channels for
  minimizing psum accumulation cost": windows, then C, then M grow in the register files and again in the
  scratch-pad (then Ox, Oy, N), and sums are innermost in both orders. On conv5_1 this gives the figures of
  Observation (ii): 14400 words of ifmaps (28 kB), 9216 of weights (18 kB), 784 of psums (1.5 kB), brought
  512, 512 and 128 times: 14.74, 9.44 and 0.2 MB. Its register files take 218 words, the 436 B of
  Observation (i).
- ``moc``, Oy|Ox and M: as ``soc``, but PE groups work on different output channels of the same ifmaps; a
  group is the largest tile of the output map of which the array holds two, so 7x7 PEs make four groups and
  14x7 two, the 196 PEs (76 %) of Observation (i).
- ``ws1``, Fy|Fx: one window of weights in space, M and C growing in turn in the register files; weights stay
  while Ox, Oy and N run innermost, and these grow first in the scratch-pad, then C and M.
- ``rs``, Oy|Fy and M: filter rows against output rows, sets of PEs side by side for other output channels as
  in [3]. Fx, then what reuses weights (Ox, Oy, N), then C and M grow in the register files; psums are
  accumulated there and between the PEs of a column, and reused from the scratch-pad: C, M grow there first,
  and sums are innermost in both orders.
- ``ws2``, M|C: as a matrix product on a systolic array; windows, then M and C in turn grow in the register
  files, otherwise as ``ws1``. On conv5_2 psums go to DRAM 16 times, the 16x of Observation (ii).

What these readings do not give are the paper's ratios to its optimum: with them SOC on conv5_2 is 62.8 times
the least EDP and 17.4 times its cycles, not 44.47 and 18.72; the paper does not say which tilings it took.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from mapper.formulations.tiling.array_axes import ArrayAxes, on_axes
from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.cost import fits
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.exact.lattice import divisors_of
from mapper.workloads.nest.loop_nest import LoopNest

Loops = tuple[str, ...]


@dataclass(frozen=True)
class Roles:
    """The loops of a convolution-like nest by role, each in the nest's order."""

    slides: Loops
    windows: Loops
    summed: Loops
    channels: Loops
    rest: Loops


def roles_of(nest: LoopNest) -> Roles | None:
    """The roles, or None if nothing slides: then the dataflows are not defined."""
    windows = nest.window_loops
    slides: set[str] = set()
    sliding: set[str] = set()
    for operand in nest.operands:
        for dimension in operand.index:
            loops = {loop for loop, _ in dimension.coefficients}
            if loops & windows:
                slides |= loops - windows
            if loops & windows and loops - windows:
                sliding |= operand.loops
    if not slides:
        return None

    def ordered(loops: set[str] | frozenset[str]) -> Loops:
        return tuple(loop for loop in nest.loops if loop in loops)

    summed = nest.reduction_loops - windows
    channels = set(nest.loops) - nest.reduction_loops - sliding
    return Roles(
        ordered(slides),
        ordered(windows),
        ordered(summed),
        ordered(channels),
        ordered(set(nest.loops) - slides - windows - summed - channels),
    )


@dataclass(frozen=True)
class Filling:
    """A tiling under construction; what the other levels leave of a bound runs at DRAM."""

    problem: TilingProblem
    order: Loops
    factors: tuple[tuple[int, int, int, int], ...]

    @classmethod
    def empty(cls, problem: TilingProblem, order: Loops) -> Filling:
        return cls(problem, order, tuple((bound, 1, 1, 1) for _, bound in problem.nest.bounds))

    def mapping(self) -> TilingMapping:
        return TilingMapping(self.problem.nest.loops, self.factors, self.order, self.order)

    def moved(self, level: str, loop: str, factor: int) -> Filling:
        """With a factor of the loop's DRAM trip count moved to ``level``."""
        place = self.problem.nest.loops.index(loop)
        dram, spm, rf, spatial = self.factors[place]
        inner = {"spm": spm, "rf": rf, "spatial": spatial}
        inner[level] *= factor
        row = (dram // factor, inner["spm"], inner["rf"], inner["spatial"])
        return replace(self, factors=(*self.factors[:place], row, *self.factors[place + 1 :]))

    def left(self, loop: str) -> list[int]:
        """Divisors of what of the loop's bound still runs at DRAM, ascending."""
        return divisors_of(self.factors[self.problem.nest.loops.index(loop)][0])

    def fits(self) -> bool:
        """Whether the tiles fit, with loops in space on the axes of the array."""
        axes, spatial = ArrayAxes.of(self.problem), tuple(row[3] for row in self.factors)
        held = fits(self.problem.nest, self.problem.machine, self.mapping())
        return held and (axes is None or axes.has_room(spatial))

    def in_space(self) -> int:
        """PEs used."""
        return math.prod(spatial for _, _, _, spatial in self.factors)

    def grown(self, level: str, loops: Loops, most: int | None = None) -> Filling:
        """Each loop in turn with the largest factor that fits, at most ``most``."""
        filling = self
        for loop in loops:
            for factor in reversed(filling.left(loop)):
                tried = filling.moved(level, loop, factor)
                if (most is None or factor <= most) and tried.fits():
                    filling = tried
                    break
        return filling

    def grown_in_turn(self, level: str, loops: Loops) -> Filling:
        """The loops one prime factor each, round after round, until none can grow."""
        filling, growing = self, True
        while growing:
            growing = False
            for loop in loops:
                for factor in filling.left(loop)[1:2]:
                    tried = filling.moved(level, loop, factor)
                    if tried.fits():
                        filling, growing = tried, True
        return filling


def _sums_innermost(roles: Roles) -> Loops:
    return (*roles.rest, *roles.slides, *roles.channels, *roles.summed, *roles.windows)


def _weights_stay(roles: Roles) -> Loops:
    return (*roles.channels, *roles.summed, *roles.windows, *roles.rest, *roles.slides)


def _fill_with_sums(filling: Filling, roles: Roles) -> Filling:
    for level in ("rf", "spm"):
        filling = filling.grown(level, (*roles.windows, *roles.summed, *roles.channels))
    return filling.grown("spm", (*roles.slides, *roles.rest))


def _single_output_channel(problem: TilingProblem, roles: Roles) -> Filling:
    filling = Filling.empty(problem, _sums_innermost(roles))
    return _fill_with_sums(_on_array(filling, roles.slides[-1:], roles.slides[-2:-1]), roles)


def _multiple_output_channels(problem: TilingProblem, roles: Roles) -> Filling:
    empty = Filling.empty(problem, _sums_innermost(roles))
    array, groups = problem.machine.pe_array, [empty]
    for loop, reach in zip(reversed(roles.slides[-2:]), (array.rows, array.columns), strict=False):
        sizes = [size for size in empty.left(loop) if size <= reach]
        groups = [group.moved("spatial", loop, size) for group in groups for size in sizes]
    small = [group for group in groups if 2 * group.in_space() <= problem.machine.pes and group.fits()]
    largest = max(small, key=Filling.in_space, default=empty)
    return _fill_with_sums(largest.grown("spatial", roles.channels), roles)


def _weight_stationary(problem: TilingProblem, roles: Roles) -> Filling:
    filling = Filling.empty(problem, _weights_stay(roles))
    return _fill_with_weights(_on_array(filling, roles.windows[-1:], roles.windows[-2:-1]), roles)


def _coarse_weight_stationary(problem: TilingProblem, roles: Roles) -> Filling:
    filling = Filling.empty(problem, _weights_stay(roles))
    return _fill_with_weights(_on_array(filling, roles.channels[-1:], roles.summed[-1:]), roles)


def _fill_with_weights(filling: Filling, roles: Roles) -> Filling:
    filling = filling.grown("rf", roles.windows).grown_in_turn("rf", (*roles.channels, *roles.summed))
    return filling.grown("spm", (*roles.slides, *roles.rest, *roles.windows, *roles.summed, *roles.channels))


def _row_stationary(problem: TilingProblem, roles: Roles) -> Filling:
    filling = Filling.empty(problem, _sums_innermost(roles))
    filling = _on_array(filling, roles.windows[-1:], roles.slides[-1:]).grown("spatial", roles.channels)
    reuse = (*roles.windows, *roles.slides, *roles.rest)
    filling = filling.grown("rf", (*reuse, *roles.summed, *roles.channels))
    return filling.grown("spm", (*roles.windows, *roles.summed, *roles.channels, *roles.slides, *roles.rest))


def _on_array(filling: Filling, rows: Loops, columns: Loops) -> Filling:
    """One loop along the rows of the PE array, one along its columns, as far as they reach."""
    array = filling.problem.machine.pe_array
    return filling.grown("spatial", rows, array.rows).grown("spatial", columns, array.columns)


def _dataflow(
    name: str, fixed: tuple[str, ...], rule: Callable[[TilingProblem, Roles], Filling]
) -> Method[TilingProblem, TilingMapping]:
    def search(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
        roles = roles_of(problem.nest)
        if roles is None:
            undefined = ("not defined for nests without window loops",)
            return Outcome.bounded(
                None, None, bound_of(problem), "heuristic", restrictions=undefined, evaluations=0
            )
        mapping = on_axes(problem, rule(problem, roles).mapping())
        verdict = verify(problem, mapping)
        if verdict.cost is None or not verdict.valid:
            misfit = (*fixed, "does not fit the machine or the pinned decisions")
            return Outcome.bounded(
                None, None, bound_of(problem), "heuristic", restrictions=misfit, evaluations=1
            )
        value = problem.value(verdict.cost)
        return Outcome.bounded(
            mapping, value, bound_of(problem), "heuristic", restrictions=fixed, evaluations=1
        )

    return Method(name, False, f"prior dataflow: {fixed[0]}", search)


SUMS, WEIGHTS = "sums innermost in both orders", "weights stay in both orders"
FILLED = "memories filled by rule"

PRIOR_DATAFLOWS: tuple[Method[TilingProblem, TilingMapping], ...] = (
    _dataflow("soc", ("only Oy|Ox in space, one output channel", SUMS, FILLED), _single_output_channel),
    _dataflow("moc", ("only Oy|Ox and M in space", SUMS, FILLED), _multiple_output_channels),
    _dataflow("ws1", ("only Fy|Fx in space", WEIGHTS, FILLED), _weight_stationary),
    _dataflow("ws2", ("only M|C in space", WEIGHTS, FILLED), _coarse_weight_stationary),
    _dataflow("rs", ("only Oy|Fy and M in space", SUMS, FILLED), _row_stationary),
)
