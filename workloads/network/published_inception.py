"""GoogLeNet and Inception-v4 from their published layer tables."""

from __future__ import annotations

import onnx

from mapper.workloads.network.builder import NetworkBuilder

_GOOGLENET = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}
"""Filters of each module: 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5, pool projection."""


def googlenet_224() -> onnx.ModelProto:
    """GoogLeNet as published, on 3x224x224: pools round up, so its modules work on maps of 28, 14 and 7."""
    net = NetworkBuilder("googlenet-224", 3, 224, 224)
    x = _convolution(net, net.input, "conv1", 64, 7, 2, 3)
    x = _local_response(net, net.pool(x, "pool1", 3, 2, ceil=True), "norm1")
    x = _convolution(net, x, "conv2_reduce", 64, 1)
    x = _local_response(net, _convolution(net, x, "conv2", 192, 3, 1, 1), "norm2")
    x = net.pool(x, "pool2", 3, 2, ceil=True)
    for module, (single, reduce3, filters3, reduce5, filters5, projection) in _GOOGLENET.items():
        name = f"inception_{module}"
        branches = (
            _convolution(net, x, f"{name}.1x1", single, 1),
            _convolution(
                net, _convolution(net, x, f"{name}.3x3_reduce", reduce3, 1), f"{name}.3x3", filters3, 3, 1, 1
            ),
            _convolution(
                net, _convolution(net, x, f"{name}.5x5_reduce", reduce5, 1), f"{name}.5x5", filters5, 5, 1, 2
            ),
            _convolution(net, net.pool(x, f"{name}.pool", 3, 1, 1), f"{name}.pool_proj", projection, 1),
        )
        x = net.concatenation(f"{name}.concat", branches)
        if module in ("3b", "4e"):
            x = net.pool(x, f"pool{module[0]}", 3, 2, ceil=True)
    x = net.apply("Flatten", "flatten", net.pool(x, "pool5", 7, 1, mean=True))
    return net.model(net.apply("Softmax", "softmax", net.linear(x, "fc", 1024, 1000), axis=1), 1000)


def inception_v4() -> onnx.ModelProto:
    """Inception-v4 on 3x299x299: 149 convolutions, 12.25 G multiply-accumulates."""
    net = NetworkBuilder("inception-v4", 3, 299, 299)
    x = _stem(net)
    for place in range(4):
        x = _inception_a(net, x, f"a{place + 1}")
    x = _reduction_a(net, x)
    for place in range(7):
        x = _inception_b(net, x, f"b{place + 1}")
    x = _reduction_b(net, x)
    for place in range(3):
        x = _inception_c(net, x, f"c{place + 1}")
    x = net.apply("Flatten", "flatten", net.apply("GlobalAveragePool", "pool", x))
    return net.model(net.apply("Softmax", "softmax", net.linear(x, "fc", 1536, 1000), axis=1), 1000)


def _stem(net: NetworkBuilder) -> str:
    x = _convolution(net, net.input, "stem.1", 32, 3, 2)
    x = _convolution(net, x, "stem.2", 32, 3)
    x = _convolution(net, x, "stem.3", 64, 3, 1, 1)
    x = net.concatenation(
        "stem.4", (net.pool(x, "stem.4.pool", 3, 2), _convolution(net, x, "stem.4.conv", 96, 3, 2))
    )
    first = _convolution(net, _same(net, x, "stem.5.0", (64, 1)), "stem.5.0.2", 96, 3)
    second = _same(net, x, "stem.5.1", (64, 1), (64, (1, 7)), (64, (7, 1)))
    x = net.concatenation("stem.5", (first, _convolution(net, second, "stem.5.1.4", 96, 3)))
    return net.concatenation(
        "stem.6", (_convolution(net, x, "stem.6.conv", 192, 3, 2), net.pool(x, "stem.6.pool", 3, 2))
    )


def _inception_a(net: NetworkBuilder, x: str, name: str) -> str:
    branches = (
        _same(net, x, f"{name}.0", (96, 1)),
        _same(net, x, f"{name}.1", (64, 1), (96, 3)),
        _same(net, x, f"{name}.2", (64, 1), (96, 3), (96, 3)),
        _pooled(net, x, f"{name}.3", 96),
    )
    return net.concatenation(name, branches)


def _reduction_a(net: NetworkBuilder, x: str) -> str:
    first = _convolution(net, x, "reduction_a.0", 384, 3, 2)
    second = _same(net, x, "reduction_a.1", (192, 1), (224, 3))
    second = _convolution(net, second, "reduction_a.1.3", 256, 3, 2)
    return net.concatenation("reduction_a", (first, second, net.pool(x, "reduction_a.2", 3, 2)))


def _inception_b(net: NetworkBuilder, x: str, name: str) -> str:
    branches = (
        _same(net, x, f"{name}.0", (384, 1)),
        _same(net, x, f"{name}.1", (192, 1), (224, (1, 7)), (256, (7, 1))),
        _same(net, x, f"{name}.2", (192, 1), (192, (7, 1)), (224, (1, 7)), (224, (7, 1)), (256, (1, 7))),
        _pooled(net, x, f"{name}.3", 128),
    )
    return net.concatenation(name, branches)


def _reduction_b(net: NetworkBuilder, x: str) -> str:
    first = _convolution(net, _same(net, x, "reduction_b.0", (192, 1)), "reduction_b.0.2", 192, 3, 2)
    second = _same(net, x, "reduction_b.1", (256, 1), (256, (1, 7)), (320, (7, 1)))
    second = _convolution(net, second, "reduction_b.1.4", 320, 3, 2)
    return net.concatenation("reduction_b", (first, second, net.pool(x, "reduction_b.2", 3, 2)))


def _inception_c(net: NetworkBuilder, x: str, name: str) -> str:
    single = _same(net, x, f"{name}.0", (256, 1))
    short = _same(net, x, f"{name}.1", (384, 1))
    short_ends = [_same(net, short, f"{name}.1{end}", (256, kernel)) for end, kernel in _ENDS]
    long = _same(net, x, f"{name}.2", (384, 1), (448, (3, 1)), (512, (1, 3)))
    long_ends = [_same(net, long, f"{name}.2{end}", (256, kernel)) for end, kernel in _ENDS]
    return net.concatenation(name, (single, *short_ends, *long_ends, _pooled(net, x, f"{name}.3", 256)))


_ENDS = (("a", (1, 3)), ("b", (3, 1)))

_Filters = tuple[int, int | tuple[int, int]]


def _same(net: NetworkBuilder, x: str, name: str, *layers: _Filters) -> str:
    """Convolutions that keep the size, one after another; each is (filters, kernel)."""
    for place, (filters, kernel) in enumerate(layers, 1):
        rows, columns = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        x = _convolution(net, x, f"{name}.{place}", filters, (rows, columns), 1, (rows // 2, columns // 2))
    return x


def _pooled(net: NetworkBuilder, x: str, name: str, filters: int) -> str:
    return _convolution(net, net.pool(x, f"{name}.pool", 3, 1, 1, mean=True), f"{name}.conv", filters, 1)


def _convolution(
    net: NetworkBuilder,
    x: str,
    name: str,
    filters: int,
    kernel: int | tuple[int, int],
    stride: int = 1,
    pad: int | tuple[int, int] = 0,
) -> str:
    return net.apply("Relu", f"{name}.relu", net.convolution(x, name, filters, kernel, stride, pad))


def _local_response(net: NetworkBuilder, x: str, name: str) -> str:
    return net.apply("LRN", name, x, size=5, alpha=1e-4, beta=0.75, bias=1.0)
