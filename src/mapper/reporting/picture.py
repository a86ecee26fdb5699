"""The picture that each kind of problem has of its own."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.kind.kind import Part


def picture(kind: str, problem: Any, mapping: Any, part: Part, prefix: str, routes: int) -> list[Element]:
    """Elements that show ``mapping``; identifiers in them begin with ``prefix``. ``routes``: the most that a network's
    layer may draw."""
    if kind == "tiling":
        from mapper.kind.tiling.picture import tiling_picture

        return tiling_picture(problem, mapping, (part.cost or {})["cycles"])
    if kind == "modulo_schedule":
        from mapper.kind.modulo_schedule.picture import kernel_picture, layer_picture

        if isinstance(problem, LayerProblem):
            return layer_picture(problem, mapping, prefix, routes)
        return kernel_picture(problem, mapping, prefix)
    if kind == "pe_allocation":
        from mapper.kind.pe_allocation.picture import allocation_picture

        return allocation_picture(problem, mapping, prefix)
    if kind == "algorithm_selection":
        from mapper.kind.algorithm_selection.picture import instance_picture, network_picture

        if isinstance(problem, PbqpProblem):
            return instance_picture(problem, mapping)
        return network_picture(problem, mapping)
    from mapper.kind.trace_partition.picture import partition_picture

    return partition_picture(problem, mapping, prefix)
