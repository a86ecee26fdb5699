"""The steps of a layer as documents list them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, StepEntry
from mapper.models.trace_partition.steps.plan import plan_layer
from mapper.models.trace_partition.steps.step import Step


def step_entries(steps: Iterable[Step]) -> Iterator[StepEntry]:
    """Loads, computation and store of each step, in order. A computation has the number of its step as tile, and the
    buffer of its results: that from which they are stored; partial sums and maps that stay have one buffer, 0."""
    for number, step in enumerate(steps):
        for load in step.loads:
            yield StepEntry("load", load.operand, load.tile, load.buffer)
        yield StepEntry("compute", "output", (number,), 0 if step.store is None else step.store.buffer)
        if step.store is not None:
            yield StepEntry("store", "output", step.store.tile, step.store.buffer)


def steps_json(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """``[{"step", "operand", "tile", "buffer"}]`` of the steps."""
    return [entry.to_json() for entry in step_entries(steps)]


def layer_steps(
    layer: TraceLayer, mapping: LayerMapping, machine: SnowflakeMachine, configuration: Configuration
) -> list[dict[str, Any]]:
    """The steps of the first cluster, which has the largest share; those of the others are the same or fewer.

    Raises: ValueError if the mapping does not fit this layer.
    """
    return steps_json(plan_layer(layer, mapping, machine, configuration.sharing).steps())
