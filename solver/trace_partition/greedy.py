"""The paper's rule (004, section 4): as many weights as fit the weight buffers, then input and output side by side in
Buf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mapper.arch.snowflake import LANES, UNITS
from mapper.formulations.trace_partition.option import Family, families
from mapper.formulations.trace_partition.option_cost import nameless, words_needed
from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.plan import plan_layer
from mapper.models.trace_partition.trace_layer import TraceLayer
from mapper.solver.method import Effort, Method, Outcome, Progress
from mapper.solver.trace_partition.judged import heuristic


def greedy(problem: PartitionProblem, effort: Effort) -> Outcome[Partition]:
    """The rule, layer by layer; nothing stays in Buf between layers.

    Sums over a line of channels or more run in mode coop, others in indp. Units and clusters share rows where there is
    one for each, else output channels. A tile gets the most output channels whose weights for the whole sum fit half
    the weight buffers (where not even the fewest do, the sum is cut), then all columns of the most rows whose input
    and output fit Buf twice (where not even one row does, the most columns of one). Of both loop orders the one that
    loads fewer words is taken. Where a choice does not fit, the next is.
    """
    rule = GreedyRule(problem)
    found = rule.partition()
    effort.report(Progress(None, None, rule.seen))
    return heuristic(problem, found, effort, rule.seen)


class GreedyRule:
    """The rule on one problem; ``seen``: tiles whose fit was asked for."""

    def __init__(self, problem: PartitionProblem) -> None:
        self.problem = problem
        self.seen = 0
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
        group = families(self.problem, layer)
        for family in sorted(group, key=lambda one: self._preference(layer, one)):
            tile = next(self._tiles(layer, family), None)
            if tile is not None:
                same = [one for one in group if _but_order(one) == _but_order(family)]
                orders = [replace(tile, order=one.order) for one in same]
                fitting = [mapping for mapping in orders if self._fits(layer, mapping)]
                return min(fitting, key=lambda mapping: loaded_words(layer, mapping))
        return None

    def _preference(self, layer: TraceLayer, family: Family) -> tuple[bool, ...]:
        sharing = self.problem.configuration.sharing
        coop = layer.group_inputs >= LANES and layer.work == "convolution"
        clusters = "rows" if layer.rows >= sharing else "out_channels"
        units = "rows" if family.share.rows >= UNITS else "out_channels"
        return (
            family.mode != ("coop" if coop else "indp"),
            family.cluster_split not in (None, clusters),
            family.unit_split != units,
        )

    def _tiles(self, layer: TraceLayer, family: Family) -> Iterator[LayerMapping]:
        """Tiles that fit, the preferred one first."""
        rows, columns, ins, outs = (range(size - 1, -1, -1) for size in family.shape)
        for summed in ins:
            for out in outs:
                if not self._has_room(layer, family.mapping(0, 0, summed, out)):
                    continue
                all_columns = columns[0]
                for row in rows:
                    if self._fits(layer, family.mapping(row, all_columns, summed, out)):
                        yield family.mapping(row, all_columns, summed, out)
                for column in columns:
                    if self._fits(layer, family.mapping(0, column, summed, out)):
                        yield family.mapping(0, column, summed, out)

    def _has_room(self, layer: TraceLayer, mapping: LayerMapping) -> bool:
        """Whether the buffers hold a tile, however many such there are."""
        machine = self.problem.machine
        plan = plan_layer(layer, mapping, machine, self.problem.configuration.sharing)
        return plan.unit_words <= machine.unit_words and plan.vmac_words <= machine.vmac_words

    def _fits(self, layer: TraceLayer, mapping: LayerMapping) -> bool:
        self.seen += 1
        return words_needed(self.problem, layer, mapping) is not None


def _but_order(family: Family) -> tuple[object, ...]:
    return family.mode, family.unit_split, family.cluster_split


def loaded_words(layer: TraceLayer, mapping: LayerMapping) -> int:
    """Words of maps and weights that an order loads, without halos."""
    tile = mapping.tile
    outs = -(-layer.group_outputs // tile.out_channels)
    spatial = -(-layer.rows // tile.rows) * -(-layer.columns // tile.columns)
    maps = layer.input.height * layer.input.width * layer.input.channels
    weights = layer.filters * layer.group_inputs * layer.kernel[0] * layer.kernel[1]
    if mapping.order == "maps_stationary":
        return maps + weights * spatial
    return maps * outs + weights


GREEDY: Method[PartitionProblem, Partition] = Method(
    "greedy", False, "the paper's rule: most weights that fit, then input and output side by side", greedy
)
