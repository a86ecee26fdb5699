"""What onnxruntime makes of an addition of quantised tensors, of all pairs of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mapper.models.algorithm_selection.number.network_number import LOWEST, Integers
from mapper.models.algorithm_selection.overlay.running import adds
from mapper.sim.onnx_result import onnx_integers
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.operator_network import NetworkOperator
from mapper.workloads.network.quantisation import RECTIFYING, QuantisedTensor

if TYPE_CHECKING:
    import onnx

SHAPE = (1, 1, 256, 256)


def addition_tables(network: LayerNetwork, formats: Mapping[str, QuantisedTensor]) -> dict[str, Integers]:
    """``addition_table`` of every layer that adds two tensors of known formats, with nothing merged but limits."""
    found: dict[str, Integers] = {}
    for layer in network.layers:
        ends = [*(one.memory for one in layer.inputs), layer.output]
        limited = all(one.op in RECTIFYING for one in layer.merged)
        if adds(layer) and limited and len({*ends}) == 3 and {*ends} <= formats.keys():
            found[layer.name] = addition_table([formats[name] for name in ends], layer.merged)
    return found


def addition_table(formats: Sequence[QuantisedTensor], merged: Sequence[NetworkOperator] = ()) -> Integers:
    """Of operands and a result of three ``formats``, with the limits ``merged``: integers of 8 bits with sign
    [256, 256], by those of both operands from -128 on. The operators stand between lines that quantise, as
    onnxruntime fuses them."""
    frame = {}
    for name, one, along in zip("ab", formats, ((256, 1), (256,)), strict=False):
        reals = (np.arange(256) + LOWEST + one.offset - one.zero).astype(np.float32) * np.float32(one.scale)
        frame[name] = np.broadcast_to(reals.reshape(along), SHAPE)
    made = onnx_integers(_model(formats, merged), frame, "c")
    return np.asarray(made.reshape(256, 256) - formats[-1].offset)


def _model(formats: Sequence[QuantisedTensor], merged: Sequence[NetworkOperator]) -> onnx.ModelProto:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    constants: dict[str, np.generic] = {}
    ends: dict[str, list[str]] = {}
    given = []
    for name, one in zip("abc", formats, strict=True):
        constants[f"{name}.scale"] = np.float32(one.scale)
        constants[f"{name}.zero"] = np.uint8(one.zero) if one.offset else np.int8(one.zero)
        ends[name] = [f"{name}.scale", f"{name}.zero"]
        given.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE))
    nodes = []
    for name in "ab":
        nodes.append(helper.make_node("QuantizeLinear", [name, *ends[name]], [f"{name}.integers"]))
        nodes.append(
            helper.make_node("DequantizeLinear", [f"{name}.integers", *ends[name]], [f"{name}.real"])
        )
    nodes.append(helper.make_node("Add", ["a.real", "b.real"], ["real0"]))
    for place, operator in enumerate(merged):
        bounds = [key if operator.has(key) else "" for key in ("min", "max")] if operator.op == "Clip" else []
        constants |= {key: np.float32(operator.number(key)) for key in filter(None, bounds)}
        nodes.append(helper.make_node(operator.op, [f"real{place}", *bounds], [f"real{place + 1}"]))
    nodes.append(helper.make_node("QuantizeLinear", [f"real{len(merged)}", *ends["c"]], ["c"]))
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "addition", given[:2], [onnx.ValueInfoProto(name="c")], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
