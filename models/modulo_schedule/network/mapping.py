"""Mappings of layers: the algorithm, and for every nest of it the boxes that cover it with their schedules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.body import kernel_text
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.workloads.c_kernel import kernel_from_c
from mapper.workloads.kernel import Kernel


@dataclass(frozen=True)
class LoopMapping:
    """One kernel: the nest it comes from (by position), the box it runs over, how many accesses share a pointer
    (None: all of a stride), and its schedule."""

    nest: int
    box: Box
    pointer_uses: int | None
    schedule: ModuloSchedule


@dataclass(frozen=True)
class LayerMapping:
    """A layer's algorithm and its kernels in the order in which they run."""

    algorithm: str
    loops: tuple[LoopMapping, ...]


@lru_cache(maxsize=4096)
def kernel_of(nest: Nest, box: Box, pointer_uses: int | None = None) -> Kernel:
    """The kernel of a box; live-ins stand at numbers that tell them apart."""
    return kernel_from_c(kernel_text(nest, box), nest.name, nest.name, pointer_uses=pointer_uses)
