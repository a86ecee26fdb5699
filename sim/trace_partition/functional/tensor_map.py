"""Tensors in memory as arrays of rows, columns and channels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.lowering.layer import TensorView
from mapper.workloads.document import InputError

Words = npt.NDArray[np.int16]
Memory = Mapping[str, Words]
"""Words of each tensor, by name."""


def tensor_map(view: TensorView, memory: Memory) -> Words:
    """What ``view`` shows, as an array (rows, columns, channels) that shares its words with ``memory``.

    Raises: InputError if there is no such tensor or the view reaches beyond it.
    """
    if view.tensor not in memory:
        raise InputError(f"tensor {view.tensor[:60]!r}", "", "is not in memory; compile the program again")
    flat = memory[view.tensor]
    least = min(view.height, view.width, view.channels, view.pitch)
    end = view.offset + (view.height * view.width - 1) * view.pitch + view.channels
    if least < 1 or view.offset < 0 or end > flat.size:
        raise InputError(
            f"tensor {view.tensor[:60]!r}", "", f"has {flat.size} words, and word {end - 1} is asked for"
        )
    size = flat.itemsize
    strides = (view.width * view.pitch * size, view.pitch * size, size)
    shape = (view.height, view.width, view.channels)
    return np.lib.stride_tricks.as_strided(flat[view.offset :], shape, strides)
