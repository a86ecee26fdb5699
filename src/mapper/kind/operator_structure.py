"""A network of operators as it stands in a solution document, by which no kind needs the ONNX file again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mapper.workloads.document import InputError
from mapper.workloads.network.building import network_layers
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.operator_document import operators_document, operators_from_document


def operator_structure(network: LayerNetwork) -> dict[str, Any]:
    """``problem.structure`` of a network that is solved as a whole."""
    return {"operators": operators_document(network.operators)}


def read_operator_structure(structure: Mapping[str, Any], source: str) -> LayerNetwork:
    """The network that ``structure`` describes.

    Raises: InputError if it describes none.
    """
    fields = structure.get("operators")
    if not isinstance(fields, dict):
        raise InputError(source, "problem.structure.operators", "must hold the network's operators")
    return network_layers(operators_from_document(fields, f"{source}: problem.structure.operators"))
