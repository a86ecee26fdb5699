"""ONNX models as graphs of operators."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from mapper.workloads.document import InputError
from mapper.workloads.network.network import InputFile
from mapper.workloads.network.operator_network import POOLS, NetworkOperator, OperatorNetwork, Shape
from mapper.workloads.onnx.attribute import operator_attributes
from mapper.workloads.onnx.file import OnnxModel
from mapper.workloads.onnx.graph import Operator, sorted_operators
from mapper.workloads.onnx.layer import Unmappable, is_layer, layer_kind, layer_nest
from mapper.workloads.onnx.shape.inference import GraphShapes, infer_shapes
from mapper.workloads.onnx.shape.type import known_dimensions
from mapper.workloads.onnx.skipped import skipped_operator
from mapper.workloads.onnx.window import operator_window

_TITLES = {"Add": "add", "Sum": "add", "Concat": "concat"} | dict.fromkeys(POOLS, "pool")


def operators_of(
    model: OnnxModel,
    name: str,
    batch: int | None = None,
    files: tuple[InputFile, ...] = (),
    own_names: bool = False,
) -> OperatorNetwork:
    """The operators of a model that depend on its input, named ``conv1 ...``, ``gemm1 ...`` (matrix products
    too), ``pool1 ...``, ``add1 ...``, ``concat1 ...`` and else after their type, counted per type.

    What is computed from constants or shapes alone is folded before a network runs, and is left out. Arguments
    as of ``network_of``.

    Raises: InputError if the graph is broken, a shape unknown, or nothing depends on the input.
    """
    operators = sorted_operators(model.proto.graph, model.source)
    shapes = infer_shapes(model, operators, batch)
    counts: Counter[str] = Counter()
    found = []
    for operator in operators:
        if shapes.data.isdisjoint(filter(None, operator.node.output)):
            continue
        stem = _stem(operator)
        counts[stem] += 1
        title = operator.source if own_names else f"{stem}{counts[stem]}"
        found.append(_operator(operator, title, shapes, model))
    if not found:
        raise InputError(model.source, "graph", "has no operator that depends on an input; export it again")
    outputs = tuple(value.name for value in model.proto.graph.output if value.name in shapes.data)
    tensors = {
        tensor: shapes.sizes(tensor, reader)
        for reader in operators
        for tensor in reader.reads
        if tensor in shapes.data
    }
    for tensor in outputs:
        tensors[tensor] = shapes.sizes(tensor, shapes.makers.get(tensor, operators[-1]))
    for tensor in (tensor for entry in found for tensor in entry.outputs if tensor):
        sizes = known_dimensions(shapes.types.get(tensor))
        if sizes is not None and min(sizes, default=1) > 0:
            tensors[tensor] = sizes
    inputs = tuple(tensor for tensor in shapes.inputs if tensor in tensors)
    return OperatorNetwork(name, tuple(found), tensors, inputs, outputs, files, shapes.batch)


def _operator(operator: Operator, title: str, shapes: GraphShapes, model: OnnxModel) -> NetworkOperator:
    node = operator.node
    macs = _macs(operator, title, shapes)
    window = operator_window(operator, shapes)
    attributes, taken = operator_attributes(operator, shapes, model.opsets.get("", 1), window is not None)
    operands = [
        "" if place in taken or _is_empty(tensor, shapes) else tensor
        for place, tensor in enumerate(node.input)
    ]
    operands += [tensor for tensor in operator.reads if tensor not in node.input]
    weights: list[tuple[str, Shape]] = [
        (tensor, shapes.sizes(tensor, operator))
        for tensor in dict.fromkeys(filter(None, operands))
        if tensor not in shapes.data
    ]
    op = f"{operator.domain}.{operator.op}" if operator.domain else operator.op
    return NetworkOperator(
        title, operator.source, op, _trimmed(operands), _trimmed(node.output), tuple(weights), window, attributes,
        macs,
    )  # fmt: skip


def _is_empty(tensor: str, shapes: GraphShapes) -> bool:
    """Whether a constant has no elements, which is how some exporters leave an operand out."""
    return tensor not in shapes.data and 0 in (known_dimensions(shapes.types.get(tensor)) or ())


def _trimmed(names: Iterable[str]) -> tuple[str, ...]:
    kept = list(names)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def _macs(operator: Operator, title: str, shapes: GraphShapes) -> int:
    if is_layer(operator):
        nest = layer_nest(operator, shapes, title)
        return nest.macs if isinstance(nest, Unmappable) else nest.iterations
    skipped = skipped_operator(operator, shapes)
    return skipped.macs if skipped else 0


def _stem(operator: Operator) -> str:
    """What operators of this type are called; never ending in a digit, which would run into the count."""
    if is_layer(operator):
        return layer_kind(operator)
    if not operator.domain and operator.op in _TITLES:
        return _TITLES[operator.op]
    plain = re.sub("[^a-z0-9]", "", f"{operator.domain}{operator.op}".lower())[:80]
    return plain if plain and not plain[-1].isdigit() else f"{plain}x"
