"""Layers that the accelerator has in another form than ONNX: products of several rows, averages over large windows,
convolutions over three axes."""

from __future__ import annotations

import math
from dataclasses import replace

from mapper.models.trace_partition.lowering.draft import Drafts
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer
from mapper.models.trace_partition.lowering.view import Geometry, whole
from mapper.workloads.network.network_layer import NetworkLayer

LARGEST_BAND = 1 << 25
"""Weights of a convolution over three axes, with those that are 0."""


def several_rows(drafts: Drafts, layer: NetworkLayer) -> bool:
    """A convolution of single pixels, one for each row, whose channels are the row's numbers."""
    one, (rows, depth, _) = layer.inputs[0], layer.matrix
    if drafts.forms[one.memory].pixels == 1:
        given = TensorView(one.memory, rows, 1, depth, depth, one.offset)
    else:
        given = drafts.relaid(one, Geometry(rows * depth, 1, 1))
        given = replace(given, height=rows, channels=depth, pitch=depth)
    made = drafts.made_in_rows(layer.output, rows)
    drafts.put(TraceLayer(layer.name, layer.source, layer.op, "convolution", given, made, macs=layer.macs))
    return True


def average_twice(drafts: Drafts, layer: NetworkLayer) -> bool | None:
    """An average over more positions than a vMAC has lines for: of columns of the window, then of these."""
    one, window = layer.inputs[0], layer.window
    if any(map(any, window.pads)) or max(window.dilations) > 1:
        return None
    (high, wide), (down, across) = window.kernel, window.strides
    given, made = drafts.read(one), drafts.made(layer.output)
    name = drafts.unused(f"{layer.output}.1")
    drafts.forms[name] = Geometry(made.channels, made.height, given.width)
    half = whole(name, drafts.forms[name])
    first = TraceLayer(f"{layer.name}.1", layer.source, layer.op, "lane", given, half, average="all")
    drafts.put(replace(first, kernel=(high, 1), stride=(down, 1)))
    last = replace(first, name=layer.name, input=half, output=made, macs=layer.macs)
    drafts.put(replace(last, kernel=(1, wide), stride=(1, across)))
    return False


def flat_convolution(layer: NetworkLayer) -> NetworkLayer | None:
    """A convolution over three axes as one over the last two, whose channels are those of all depths: each result
    is a sum of the two-dimensional convolutions of the depths under its window, with 0 for the others."""
    window = layer.window
    (_, filters, depths, *_), (_, _, given, *_) = layer.output_shape, layer.inputs[0].shape
    inputs = layer.inputs[0].shape[1] // window.groups
    if filters * depths * inputs * given * math.prod(window.kernel[1:]) > LARGEST_BAND:
        return None
    flat = replace(
        window,
        kernel=window.kernel[1:],
        strides=window.strides[1:],
        pads=window.pads[1:],
        dilations=window.dilations[1:],
    )
    operator = replace(layer.operator, window=flat)
    return replace(layer, operator=operator)
