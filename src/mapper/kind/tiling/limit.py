"""Limits on latency, in cycles of the machine's clock."""

from __future__ import annotations

import math

from mapper.arch.dataflow import DataflowMachine
from mapper.arch.hierarchy import HierarchyMachine
from mapper.models.tiling.price import decimal
from mapper.workloads.document import InputError

CYCLES_PER_MS_AND_MHZ = 1000


def most_cycles(milliseconds: float | None, machine: DataflowMachine | HierarchyMachine) -> int | None:
    """The cycles that all layers together may take within ``milliseconds``, None without such a limit.

    Raises: InputError if the limit is no number, or the machine has no clock.
    """
    if milliseconds is None:
        return None
    if not 0 <= milliseconds < math.inf:
        raise InputError("--max-latency", str(milliseconds), "must be a number of ms from 0 on")
    if machine.clock_mhz is None:
        raise InputError("--max-latency", f"{milliseconds:g}", f"{machine.name} has no clock; set clock_mhz")
    return math.floor(decimal(milliseconds) * decimal(machine.clock_mhz) * CYCLES_PER_MS_AND_MHZ)
