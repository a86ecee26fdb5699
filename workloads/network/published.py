"""Networks of the catalogue that are built from their published layer tables.

Batch normalisation is taken as folded into the convolutions, which is why each has a bias; dropout, which
does nothing in inference, is left out.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx

from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.published_inception import googlenet_224, inception_v4


def lenet5() -> onnx.ModelProto:
    """LeNet-5 in the form that has two convolutions, two pools and two fully connected layers [Bae2018, Table I]:
    20 and 50 filters of 5x5, 500 and 10 neurons, on one channel of 28x28."""
    net = NetworkBuilder("lenet5", 1, 28, 28)
    x = net.pool(net.convolution(net.input, "conv1", 20, 5), "pool1", 2, 2)
    x = net.pool(net.convolution(x, "conv2", 50, 5), "pool2", 2, 2)
    x = net.apply("Relu", "relu1", net.linear(net.apply("Flatten", "flatten", x), "fc1", 50 * 4 * 4, 500))
    return net.model(net.apply("Softmax", "softmax", net.linear(x, "fc2", 500, 10), axis=1), 10)


def cifar10() -> onnx.ModelProto:
    """Darknet's small network for CIFAR-10, whose 3x3 convolutions follow 1x1 bottlenecks, with one stage
    more: 8 convolutions, 4 pools and no fully connected layer, as [Bae2018], Table I counts them, on 3x32x32."""
    net = NetworkBuilder("cifar10", 3, 32, 32)
    x = net.input
    stages = (((32, 3),), ((16, 1), (64, 3)), ((32, 1), (128, 3)), ((64, 1), (256, 3), (10, 1)))
    count = 0
    for stage, convolutions in enumerate(stages, 1):
        for filters, kernel in convolutions:
            count += 1
            x = net.convolution(x, f"conv{count}", filters, kernel, pad=kernel // 2)
            x = net.apply("LeakyRelu", f"leaky{count}", x, alpha=0.1)
        if stage < len(stages):
            x = net.pool(x, f"pool{stage}", 2, 2)
    x = net.apply("Flatten", "flatten", net.apply("GlobalAveragePool", "pool4", x))
    return net.model(net.apply("Softmax", "softmax", x, axis=1), 10)


def alexnet_one_tower() -> onnx.ModelProto:
    """AlexNet in one tower, without LRN and groups, on 3x224x224: 655.6 M multiply-accumulates in its
    convolutions."""
    net = NetworkBuilder("alexnet-one-tower", 3, 224, 224)
    x = net.input
    table = (
        (64, 11, 4, 2, True),
        (192, 5, 1, 2, True),
        (384, 3, 1, 1, False),
        (256, 3, 1, 1, False),
        (256, 3, 1, 1, True),
    )
    for place, (filters, kernel, stride, pad, pooled) in enumerate(table, 1):
        x = net.apply(
            "Relu", f"relu{place}", net.convolution(x, f"conv{place}", filters, kernel, stride, pad)
        )
        if pooled:
            x = net.pool(x, f"pool{place}", 3, 2)
    x = net.apply("Flatten", "flatten", x)
    for place, inputs in ((6, 256 * 6 * 6), (7, 4096)):
        x = net.apply("Relu", f"relu{place}", net.linear(x, f"fc{place}", inputs, 4096))
    return net.model(net.apply("Softmax", "softmax", net.linear(x, "fc8", 4096, 1000), axis=1), 1000)


def alexnet_darknet() -> onnx.ModelProto:
    """Darknet's AlexNet on 3x227x227: one tower of 96, 256, 384, 384 and 256 filters, without LRN, and three fully
    connected layers; 1,135 M multiply-accumulates in all."""
    net = NetworkBuilder("alexnet-darknet", 3, 227, 227)
    x = net.input
    table = (
        (96, 11, 4, 0, True),
        (256, 5, 1, 2, True),
        (384, 3, 1, 1, False),
        (384, 3, 1, 1, False),
        (256, 3, 1, 1, True),
    )
    for place, (filters, kernel, stride, pad, pooled) in enumerate(table, 1):
        x = net.apply(
            "Relu", f"relu{place}", net.convolution(x, f"conv{place}", filters, kernel, stride, pad)
        )
        if pooled:
            x = net.pool(x, f"pool{place}", 3, 2)
    x = net.apply("Flatten", "flatten", x)
    for place, inputs in ((6, 256 * 6 * 6), (7, 4096)):
        x = net.apply("Relu", f"relu{place}", net.linear(x, f"fc{place}", inputs, 4096))
    return net.model(net.apply("Softmax", "softmax", net.linear(x, "fc8", 4096, 1000), axis=1), 1000)


def squeezenet_1_0() -> onnx.ModelProto:
    """SqueezeNet 1.0 on 3x227x227: 7x7 filters first, pools after the first convolution and the fourth and eighth fire
    module; 833 M multiply-accumulates."""
    net = NetworkBuilder("squeezenet-1.0", 3, 227, 227)
    x = net.apply("Relu", "relu1", net.convolution(net.input, "conv1", 96, 7, 2))
    x = net.pool(x, "pool1", 3, 2)
    fires = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
    for place, (squeezed, expanded) in enumerate(fires, 2):
        name = f"fire{place}"
        x = net.apply("Relu", f"{name}.relu1", net.convolution(x, f"{name}.squeeze", squeezed, 1))
        wide = [
            net.apply(
                "Relu",
                f"{name}.relu{kernel}x",
                net.convolution(x, f"{name}.expand{kernel}", expanded, kernel, 1, kernel // 2),
            )
            for kernel in (1, 3)
        ]
        x = net.concatenation(f"{name}.concat", wide)
        if place in (4, 8):
            x = net.pool(x, f"pool{place}", 3, 2)
    x = net.apply("Relu", "relu10", net.convolution(x, "conv10", 1000, 1))
    x = net.apply("Flatten", "flatten", net.apply("GlobalAveragePool", "pool10", x))
    return net.model(net.apply("Softmax", "softmax", x, axis=1), 1000)


def resnet18() -> onnx.ModelProto:
    """ResNet-18 on 3x224x224: eight residual blocks of two 3x3 convolutions, and three 1x1 shortcuts."""
    net = NetworkBuilder("resnet18", 3, 224, 224)
    x = net.apply("Relu", "relu1", net.convolution(net.input, "conv1", 64, 7, 2, 3))
    x = net.pool(x, "pool1", 3, 2, 1)
    channels = 64
    for stage, filters in enumerate((64, 128, 256, 512), 2):
        for block in ("a", "b"):
            name, stride = f"res{stage}{block}", 2 if filters != channels else 1
            y = net.apply("Relu", f"{name}.relu1", net.convolution(x, f"{name}.conv1", filters, 3, stride, 1))
            y = net.convolution(y, f"{name}.conv2", filters, 3, 1, 1)
            if filters != channels:
                x = net.convolution(x, f"{name}.shortcut", filters, 1, stride)
            x = net.apply("Relu", f"{name}.relu2", net.apply("Add", f"{name}.add", y, x))
            channels = filters
    x = net.apply("Flatten", "flatten", net.apply("GlobalAveragePool", "pool5", x))
    return net.model(net.linear(x, "fc", 512, 1000), 1000)


def lightcnn9() -> onnx.ModelProto:
    """LightCNN-9 on 1x128x128: every layer makes twice the channels it hands on, the larger of two each."""
    net = NetworkBuilder("lightcnn9", 1, 128, 128)
    x = net.max_feature_map(net.convolution(net.input, "conv1", 2 * 48, 5, 1, 2), "mfm1")
    x = net.pool(x, "pool1", 2, 2)
    channels = 48
    for place, filters in enumerate((96, 192, 128, 128), 2):
        x = net.max_feature_map(net.convolution(x, f"conv{place}a", 2 * channels, 1), f"mfm{place}a")
        x = net.max_feature_map(net.convolution(x, f"conv{place}", 2 * filters, 3, 1, 1), f"mfm{place}")
        if place != 4:
            x = net.pool(x, f"pool{place}", 2, 2)
        channels = filters
    x = net.linear(net.apply("Flatten", "flatten", x), "fc1", 128 * 8 * 8, 2 * 256)
    return net.model(net.max_feature_map(x, "mfm_fc1"), 256)


def mnist_tcpa() -> onnx.ModelProto:
    """The network of [Heidorn2019], Fig. 1(b), on one channel of 28x28: three 3x3 convolutions of 24, 24 and 16 filters
    that keep the size, two 2x2 pools, and ten neurons. The paper names no activation."""
    net = NetworkBuilder("mnist-tcpa", 1, 28, 28)
    x = net.pool(net.convolution(net.input, "conv0", 24, 3, 1, 1), "pool1", 2, 2)
    x = net.pool(net.convolution(x, "conv2", 24, 3, 1, 1), "pool3", 2, 2)
    x = net.apply("Flatten", "flatten", net.convolution(x, "conv4", 16, 3, 1, 1))
    return net.model(net.linear(x, "gemm1", 16 * 7 * 7, 10), 10)


BUILT: dict[str, Callable[[], onnx.ModelProto]] = {
    "inception-v4": inception_v4,
    "googlenet-224": googlenet_224,
    "resnet18": resnet18,
    "lenet5": lenet5,
    "cifar10": cifar10,
    "alexnet-one-tower": alexnet_one_tower,
    "alexnet-darknet": alexnet_darknet,
    "squeezenet-1.0": squeezenet_1_0,
    "lightcnn9": lightcnn9,
    "mnist-tcpa": mnist_tcpa,
}
