"""Limits on latency, in cycles of the machine's clock."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mapper.arch.dataflow import DataflowMachine
from mapper.arch.hierarchy import HierarchyMachine
from mapper.models.tiling.price import decimal
from mapper.workloads.document import InputError

CYCLES_PER_MS_AND_MHZ = 1000


def most_cycles(
    milliseconds: float | None, machine: DataflowMachine | HierarchyMachine, layers: Sequence[str]
) -> int | None:
    """The cycles that a layer may take within ``milliseconds``, None without such a limit.

    Raises: InputError if the limit is no number, the machine has no clock, or several layers would have to share it.
    """
    if milliseconds is None:
        return None
    if not 0 <= milliseconds < math.inf:
        raise InputError("--max-latency", str(milliseconds), "must be a number of ms from 0 on")
    if machine.clock_mhz is None:
        raise InputError("--max-latency", f"{milliseconds:g}", f"{machine.name} has no clock; set clock_mhz")
    if len(layers) > 1:
        some = ", ".join(layers[:4])
        remedy = (
            f"is for one layer, and there are {len(layers)} ({some} …); give one, NAME/PART, or list the "
            "trade-offs of all together with --pareto"
        )
        raise InputError("--max-latency", f"{milliseconds:g}", remedy)
    return math.floor(decimal(milliseconds) * decimal(machine.clock_mhz) * CYCLES_PER_MS_AND_MHZ)
