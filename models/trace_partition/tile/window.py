"""Where windows of averages are clipped by the edge of the map, and so need weights of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mapper.models.trace_partition.lowering.layer import TraceLayer

Span = tuple[int, int]
"""First position of the kernel along an axis that lies inside the map, and the one after the last."""


@dataclass(frozen=True)
class WindowClasses:
    """The classes of a layer's windows: those that keep the same rows and columns of the kernel share one.

    ``rows`` and ``columns`` are the distinct spans in the order of their first output row and column; ``row_of`` and
    ``column_of`` give the index of each output row's and column's span. Classes count columns within rows.
    """

    rows: tuple[Span, ...]
    columns: tuple[Span, ...]
    row_of: tuple[int, ...]
    column_of: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.rows) * len(self.columns)

    def number(self, row: int, column: int) -> int:
        """The class of the window of an output row and column."""
        return self.row_of[row] * len(self.columns) + self.column_of[column]

    @cached_property
    def spans(self) -> tuple[tuple[Span, Span], ...]:
        """Rows and columns of each class."""
        return tuple((rows, columns) for rows in self.rows for columns in self.columns)


def window_classes(layer: TraceLayer) -> WindowClasses:
    """The classes of ``layer``: one per distinct clipped window for an average over what lies ``inside``, else one
    with the whole kernel (padding then counts, or adds 0 or -32768)."""
    if layer.average != "inside":
        (height, width) = layer.kernel
        return WindowClasses(((0, height),), ((0, width),), (0,) * layer.rows, (0,) * layer.columns)
    rows = inside_spans(layer, 0)
    columns = inside_spans(layer, 1)
    distinct_rows, distinct_columns = tuple(dict.fromkeys(rows)), tuple(dict.fromkeys(columns))
    return WindowClasses(
        distinct_rows,
        distinct_columns,
        tuple(map(distinct_rows.index, rows)),
        tuple(map(distinct_columns.index, columns)),
    )


def inside_spans(layer: TraceLayer, axis: int) -> tuple[Span, ...]:
    """For each output row (axis 0) or column (axis 1) the positions of the kernel that lie inside the (spread) map."""
    size, kernel = layer.spread[axis], layer.kernel[axis]
    step, stride, begin = layer.dilation[axis], layer.stride[axis], layer.pads[axis][0]
    count = layer.rows if axis == 0 else layer.columns
    starts = [place * stride - begin for place in range(count)]
    return tuple(
        (min(kernel, max(0, -(start // step))), max(0, min(kernel, -(-(size - start) // step))))
        for start in starts
    )
