"""Quantised networks: what their integers mean, and the network without the operators that only quantise.

QuantizeLinear and DequantizeLinear leave every number where it is; a processor of integers has nothing to do for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from mapper.workloads.network.operator_network import NetworkOperator, OperatorNetwork, Shape
from mapper.workloads.network.work import ACTIVATIONS

QUANTISING = frozenset({"QuantizeLinear", "DequantizeLinear"})
REQUANTISE = "QuantizeLinear"
"""An operator that is left where a tensor's integers are brought to another scale or zero point by themselves."""
INTEGER = "QLinear"
"""Before the name of an activation that takes integers of one scale and makes some of another, so that it cannot be
merged into the layer before it, whose own integers are rounded first."""
KEEPING = frozenset({"Concat", "MaxPool", "GlobalMaxPool"})
"""What hands on integers as they are."""
RECTIFYING = frozenset({"Relu", "Clip"})
"""What may be merged where nothing but a limit changes."""
CONSTANT = frozenset({"Add", "Sub", "Mul", "Div", "PRelu"})
"""What a tensor of integers and a constant may be put together by. Integers are rounded before and after, so that this
cannot be merged into the layer before."""
CHAIN = "Chain"
"""Several activations that integers go through before they are rounded again."""


@dataclass(frozen=True)
class QuantisedTensor:
    """``scale`` * (integer - ``zero``); the integers are the tensor ``integers`` of the file, ``offset`` (128) more
    than integers of 8 bits with sign where they have none. ``integers`` is empty where the file has no such tensor."""

    scale: float
    zero: int
    offset: int
    integers: str

    def alike(self, other: QuantisedTensor) -> bool:
        """Whether equal integers mean equal numbers."""
        return (self.scale, self.zero - self.offset) == (other.scale, other.zero - other.offset)


@dataclass(frozen=True, eq=False)
class QuantisedWeight:
    """A kernel or a matrix as the file has it, its zero points in its shape's last axes, scales one or one per map, and
    the bias in units of both scales."""

    integers: npt.NDArray[Any]
    zero: npt.NDArray[Any]
    scale: npt.NDArray[Any]
    bias: npt.NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Quantisation:
    """Tensors by the name that they have without quantising operators, weights by layer."""

    tensors: Mapping[str, QuantisedTensor]
    weights: Mapping[str, QuantisedWeight]


def is_quantised(network: OperatorNetwork) -> bool:
    return any(
        operator.op in QUANTISING or operator.op.startswith("QLinear") for operator in network.operators
    )


def without_quantising(network: OperatorNetwork) -> OperatorNetwork:
    """The network whose operators read what a quantising one reads instead of what it makes; its outputs keep their
    names."""
    origin: dict[str, str] = {}
    kept = []
    for operator in network.operators:
        operands = tuple(origin.get(name, name) for name in operator.operands)
        if operator.op in QUANTISING and operator.inputs == operator.operands[:1]:
            origin[operator.output] = operands[0]
        else:
            kept.append(replace(operator, operands=operands))
    for name in network.outputs:
        if name in origin:
            kept.append(NetworkOperator(f"output {name}", name, "Identity", (origin[name],), (name,)))
    tensors = {
        name: shape
        for name, shape in network.tensors.items()
        if name not in origin or name in network.outputs
    }
    return replace(network, operators=tuple(kept), tensors=tensors)


def with_requantising(network: OperatorNetwork, formats: Mapping[str, QuantisedTensor]) -> OperatorNetwork:
    """``network``, which is ``without_quantising``, with operators that bring integers from one format to another:
    those that a concatenation or a max pool reads to that of its result, activations of unlike operand and result, and
    what a constant is added to or multiplied with.
    ``formats`` by tensor; those that have none are left alone."""
    network = _with_chains(network, formats)
    operators: list[NetworkOperator] = []
    tensors = dict(network.tensors)
    added = 0
    for operator in network.operators:
        wanted = formats.get(operator.output)
        unlike = [] if wanted is None else _unlike(operator, formats, wanted)
        if operator.op in KEEPING and unlike:
            renamed = {}
            for name in unlike:
                added += 1
                renamed[name] = f"{name} of {operator.output}"
                tensors[renamed[name]] = tensors[name]
                title = f"{REQUANTISE.lower()}{added}"
                operators.append(
                    NetworkOperator(title, operator.source, REQUANTISE, (name,), (renamed[name],))
                )
            operands = tuple(renamed.get(name, name) for name in operator.operands)
            operators.append(replace(operator, operands=operands))
        elif operator.op in ACTIVATIONS and wanted is not None and len(operator.operands) == 1:
            merges = operator.inputs[0] not in formats or (operator.op in RECTIFYING and not unlike)
            operators.append(operator if merges else replace(operator, op=f"{INTEGER}{operator.op}"))
        elif wanted is not None and _meets_constant(operator, tensors) and operator.inputs[0] in formats:
            operators.append(replace(operator, op=f"{INTEGER}{operator.op}"))
        else:
            operators.append(operator)
    return replace(network, operators=tuple(operators), tensors=tensors)


def _with_chains(network: OperatorNetwork, formats: Mapping[str, QuantisedTensor]) -> OperatorNetwork:
    """``network`` with one operator in place of several that integers go through one by one until they are rounded:
    named after the first of those that have a constant, with the constants of all."""
    readers = Counter(name for operator in network.operators for name in {*operator.inputs})
    readers.update(network.outputs)
    following = {operator.inputs[0]: operator for operator in network.operators if len(operator.inputs) == 1}
    chains: dict[str, NetworkOperator] = {}
    inside: set[str] = set()
    for operator in network.operators:
        if not _is_pointwise(operator, network.tensors) or operator.inputs[0] not in formats:
            continue
        chain = [operator]
        while chain[-1].output not in formats and readers[chain[-1].output] == 1:
            after = following.get(chain[-1].output)
            if after is None or not _is_pointwise(after, network.tensors):
                break
            chain.append(after)
        if len(chain) > 1 and chain[-1].output in formats:
            alone = replace(operator, op=f"{INTEGER}{CHAIN}")
            own = next((one for one in chain if _meets_constant(one, network.tensors)), alone)
            weights = tuple(weight for one in chain for weight in one.weights)
            operands = (*operator.inputs, *(name for name, _ in weights))
            chains[operator.name] = replace(
                own, operands=operands, outputs=chain[-1].outputs, weights=weights, attributes=()
            )
            inside |= {one.name for one in chain[1:]}
    operators = tuple(chains.get(one.name, one) for one in network.operators if one.name not in inside)
    return replace(network, operators=operators)


def _is_pointwise(operator: NetworkOperator, tensors: Mapping[str, Shape]) -> bool:
    """Whether every number of the result is made of one of the operand."""
    activates = operator.op in ACTIVATIONS and len(operator.inputs) == 1
    return activates or _meets_constant(operator, tensors)


def _meets_constant(operator: NetworkOperator, tensors: Mapping[str, Shape]) -> bool:
    """Whether a tensor meets one constant that leaves its shape."""
    single = operator.op in CONSTANT and len(operator.inputs) == 1 and len(operator.weights) >= 1
    return single and tensors[operator.inputs[0]] == tensors[operator.output]


def _unlike(
    operator: NetworkOperator, formats: Mapping[str, QuantisedTensor], wanted: QuantisedTensor
) -> list[str]:
    names = dict.fromkeys(operator.inputs)
    return [name for name in names if name in formats and not formats[name].alike(wanted)]
