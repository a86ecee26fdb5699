"""ONNX files that may be broken or hostile: from bytes to a model, external data checked but not loaded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx

from mapper.workloads.document import InputError, is_file, read_bytes
from mapper.workloads.onnx.function import inline_functions
from mapper.workloads.onnx.old_opset import OLD_OPSETS, convert_old

LARGEST_MODEL_BYTES = 2 << 30
SMALL_VALUE_ELEMENTS = 64
"""Tensors up to this size may hold shapes, axes or pads, and are looked into; larger ones are weights."""


@dataclass(frozen=True)
class OnnxModel:
    """A model whose calls of local functions are unfolded, its opsets by domain, and the files that hold its
    external data."""

    source: str
    proto: onnx.ModelProto
    opsets: dict[str, int]
    external: tuple[Path, ...] = ()


def read_model(path: Path) -> OnnxModel:
    """The model in an ONNX file; the external data it names are found, not loaded.

    Raises: InputError if the file, or a file it refers to, is no part of a readable model.
    """
    source = str(path)
    if not is_file(path):
        raise InputError(source, "", "is not a file; give an existing .onnx file")
    data = read_bytes(path, LARGEST_MODEL_BYTES)
    return parse_model(data, source, path.parent)


def parse_model(data: bytes, source: str, folder: Path | None = None) -> OnnxModel:
    """The model in ``data``; ``folder`` is where its external data lie (None: it may have none).

    Raises: InputError as ``read_model``.
    """
    try:
        proto = onnx.ModelProto.FromString(data)
    except MemoryError:
        raise
    except Exception:  # protobuf has an error type of its own per implementation
        raise InputError(source, "", "is not an ONNX model, or a truncated one; export it again") from None
    if not proto.graph.node:
        raise InputError(source, "graph", "has no operators; export the model again")
    proto = inline_functions(proto, source)
    if _opset(proto) in OLD_OPSETS:
        proto = convert_old(proto, source)
    opsets = _opsets(proto, source)
    return OnnxModel(source, proto, opsets, _resolve_external_data(proto, source, folder))


def _opset(proto: onnx.ModelProto) -> int:
    """The version of ONNX's own operators; a model that names none is of the first."""
    versions = [entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")]
    return versions[-1] if versions else 1


def _opsets(proto: onnx.ModelProto, source: str) -> dict[str, int]:
    opsets = {
        "" if entry.domain == "ai.onnx" else entry.domain: entry.version for entry in proto.opset_import
    }
    newest = onnx.defs.onnx_opset_version()
    version = _opset(proto)
    if not 1 <= version <= newest:
        raise InputError(
            source, "opset_import", f"opset {version} is not among 1 to {newest}; convert the model"
        )
    for domain, other in opsets.items():
        if not 0 <= other < 1 << 31:
            raise InputError(
                source, "opset_import", f"{other} is not a version of domain {domain[:40]!r}; correct it"
            )
    return opsets


def _resolve_external_data(proto: onnx.ModelProto, source: str, folder: Path | None) -> tuple[Path, ...]:
    """Check every reference to external data; small tensors are read, since shapes may depend on them."""
    files: dict[str, Path] = {}
    for tensor in _tensors(proto.graph):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        field = f"tensor {str(tensor.name)[:60]!r}"
        entries = {str(entry.key): str(entry.value) for entry in tensor.external_data}
        location = entries.get("location", "")
        path = files[location] = files.get(location) or _data_file(location, source, field, folder)
        size = path.stat().st_size
        try:
            offset = int(entries.get("offset", "0"))
            length = int(entries.get("length", str(size - offset)))
        except ValueError:
            raise InputError(source, field, "offset and length of external data must be numbers") from None
        if offset < 0 or length < 0 or offset + length > size:
            raise InputError(
                source, field, f"lies beyond the end of {location[:80]!r}; copy the whole data file"
            )
        if math.prod(tensor.dims) <= SMALL_VALUE_ELEMENTS and length <= 16 * SMALL_VALUE_ELEMENTS:
            with path.open("rb") as file:
                file.seek(offset)
                tensor.raw_data = file.read(length)
            tensor.data_location = onnx.TensorProto.DEFAULT
            del tensor.external_data[:]
    return tuple(files.values())


def _data_file(location: str, source: str, field: str, folder: Path | None) -> Path:
    if folder is None or not location or "\0" in location:
        raise InputError(source, field, "has its data nowhere; save the model with its data")
    path = folder / location
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
        if inside and path.is_file():
            return path
    except (OSError, RuntimeError):
        inside = True
    if inside:
        raise InputError(
            source, field, f"external data {location[:80]!r} is not a readable file; copy it beside the model"
        )
    raise InputError(
        source, field, f"external data {location[:80]!r} lies outside the model's folder; move it there"
    )


def _tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for attribute in _attributes(graph.node):
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        if attribute.HasField("g"):
            yield from _tensors(attribute.g)
        for inner in attribute.graphs:
            yield from _tensors(inner)


def _attributes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.AttributeProto]:
    for node in nodes:
        yield from node.attribute
