"""From a network of layers to what Snowflake runs: layer objects, views of tensors, and what is left to the host
[Chang2018, sec. 3]."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from mapper.models.trace_partition.lowering.activation import is_activation
from mapper.models.trace_partition.lowering.draft import Drafts, Join, scales_channels
from mapper.models.trace_partition.lowering.gate import product
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, TraceNetwork, Work
from mapper.models.trace_partition.lowering.layer_window import trace_window
from mapper.models.trace_partition.lowering.other_form import average_twice, flat_convolution, several_rows
from mapper.models.trace_partition.lowering.placing import placed
from mapper.models.trace_partition.lowering.view import (
    channel_part,
    flat_geometry,
    geometry,
    is_whole,
    whole,
)
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer

LARGEST_WINDOW = 1024
"""Positions of a window whose weights have a line each of a vMAC's weight buffer."""


def trace_network(network: LayerNetwork) -> TraceNetwork:
    """The layers of ``network`` as the accelerator and its host run them, in order.

    Scales are folded into the convolution before them; ReLU, Clip, the larger of two halves (MFM) and the addition of
    another map are merged into the convolution whose result they take. Concatenations along channels cost nothing:
    their parts are written where the whole lies, or copied where that cannot be.

    Raises: InputError if there is more than one image, a layer runs neither on the accelerator nor on the host, or
    none is left for the accelerator.
    """
    return _Building(network).network()


class _Building:
    def __init__(self, network: LayerNetwork) -> None:
        self.given = network
        self.drafts = Drafts(network)

    def network(self) -> TraceNetwork:
        operators = self.given.operators
        for tensor in operators.inputs:
            shape = operators.tensors[tensor]
            if len(shape) > 3 and shape[0] != 1:
                field = f"input {tensor[:60]!r}"
                raise InputError(self.given.name, field, f"has {shape[0]} images; give --batch 1")
        for layer in self.given.layers:
            self._add(layer)
            self._name_views(layer)
        outputs = tuple((one.tensor, self._handed_out(one)) for one in self.given.outputs)
        made = placed(self.drafts, outputs)
        batch = operators.batch or 1
        if any(layer.linear and layer.rows == batch for layer in made.traced):
            made = replace(made, frames=batch)
        if not made.traced:
            remedy = "has no layer that the accelerator runs; give a network with convolutions"
            raise InputError(self.given.name, "", remedy)
        return made

    def _add(self, layer: NetworkLayer) -> None:
        """The layer, then what is merged into it but cannot be folded."""
        tensors, operator = self.given.operators.tensors, layer.operator
        runs = {
            "convolution": self._convolution,
            "transposed_convolution": self._convolution,
            "fully_connected": self._fully_connected,
            "max_pool": self._pool,
            "average_pool": self._pool,
            "elementwise": self._elementwise,
            "batch_normalization": self._scale,
            "activation": self._scale,
            "concatenation": self._concatenation,
        }
        outputs = ((operator.output, tensors[operator.output]),) if layer.merged else layer.outputs
        core = replace(layer, outputs=outputs, merged=())
        folds = runs[layer.work](core) if layer.work in runs else None
        if folds is None:
            self.drafts.host(core)
        place = self.drafts.makers[core.output]
        self.drafts.finish(place, layer.merged, bool(folds))

    def _name_views(self, layer: NetworkLayer) -> None:
        """Operators that vanished are listed with what is merged."""
        place = self.drafts.makers[layer.output]
        draft = self.drafts.items[place]
        if isinstance(draft, TraceLayer) and layer.views:
            views = tuple((operator.name, operator.op) for operator in layer.views)
            self.drafts.change(place, replace(draft, merged=draft.merged + views))

    def _handed_out(self, one: LayerInput) -> TensorView:
        """One of the network's outputs: channels of a map, whose elements in ONNX's order are the output's."""
        form = self.drafts.forms[one.memory]
        part = channel_part(one, form)
        if part is None and (one.offset, math.prod(one.shape)) == (0, form.words):
            part = whole(one.memory, form)
        return part or self.drafts.relaid(one, geometry(one.shape))

    def _convolution(self, layer: NetworkLayer) -> bool | None:
        """Whether scales fold into it; None if the accelerator lacks it, as of the other methods."""
        one = layer.inputs[0]
        if len(one.shape) == 5 and layer.op == "Conv":
            flat = flat_convolution(layer)
            if flat is not None:
                self._slide(flat, "convolution", flat.window.groups)
            return None if flat is None else True
        if len(one.shape) not in (3, 4) or layer.op not in ("Conv", "ConvTranspose"):
            return None
        groups, plain = layer.window.groups, layer.work == "convolution"
        each = plain and groups > 1 and groups == one.shape[1] == layer.output_shape[1]
        self._slide(layer, "lane" if each else "convolution", 1 if each else groups)
        return True

    def _pool(self, layer: NetworkLayer) -> bool | None:
        one, window = layer.inputs[0], layer.window
        if len(one.shape) not in (3, 4):
            return None
        if layer.work == "max_pool":
            self._slide(layer, "max")
            return False
        if window.count_pads and window.covering_pads(one.shape[2:], layer.output_shape[2:]) != window.pads:
            return None  # some windows count some of what lies beyond the map
        if math.prod(window.kernel) > LARGEST_WINDOW and len(window.kernel) == 2:
            if one.shape[0] != 1:
                raise self._several(layer, one.shape[0])
            return average_twice(self.drafts, layer)
        self._slide(layer, "lane", average="all" if window.count_pads else "inside")
        return False

    def _slide(
        self,
        layer: NetworkLayer,
        work: Work,
        groups: int = 1,
        average: Literal["all", "inside"] | None = None,
    ) -> None:
        """A layer with a window over rows and columns."""
        one = layer.inputs[0]
        if one.shape[0] != 1:
            raise self._several(layer, one.shape[0])
        window = trace_window(layer, geometry(one.shape), geometry(layer.output_shape))
        self.drafts.put(
            TraceLayer(
                layer.name,
                layer.source,
                layer.op,
                work,
                self.drafts.read(one),
                self.drafts.made(layer.output),
                kernel=window.kernel,
                stride=window.stride,
                dilation=window.dilation,
                upsample=window.upsample,
                pads=window.pads,
                groups=groups,
                average=average,
                macs=layer.macs,
            )
        )

    def _fully_connected(self, layer: NetworkLayer) -> bool | None:
        """A convolution of one pixel whose channels are all inputs, pixel by pixel as they lie."""
        one, rows = layer.inputs[0], layer.matrix[0]
        if layer.op not in ("Gemm", "MatMul"):
            return None
        if rows > 1:
            return several_rows(self.drafts, layer)
        memory = self.drafts.forms[one.memory]
        form = flat_geometry(one, memory)
        if form.pixels != memory.pixels:
            view = self.drafts.relaid(one, form)
        else:
            first = one.offset // memory.pixels
            view = TensorView(one.memory, form.height, form.width, form.channels, memory.channels, first)
            if not is_whole(view, memory) and form.pixels > 1:
                copy = self.drafts.copy(view, self.drafts.separate(view))
                self.drafts.put(copy)
                view = copy.output
        flat = replace(view, height=1, width=1, channels=form.words, pitch=form.words)
        made = self.drafts.made(layer.output)
        self.drafts.put(
            TraceLayer(layer.name, layer.source, layer.op, "convolution", flat, made, macs=layer.macs)
        )
        return True

    def _several(self, layer: NetworkLayer, images: int) -> InputError:
        return InputError(self.given.name, layer.name, f"works on {images} images; give --batch 1")

    def _scale(self, layer: NetworkLayer) -> bool | None:
        one = layer.inputs[0]
        scales = scales_channels(layer.operator, one.shape)
        if not (scales or is_activation(layer.operator)) or one.shape != layer.output_shape:
            return None
        self.drafts.lane(layer.operator, self.drafts.read(one))
        return scales

    def _elementwise(self, layer: NetworkLayer) -> bool | None:
        if len(layer.inputs) == 1 and layer.operator.weights:
            return self._scale(layer)
        if layer.op == "Mul" and len(layer.inputs) == 2 and not layer.operator.weights:
            return product(self.drafts, layer)
        alike = all(one.shape == layer.output_shape for one in layer.inputs)
        if layer.operator.weights or not alike:
            return None
        if layer.op in ("Add", "Sum"):
            self._addition(layer)
            return False
        return self._larger_half(layer)

    def _addition(self, layer: NetworkLayer) -> None:
        """Two maps each, the one that is there first with the next."""
        views = [self.drafts.read(one) for one in layer.inputs]
        views.sort(key=lambda view: self.drafts.makers.get(view.tensor, -1))
        total = views[0]
        for place, view in enumerate(views[1:], 1):
            if place + 1 < len(views):
                name = self.drafts.unused(f"{layer.output}.{place}")
                self.drafts.forms[name] = geometry(layer.output_shape)
                made = whole(name, self.drafts.forms[name])
            else:
                made = self.drafts.made(layer.output)
            name = layer.name if place + 1 == len(views) else f"{layer.name}.{place}"
            self._add_maps(layer, name, total, view, made)
            total = made
        if len(views) == 1:
            self.drafts.put(self.drafts.copy(total, self.drafts.made(layer.output)))

    def _add_maps(
        self, layer: NetworkLayer, name: str, first: TensorView, second: TensorView, made: TensorView
    ) -> None:
        """``made`` = ``first`` + ``second``: with the convolution that makes the later one, if nothing else reads that
        and it has no activation yet, else by itself."""
        makers, uses = self.drafts.makers, self.drafts.uses
        first, second = sorted((first, second), key=lambda view: makers.get(view.tensor, -1))
        place = makers.get(second.tensor, -1)
        maker = self.drafts.items[place] if place >= 0 else None
        if (
            isinstance(maker, TraceLayer)
            and maker.work == "convolution"
            and maker.residual is None
            and not (maker.activated or maker.mfm)
            and uses.get(second.tensor, 1) == 1
            and is_whole(second, self.drafts.forms[second.tensor])
            and makers.get(first.tensor, -1) < place
            and (first.height * first.width, first.channels)
            == (maker.output.height * maker.output.width, maker.output.channels)
        ):
            merged = (*maker.merged, (layer.name, layer.op))
            self.drafts.change(place, replace(maker, residual=first, output=made, merged=merged))
            return
        self.drafts.put(
            TraceLayer(name, layer.source, layer.op, "lane", second, made, first, macs=layer.macs)
        )

    def _larger_half(self, layer: NetworkLayer) -> bool | None:
        """MFM, the larger of two halves of what a convolution makes."""
        if layer.op != "Max" or len(layer.inputs) != 2:
            return None
        first, second = sorted(layer.inputs, key=lambda one: one.offset)
        place = self.drafts.makers.get(first.memory, -1)
        maker = self.drafts.items[place] if place >= 0 else None
        if (
            not isinstance(maker, TraceLayer)
            or maker.work != "convolution"
            or (maker.groups, maker.mfm, maker.residual, maker.table) != (1, False, None, None)
            or self.drafts.uses[first.memory] != 2
        ):
            return None
        halves = [channel_part(one, self.drafts.forms[one.memory]) for one in (first, second)]
        channels = maker.output.channels // 2
        if [(half.tensor, half.offset, half.channels) for half in halves if half is not None] != [
            (maker.output.tensor, 0, channels),
            (maker.output.tensor, channels, channels),
        ]:
            return None
        made = self.drafts.made(layer.output)
        merged = (*maker.merged, (layer.name, layer.op))
        self.drafts.change(place, replace(maker, output=made, mfm=True, merged=merged))
        return False

    def _concatenation(self, layer: NetworkLayer) -> bool | None:
        """In place, if it joins channels."""
        axis, shape = layer.operator.integer("axis"), layer.output_shape
        pixels = geometry(shape).pixels
        same = all(geometry(one.shape).pixels == pixels for one in layer.inputs)
        if layer.operator.weights or math.prod(shape[:axis]) != 1 or not same:
            return None
        parts = tuple(self.drafts.read(one) for one in layer.inputs)
        self.drafts.made(layer.output)
        self.drafts.put(Join(layer.name, layer.op, parts, layer.output))
        return False
