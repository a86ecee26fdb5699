"""A network's own weights and its ONNX model, if its file is there as the solution knew it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from mapper.workloads.document import InputError, is_file
from mapper.workloads.network.network_layer import LayerNetwork

if TYPE_CHECKING:
    import onnx

CATALOGUE_PREFIX = "catalogue:"


def file_weights(network: LayerNetwork) -> tuple[Mapping[str, npt.NDArray[Any]], str] | None:
    """The weights in the network's ONNX file and its path, if it is there with the hash of the solution; those of the
    catalogue are constants that would hide a wrong layout.

    Raises: InputError if the file cannot be read.
    """
    for file in network.operators.files:
        path = Path(file.path)
        if path.suffix == ".onnx" and is_file(path):
            from mapper.workloads.onnx.process import read_weights

            weights, read = read_weights(path, network.operators.batch, network.operators.dims)
            if file in read:
                return weights, file.path
    return None


def network_model(network: LayerNetwork) -> onnx.ModelProto | None:
    """The ONNX model that the network is read from: its file, if it is there, or that of the catalogue.

    Raises: InputError if the file cannot be read.
    """
    from mapper.workloads.catalogue import CATALOGUE, entry_bytes
    from mapper.workloads.onnx.file import parse_model, read_model

    for file in network.operators.files:
        name = file.path.removeprefix(CATALOGUE_PREFIX)
        if name != file.path and name in CATALOGUE:
            return parse_model(entry_bytes(name), name).proto
        if Path(file.path).suffix == ".onnx" and is_file(Path(file.path)):
            try:
                return read_model(Path(file.path)).proto
            except InputError:
                return None
    return None
