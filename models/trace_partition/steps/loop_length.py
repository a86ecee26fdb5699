"""The longest loop of a layer's compute objects, which has to fit a bank of instructions [Chang2018, sec. 4]."""

from __future__ import annotations

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.steps.loop_nest import loop_nest
from mapper.models.trace_partition.steps.plan import LayerPlan

LONGEST_LOOP = BANK_INSTRUCTIONS - 3
"""A bank begins with the load of the next (two instructions) and ends with the wait for it."""
SMALL_WINDOW = 128
"""Positions of a window whose loops fit a bank in any case: no position takes more than three instructions, and all
else less than a hundred."""


def small_window(layer: TraceLayer) -> bool:
    """Whether loops of ``layer`` fit a bank whatever the mapping."""
    return layer.kernel[0] * layer.kernel[1] <= SMALL_WINDOW


def longest_loop(plan: LayerPlan) -> int:
    """Instructions of the longest loop of a cluster's steps."""
    steps = {step.compute for step in plan.classes()}
    made = (one for step in steps for one in plan.compute(step))
    return max((len(segment) for one in made for segment in loop_nest(one).segments), default=0)
