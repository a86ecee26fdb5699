"""Whether maps may stay in Buf from a layer to the next, verified independently for the referee by what each unit has
and needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mapper.arch.snowflake import UNITS
from mapper.formulations.trace_partition.referee.buffer_words import (
    channels_of_unit,
    line,
    portion,
    tiles,
)
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping


class Held(NamedTuple):
    """What a unit has of a tensor: its pixels, its channels, and words from pixel to pixel in Buf."""

    pixels: range
    channels: range
    pitch: int


def may_stay(network: TraceNetwork, position: int) -> bool:
    """Whether the output of the traced layer at ``position`` is read by the next layer as its input, which reads all
    that is written, and by nobody else."""
    layers = network.layers
    layer = network.traced[position]
    at = next(place for place, one in enumerate(layers) if one is layer)
    tensor = layer.output.tensor
    reads = [
        (place, view) for place, one in enumerate(layers) for view in _read(one) if view.tensor == tensor
    ]
    reads += [(-1, view) for _, view in (*network.inputs, *network.outputs) if view.tensor == tensor]
    writers = sum(one.output.tensor == tensor for one in layers)
    if writers != 1 or [place for place, _ in reads] != [at + 1]:
        return False
    following = layers[at + 1]
    if not isinstance(following, TraceLayer) or following.input is not reads[0][1]:
        return False
    return _words(layer.output) == _words(following.input)


def _read(layer: object) -> tuple[TensorView, ...]:
    return layer.read if isinstance(layer, TraceLayer) else getattr(layer, "inputs", ())


def _words(view: TensorView) -> tuple[int, int, int, int]:
    """Which words a view takes: pixels one after another, whatever the length of its rows."""
    return view.offset, view.height * view.width, view.channels, view.pitch


def left_in_buffer(layer: TraceLayer, mapping: LayerMapping, sharing: int) -> Iterator[list[Held]]:
    """What each unit has of an output that stays, cluster by cluster."""
    for cluster in range(sharing):
        part = portion(layer, mapping, sharing, cluster)
        yield _dealt(mapping, part.rows, layer.columns, part.channels, channels_of_unit(layer, mapping, part))


def needed(layer: TraceLayer, mapping: LayerMapping, sharing: int) -> Iterator[list[Held]]:
    """What each unit reads of its input, cluster by cluster: products of single pixels the pixels of their outputs,
    work channel by channel the maps of its channels."""
    for cluster in range(sharing):
        part = portion(layer, mapping, sharing, cluster)
        if mapping.unit_split == "rows":
            channels = range(layer.input.channels)
            yield _dealt(mapping, part.rows, layer.input.width, channels, len(channels))
        else:
            rows = range(layer.input.height)
            each = channels_of_unit(layer, mapping, part)
            yield _dealt(mapping, rows, layer.input.width, part.channels, each)


def _dealt(mapping: LayerMapping, rows: range, width: int, channels: range, each: int) -> list[Held]:
    if mapping.unit_split == "out_channels":
        pixels = range(rows.start * width, rows.stop * width)
        return [Held(pixels, channels[unit * each : (unit + 1) * each], each) for unit in range(UNITS)]
    share = -(-len(rows) // UNITS)
    taken = [rows[unit * share : (unit + 1) * share] for unit in range(UNITS)]
    return [Held(range(own.start * width, own.stop * width), channels, len(channels)) for own in taken]


def keeps_input(layer: TraceLayer, mapping: LayerMapping, sharing: int) -> str | None:
    """Why this layer cannot read its input from where it stayed, or None."""
    part = portion(layer, mapping, sharing, 0)
    if mapping.cluster_split not in (None, mapping.unit_split):
        return "clusters share the layer as units do"
    if tiles(layer, mapping, part).maps(layer) > 1:
        return "the input is one tile"
    if layer.upsample != (1, 1):
        return "the input is not spread"
    if mapping.unit_split == "out_channels":
        return None if layer.work != "convolution" else "units that share channels work channel by channel"
    single = all(line(layer, which, True).span(2) == 2 for which in (0, 1))
    if not single or any(end for ends in layer.pads for end in ends):
        return "units that share rows read single pixels"
    return None


def keeps_output(layer: TraceLayer, mapping: LayerMapping, sharing: int) -> str | None:
    """Why this layer cannot leave its output in Buf, or None."""
    part = portion(layer, mapping, sharing, 0)
    cut = tiles(layer, mapping, part)
    if mapping.cluster_split not in (None, mapping.unit_split):
        return "clusters share the layer as units do"
    if mapping.unit_split == "rows":
        return None if cut.rows == 1 else "the output is one tile of rows"
    return None if cut.outs * cut.groups == 1 else "the output is one tile of channels"


def unlike(
    first: TraceLayer, before: LayerMapping, second: TraceLayer, after: LayerMapping, sharing: int
) -> int:
    """How many units (of all clusters) do not have exactly what they need in the next layer, as it lies there; one
    without a part of either layer counts among them where a whole cluster is without."""
    if before.unit_split != after.unit_split:
        return UNITS * sharing
    wrong = 0
    for have, want in zip(
        left_in_buffer(first, before, sharing), needed(second, after, sharing), strict=True
    ):
        idle = not any(len(one.pixels) and len(one.channels) for one in have)
        wrong += UNITS if idle else sum(_differ(one, other) for one, other in zip(have, want, strict=True))
    return wrong


def _differ(one: Held, other: Held) -> bool:
    empty = [not (len(held.pixels) and len(held.channels)) for held in (one, other)]
    return empty[0] != empty[1] if any(empty) else one != other
