"""From a graph of operators to the layers that a processor runs one after another."""

from __future__ import annotations

from dataclasses import replace

from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator, OperatorNetwork
from mapper.workloads.network.work import MERGING, is_merged_activation, is_scale, view_offsets, work_of


def network_layers(network: OperatorNetwork) -> LayerNetwork:
    """The layers of a network, in the order of its operators.

    An operator vanishes if it only renames, reshapes or cuts in one piece (Identity, Dropout, Flatten, Reshape,
    Squeeze, Unsqueeze; Transpose that moves axes of size 1 alone; Split of the outermost axis that is larger
    than 1). Scales and then an activation are merged into the layer before them if they alone read its result
    (see ``NetworkLayer``). Everything else is a layer; a processor decides which kinds of work it does.
    """
    building = _Building(network)
    for operator in network.operators:
        building.add(operator)
    outputs = tuple(building.input(tensor) for tensor in network.outputs)
    return LayerNetwork(network, tuple(building.layers.values()), outputs)


def layer_part(network: LayerNetwork, name: str) -> LayerNetwork:
    """The layer called ``name``, with all that is merged into it, as a network of its own.

    Raises: InputError as ``LayerNetwork.layer``.
    """
    layer = network.layer(name)
    chosen = {operator.name for operator in (layer.operator, *layer.merged, *layer.views)}
    operators = tuple(operator for operator in network.operators.operators if operator.name in chosen)
    return network_layers(network.operators.restricted(name, operators))


class _Building:
    """Layers so far, and where each tensor lies: (tensor that holds it, offset in elements)."""

    def __init__(self, network: OperatorNetwork) -> None:
        self.network = network
        self.layers: dict[str, NetworkLayer] = {}
        self._places = {tensor: (tensor, 0) for tensor in network.inputs}
        self._makers: dict[str, str] = {}
        self._read = frozenset(
            tensor for operator in network.operators for tensor in operator.inputs
        ) | frozenset(network.outputs)
        self._uses = self._count_uses()

    def add(self, operator: NetworkOperator) -> None:
        offsets = view_offsets(operator, self.network.tensors, self._read)
        if offsets is not None:
            self._add_view(operator, offsets)
        elif not self._merge(operator):
            self._add_layer(operator)

    def input(self, tensor: str) -> LayerInput:
        memory, offset = self._places[tensor]
        return LayerInput(tensor, self.network.tensors[tensor], memory, self._makers.get(memory), offset)

    def _count_uses(self) -> dict[str, int]:
        """How many operators that are no views read what each tensor's maker made, the network's outputs
        counted as readers."""
        origin: dict[str, str] = {}
        uses: dict[str, int] = {}
        for operator in self.network.operators:
            if view_offsets(operator, self.network.tensors, self._read) is not None:
                read = operator.inputs[0]
                origin |= dict.fromkeys(operator.outputs, origin.get(read, read))
                continue
            for tensor in {origin.get(tensor, tensor) for tensor in operator.inputs}:
                uses[tensor] = uses.get(tensor, 0) + 1
        for tensor in self.network.outputs:
            uses[origin.get(tensor, tensor)] = uses.get(origin.get(tensor, tensor), 0) + 1
        return uses

    def _add_view(self, operator: NetworkOperator, offsets: tuple[int, ...]) -> None:
        memory, start = self._places[operator.inputs[0]]
        for tensor, offset in zip(operator.outputs, offsets, strict=False):
            self._places[tensor] = (memory, start + offset)
        maker = self._makers.get(memory)
        if maker is not None:
            layer = self.layers[maker]
            self.layers[maker] = replace(layer, views=(*layer.views, operator))

    def _merge(self, operator: NetworkOperator) -> bool:
        if len(operator.inputs) != 1:
            return False
        given = self.input(operator.inputs[0])
        layer = self.layers[given.layer] if given.layer is not None else None
        if layer is None or layer.work not in MERGING or len(layer.outputs) > 1:
            return False
        shape = layer.output_shape
        axis = len(shape) - 1 if layer.work in ("fully_connected", "matrix_product") else 1
        if self._uses[given.memory] > 1 or given.shape != shape or given.offset:
            return False
        activated = bool(layer.merged) and is_merged_activation(layer.merged[-1], shape, axis)
        if activated or self.network.tensors.get(operator.output) != shape:
            return False
        if not (is_scale(operator, shape, axis) or is_merged_activation(operator, shape, axis)):
            return False
        made = operator.output
        self.layers[layer.name] = replace(layer, outputs=((made, shape),), merged=(*layer.merged, operator))
        self._places[made], self._makers[made] = (made, 0), layer.name
        return True

    def _add_layer(self, operator: NetworkOperator) -> None:
        outputs = tuple(
            (tensor, self.network.tensors[tensor])
            for tensor in operator.outputs
            if tensor in self.network.tensors and (tensor in self._read or tensor == operator.output)
        )
        if not outputs:
            return  # nobody reads it, and its shape is unknown
        work = work_of(operator, self._read)
        inputs = tuple(self.input(tensor) for tensor in operator.inputs)
        self.layers[operator.name] = NetworkLayer(operator, work, inputs, outputs)
        for tensor, _ in outputs:
            self._places[tensor], self._makers[tensor] = (tensor, 0), operator.name
