"""The positions of a layer's windows that lie on an input, and the products that come of them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.lowering.layer import TraceLayer

Counts = npt.NDArray[np.int64]


def real_products(layer: TraceLayer) -> int:
    """The operator's multiply-accumulates without those of padding and of zeros between spread pixels; 0 where it has
    none."""
    if not layer.macs:
        return 0
    return min(layer.macs, int(window_taps(layer).sum()) * layer.group_inputs * layer.filters)


def window_taps(layer: TraceLayer) -> Counts:
    """Positions of the window that lie on an input, for every output pixel: [rows][columns]."""
    return np.multiply.outer(_along(layer, 0)[0], _along(layer, 1)[0])


def pixels_read(layer: TraceLayer, axis: int) -> int:
    """Rows, or columns, of the input that some window reads."""
    return _along(layer, axis)[1]


def _along(layer: TraceLayer, axis: int) -> tuple[Counts, int]:
    extent = (layer.input.height, layer.input.width)[axis]
    outputs = (layer.rows, layer.columns)[axis]
    window = layer.kernel[axis], layer.stride[axis], layer.dilation[axis], layer.upsample[axis]
    return _window(extent, outputs, *window, layer.pads[axis][0])


@lru_cache(maxsize=1 << 10)
def _window(
    extent: int, outputs: int, kernel: int, stride: int, dilation: int, upsample: int, pad: int
) -> tuple[Counts, int]:
    """Positions of the window on an input, for every output of one direction; and how many inputs any of them reads."""
    at = np.arange(outputs)[:, None] * stride - pad + np.arange(kernel)[None, :] * dilation
    inside = (at >= 0) & (at <= (extent - 1) * upsample) & (at % upsample == 0)
    return inside.sum(axis=1, dtype=np.int64), len(np.unique(at[inside]))
