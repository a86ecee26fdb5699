"""Which maps may stay in Buf between a layer and the next, and where."""

from __future__ import annotations

from typing import NamedTuple

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.trace_layer import TraceLayer, TraceNetwork


class ResidentPlace(NamedTuple):
    """First words in Buf of a layer's input and output that stay there (None: does not stay), as ``plan_layer`` takes
    them."""

    input_at: int | None
    output_at: int | None


def linked(network: TraceNetwork) -> tuple[bool, ...]:
    """For each traced layer whether the network lets its output stay for the next: that is its only reader, follows
    directly, and the tensor is no output of the network. Whether it does fit depends on both mappings (``obstacle``)."""
    raise NotImplementedError


def obstacle(
    first: TraceLayer, before: LayerMapping, second: TraceLayer, after: LayerMapping, sharing: int = 1
) -> str | None:
    """Why the maps between two linked layers cannot stay under these mappings (whose own residency flags do not
    matter), or None if they can."""
    raise NotImplementedError


def resident_words(layer: TraceLayer, mapping: LayerMapping, sharing: int = 1) -> int:
    """Words of each unit's Buf that the output of ``layer`` takes if it stays, a multiple of 16."""
    raise NotImplementedError


def resident_places(
    network: TraceNetwork, partition: Partition, machine: SnowflakeMachine, configuration: Configuration
) -> tuple[ResidentPlace, ...]:
    """Where maps stay, for each traced layer: the output of the layer at an even position starts at word 0, at an odd
    position it ends at the end of Buf.

    Raises: ValueError naming the layer if one is to stay that cannot.
    """
    raise NotImplementedError
