"""Shapes of every tensor of an ONNX graph, operator by operator, with no tensor ever made.

The rules are those of ``onnx.shape_inference``, asked of one operator at a time: so the values that shapes
depend on stay small (``onnx_value``), another batch can be put in (``onnx_batch``), and an operator that has
no rule is named once a layer needs its output.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import onnx
from onnx import shape_inference

from mapper.workloads.document import InputError
from mapper.workloads.onnx.file import OnnxModel
from mapper.workloads.onnx.graph import Operator, constant_tensors
from mapper.workloads.onnx.shape.batch import Rebatch, Types, declared_batch, with_batch
from mapper.workloads.onnx.shape.type import dimensions_of, elements, known_dimensions, tensor_type
from mapper.workloads.onnx.shape.value import folded_values, is_small, shape_values

HIGHEST_RANK = 32


@dataclass(frozen=True)
class GraphShapes:
    """Types of tensors by name; why some are not known; which depend on what the network is given; the values of
    small constants, as the file writes them."""

    source: str
    types: Mapping[str, onnx.TypeProto]
    reasons: Mapping[str, str]
    makers: Mapping[str, Operator]
    inputs: tuple[str, ...]
    data: frozenset[str]
    batch: int | None
    constants: Mapping[str, onnx.TensorProto]

    def sizes(self, tensor: str, reader: Operator) -> tuple[int, ...]:
        """The dimensions of a tensor that ``reader`` reads or makes, all positive.

        Raises: InputError naming the open dimension of an input, or the operator whose output is unknown.
        """
        dimensions = known_dimensions(self.types.get(tensor))
        if dimensions is None:
            raise self._cause(tensor, reader)
        if any(dimension < 1 for dimension in dimensions):
            remedy = f"{tensor[:60]!r} has the dimensions {list(dimensions)[:8]}; sizes must be positive"
            raise InputError(self.source, reader.field(), remedy)
        return dimensions

    def _cause(self, tensor: str, reader: Operator) -> InputError:
        seen, queue, failed = {tensor}, deque([tensor]), ""
        while queue:
            name = queue.popleft()
            if name in self.inputs and known_dimensions(self.types.get(name)) is None:
                return self._open_dimension(name)
            failed = failed or self.reasons.get(name, "")
            if name in self.makers:
                fresh = [read for read in self.makers[name].reads if read not in seen]
                seen.update(fresh)
                queue.extend(fresh)
        reason = failed or "nothing in the file tells it"
        remedy = f"the shape of {tensor[:60]!r} is unknown ({reason}); simplify the model or store its shapes"
        return InputError(self.source, reader.field(), remedy)

    def _open_dimension(self, name: str) -> InputError:
        dimensions = dimensions_of(self.types.get(name))
        field = f"input {name[:80]!r}"
        if dimensions is None:
            return InputError(self.source, field, "has no shape; give the input fixed sizes")
        place = next(place for place, dimension in enumerate(dimensions) if not isinstance(dimension, int))
        called = f" ({dimensions[place]!r})" if dimensions[place] is not None else ""
        size = f"give --dim {dimensions[place]}=SIZE" if dimensions[place] else "fix it in the file"
        remedy = f"give --batch, or {size}" if place == 0 else size
        return InputError(self.source, field, f"dimension {place}{called} is open; {remedy}")


def infer_shapes(model: OnnxModel, operators: tuple[Operator, ...], batch: int | None = None) -> GraphShapes:
    """Shapes of all tensors; with ``batch``, for that first dimension of the inputs.

    Where the file fixes another batch, or ``Reshape`` nodes were written for one (an open batch counts as
    written for 1), the shapes are found twice, and the former ones tell where a target holds the batch.

    Raises: InputError if a tensor has more than ``HIGHEST_RANK`` dimensions.
    """
    inputs = _input_types(model.proto.graph, model.source)
    declared = declared_batch(inputs)
    fixed = declared if isinstance(declared, int) else None
    if batch is None or batch == fixed:
        return _infer(model, operators, inputs, fixed, None)
    written = fixed or 1
    before = _infer(model, operators, with_batch(inputs, declared, written), written, None)
    if batch == written:
        return before
    rebatch = Rebatch(before.types, written, batch)
    return _infer(model, operators, with_batch(inputs, declared, batch), batch, rebatch)


def _input_types(graph: onnx.GraphProto, source: str) -> Types:
    """Types of what the network is given; a dimension that is no positive number counts as open."""
    constants = constant_tensors(graph).keys()
    types: Types = {}
    for value in graph.input:
        if value.name in constants:
            continue
        dimensions = dimensions_of(value.type)
        if dimensions is None:
            types[value.name] = value.type
            continue
        _check_rank(len(dimensions), value.name, source)
        opened = (None if isinstance(size, int) and size < 1 else size for size in dimensions)
        types[value.name] = tensor_type(value.type.tensor_type.elem_type, tuple(opened))
    return types


def _infer(
    model: OnnxModel,
    operators: tuple[Operator, ...],
    inputs: Types,
    batch: int | None,
    rebatch: Rebatch | None,
) -> GraphShapes:
    graph, source = model.proto.graph, model.source
    types, constants = dict(inputs), dict[str, onnx.TensorProto]()
    for name, tensor in constant_tensors(graph).items():
        element = tensor.data_type if isinstance(tensor, onnx.TensorProto) else tensor.values.data_type
        _check_rank(len(tensor.dims), name, source)
        types[name] = tensor_type(element, tuple(tensor.dims))
        if isinstance(tensor, onnx.TensorProto) and is_small(tensor):
            constants[name] = tensor
    declared = {} if rebatch else {value.name: value.type for value in (*graph.value_info, *graph.output)}
    data, reasons, makers = set(inputs), dict[str, str](), dict[str, Operator]()
    for operator in operators:
        makers |= dict.fromkeys(operator.node.output, operator)
        reshaped = _rebatched(operator, types, constants, rebatch)
        found, reason = _output_types(operator, types, constants | reshaped if reshaped else constants, model)
        for name in filter(None, operator.node.output):
            kind = found.get(name)
            if known_dimensions(kind) is None and known_dimensions(declared.get(name)) is not None:
                kind = declared[name]
            if kind is not None:
                _check_rank(len(dimensions_of(kind) or ()), name, source)
                types[name] = kind
            if known_dimensions(kind) is None:
                reasons[name] = (
                    f"{operator.field()}: {reason or 'its sizes depend on values or on open sizes'}"
                )
        if operator.op in ("Shape", "Size") and not operator.domain:
            constants |= shape_values(operator, types)
            continue
        constants |= folded_values(operator, constants, types, model.opsets.get("", 1))
        if not data.isdisjoint(operator.reads):
            data.update(operator.node.output)
    return GraphShapes(source, types, reasons, makers, tuple(inputs), frozenset(data), batch, constants)


def _rebatched(
    operator: Operator, types: Types, constants: Mapping[str, onnx.TensorProto], rebatch: Rebatch | None
) -> dict[str, onnx.TensorProto]:
    node = operator.node
    if rebatch is None or operator.op != "Reshape" or len(node.input) < 2 or node.input[1] not in constants:
        return {}
    return {node.input[1]: rebatch.reshape_target(operator, types, constants[node.input[1]])}


def _output_types(
    operator: Operator, types: Types, constants: Mapping[str, onnx.TensorProto], model: OnnxModel
) -> tuple[Types, str]:
    """Types of an operator's outputs, and why they are missing."""
    node = operator.node
    if operator.op == "Constant" and not operator.domain:
        for entry in node.attribute:
            if entry.name == "value" and len(node.output) == 1:
                return {node.output[0]: tensor_type(entry.t.data_type, tuple(entry.t.dims))}, ""
    try:
        schema = onnx.defs.get_schema(node.op_type, model.opsets.get(operator.domain, 1), operator.domain)
    except onnx.defs.SchemaError:
        return {}, f"an operator that ONNX does not define (domain {operator.domain[:40]!r})"
    unknown = tensor_type(onnx.TensorProto.FLOAT, None)
    try:
        found = shape_inference.infer_node_outputs(
            schema,
            node,
            {name: types.get(name, unknown) for name in operator.reads},
            {name: constants[name] for name in node.input if name in constants},
            opset_imports=[
                onnx.helper.make_opsetid(domain, version) for domain, version in model.opsets.items()
            ],
            ir_version=model.proto.ir_version,
        )
    except Exception as error:  # the C++ rules throw what they like on a malformed operator
        return {}, " ".join(str(error).split())[:160]
    if operator.op == "Reshape" and node.input and node.output:
        before, after = elements(types.get(node.input[0])), elements(found.get(node.output[0]))
        if before is not None and after is not None and before != after:
            return {}, f"makes {after} elements of {before}"
    return found, ""


def _check_rank(rank: int, name: str, source: str) -> None:
    if rank > HIGHEST_RANK:
        raise InputError(
            source, f"tensor {name[:80]!r}", f"has more than {HIGHEST_RANK} dimensions; lower its rank"
        )
