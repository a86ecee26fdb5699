"""What onnxruntime makes of quantised tensors that meet a constant, of every integer and number of the constant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mapper.models.algorithm_selection.number.network_number import LOWEST, Integers
from mapper.models.algorithm_selection.overlay.running import constant_axes, meets_constant
from mapper.sim.onnx_result import onnx_integers
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer
from mapper.workloads.network.quantisation import CONSTANT, QuantisedTensor
from mapper.workloads.network.work import ACTIVATIONS

if TYPE_CHECKING:
    import onnx


def constant_tables(
    network: LayerNetwork, model: onnx.ModelProto, formats: Mapping[str, QuantisedTensor]
) -> dict[str, Integers]:
    """Of every layer of ``network`` that meets a constant: integers of 8 bits with sign [256, ...], by those of its
    operand from -128 on, with the constant's axes behind the first. ``model`` is the network's file.

    Raises: ValueError if a constant differs from image to image.
    """
    every = [layer for layer in network.layers if meets_constant(layer)]
    return {layer.name: _table(layer, model, formats) for layer in every}


def _table(layer: NetworkLayer, model: onnx.ModelProto, formats: Mapping[str, QuantisedTensor]) -> Integers:
    """Its lines of the file are run by themselves, from the integers that it reads to those that it makes."""
    source, target = formats[layer.inputs[0].memory], formats[layer.output]
    axes = constant_axes(layer)
    if axes[:1] not in ((), (1,)):
        raise ValueError(f"{layer.name} has a constant of {axes[0]} images")
    integers = np.arange(256).reshape(256, *(1 for _ in axes[1:])) + LOWEST + source.offset
    reals = (integers - source.zero).astype(np.float32) * np.float32(source.scale)
    frame = {"given": np.broadcast_to(reals, (256, *axes[1:]))}
    made = onnx_integers(_lines(layer, model, source, target, frame["given"].shape), frame, "made")
    return np.asarray(made - target.offset)


def _lines(
    layer: NetworkLayer,
    model: onnx.ModelProto,
    source: QuantisedTensor,
    target: QuantisedTensor,
    shape: tuple[int, ...],
) -> onnx.ModelProto:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, tensors = _chain(layer.output, model)
    ends = []
    for name, one in (("given", source), ("made", target)):
        zero = np.uint8(one.zero) if one.offset else np.int8(one.zero)
        for key, value in ((f"{name}.scale", np.float32(one.scale)), (f"{name}.zero", zero)):
            tensors[key] = numpy_helper.from_array(np.asarray(value), key)
        ends.append([f"{name}.scale", f"{name}.zero"])
    every = [
        helper.make_node("QuantizeLinear", ["given", *ends[0]], ["given.integers"]),
        helper.make_node("DequantizeLinear", ["given.integers", *ends[0]], ["given.real"]),
        *nodes,
        helper.make_node("QuantizeLinear", ["made.real", *ends[1]], ["made"]),
    ]
    given = helper.make_tensor_value_info("given", TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        every, "constant", [given], [onnx.ValueInfoProto(name="made")], [*tensors.values()]
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def _chain(output: str, model: onnx.ModelProto) -> tuple[list[onnx.NodeProto], dict[str, onnx.TensorProto]]:
    """Lines from the tensor that was rounded last, here ``given.real``, to ``output``, here ``made.real``, and their
    constants."""
    import onnx

    makers = {name: node for node in model.graph.node for name in node.output}
    held = {one.name: one for one in model.graph.initializer}
    pointwise = {name for name, node in makers.items() if node.op_type in CONSTANT | ACTIVATIONS}
    nodes: list[onnx.NodeProto] = []
    constant: list[onnx.NodeProto] = []
    tensors: dict[str, onnx.TensorProto] = {}
    made, name = "made.real", output
    while name in pointwise:
        node = onnx.NodeProto()
        node.CopyFrom(makers[name])
        node.output[0] = made
        nodes.insert(0, node)
        for place, operand in enumerate(node.input):
            own, constants = _made_of(operand, makers, held)
            if constants is None:
                name, made = operand, f"{operand}.met" if operand in pointwise else "given.real"
                node.input[place] = made
            else:
                constant += [line for line in own if line not in constant]
                tensors |= constants
    return [*constant, *nodes], tensors


def _made_of(
    name: str, makers: Mapping[str, onnx.NodeProto], held: Mapping[str, onnx.TensorProto]
) -> tuple[list[onnx.NodeProto], dict[str, onnx.TensorProto] | None]:
    """The lines and constants that a tensor is made of, if it is made of nothing else."""
    nodes: list[onnx.NodeProto] = []
    tensors: dict[str, onnx.TensorProto] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if not one:
            continue
        if one in held:
            tensors[one] = held[one]
        elif one in makers:
            nodes.insert(0, makers[one])
            waiting += filter(None, makers[one].input)
        else:
            return [], None
    return nodes, tensors
