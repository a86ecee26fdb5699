"""The cycles, bytes and energy of layers and networks under a partition (004, sections 4 and 5)."""

from __future__ import annotations

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.partition_cost import OPERANDS, HostTime, LayerCost, PartitionCost, summed
from mapper.models.trace_partition.plan import plan_layer
from mapper.models.trace_partition.share_cost import share_cost
from mapper.models.trace_partition.trace_layer import TraceLayer, TraceNetwork

SYNC_CYCLES = 1


def layer_cost(
    layer: TraceLayer, mapping: LayerMapping, machine: SnowflakeMachine, configuration: Configuration
) -> LayerCost:
    """What ``layer`` costs under ``mapping``, whether or not it fits the buffers.

    The clusters of an accelerator have equal shares of its bandwidth. Where they share the image the slowest decides;
    where each has its own they all do the same.

    Raises: ValueError as `plan_layer` does.
    """
    sharing = configuration.sharing
    shares = [
        share_cost(plan_layer(layer, mapping, machine, sharing, cluster), machine, configuration.contending)
        for cluster in range(sharing)
    ]
    causes = max((share.time for share in shares), key=lambda time: time.cycles)._asdict()
    causes["sync"] = SYNC_CYCLES if sharing > 1 else 0
    cycles = causes.pop("cycles") + causes["sync"]
    times = configuration.clusters // sharing
    return LayerCost(
        machine,
        configuration,
        cycles,
        causes,
        {operand: times * sum(share.moved[operand] for share in shares) for operand in OPERANDS},
        layer.macs,
        times * sum(share.buffer_words for share in shares),
        times * sum(share.instructions for share in shares),
        max(share.steps for share in shares),
    )


def evaluate(
    network: TraceNetwork, machine: SnowflakeMachine, configuration: Configuration, partition: Partition
) -> PartitionCost:
    """What ``network`` costs under ``partition``: its layers one after another.

    Raises: ValueError as `plan_layer` does, or if the partition has not as many layers as the network.
    """
    layers = tuple(
        layer_cost(layer, mapping, machine, configuration)
        for layer, mapping in zip(network.traced, partition.layers, strict=True)
    )
    total = summed(machine, configuration, layers)
    speed = machine.host.elements_per_second
    seconds = [(layer.name, total.images * layer.elements / speed) for layer in network.hosted]
    whole = total.seconds + sum(taken for _, taken in seconds)
    hosted = tuple(HostTime(name, taken, taken / whole) for name, taken in seconds)
    return PartitionCost(layers, total, hosted)
