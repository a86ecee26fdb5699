"""Layers under construction, their tensors still each by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from mapper.models.trace_partition.lowering.activation import activated, is_activation
from mapper.models.trace_partition.lowering.host_operator import (
    can_run,
    host_attributes,
    relaying_attributes,
)
from mapper.models.trace_partition.lowering.layer import HostLayer, TensorView, TraceLayer
from mapper.models.trace_partition.lowering.view import Geometry, channel_part, geometry, whole
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer, Work
from mapper.workloads.network.operator_network import NetworkOperator, Shape
from mapper.workloads.network.work import ACTIVATIONS, is_scale

REASONS = {
    "lrn": "the accelerator has no division or power",
    "softmax": "the accelerator has no exponential",
    "activation": "the accelerator has no such activation",
    "movement": "the accelerator moves no elements within a map",
    "concatenation": "only channels are concatenated in place",
    "matrix_product": "the accelerator multiplies by constant weights only",
    "fully_connected": "the accelerator multiplies numbers of Q8.8 only",
    "elementwise": "the accelerator adds maps of one size only",
}
RELAYING = "elements keep their order but not their pixels"


@dataclass(frozen=True)
class Join:
    """A concatenation along channels: ``parts`` in order, and the tensor that they form."""

    name: str
    op: str
    parts: tuple[TensorView, ...]
    output: str


Draft = TraceLayer | HostLayer | Join


class Drafts:
    """The layers so far. Views are of tensors that lie by themselves; ``forms`` has the geometry of each."""

    def __init__(self, network: LayerNetwork) -> None:
        self.network = network
        tensors = network.operators.tensors
        self.items: list[Draft] = []
        self.forms: dict[str, Geometry] = {name: geometry(tensors[name]) for name in network.operators.inputs}
        self.makers: dict[str, int] = {}
        self.uses: dict[str, int] = {}
        self.in_rows: set[str] = set()
        self._names = {operator.name for operator in network.operators.operators}
        for one in (*(one for layer in network.layers for one in layer.inputs), *network.outputs):
            self.uses[one.memory] = self.uses.get(one.memory, 0) + 1

    def put(self, item: Draft) -> int:
        """Adds a layer after the others; returns its place."""
        self.items.append(item)
        output = item.output if isinstance(item, Join) else item.output.tensor
        self.makers[output] = len(self.items) - 1
        return len(self.items) - 1

    def change(self, place: int, layer: TraceLayer) -> None:
        """Replaces the layer at ``place``, whose result may now be another tensor."""
        self.items[place] = layer
        self.makers[layer.output.tensor] = place

    def made(self, tensor: str) -> TensorView:
        """A new tensor of the network, whole."""
        self.forms[tensor] = geometry(self.network.operators.tensors[tensor])
        return whole(tensor, self.forms[tensor])

    def made_in_rows(self, tensor: str, rows: int) -> TensorView:
        """A new tensor whose elements lie in ONNX's order, as ``rows`` pixels."""
        words = geometry(self.network.operators.tensors[tensor]).words
        self.forms[tensor] = Geometry(words, 1, 1)
        self.in_rows.add(tensor)
        return TensorView(tensor, rows, 1, words // rows, words // rows)

    def made_like(self, before: TensorView, tensor: str) -> TensorView:
        """A new tensor, whole, that lies as ``before`` does."""
        return (
            self.made_in_rows(tensor, before.height) if before.tensor in self.in_rows else self.made(tensor)
        )

    def read(self, one: LayerInput) -> TensorView:
        """A layer's input as a map of its own shape; the host moves elements that lie otherwise."""
        return channel_part(one, self.forms[one.memory]) or self.relaid(one, geometry(one.shape))

    def relaid(self, one: LayerInput, form: Geometry) -> TensorView:
        """``one`` moved by the host to a tensor of its own with geometry ``form``."""
        name = self.unused(f"{one.tensor}.moved")
        self.forms[name] = form
        made, view, start = whole(name, form), *self.raw(one)
        shape = (form.channels, form.height, form.width)
        words = made.channels * made.height * made.width
        self.put(
            HostLayer(
                self.unused_layer("move"),
                one.tensor,
                "Reshape",
                (view,),
                made,
                2 * words,
                RELAYING,
                0,
                relaying_attributes(one.shape, start, shape),
            )
        )
        return made

    def raw(self, one: LayerInput) -> tuple[TensorView, int]:
        """A view that holds ``one``, and where it begins among the view's elements in ONNX's order."""
        form = self.forms[one.memory]
        part = channel_part(one, form)
        return (part, 0) if part is not None else (whole(one.memory, form), one.offset)

    def host(self, layer: NetworkLayer, reason: str = "") -> None:
        """The operator of ``layer`` (nothing that is merged) on the host, a call for each of its results.

        Raises: InputError if the host does not run it.
        """
        if not can_run(layer):
            remedy = (
                "runs neither on the accelerator nor on the host; remove it, or end the network before it"
            )
            raise InputError(self.network.name, layer.name, f"{layer.op} {remedy}")
        reason = reason or REASONS.get(layer.work, "has no form on the accelerator")
        inputs = [self.raw(one) for one in layer.inputs]
        starts = tuple(start for _, start in inputs)
        read = sum(view.height * view.width * view.channels for view, _ in inputs)
        for result, (tensor, _) in enumerate(layer.outputs):
            made = self.made(tensor)
            name = layer.name if not result else f"{layer.name}.{result + 1}"
            attributes = host_attributes(layer, starts, result)
            elements = read + made.height * made.width * made.channels
            views, macs = tuple(view for view, _ in inputs), layer.macs if not result else 0
            self.put(HostLayer(name, layer.source, layer.op, views, made, elements, reason, macs, attributes))

    def finish(self, place: int, merged: tuple[NetworkOperator, ...], folds: bool) -> None:
        """What follows the layer at ``place`` on each element: scales are folded into its weights if it ``folds``, an
        activation of the machine is merged; else they become layers of their own."""
        for operator in merged:
            layer = self.items[place]
            assert not isinstance(layer, Join)
            pair = ((operator.name, operator.op),)
            shape = self.network.operators.tensors[operator.output]
            rows = isinstance(layer, TraceLayer) and layer.output.tensor in self.in_rows
            scales = scales_channels(operator, shape) or (rows and is_scale(operator, shape, len(shape) - 1))
            merges = layer if scales and folds else None
            if isinstance(layer, TraceLayer) and not scales:
                merges = activated(layer, operator)
            if isinstance(merges, TraceLayer):
                made = self.made_like(merges.output, operator.output)
                self.change(place, replace(merges, output=made, merged=merges.merged + pair))
            elif scales or is_activation(operator):
                place, folds = self.lane(operator, layer.output), scales
            else:
                self.host(self._alone(operator, layer.output))
                place, folds = len(self.items) - 1, False

    def lane(self, operator: NetworkOperator, given: TensorView) -> int:
        """A layer that scales every channel, or an activation by itself; its place."""
        made, macs = self.made_like(given, operator.output), operator.macs
        layer = TraceLayer(operator.name, operator.source, operator.op, "lane", given, made, macs=macs)
        return self.put(activated(layer, operator) or layer)

    def copy(self, view: TensorView, made: TensorView) -> TraceLayer:
        """A layer, not among the others yet, that copies a map."""
        return TraceLayer(self.unused_layer("copy"), view.tensor, "Identity", "lane", view, made)

    def separate(self, view: TensorView) -> TensorView:
        """A new tensor that holds what ``view`` shows and nothing else."""
        name = self.unused(f"{view.tensor}.copied")
        self.forms[name] = Geometry(view.channels, view.height, view.width)
        return whole(name, self.forms[name])

    def unused(self, name: str) -> str:
        """``name``, or with a number the first that no tensor has."""
        known = {*self.forms, *self.network.operators.tensors}
        numbered = (name if number == 1 else f"{name}{number}" for number in count(1))
        return next(candidate for candidate in numbered if candidate not in known)

    def unused_layer(self, kind: str) -> str:
        """A name that no other layer gets, for one that stands for no operator."""
        name = next(name for number in count(1) if (name := f"{kind}{number}") not in self._names)
        self._names.add(name)
        return name

    def _alone(self, operator: NetworkOperator, given: TensorView) -> NetworkLayer:
        """An operator that was merged, as a layer that reads all of ``given``'s tensor."""
        tensors = self.network.operators.tensors
        (read,) = operator.inputs
        one = LayerInput(read, tensors[read], given.tensor, None)
        work: Work = "activation" if operator.op in ACTIVATIONS else "elementwise"
        if operator.op == "BatchNormalization":
            work = "batch_normalization"
        return NetworkLayer(operator, work, (one,), ((operator.output, tensors[operator.output]),))


def scales_channels(operator: NetworkOperator, shape: Shape) -> bool:
    """Whether the operator multiplies by or adds one constant or one per channel of one image's map."""
    return is_scale(operator, shape, min(1, len(shape) - 1)) and (len(shape) < 2 or shape[0] == 1)
