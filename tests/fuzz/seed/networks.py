"""Valid networks in ONNX."""

from __future__ import annotations

from functools import cache


@cache
def onnx_models() -> tuple[bytes, ...]:
    """Small networks with most of the operators that are read, one with weights in a file beside it."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    from mapper.workloads.network.published import lenet5

    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1], group=1),
        node("BatchNormalization", ["a", "s", "s", "s", "s"], ["b"]),
        node("Relu", ["b"], ["c"]),
        node("Conv", ["c", "w2"], ["d"], auto_pad="SAME_UPPER", dilations=[2, 2], group=2),
        node("Add", ["c", "d"], ["e"]),
        node("MaxPool", ["e"], ["f"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        node("AveragePool", ["e"], ["g"], kernel_shape=[2, 2], strides=[2, 2], count_include_pad=1),
        node("Concat", ["f", "g"], ["h"], axis=1),
        node("GlobalAveragePool", ["h"], ["i"]),
        node("Shape", ["i"], ["shape"]),
        node("Gather", ["shape", "zero"], ["batch"]),
        node("Concat", ["batch", "minus"], ["target"], axis=0),
        node("Reshape", ["i", "target"], ["j"]),
        node("Gemm", ["j", "m", "bias"], ["k"], transB=1),
        node("Unsqueeze", ["k", "zero"], ["l"]),
        node("MatMul", ["l", "m3"], ["n"]),
        node("Softmax", ["n"], ["y"], axis=-1),
    ]
    sizes = {"w": [4, 3, 3, 3], "s": [4], "w2": [4, 2, 3, 3], "m": [5, 8], "bias": [5], "m3": [5, 6]}
    weights = [numpy_helper.from_array(np.ones(size, np.float32), name) for name, size in sizes.items()]
    shapes = {"zero": [0], "minus": [-1]}
    weights += [numpy_helper.from_array(np.array(value, np.int64), key) for key, value in shapes.items()]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    apart = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    tensor = apart.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "beside.bin"), ("offset", "4"), ("length", str(4 * 108))):
        tensor.external_data.add(key=key, value=value)
    square = numpy_helper.from_array(np.ones((4, 4), np.float32), "t")
    inner = helper.make_graph(
        [node("Relu", ["p"], ["q"])], "body", [], [helper.make_tensor_value_info("q", 1, None)]
    )
    branch = helper.make_model(
        helper.make_graph(
            [
                node("If", ["c"], ["r"], then_branch=inner, else_branch=inner),
                node("MatMul", ["r", "t"], ["y"]),
            ],
            "branch",
            [helper.make_tensor_value_info("p", 1, [4, 4]), helper.make_tensor_value_info("c", 9, [])],
            [helper.make_tensor_value_info("y", 1, None)],
            [square],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    function = helper.make_function(
        "own",
        "Product",
        ["u", "s"],
        ["v"],
        [node("MatMul", ["u", "s"], ["v"])],
        [helper.make_opsetid("", 17)],
    )
    called = helper.make_model(
        helper.make_graph(
            [node("Product", ["p", "t"], ["y"], domain="own")],
            "called",
            [helper.make_tensor_value_info("p", 1, [4, 4])],
            [helper.make_tensor_value_info("y", 1, None)],
            [square],
        ),
        functions=[function],
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)],
        ir_version=8,
    )
    models = (model, apart, branch, called)
    small = lenet5()
    for weight in small.graph.initializer:
        # The shapes are what is read; data of the right size would only make inputs slow.
        weight.ClearField("raw_data")
        weight.ClearField("float_data")
    return tuple(one.SerializeToString() for one in (*models, small))
