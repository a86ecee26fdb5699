"""What stands around a layer's sums: the bias before them, activations after them, and what the array lacks."""

from __future__ import annotations

import math

from mapper.models.modulo_schedule.network.nest import Access, Nest, Operation
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator

FAR_BELOW = -3.4028234663852886e38
_ACTIVATIONS: dict[str, Operation] = {"Relu": "relu", "LeakyRelu": "leaky_relu", "Clip": "clip"}
SCALES = frozenset({"BatchNormalization", "Mul", "Add", "Sub", "Div"})


def ends(layer: NetworkLayer, filters: int, positions: int, repeats: int, output: Access) -> tuple[Nest, ...]:
    """What comes before and after the sums: filling with the bias, and the activation if there is one."""
    loops = (("i", filters), ("j", positions))
    fill = Nest("bias", loops, "fill", output, (Access("bias", (("i", 1),)),), repeats)
    after = activation(layer.merged[-1:], (("j", filters * positions),), Access("c", (("j", 1),)), repeats)
    return (fill, *after)


def activation(
    merged: tuple[NetworkOperator, ...], loops: tuple[tuple[str, int], ...], place: Access, repeats: int
) -> tuple[Nest, ...]:
    """The nest of the first merged operator, where the array runs it."""
    if not merged:
        return ()
    operation = mapped(merged[0])
    if operation is None:
        return ()
    return (Nest("activation", loops, operation, place, (place,), repeats, numbers(merged[0])),)


def mapped(operator: NetworkOperator) -> Operation | None:
    """What the array runs for an activation. A leaky ReLU is the larger of x and x times its slope, which holds for
    slopes of 0 to 1."""
    if operator.op == "LeakyRelu" and not 0.0 <= operator.number("alpha", 0.01) <= 1.0:
        return None
    return _ACTIVATIONS.get(operator.op)


def unmapped(layer: NetworkLayer) -> int:
    """Elements of merged operators that the array does not run: functions it lacks, and scales that no weights
    can take up."""
    folded = layer.work in ("convolution", "fully_connected")
    left = [
        operator
        for operator in layer.merged
        if mapped(operator) is None and not (folded and operator.op in SCALES)
    ]
    return len(left) * math.prod(layer.output_shape)


def numbers(operator: NetworkOperator) -> tuple[float, ...]:
    """The constants of an activation: the slope of a leaky ReLU, the limits of a clip."""
    if operator.op == "LeakyRelu":
        return (float(operator.number("alpha", 0.01)),)
    if operator.op == "Clip":
        limits = operator.number("min", FAR_BELOW), operator.number("max", -FAR_BELOW)
        return tuple(min(max(float(limit), FAR_BELOW), -FAR_BELOW) for limit in limits)
    return ()
