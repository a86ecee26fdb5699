"""Mappings of layers: the algorithm, and for every nest of it the boxes that cover it with their schedules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.body import kernel_text
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.c.reading import AS_PUBLISHED
from mapper.workloads.graph.kernel import Kernel

MOST_WORDS = 1 << 25
"""The most words between the first and the last iteration that a kernel's arrays hold."""


@dataclass(frozen=True)
class LoopMapping:
    """One kernel: the nest it comes from (by position), the box it runs over, how many accesses share a pointer
    (None: all of a stride), and its schedule. ``least_ii``: a search has proven that the kernel has no schedule of
    a smaller II; None where nothing beyond MII is known."""

    nest: int
    box: Box
    pointer_uses: int | None
    schedule: ModuloSchedule
    least_ii: int | None = None


@dataclass(frozen=True)
class LayerMapping:
    """A layer's algorithm and its kernels in the order in which they run."""

    algorithm: str
    loops: tuple[LoopMapping, ...]


@lru_cache(maxsize=4096)
def kernel_of(nest: Nest, box: Box, pointer_uses: int | None = None) -> Kernel:
    """The kernel of a box; live-ins stand at numbers that tell them apart.

    ``arrays`` (and ``text``) are those of the first iterations where all of them reach over more than
    ``MOST_WORDS``. The graph is the same: copies of a body never meet at a word of the output in another
    iteration, unless they do so in the next one.
    """
    place = nest.names.index(box.innermost)
    step = box.unroll[place] * max(access.stride(box.innermost) for access in (nest.output, *nest.inputs))
    trips = box.trip_count(nest)
    made = min(trips, max(2, MOST_WORDS // max(1, step)))
    count = (*box.count[:place], made * box.unroll[place], *box.count[place + 1 :])
    text = kernel_text(nest, replace(box, count=count))
    kernel = kernel_from_c(text, nest.name, nest.name, pointer_uses=pointer_uses, reading=AS_PUBLISHED)
    return replace(kernel, trip_count=trips)
