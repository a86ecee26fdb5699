"""What a layer of the array computes of a network's own numbers: a rule, scales after it, and an activation."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.models.pe_allocation.configuration.program import Rule
from mapper.models.pe_allocation.number.unknown import UnknownNumbersError
from mapper.models.pe_allocation.stream.layer import StreamLayer
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator
from mapper.workloads.network.work import ACTIVATIONS, is_scale
from mapper.workloads.reference.elementwise import has_activation, has_elementwise

POOLS: dict[str, Rule] = {
    "MaxPool": "max", "GlobalMaxPool": "max", "AveragePool": "average", "GlobalAveragePool": "average",
}  # fmt: skip
OF_MAPS: dict[str, Rule] = {
    "Add": "sum", "Sum": "sum", "Mean": "mean", "Mul": "product", "Max": "largest", "Min": "smallest",
    "Sub": "difference",
}  # fmt: skip
LIMITING = frozenset({"Relu", "Clip"})


@dataclass(frozen=True)
class LayerRule:
    """``rule`` first; ``scales``: operators that multiply by constants or add some, in their order (also the layer's
    own); ``activation``: the one that ends it, and ``before``: the tensor that it reads."""

    rule: Rule
    scales: tuple[NetworkOperator, ...]
    activation: NetworkOperator | None
    before: str

    @property
    def tabled(self) -> bool:
        """Whether the activation takes a table."""
        return self.activation is not None and self.activation.op not in LIMITING


def layer_rule(layer: NetworkLayer, stream: StreamLayer) -> LayerRule:
    """The rule of a layer.

    Raises: UnknownNumbersError if the array has none for its operator.
    """
    chain = list(layer.merged)
    rule, own = _own_rule(layer, stream)
    chain = [*([layer.operator] if own else []), *chain]
    before = layer.inputs[0].tensor if own else layer.operator.output
    scales: list[NetworkOperator] = []
    activation = None
    for operator in chain:
        if activation is not None:
            raise UnknownNumbersError(f"{layer.name} scales after its activation")
        if _is_function(operator):
            activation = operator
        else:
            scales.append(operator)
            before = operator.output
    return LayerRule(rule, tuple(scales), activation, before)


def _own_rule(layer: NetworkLayer, stream: StreamLayer) -> tuple[Rule, bool]:
    """The rule, and whether the layer's own operator stands among what follows it."""
    operator = layer.operator
    if operator.op in ("Conv", "ConvTranspose"):
        return "convolution", False
    if operator.op in POOLS:
        window = layer.window
        if operator.op == "AveragePool" and window.count_pads and window.ceil:
            raise UnknownNumbersError(f"{layer.name} counts some of the positions beyond the image")
        return POOLS[operator.op], False
    if len(layer.inputs) == len([name for name in operator.operands if name]) > 1 and operator.op in OF_MAPS:
        if operator.op in ("Sub",) and len(layer.inputs) != 2:
            raise UnknownNumbersError(f"{layer.name} has no two operands")
        return OF_MAPS[operator.op], False
    if len(layer.inputs) == 1 and (_is_function(operator) or is_scale(operator, layer.inputs[0].shape, 1)):
        return "pass", True
    if len(layer.inputs) == 1 and len(operator.operands) == 1 and operator.op in OF_MAPS:
        return "pass", False
    raise UnknownNumbersError(f"{layer.name} ({operator.op}) is computed by no rule of the array")


def _is_function(operator: NetworkOperator) -> bool:
    """Whether each number becomes another, whatever its map."""
    if any(shape and max(shape) > 1 for _, shape in operator.weights):
        return False
    if operator.op in ACTIVATIONS:
        return has_activation(operator) and operator.operands[:1] == operator.inputs
    return len(operator.inputs) == 1 and not operator.weights and has_elementwise(operator)
