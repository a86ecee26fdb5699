"""Which maps may stay in Buf between a layer and the next, and where."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from mapper.arch.snowflake import UNITS, SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.tile.layer_tiling import LayerTiling, layer_tiling, lined, resident_misfit


class ResidentPlace(NamedTuple):
    """First words in Buf of a layer's input and output that stay there (None: does not stay), as ``plan_layer`` takes
    them."""

    input_at: int | None
    output_at: int | None


def linked(network: TraceNetwork) -> tuple[bool, ...]:
    """For each traced layer whether the network lets its output stay for the next: that is its only reader and follows
    directly, and the tensor is no output of the network. Whether it does fit depends on both mappings
    (``obstacle``)."""
    readers: dict[str, int] = {}
    writers: dict[str, int] = {}
    for layer in network.layers:
        for view in layer.read if isinstance(layer, TraceLayer) else layer.inputs:
            readers[view.tensor] = readers.get(view.tensor, 0) + 1
        writers[layer.output.tensor] = writers.get(layer.output.tensor, 0) + 1
    public = {view.tensor for _, view in (*network.inputs, *network.outputs)}
    found = []
    for layer, following in zip(network.layers, (*network.layers[1:], None), strict=True):
        if isinstance(layer, TraceLayer):
            tensor = layer.output.tensor
            found.append(
                isinstance(following, TraceLayer)
                and _same_pixels(layer.output, following.input)
                and (readers.get(tensor), writers[tensor]) == (1, 1)
                and tensor not in public
            )
    return tuple(found)


def _same_pixels(written: TensorView, read: TensorView) -> bool:
    """Whether both are all the same words, perhaps as rows of another length."""

    def words(view: TensorView) -> tuple[str, int, int, int, int]:
        return view.tensor, view.offset, view.height * view.width, view.channels, view.pitch

    return words(written) == words(read)


def obstacle(
    first: TraceLayer, before: LayerMapping, second: TraceLayer, after: LayerMapping, sharing: int = 1
) -> str | None:
    """Why the maps between two linked layers cannot stay under these mappings (whose own residency flags do not
    matter), or None if they can: each unit of each cluster must hold just what it needs.

    Raises: ValueError if a mapping does not fit its layer.
    """
    if before.unit_split != after.unit_split:
        return "units share the two layers differently"
    before, after = replace(before, output_resident=True), replace(after, input_resident=True)
    for cluster in range(sharing):
        giver, taker = (
            layer_tiling(first, before, sharing, cluster),
            layer_tiling(second, after, sharing, cluster),
        )
        if giver.share.empty or taker.share.empty:
            return "a cluster has no part of one of the layers"
        wrong = resident_misfit(giver) or resident_misfit(taker)
        if wrong is not None:
            return wrong
        if _held(giver, first.output, giver.rows.tiles[0].unit_outputs) != _held(
            taker, second.input, taker.rows.tiles[0].unit_outputs
        ):
            return "units do not hold what they need in the next layer"
    return None


def _held(tiling: LayerTiling, view: TensorView, unit_rows: int) -> tuple[tuple[int, ...], ...]:
    """What each unit has of a map: first pixel, pixels, first channel, and the channels of a pixel in Buf."""
    share = tiling.share
    if tiling.shares_rows:
        ends = [min(unit * unit_rows, share.rows) for unit in range(UNITS + 1)]
        return tuple(
            ((share.first_row + begin) * view.width, (end - begin) * view.width, 0, view.channels)
            for begin, end in pairwise(ends)
        )
    first = share.first_group * tiling.layer.group_outputs + share.first_channel
    return ((0, view.height * view.width, first, tiling.unit_channels(0)),)


def resident_words(layer: TraceLayer, mapping: LayerMapping, sharing: int = 1) -> int:
    """Words of each unit's Buf that the output of ``layer`` takes if it stays, a multiple of 16."""
    rows, columns, channels = layer_tiling(layer, mapping, sharing, 0).resident_output
    return lined(rows * columns * channels)


def resident_places(
    network: TraceNetwork, partition: Partition, machine: SnowflakeMachine, configuration: Configuration
) -> tuple[ResidentPlace, ...]:
    """Where maps stay, for each traced layer: the output of the layer at an even position starts at word 0, at an odd
    position it ends at the end of Buf.

    Raises: ValueError naming the layer if one is to stay that cannot.
    """
    layers, sharing, links = network.traced, configuration.sharing, linked(network)
    found: list[ResidentPlace] = []
    before: int | None = None
    for position, (layer, mapping) in enumerate(zip(layers, partition.layers, strict=True)):
        if mapping.input_resident != (before is not None):
            raise ValueError(
                f"{layer.name}: its input must stay in Buf if the output of the layer before does, only"
            )
        place: int | None = None
        if mapping.output_resident:
            if not links[position]:
                raise ValueError(
                    f"{layer.name}: its output is not for the next layer alone, so it cannot stay in Buf"
                )
            wrong = obstacle(layer, mapping, layers[position + 1], partition.layers[position + 1], sharing)
            if wrong is not None:
                raise ValueError(f"{layer.name}: its output cannot stay in Buf: {wrong}")
            place = 0 if position % 2 == 0 else machine.unit_words - resident_words(layer, mapping, sharing)
        found.append(ResidentPlace(before, place))
        before = place
    return tuple(found)
