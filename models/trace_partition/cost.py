"""The cycles, bytes and energy of layers and networks under a partition [Chang2018, secs. 4 and 5]."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.host_cost import host_cycles, host_energy, host_total
from mapper.models.trace_partition.lowering.layer import TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.partition_cost import OPERANDS, HostTime, LayerCost, PartitionCost, summed
from mapper.models.trace_partition.product import real_products
from mapper.models.trace_partition.steps.plan import LayerPlan, plan_layer
from mapper.models.trace_partition.timing.share_cost import share_costs

SYNC_CYCLES = 1


def layer_cost(
    layer: TraceLayer, mapping: LayerMapping, machine: SnowflakeMachine, configuration: Configuration
) -> LayerCost:
    """What ``layer`` costs under ``mapping``, whether or not it fits the buffers.

    The clusters of an accelerator begin together, take turns at its external memory, and the slowest decides.

    Raises: ValueError as `plan_layer` does.
    """
    sharing = configuration.sharing
    shares = share_costs(cluster_plans(layer, mapping, machine, configuration), machine)
    causes = max((share.time for share in shares), key=lambda time: time.cycles)._asdict()
    causes |= {"sync": SYNC_CYCLES if sharing > 1 else 0, "host": 0}
    cycles = causes.pop("cycles") + causes["sync"]
    return LayerCost(
        machine,
        configuration,
        cycles,
        causes,
        {operand: sum(share.moved[operand] for share in shares) for operand in OPERANDS},
        layer.macs,
        real_products(layer),
        sum(share.buffer_words for share in shares),
        sum(share.instructions for share in shares),
        max(share.steps for share in shares),
    )


_again = lru_cache(maxsize=1 << 9)(layer_cost)
"""A partition is costed by its search, by the referee, and where it is shown."""


def cluster_plans(
    layer: TraceLayer, mapping: LayerMapping, machine: SnowflakeMachine, configuration: Configuration
) -> list[LayerPlan]:
    """The plan of each cluster of an accelerator.

    Raises: ValueError as `plan_layer` does.
    """
    sharing = configuration.sharing
    plans = [plan_layer(layer, mapping, machine, sharing, cluster) for cluster in range(sharing)]
    return plans * (configuration.clusters // sharing)


def evaluate(
    network: TraceNetwork, machine: SnowflakeMachine, configuration: Configuration, partition: Partition
) -> PartitionCost:
    """What ``network`` costs under ``partition``: its layers and what the host runs, one after another.

    Raises: ValueError as `plan_layer` does, or if the partition has not as many layers as the network.
    """
    layers = tuple(
        replace(_again(layer, mapping, machine, configuration), frames=network.frames)
        for layer, mapping in zip(network.traced, partition.layers, strict=True)
    )
    traced = summed(machine, configuration, layers)
    waited = host_total(network, machine, configuration)
    total = replace(
        traced,
        cycles=traced.cycles + waited,
        causes=traced.causes | {"host": waited},
        host_energy=host_energy(network, machine, configuration),
        frames=network.frames,
    )
    each = [(layer.name, host_cycles(layer, machine, configuration)) for layer in network.hosted]
    hosted = tuple(HostTime(name, taken, taken / total.cycles) for name, taken in each)
    return PartitionCost(layers, total, hosted)
