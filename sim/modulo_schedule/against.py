"""A kernel's graph beside what a compiler makes of the same loop, on the same memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mapper.sim.modulo_schedule.report import largest_error
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import Memory, execute
from mapper.workloads.reference.kernel import seeded_memory, within

Origins = Mapping[str, int]
"""Per array the word that its pointer leads to; 0 where nothing is said."""
Compiled = Callable[[Memory, Origins], Memory | None]
"""The memory after the compiled loop has run on another; None if it does not end, or leaves what it is given."""
MORE_TRIPS = (64, 512)
"""How often a loop that data end may run at the most, one try after another."""

MOST_WORDS = 1 << 20
"""Of an array that is made larger."""


@dataclass(frozen=True)
class Agreement:
    """``equal``: the same words, bit by bit. ``error``: the largest difference of words, infinite where the compiled
    loop does not end. ``most``: the largest integer in memory, where they are kept small; ``middle``: with pointers
    that lead to the middle of their arrays. ``leaves``: why the graph has not run at all, if so."""

    equal: bool
    error: float
    iterations: int = 0
    most: int | None = None
    middle: bool = False
    leaves: InputError | None = None


def agreement(kernel: Kernel, compiled: Compiled, seed: int) -> Agreement:
    """Whether both leave the same words. A loop that data end runs on until they have. Where indices that the memory
    holds lead out of their arrays, they are kept small, and then pointers lead to the middle of larger arrays. What
    leaves them even so computes nothing.

    Raises: InputError if the kernel says not how often it runs.
    """
    trips = kernel.trip_count or kernel.assumed_trips
    if trips is None:
        raise InputError(kernel.name, "trip_count", "is not known; give the loop a bound that is")
    larger, origins = _in_the_middle(kernel)
    tried = list[Agreement]()
    for most, one, leads in ((None, kernel, {}), (7, kernel, {}), (7, larger, origins), (1, larger, origins)):
        words = seeded_memory(one, seed)
        words = words if most is None else {name: within(each, most) for name, each in words.items()}
        found = replace(_on(one, words, leads, trips, compiled), most=most, middle=bool(leads))
        tried.append(found)
        if found.equal or (found.leaves is None and kernel.trip_count is not None):
            return found
    return next((one for one in tried if one.leaves is None), tried[-1])


def _on(kernel: Kernel, words: Memory, origins: Origins, trips: int, compiled: Compiled) -> Agreement:
    """The agreement on one memory."""
    found = Agreement(False, math.inf)
    wanted: Memory | None = None
    for count in (trips, *(MORE_TRIPS if kernel.trip_count is None else ())):
        try:
            mine = execute(replace(kernel, trip_count=count), words)
        except InputError as error:
            return found if found.iterations else replace(found, leaves=error)
        wanted = wanted if found.iterations else compiled(words, origins)
        if wanted is None:
            break
        equal = all(one.tobytes() == wanted[name].tobytes() for name, one in mine.items())
        found = Agreement(equal, largest_error(mine, wanted), count)
        if equal:
            break
    return found


def _in_the_middle(kernel: Kernel) -> tuple[Kernel, Origins]:
    """The kernel whose arrays are twice as large, with pointers that lead to their middles; those that are read before
    the loop stay."""
    before = {one.array for one in kernel.entry}
    origins = {
        array.name: array.words
        for array in kernel.arrays
        if 1 < array.words <= MOST_WORDS and array.name not in before
    }
    operations = tuple(
        replace(one, offset=one.offset + origins.get(one.array or "", 0)) for one in kernel.graph.operations
    )
    arrays = tuple(replace(one, words=one.words + origins.get(one.name, 0)) for one in kernel.arrays)
    return replace(kernel, graph=replace(kernel.graph, operations=operations), arrays=arrays), origins
