"""Weights and biases of a layer in the order in which a cluster's loads read them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.mapping import LayerMapping
from mapper.models.trace_partition.quantisation import LayerData
from mapper.models.trace_partition.trace_layer import TraceLayer

Words = npt.NDArray[np.int16]


def packed(
    layer: TraceLayer,
    mapping: LayerMapping,
    machine: SnowflakeMachine,
    data: LayerData,
    sharing: int = 1,
    cluster: int = 0,
) -> tuple[Words, Words]:
    """The words of ``weights:<layer>`` and of ``bias:<layer>`` for one cluster: ``plan.weight_words`` and
    ``plan.bias_words`` long. Both are equal for all clusters that have steps unless they share output channels."""
    raise NotImplementedError
