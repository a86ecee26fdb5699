"""The calls with which a program asks the host for what the accelerator lacks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.isa.program import HostCall
from mapper.models.trace_partition.lowering.host_operator import OWN
from mapper.models.trace_partition.lowering.layer import Attributes, HostLayer, TraceNetwork
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork

Weights = Mapping[str, npt.NDArray[Any]]
NONE: Weights = MappingProxyType({})


def host_calls(network: LayerNetwork, trace: TraceNetwork, weights: Weights = NONE) -> tuple[HostCall, ...]:
    """A call for each layer of ``trace`` that the host runs, numbered from 1 in their order. ``weights`` are needed by
    those whose operators have constants.

    Raises: InputError if such a constant has no value.
    """
    return tuple(
        HostCall(
            number,
            layer.name,
            layer.op,
            layer.inputs,
            layer.output,
            layer.attributes + _constants(network, layer, weights),
        )
        for number, layer in enumerate(trace.hosted, 1)
    )


def _constants(network: LayerNetwork, layer: HostLayer, weights: Weights) -> Attributes:
    """The values of the operator's constants, element by element."""
    names = dict(layer.attributes).get(f"{OWN}constants", ())
    assert isinstance(names, tuple)
    found = []
    for place, name in enumerate(map(str, names)):
        if name not in weights:
            remedy = "has no value, which the host needs; give the network's own weights"
            raise InputError(network.name, f"tensor {name[:60]!r}", remedy)
        values = np.asarray(weights[name], np.float64).reshape(-1)
        found.append((f"{OWN}value.c{place}", tuple(float(value) for value in values)))
    return tuple(found)
