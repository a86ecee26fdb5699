"""onnxruntime's integer convolution, the reference of every convolution."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.sim.algorithm_selection.address import Integers
from mapper.workloads.nest.layer_nest import Convolution

ZERO = 128


def integer_convolution(shape: Convolution, images: Integers, kernels: Integers, zero: int = 0) -> Integers:
    """Sums (images, O1, O2, maps) as onnxruntime's ConvInteger makes them: ``images`` (images, H1, H2, channels) and
    ``kernels`` (k1, k2, channels of a group, maps) are integers of 8 bits with sign, their zero points taken away; that
    of the images is ``zero``.

    onnxruntime computes ConvInteger of unsigned data only; what makes the least number 0 is added and given as the zero
    point, which it takes away again, in the padding too.
    """
    import onnxruntime
    from onnx import TensorProto, helper

    def value(name: str, kind: int) -> Any:
        return helper.make_tensor_value_info(name, kind, [None] * 4)

    pads = [shape.pads[0][0], shape.pads[1][0], shape.pads[0][1], shape.pads[1][1]]
    node = helper.make_node(
        "ConvInteger",
        ["x", "w", "zero", "none"],
        ["y"],
        pads=pads,
        strides=shape.strides,
        dilations=shape.dilations,
        group=shape.groups,
        kernel_shape=shape.kernel,
    )
    own = ZERO if kernels.min(initial=0) >= -ZERO and kernels.max(initial=0) < ZERO else -int(kernels.min())
    weights = kernels.transpose(3, 2, 0, 1).astype(np.int16) + own
    constants = [
        helper.make_tensor(
            "w", TensorProto.UINT8, weights.shape, weights.astype(np.uint8).tobytes(), raw=True
        ),
        helper.make_tensor("zero", TensorProto.UINT8, [], [ZERO + zero]),
        helper.make_tensor("none", TensorProto.UINT8, [], [own]),
    ]
    graph = helper.make_graph(
        [node], "convolution", [value("x", TensorProto.UINT8)], [value("y", TensorProto.INT32)], constants
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    data = (images.transpose(0, 3, 1, 2).astype(np.int16) + ZERO + zero).astype(np.uint8)
    (sums,) = session.run(None, {"x": data})
    return np.asarray(sums).transpose(0, 2, 3, 1).astype(np.int64)
