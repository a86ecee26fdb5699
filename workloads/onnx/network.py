"""ONNX models as networks: layers that are loop nests, and what is skipped."""

from __future__ import annotations

from collections import Counter

from mapper.workloads.document import InputError
from mapper.workloads.network.network import InputFile, Layer, Network, SkippedOperator
from mapper.workloads.onnx.file import OnnxModel
from mapper.workloads.onnx.graph import sorted_operators
from mapper.workloads.onnx.layer import Unmappable, is_layer, layer_kind, layer_nest
from mapper.workloads.onnx.shape.inference import infer_shapes
from mapper.workloads.onnx.skipped import skipped_operator


def network_of(
    model: OnnxModel,
    name: str,
    batch: int | None = None,
    inputs: tuple[InputFile, ...] = (),
    own_names: bool = False,
) -> Network:
    """The layers of a model, ``conv1 ...`` and ``gemm1 ...`` counted per type in topological order.

    ``batch`` replaces the first dimension of the inputs; ``inputs`` are the files it was read
    from; with ``own_names`` layers keep their ONNX names.

    Raises: InputError if the graph is broken, a layer's shape is unknown, or there is no layer.
    """
    operators = sorted_operators(model.proto.graph, model.source)
    shapes = infer_shapes(model, operators, batch)
    layers: list[Layer] = []
    skipped: list[SkippedOperator] = []
    counts: Counter[str] = Counter()
    for operator in operators:
        if not is_layer(operator):
            other = skipped_operator(operator, shapes)
            if other is not None:
                skipped.append(other)
            continue
        kind = layer_kind(operator)
        title = operator.source if own_names else f"{kind}{counts[kind] + 1}"
        nest = layer_nest(operator, shapes, title)
        if isinstance(nest, Unmappable):
            skipped.append(SkippedOperator(operator.label, operator.op, nest.reason, nest.macs))
            continue
        counts[kind] += 1
        layers.append(Layer(title, operator.source, operator.op, nest))
    if not layers:
        found = ", ".join(sorted({operator.op for operator in operators})[:8])
        raise InputError(
            model.source, "graph", f"has no convolution or matrix product (only {found}); give one that has"
        )
    return Network(name, tuple(layers), tuple(skipped), inputs, shapes.batch)
