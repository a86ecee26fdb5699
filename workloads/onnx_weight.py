"""Values of the weights in an ONNX model, those included that it computes from constants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import external_data_helper, numpy_helper

from mapper.workloads.document import InputError
from mapper.workloads.onnx_file import OnnxModel
from mapper.workloads.onnx_graph import Operator, sorted_operators
from mapper.workloads.operator_network import OperatorNetwork, Shape

Weight = npt.NDArray[Any]

_RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
)


def weight_shapes(network: OperatorNetwork) -> dict[str, Shape]:
    """Every weight of the network by name."""
    return {name: shape for operator in network.operators for name, shape in operator.weights}


def weights_of(model: OnnxModel, network: OperatorNetwork, folder: Path) -> dict[str, Weight]:
    """The weights of ``network`` as ``model`` has them, floats in single precision, in the order of
    ``weight_shapes``; ``folder`` is where its external data lie.

    Raises: InputError if the model does not tell one, or tells it in another shape.
    """
    shapes = weight_shapes(network)
    values = _computed(model, tuple(shapes), folder)
    for name, shape in shapes.items():
        if name not in values or values[name].shape != shape:
            raise InputError(model.source, f"tensor {name[:80]!r}", "has no constant value; export it again")
    return {name: _plain(values[name], name, model.source) for name in shapes}


def _computed(model: OnnxModel, wanted: tuple[str, ...], folder: Path) -> dict[str, Weight]:
    """The tensors that are wanted, from those that the file holds and the operators on the way."""
    from onnx.reference import ReferenceEvaluator

    graph = model.proto.graph
    held: dict[str, onnx.TensorProto] = {tensor.name: tensor for tensor in graph.initializer}
    operators = _needed(sorted_operators(graph, model.source), wanted)
    read = [name for operator in operators for name in operator.reads]
    known = held.keys() | {name for operator in operators for name in operator.node.output}
    for operator in operators:
        if operator.op in _RANDOM or not known.issuperset(operator.reads):
            remedy = "gives a weight that is not constant; export it again"
            raise InputError(model.source, operator.field(), remedy)
    values = {
        name: _stored(held[name], model.source, folder)
        for name in dict.fromkeys((*wanted, *read))
        if name in held
    }
    made = [name for operator in operators for name in operator.node.output if name in wanted]
    if not made:
        return values
    given = [name for name in dict.fromkeys(read) if name in values]
    part = onnx.helper.make_graph(
        [operator.node for operator in operators],
        "weights",
        [
            onnx.helper.make_tensor_value_info(name, held[name].data_type, list(values[name].shape))
            for name in given
        ],
        [onnx.helper.make_empty_tensor_value_info(name) for name in made],
    )
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in model.opsets.items()]
    try:
        evaluator = ReferenceEvaluator(onnx.helper.make_model(part, opset_imports=opsets))
        results = evaluator.run(made, {name: values[name] for name in given})
    except MemoryError:
        raise
    except Exception as error:  # whatever an operator on strange constants may raise
        remedy = f"cannot be computed ({' '.join(str(error).split())[:120]}); fold the constants of the model"
        raise InputError(model.source, "weights", remedy) from None
    return values | {name: np.asarray(result) for name, result in zip(made, results, strict=True)}


def _needed(operators: tuple[Operator, ...], wanted: tuple[str, ...]) -> list[Operator]:
    """Those operators on which a wanted tensor depends, in order."""
    needed, found = set(wanted), list[Operator]()
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
        return values.astype(np.float32)
    except (TypeError, ValueError):
        raise InputError(source, f"tensor {name[:80]!r}", "is no tensor of numbers; remove it") from None
