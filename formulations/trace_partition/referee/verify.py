"""The referee of partitions: checks every rule of a problem by itself [Chang2018, secs. 2 and 4].

It shares no code with the program, the searches or the plans of steps: words in buffers and what units hold are counted
again (buffer_words.py, resident_map.py). Cost comes from the model; so do steps, where a document says some, and the
length of loops of windows so large that one might not fit a bank of instructions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from mapper.formulations.trace_partition.problem import MOST_STEPS, PartitionProblem
from mapper.formulations.trace_partition.referee import resident_map
from mapper.formulations.trace_partition.referee.buffer_words import (
    edge_windows,
    portion,
    tiles,
    unit_words,
    vmac_words,
)
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.trace_partition.cost import evaluate
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.partition_cost import PartitionCost
from mapper.models.trace_partition.steps.loop_length import LONGEST_LOOP, longest_loop, small_window
from mapper.models.trace_partition.steps.plan import plan_layer
from mapper.models.trace_partition.steps.step_document import step_entries

LAYERS = "every layer on the accelerator has a mapping"
TILED = "a tile has at least one element and is within the layer, its channels within a group"
MODE = "layers channel by channel run in mode indp"
SHARED = "clusters on one image share every layer, and no layer otherwise; grouped layers by whole groups"
AVERAGED = "units share rows of an average only where all its windows have as many rows in the map"
GATED = "units share rows where the weights are a gate, which lies one channel after another"
COUNTED = "a layer has no more steps than can be listed"
KEPT = (
    "an input or output that stays in Buf stays whole, and lies in the units as the layer reads or makes it"
)
PAIRED = "what stays in Buf is for the next layer alone, which takes it from there"
AGREED = "each unit has in Buf exactly what it needs of what stayed"
ROOM = "maps, results, sums and biases fit each unit's Buf"
WEIGHTS = "weights fit each vMAC's WBuf"
BANKED = "a loop fits a bank of instructions"
PINNED = "pinned decisions are kept"
STEPS = "steps are those that the decisions imply"


def verify(problem: PartitionProblem, partition: Partition) -> Verdict[PartitionCost]:
    """Check ``partition`` against every rule of ``problem`` and have the model recompute its cost.

    Places are layers. Sizes are elements, words, instructions, steps or units beyond the limit, or numbers of
    decisions.
    """
    layers = problem.network.traced
    if len(layers) != len(partition.layers):
        missing = abs(len(layers) - len(partition.layers))
        return Verdict((BrokenRule(LAYERS, problem.network.name, missing),), None)
    named = tuple(zip(layers, partition.layers, strict=True))
    unreadable = [rule for layer, mapping in named for rule in _shaped(problem, layer, mapping)]
    pinned = [rule for layer, mapping in named for rule in _pinned(problem, layer, mapping)]
    if unreadable:
        return Verdict((*unreadable, *pinned), None)
    cost = evaluate(problem.network, problem.machine, problem.configuration, partition)
    stored = [rule for layer, mapping in named for rule in _stored(problem, layer, mapping)]
    found = (*_kept(problem, partition), *stored, *pinned, *_listed(problem, partition))
    return Verdict(found, cost)


def _shaped(problem: PartitionProblem, layer: TraceLayer, mapping: LayerMapping) -> Iterator[BrokenRule]:
    """Decisions that make no steps of this layer."""
    tile, sharing = mapping.tile, problem.configuration.sharing
    sizes = (tile.rows, tile.columns, tile.in_channels, tile.out_channels)
    extents = (layer.rows, layer.columns, layer.group_inputs, layer.group_outputs)
    beyond = [max(1 - size, size - extent) for size, extent in zip(sizes, extents, strict=True)]
    yield from (BrokenRule(TILED, layer.name, size) for size in beyond if size > 0)
    if layer.work != "convolution" and mapping.mode == "coop":
        yield BrokenRule(MODE, layer.name, 1)
    grouped = layer.work == "convolution" and layer.groups > 1
    if (mapping.cluster_split is None) != (sharing == 1):
        yield BrokenRule(SHARED, layer.name, 1)
    elif mapping.cluster_split == "out_channels" and grouped and layer.groups % sharing:
        yield BrokenRule(SHARED, layer.name, layer.groups % sharing)
    if layer.average == "inside" and mapping.unit_split == "rows" and edge_windows(layer, 0) > 1:
        yield BrokenRule(AVERAGED, layer.name, edge_windows(layer, 0) - 1)
    if layer.gate is not None and mapping.unit_split != "rows":
        yield BrokenRule(GATED, layer.name, 1)
    if max(beyond) > 0:
        return
    steps = tiles(layer, mapping, portion(layer, mapping, sharing, 0)).steps
    if steps > MOST_STEPS:
        yield BrokenRule(COUNTED, layer.name, steps - MOST_STEPS)
    reads, makes = (
        resident_map.keeps_input(layer, mapping, sharing),
        resident_map.keeps_output(layer, mapping, sharing),
    )
    if mapping.input_resident and reads is not None:
        yield BrokenRule(f"{KEPT}: {reads}", layer.name, 1)
    if mapping.output_resident and makes is not None:
        yield BrokenRule(f"{KEPT}: {makes}", layer.name, 1)


def _pinned(problem: PartitionProblem, layer: TraceLayer, mapping: LayerMapping) -> Iterator[BrokenRule]:
    broken = problem.pin(layer.name).broken(mapping)
    if broken:
        yield BrokenRule(f"{PINNED}: {', '.join(broken)}", layer.name, len(broken))


def _stored(problem: PartitionProblem, layer: TraceLayer, mapping: LayerMapping) -> Iterator[BrokenRule]:
    machine, sharing = problem.machine, problem.configuration.sharing
    clusters = range(sharing)
    words = max(unit_words(layer, mapping, sharing, cluster) for cluster in clusters)
    if words > machine.unit_words:
        yield BrokenRule(ROOM, layer.name, words - machine.unit_words)
    weights = max(vmac_words(layer, mapping, sharing, cluster) for cluster in clusters)
    if weights > machine.vmac_words:
        yield BrokenRule(WEIGHTS, layer.name, weights - machine.vmac_words)
    if not small_window(layer):
        plans = (plan_layer(layer, mapping, machine, sharing, cluster) for cluster in clusters)
        longest = max(map(longest_loop, plans))
        if longest > LONGEST_LOOP:
            yield BrokenRule(BANKED, layer.name, longest - LONGEST_LOOP)


def _kept(problem: PartitionProblem, partition: Partition) -> Iterator[BrokenRule]:
    """What stays is handed from a layer to the next, unit by unit."""
    layers, sharing = problem.network.traced, problem.configuration.sharing
    mappings = partition.layers
    if mappings[0].input_resident:
        yield BrokenRule(PAIRED, layers[0].name, 1)
    for at, (layer, mapping) in enumerate(zip(layers, mappings, strict=True)):
        following = mappings[at + 1] if at + 1 < len(layers) else None
        takes = following is not None and following.input_resident
        if mapping.output_resident and (not takes or not resident_map.may_stay(problem.network, at)):
            yield BrokenRule(PAIRED, layer.name, 1)
        elif takes and not mapping.output_resident:
            yield BrokenRule(PAIRED, layers[at + 1].name, 1)
        elif takes and following is not None:
            wrong = resident_map.unlike(layer, mapping, layers[at + 1], following, sharing)
            if wrong:
                yield BrokenRule(AGREED, layers[at + 1].name, wrong)


def _listed(problem: PartitionProblem, partition: Partition) -> Iterator[BrokenRule]:
    """Steps that a document says, those of the first cluster, compared with those that the decisions imply."""
    for layer, mapping, given in zip(problem.network.traced, partition.layers, partition.steps, strict=False):
        if given is not None:
            plan = plan_layer(layer, mapping, problem.machine, problem.configuration.sharing)
            implied = step_entries(plan.steps())
            wrong = sum(one != other for one, other in zip_longest(given, implied))
            if wrong:
                yield BrokenRule(STEPS, layer.name, wrong)
