"""PBQP instances as compact binary files, for large ones.

Little-endian: eight bytes ``MPBQP`` CR LF 0x1a; the width of a cost in bytes (1, 2, 4 or 8 for integers, 0 for floats
of 8 bytes), the numbers of vertices, edges, vertex costs and edge costs, 8 bytes each; then the number of choices per
vertex, the two ends per edge, 4 bytes each; vertex costs; edge costs, matrix by matrix. The largest integer of a width
is infinity.
"""

from __future__ import annotations

import struct

import numpy as np

from mapper.workloads.document import InputError
from mapper.workloads.pbqp.instance import INFINITE, Costs, PbqpInstance, flat_instance

MAGIC = b"MPBQP\r\n\x1a"
_HEADER = struct.Struct("<8sQQQQQ")
_TYPES = {0: "<f8", 1: "<i1", 2: "<i2", 4: "<i4", 8: "<i8"}


def pbqp_from_binary(data: bytes, source: str, name: str) -> PbqpInstance:
    """The instance in ``data``, called ``name``; memory is taken only for numbers that are there.

    Raises: InputError if the data is no such instance.
    """
    if len(data) < _HEADER.size or not data.startswith(MAGIC):
        raise InputError(
            source, "header", "is not a binary PBQP instance; give a .pbqp file written by mapper"
        )
    _, width, vertices, edges, own, paid = _HEADER.unpack_from(data)
    if width not in _TYPES:
        raise InputError(source, "header", f"costs of {width} bytes; the width is 0, 1, 2, 4 or 8")
    kind = np.dtype(_TYPES[width])
    called = _HEADER.size + 4 * vertices + 8 * edges + kind.itemsize * (own + paid)
    if called != len(data):
        remedy = f"claims {called} bytes but the file has {len(data)}; write it again"
        raise InputError(source, "header", remedy)
    at = _HEADER.size
    choices = np.frombuffer(data, "<u4", vertices, at).astype(np.int64)
    ends = np.frombuffer(data, "<u4", 2 * edges, at + 4 * vertices).astype(np.int64).reshape(-1, 2)
    at += 4 * vertices + 8 * edges
    vertex_cost = _wide(np.frombuffer(data, kind, own, at))
    edge_cost = _wide(np.frombuffer(data, kind, paid, at + kind.itemsize * own))
    try:
        return flat_instance(choices, vertex_cost, ends, edge_cost, name)
    except InputError as error:
        raise InputError(source, error.field, error.remedy) from None


def pbqp_binary(instance: PbqpInstance) -> bytes:
    """The instance in the narrowest binary form that holds its costs."""
    width = _width(instance)
    header = _HEADER.pack(
        MAGIC, width, instance.vertices, instance.edges, len(instance.vertex_cost), len(instance.edge_cost)
    )
    costs = (_narrow(array, width) for array in (instance.vertex_cost, instance.edge_cost))
    return b"".join(
        (header, instance.choices.astype("<u4").tobytes(), instance.edge_end.astype("<u4").tobytes(), *costs)
    )


def _width(instance: PbqpInstance) -> int:
    if not instance.exact:
        return 0
    largest = 0
    for costs in (instance.vertex_cost, instance.edge_cost):
        largest = max(largest, int(np.abs(costs[costs != INFINITE]).max(initial=0)))
    return next(width for width in (1, 2, 4, 8) if largest < (1 << (8 * width - 1)) - 1)


def _narrow(costs: Costs, width: int) -> bytes:
    if width == 0:
        return costs.astype("<f8").tobytes()
    kind = np.dtype(_TYPES[width])
    return np.where(costs == INFINITE, np.iinfo(kind).max, costs).astype(kind).tobytes()


def _wide(costs: Costs) -> Costs:
    if costs.dtype.kind == "f":
        return costs.astype(np.float64)
    infinite = np.iinfo(costs.dtype).max
    wide = costs.astype(np.int64)
    wide[wide == infinite] = INFINITE
    return wide
