"""Open dimensions of an ONNX file's inputs, given sizes by name."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant, nearest


def close_dimensions(graph: onnx.GraphProto, sizes: Mapping[str, int], source: str) -> None:
    """Give every dimension that the graph calls by one of the names its size, wherever it stands.

    Raises: InputError if no input has a dimension of that name.
    """
    named = dict.fromkeys(
        dimension.dim_param
        for value in graph.input
        for dimension in value.type.tensor_type.shape.dim
        if dimension.dim_param
    )
    for name in sizes:
        if name not in named:
            near = nearest(name, named, close=0.4) or list(named)[:4]
            there = f"there are {', '.join(one[:40] for one in near)}" if near else "it has none"
            there = meant(name, named) + there
            raise InputError("--dim", name[:60], f"is no open dimension of {source[:80]}'s inputs; {there}")
    for value in (*graph.input, *graph.value_info, *graph.output):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param in sizes:
                dimension.dim_value = sizes[dimension.dim_param]
