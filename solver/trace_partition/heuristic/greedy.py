"""The paper's rule [Chang2018, sec. 4]: as many weights as fit the weight buffers, then input and output side by
side in Buf, with all units at work [Chang2018, sec. 2]."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby, product

from mapper.arch.snowflake import BLOCK, LANES, UNITS, VMACS
from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.formulations.trace_partition.program.option import Family, families
from mapper.formulations.trace_partition.program.option_cost import nameless, words_needed
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.steps.plan import plan_layer
from mapper.models.trace_partition.tile.layer_tiling import LayerTiling, layer_tiling
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.trace_partition.outcome import heuristic

PATIENCE = 2_000
"""Tiles that are looked at whatever the clock says: the rule mostly has its answer in milliseconds."""


def greedy(problem: PartitionProblem, effort: Effort) -> Outcome[Partition]:
    """The rule, layer by layer; nothing stays in Buf between layers.

    Sums over a line of channels or more run in mode coop, others in indp. Clusters share rows where there is one for
    each, else output channels. A tile gets the most output channels whose weights for the whole sum fit half the
    weight buffers (where not even the fewest do, the sum is cut), then all columns of the most rows whose input and
    output fit Buf twice. Units that share rows get equally many of each tile but of the last one; where not even a row
    for each fits, the tile has a row for each and the most columns. Of such tiles with units sharing rows or output
    channels, in either loop order, the one that keeps most MACs at work is taken, then the one that loads the fewest
    words. Where a choice does not fit, the next is.
    """
    rule = GreedyRule(problem, effort)
    found = rule.partition()
    effort.report(Progress(None, None, rule.seen))
    return heuristic(problem, found, effort, rule.seen)


class GreedyRule:
    """The rule on one problem; ``seen``: tiles whose fit was asked for. Where it looks long for one that fits, it ends
    when the effort does, without a partition."""

    def __init__(self, problem: PartitionProblem, effort: Effort) -> None:
        self.problem, self.effort = problem, effort
        self.seen = 0
        self._asked = 0
        self._known: dict[tuple[TraceLayer, Pin], LayerMapping | None] = {}

    def partition(self) -> Partition | None:
        """The rule's partition; None if a layer has no mapping without residency."""
        found = [self.mapping(layer) for layer in self.problem.network.traced]
        mappings = tuple(mapping for mapping in found if mapping is not None)
        return Partition(mappings) if len(mappings) == len(found) else None

    def mapping(self, layer: TraceLayer) -> LayerMapping | None:
        """The rule's mapping of one layer."""
        key = nameless(layer), self.problem.pin(layer.name)
        if key not in self._known:
            self._known[key] = self._choose(layer)
        return self._known[key]

    def _choose(self, layer: TraceLayer) -> LayerMapping | None:
        usual = (family.usual for family in families(self.problem, layer))
        group = sorted(usual, key=lambda one: self._preference(layer, one))
        for _, alike in groupby(group, key=lambda one: self._preference(layer, one)):
            tiles = [next(self._tiles(layer, family), None) for family in alike]
            found = [mapping for mapping in tiles if mapping is not None]
            if found:
                return max(found, key=lambda mapping: self._worth(layer, mapping))
        return None

    def _preference(self, layer: TraceLayer, family: Family) -> tuple[bool, ...]:
        sharing = self.problem.configuration.sharing
        coop = layer.group_inputs >= LANES and layer.work == "convolution"
        clusters = "rows" if layer.rows >= sharing else "out_channels"
        return family.mode != ("coop" if coop else "indp"), family.cluster_split not in (None, clusters)

    def _tiles(self, layer: TraceLayer, family: Family) -> Iterator[LayerMapping]:
        """Tiles that fit, the preferred one first."""
        rows, columns, ins, outs = (range(size - 1, -1, -1) for size in family.shape)
        even = [row for row in rows if _is_even(family, family.rows[row])]
        for heights in (even, [row for row in rows if row not in even]):
            for summed, out in product(ins, outs) if heights else ():
                if self._is_over():
                    return
                if not self._has_room(layer, family.mapping(0, 0, summed, out)):
                    continue
                for row in heights:
                    if self._is_over():
                        return
                    if self._fits(layer, family.mapping(row, columns[0], summed, out)):
                        yield family.mapping(row, columns[0], summed, out)
                for column in columns:
                    if self._is_over():
                        return
                    if self._fits(layer, family.mapping(heights[-1], column, summed, out)):
                        yield family.mapping(heights[-1], column, summed, out)

    def _is_over(self) -> bool:
        self._asked += 1
        return self._asked > PATIENCE and self.effort.stopped() is not None

    def _worth(self, layer: TraceLayer, mapping: LayerMapping) -> tuple[Fraction, int, bool]:
        tiling = layer_tiling(layer, mapping, self.problem.configuration.sharing, 0)
        return at_work(tiling), -loaded_words(tiling), mapping.unit_split == "rows"

    def _has_room(self, layer: TraceLayer, mapping: LayerMapping) -> bool:
        """Whether the buffers hold a tile, however many such there are."""
        machine = self.problem.machine
        plan = plan_layer(layer, mapping, machine, self.problem.configuration.sharing)
        return plan.unit_words <= machine.unit_words and plan.vmac_words <= machine.vmac_words

    def _fits(self, layer: TraceLayer, mapping: LayerMapping) -> bool:
        self.seen += 1
        return words_needed(self.problem, layer, mapping) is not None


def _is_even(family: Family, rows: int) -> bool:
    """Whether units that share ``rows`` have equally many, or are given all that the cluster has."""
    return family.unit_split != "rows" or rows % UNITS == 0 or rows == family.share.rows


def at_work(tiling: LayerTiling) -> Fraction:
    """Outputs over the places for them: a step takes as long as the unit with most rows or blocks of channels."""
    grain = LANES if tiling.by_channel else VMACS if tiling.mapping.mode == "coop" else BLOCK
    blocks = sum(-(-tiling.unit_filters(out) // grain) for out in range(tiling.outs))
    rows = sum(tiling.rows.tiles[kind].unit_outputs for kind in tiling.rows.kinds)
    filters = tiling.share.channels * (2 if tiling.layer.mfm else 1)
    return Fraction(tiling.share.rows * filters, UNITS * rows * blocks * grain)


def loaded_words(tiling: LayerTiling) -> int:
    """Words of maps, halos included, and of weights that a cluster loads."""
    layer, (_, rows, columns, outs, _) = tiling.layer, tiling.counts
    down, across = (
        sum(piece.count for kind in axis.kinds for piece in axis.tiles[kind].pieces)
        for axis in (tiling.rows, tiling.columns)
    )
    maps = down * across * layer.input.channels
    weights = layer.filters * layer.group_inputs * layer.kernel[0] * layer.kernel[1]
    if tiling.by_channel or tiling.mapping.order == "maps_stationary":
        return maps + weights * rows * columns
    return maps * outs + weights


GREEDY: Method[PartitionProblem, Partition] = Method(
    "greedy", False, "the paper's rule: most weights that fit, then input and output side by side", greedy
)
