"""The cycles, bytes and energy of layers and networks under a partition (004, sections 4 and 5)."""

from __future__ import annotations

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.partition_cost import LayerCost, PartitionCost, summed
from mapper.models.trace_partition.trace_layer import TraceLayer, TraceNetwork


def layer_cost(
    layer: TraceLayer, mapping: LayerMapping, machine: SnowflakeMachine, configuration: Configuration
) -> LayerCost:
    """What ``layer`` costs under ``mapping``; it must fit the buffers."""
    raise NotImplementedError


def evaluate(
    network: TraceNetwork, machine: SnowflakeMachine, configuration: Configuration, partition: Partition
) -> PartitionCost:
    """What ``network`` costs under ``partition``."""
    layers = tuple(
        layer_cost(layer, mapping, machine, configuration)
        for layer, mapping in zip(network.traced, partition.layers, strict=True)
    )
    return PartitionCost(layers, summed(machine, configuration, layers))
