"""What the machine does to the results of a layer as it writes them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mapper.models.trace_partition.data.fixed_point import words
from mapper.models.trace_partition.data.function_table import has_table
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.workloads.network.operator_network import NetworkOperator

LEAST, MOST = -(1 << 15), (1 << 15) - 1


def activated(layer: TraceLayer, operator: NetworkOperator) -> TraceLayer | None:
    """``layer`` with ``operator`` done to its results; None if it does something to them already, or the machine has no
    such activation."""
    if layer.activated:
        return None
    if operator.op == "Relu":
        return replace(layer, relu=True)
    if has_table(operator):
        return replace(layer, table="function")
    limits = clip_limits(operator)
    if limits is None:
        return None
    return replace(layer, relu=True) if limits == (0, MOST) else replace(layer, clip=limits)


def is_activation(operator: NetworkOperator) -> bool:
    """Whether the machine has this activation."""
    return operator.op == "Relu" or has_table(operator) or clip_limits(operator) is not None


def clip_limits(operator: NetworkOperator) -> tuple[int, int] | None:
    """The least and the largest word that ``Clip`` leaves, in Q8.8; None for other operators, and where the bounds are
    not known numbers."""
    if operator.op != "Clip" or operator.weights or len(operator.inputs) != 1:
        return None
    found = []
    for name, missing in (("min", LEAST), ("max", MOST)):
        bound = operator.number(name) if operator.has(name) else math.nan
        found.append(missing if math.isnan(bound) else int(words(np.array([bound]))[0]))
    return found[0], found[1]
