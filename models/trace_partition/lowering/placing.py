"""Where the tensors of drafted layers lie: parts of concatenations in place, copies where they cannot be."""

from __future__ import annotations

from dataclasses import replace

from mapper.models.trace_partition.lowering.draft import Drafts, Join
from mapper.models.trace_partition.lowering.layer import HostLayer, TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.lowering.view import Home, column, is_whole, moved_home, whole

Layer = TraceLayer | HostLayer


def placed(drafts: Drafts, outputs: tuple[tuple[str, TensorView], ...]) -> TraceNetwork:
    """The finished network. ``outputs``: ONNX tensor and view, as the drafts have them."""
    return _Placing(drafts).network(outputs)


class _Placing:
    def __init__(self, drafts: Drafts) -> None:
        self.drafts = drafts
        self.homes: dict[str, Home] = {}
        self.layers: list[Layer] = []

    def network(self, outputs: tuple[tuple[str, TensorView], ...]) -> TraceNetwork:
        copies = self._join()
        for item in self.drafts.items:
            if isinstance(item, Join):
                for copy in copies[item.output]:
                    self._put(copy)
                self._name(item)
            else:
                self._put(item)
        names = self.drafts.network.operators.inputs
        inputs = tuple((name, whole(name, self.drafts.forms[name])) for name in names)
        handed = tuple((name, moved_home(view, self.homes)) for name, view in outputs)
        layers = tuple(self.layers)
        views = [view for layer in layers for view in _views(layer)]
        found = dict.fromkeys(view.tensor for view in (*(view for _, view in (*inputs, *handed)), *views))
        tensors = tuple((name, self.drafts.forms[name].words) for name in found)
        known = self.drafts.network.operators.tensors
        shapes = tuple((name, known[name]) for name, _ in (*inputs, *handed) if name in known)
        return TraceNetwork(self.drafts.network.name, layers, tensors, inputs, handed, shapes)

    def _join(self) -> dict[str, list[TraceLayer]]:
        """Gives every part of a concatenation its home in the whole; the copies of those that have one already, are
        only part of what somebody makes, or come from outside, by concatenation."""
        forms, inputs = self.drafts.forms, set(self.drafts.network.operators.inputs)
        parents: dict[str, tuple[str, int]] = {}
        copies: dict[str, list[TraceLayer]] = {}
        for item in self.drafts.items:
            if not isinstance(item, Join):
                continue
            copies[item.output], first, form = [], 0, forms[item.output]
            for part in item.parts:
                taken = inputs | parents.keys() | self.drafts.in_rows
                if is_whole(part, forms[part.tensor]) and part.tensor not in taken:
                    parents[part.tensor] = (item.output, first)
                else:
                    made = replace(part, tensor=item.output, pitch=form.channels, offset=first)
                    copies[item.output].append(self.drafts.copy(part, made))
                first += part.channels
        for tensor in parents:
            root, offset = tensor, 0
            while root in parents:
                root, first = parents[root]
                offset += first
            self.homes[tensor] = Home(root, forms[root].channels, offset)
        return copies

    def _put(self, layer: Layer) -> None:
        """Adds a layer with its views where tensors lie; a fully connected layer reads what lies in one piece."""
        if isinstance(layer, HostLayer):
            inputs = tuple(moved_home(view, self.homes) for view in layer.inputs)
            self.layers.append(replace(layer, inputs=inputs, output=moved_home(layer.output, self.homes)))
            return
        form = self.drafts.forms[layer.input.tensor]
        view = layer.input
        if view.tensor in self.homes and (view.channels > form.channels or view.pitch < form.channels):
            gathered = whole(layer.input.tensor, form)
            made = self.drafts.separate(gathered)
            self._put(self.drafts.copy(gathered, made))
            layer = replace(layer, input=replace(layer.input, tensor=made.tensor))
        residual = None if layer.residual is None else moved_home(layer.residual, self.homes)
        moved = replace(
            layer,
            input=moved_home(layer.input, self.homes),
            output=moved_home(layer.output, self.homes),
            residual=residual,
            gate=None if layer.gate is None else moved_home(layer.gate, self.homes),
        )
        self.layers.append(_as_column(moved))

    def _name(self, join: Join) -> None:
        """Notes a concatenation with the last layer that writes a part of it."""
        root = self.homes[join.output].tensor if join.output in self.homes else join.output
        for place in reversed(range(len(self.layers))):
            layer = self.layers[place]
            if isinstance(layer, TraceLayer) and layer.output.tensor == root:
                self.layers[place] = replace(layer, merged=(*layer.merged, (join.name, join.op)))
                return


def _as_column(layer: TraceLayer) -> TraceLayer:
    """Products of one pixel each need no rows: the whole map as one column, which pieces of any height can cut."""
    single = (layer.kernel, layer.stride, layer.upsample) == ((1, 1),) * 3 and layer.pads == ((0, 0), (0, 0))
    if not single or layer.work == "max" or layer.groups > 1:
        return layer
    residual = None if layer.residual is None else column(layer.residual)
    return replace(layer, input=column(layer.input), output=column(layer.output), residual=residual)


def _views(layer: Layer) -> tuple[TensorView, ...]:
    if isinstance(layer, HostLayer):
        return (*layer.inputs, layer.output)
    return (*layer.read, layer.output)
