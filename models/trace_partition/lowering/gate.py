"""Products of two maps: gates, and maps times their own activation."""

from __future__ import annotations

from dataclasses import replace

from mapper.models.trace_partition.lowering.draft import Drafts
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.lowering.view import channel_part, geometry, is_whole
from mapper.workloads.network.network_layer import LayerInput, NetworkLayer


def product(drafts: Drafts, layer: NetworkLayer) -> bool | None:
    """A gate (one number for each channel), or a map times its own activation, which one table holds."""
    first, second = layer.inputs
    for one, other in ((first, second), (second, first)):
        gate = geometry(other.shape)
        alike = len(other.shape) > 2 and other.shape[:-2] == one.shape[:-2]
        single = gate.pixels == 1 and gate.channels == geometry(one.shape).channels
        if alike and single and one.shape == layer.output_shape:
            views = drafts.read(one), drafts.made(layer.output)
            made = TraceLayer(layer.name, layer.source, layer.op, "lane", *views, macs=layer.macs)
            drafts.put(replace(made, gate=drafts.read(other)))
            return False
        if one.shape == other.shape and _gates_itself(drafts, layer, one, other):
            return False
    return None


def _gates_itself(drafts: Drafts, layer: NetworkLayer, one: LayerInput, other: LayerInput) -> bool:
    """Makes the layer whose table has made ``other`` of ``one`` multiply by it, if nothing else reads that; with
    the layer that makes ``one``, if nothing else reads that either and it has no activation yet."""
    place, before = drafts.makers.get(other.memory, -1), drafts.makers.get(one.memory, -1)
    maker = drafts.items[place] if place >= 0 else None
    if (
        not isinstance(maker, TraceLayer)
        or (maker.work, maker.table) != ("lane", "function")
        or maker.merged
        or drafts.uses[other.memory] != 1
        or maker.input != channel_part(one, drafts.forms[one.memory])
    ):
        return False
    made, both = drafts.made(layer.output), ((maker.name, maker.op), (layer.name, layer.op))
    first = drafts.items[before] if before >= 0 else None
    if (
        isinstance(first, TraceLayer)
        and not first.activated
        and drafts.uses[one.memory] == 2
        and is_whole(maker.input, drafts.forms[one.memory])
        and place == len(drafts.items) - 1
    ):
        drafts.items.pop()
        drafts.change(before, replace(first, output=made, table="product", merged=first.merged + both))
    else:
        drafts.change(place, replace(maker, output=made, table="product", merged=both[1:]))
    return True
