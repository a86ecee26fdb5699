"""Values of the weights in an ONNX model, those included that it computes from constants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import external_data_helper, numpy_helper

from mapper.workloads.document import InputError
from mapper.workloads.network.operator_network import OperatorNetwork, Shape
from mapper.workloads.onnx.file import OnnxModel
from mapper.workloads.onnx.graph import Operator, sorted_operators

Weight = npt.NDArray[Any]
QUANTISING_OPSET = 19

_RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
)


def weight_shapes(network: OperatorNetwork) -> dict[str, Shape]:
    """Every weight of the network by name."""
    return {name: shape for operator in network.operators for name, shape in operator.weights}


def weights_of(model: OnnxModel, network: OperatorNetwork, folder: Path) -> Iterator[tuple[str, Weight]]:
    """The weights of ``network`` as ``model`` has them, floats in single precision, in the order of
    ``weight_shapes`` and one at a time: a small file may have more computed than fits in memory twice;
    ``folder`` is where its external data lie.

    Raises: InputError if the model does not tell one, or tells it in another shape.
    """
    held: dict[str, onnx.TensorProto] = {tensor.name: tensor for tensor in model.proto.graph.initializer}
    operators = sorted_operators(model.proto.graph, model.source)
    made = {name for operator in operators for name in operator.node.output}
    for name, shape in weight_shapes(network).items():
        values = None
        if name in held:
            values = _stored(held[name], model.source, folder)
        elif name in made:
            values = _computed(model, held, operators, name, folder)
        if values is None or values.shape != shape:
            raise InputError(model.source, f"tensor {name[:80]!r}", "has no constant value; export it again")
        yield name, _plain(values, name, model.source)


def _computed(
    model: OnnxModel,
    held: dict[str, onnx.TensorProto],
    operators: tuple[Operator, ...],
    name: str,
    folder: Path,
) -> Weight:
    """The tensor ``name``, from those that the file holds and the operators on the way."""
    from onnx.reference import ReferenceEvaluator

    needed = _needed(operators, name)
    read = dict.fromkeys(name for operator in needed for name in operator.reads)
    known = held.keys() | {output for operator in needed for output in operator.node.output}
    for operator in needed:
        if operator.op in _RANDOM or not known.issuperset(operator.reads):
            remedy = "gives a weight that is not constant; export it again"
            raise InputError(model.source, operator.field(), remedy)
    values = {given: _stored(held[given], model.source, folder) for given in read if given in held}
    part = onnx.helper.make_graph(
        [operator.node for operator in needed],
        "weights",
        [
            onnx.helper.make_tensor_value_info(given, held[given].data_type, list(value.shape))
            for given, value in values.items()
        ],
        [onnx.helper.make_empty_tensor_value_info(name)],
    )
    opsets = [
        onnx.helper.make_opsetid(domain, _opset(version, needed)) for domain, version in model.opsets.items()
    ]
    try:
        evaluator = ReferenceEvaluator(onnx.helper.make_model(part, opset_imports=opsets))
        (result,) = evaluator.run([name], values)
    except MemoryError:
        raise
    except Exception as error:  # whatever an operator on strange constants may raise
        remedy = f"cannot be computed ({' '.join(str(error).split())[:120]}); fold the constants of the model"
        raise InputError(model.source, "weights", remedy) from None
    return np.asarray(result)


def _opset(version: int, needed: list[Operator]) -> int:
    """onnx evaluates quantising operators from opset 19 on only, in which they do the same with the same operands."""
    quantising = any(operator.op in ("QuantizeLinear", "DequantizeLinear") for operator in needed)
    return max(version, QUANTISING_OPSET) if quantising else version


def _needed(operators: tuple[Operator, ...], wanted: str) -> list[Operator]:
    """Those operators on which a wanted tensor depends, in order."""
    needed, found = {wanted}, list[Operator]()
    for operator in reversed(operators):
        if not needed.isdisjoint(operator.node.output):
            found.append(operator)
            needed.update(operator.reads)
    return found[::-1]


def _stored(tensor: onnx.TensorProto, source: str, folder: Path) -> Weight:
    try:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            external_data_helper.load_external_data_for_tensor(tensor, str(folder))
        return np.asarray(numpy_helper.to_array(tensor))
    except MemoryError:
        raise
    except Exception as error:  # whatever a type or a size that the data do not have may raise
        reason = " ".join(str(error).split())[:120]
        remedy = f"has no data of its type and size ({reason}); export it again"
        raise InputError(source, f"tensor {tensor.name[:80]!r}", remedy) from None


def _plain(values: Weight, name: str, source: str) -> Weight:
    """A type that every numpy has: the short floats of other libraries become single precision."""
    if values.dtype.kind in "iub":
        return values
    try:
        return values.astype(np.float32, copy=False)
    except (TypeError, ValueError):
        raise InputError(source, f"tensor {name[:80]!r}", "is not a tensor of numbers; remove it") from None
