"""A kernel's graph beside what a compiler makes of the same loop, on the same memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from mapper.sim.modulo_schedule.report import largest_error
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import Memory, execute
from mapper.workloads.reference.kernel import seeded_memory

Compiled = Callable[[Memory], Memory | None]
"""The memory after the compiled loop has run on another; None if it does not end, or leaves what it is given."""
MORE_TRIPS = (64, 512)
"""How often a loop that data end may run at the most, one try after another."""


@dataclass(frozen=True)
class Agreement:
    """``equal``: the same words, bit by bit. ``error``: the largest difference of words, infinite where the compiled
    loop does not end. ``leaves``: why the graph has not run at all, if so. ``small``: on integers from 0 to 7."""

    equal: bool
    error: float
    iterations: int = 0
    small: bool = False
    leaves: InputError | None = None


def agreement(kernel: Kernel, compiled: Compiled, seed: int) -> Agreement:
    """Whether both leave the same words. A loop that data end runs on until they have; indices that the memory holds
    are kept small where they would otherwise lead out of their arrays. What leaves them even so computes nothing.

    Raises: InputError if the kernel says not how often it runs.
    """
    trips = kernel.trip_count or kernel.assumed_trips
    if trips is None:
        raise InputError(kernel.name, "trip_count", "is not known; give the loop a bound that is")
    counts = (trips, *(MORE_TRIPS if kernel.trip_count is None else ()))
    memory = seeded_memory(kernel, seed)
    found = Agreement(False, math.inf)
    ran = False
    for small, words in ((False, memory), (True, {name: _small(one) for name, one in memory.items()})):
        wanted: Memory | None = None
        for count in counts:
            try:
                mine = execute(replace(kernel, trip_count=count), words)
            except InputError as error:
                found = found if ran else replace(found, leaves=error)
                break
            wanted = wanted if ran and wanted is not None else compiled(words)
            ran = True
            if wanted is None:
                break
            equal = all(one.tobytes() == wanted[name].tobytes() for name, one in mine.items())
            found = Agreement(equal, largest_error(mine, wanted), count, small)
            if equal:
                return found
    return replace(found, leaves=None) if ran else found


def _small(words: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return words if words.dtype.kind == "f" else words & 7
