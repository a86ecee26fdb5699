"""The integers of a network as the files that ``mapper generate`` writes: formats and rounding as JSON, what the host
computes with as arrays. Kernels, biases and factors of the array's layers are in the image of DRAM."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Container, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.models.algorithm_selection.control.sequence import layer_shape
from mapper.models.algorithm_selection.number.network_number import (
    Format,
    Integers,
    LayerNumbers,
    NetworkNumbers,
    Rounding,
)
from mapper.models.algorithm_selection.number.own import CONSTANTS
from mapper.workloads.document import InputError, validation_error
from mapper.workloads.nest.layer_nest import Convolution
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer

Word = Annotated[int, Field(ge=-(1 << 40), le=1 << 40, strict=True)]
Short = Annotated[int, Field(ge=-(1 << 16), le=1 << 16, strict=True)]
Zero = Annotated[int, Field(ge=-(1 << 10), le=1 << 10, strict=True)]
Place = Annotated[int, Field(ge=1, le=CONSTANTS, strict=True)]
Words = Annotated[tuple[Word, ...], Field(max_length=1 << 20)]
PRODUCTS = ("convolution", "fully_connected")
LARGEST_BYTES = 4 << 30
_UNREADABLE = (
    ValueError, OSError, EOFError, KeyError, NotImplementedError, RuntimeError, TypeError, AttributeError,
    SyntaxError, MemoryError, OverflowError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What a file that is no archive of arrays may raise."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Format(_Part):
    scale: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    zero: Zero = 0
    offset: Zero = 0


class _Rounding(_Part):
    shift: Annotated[int, Field(ge=0, le=63, strict=True)]
    lowest: Short
    highest: Short
    slope: Annotated[int, Field(ge=0, le=1 << 17, strict=True)]
    single: bool


class _Layer(_Part):
    rounding: _Rounding | None
    sums: Word | None = None
    times: Words = ()
    zeros: Annotated[tuple[Short, ...], Field(max_length=1 << 10)] = ()
    bias: Words = (0,)
    factor: Words = (1,)
    table: Annotated[tuple[Zero, ...], Field(min_length=256, max_length=256 * CONSTANTS)] | None = None
    places: Annotated[tuple[Place, ...], Field(max_length=8)] = ()


class _Document(_Part):
    origin: Annotated[str, Field(max_length=10_000)]
    exact: bool
    formats: dict[str, _Format]
    layers: dict[str, _Layer]


def numbers_document(network: LayerNetwork, numbers: NetworkNumbers) -> dict[str, Any]:
    """What is not in the image of DRAM, constants of the host apart."""
    return {
        "origin": numbers.origin,
        "exact": numbers.exact,
        "formats": {name: vars(one) for name, one in numbers.formats.items()},
        "layers": {
            layer.name: _layer_document(numbers.layers[layer.name], layer.work) for layer in network.layers
        },
    }


def _layer_document(own: LayerNumbers, work: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rounding": None if own.rounding is None else vars(own.rounding),
        "sums": own.sums,
        "times": list(own.times),
        "zeros": list(own.zeros),
    }
    if work not in PRODUCTS:
        found |= {"bias": own.bias.tolist(), "factor": own.factor.tolist()}
    if own.table is None:
        return found
    return {**found, "table": own.table.reshape(-1).tolist(), "places": list(own.table.shape[1:])}


def host_constants(network: LayerNetwork, numbers: NetworkNumbers, ran: Container[str]) -> bytes:
    """What is the host's, as numpy's archive of arrays: the constants of all layers but products, and of products that
    are not among those that ``ran`` on the array the kernels, biases and factors."""
    assert numbers.weights is not None
    arrays = {f"constant/{at}": numbers.weights[name] for at, name in enumerate(_constants(network))}
    for at, layer in enumerate(_products_beside(network, ran)):
        own = numbers.layers[layer.name]
        arrays |= {f"product/{at}/{name}": getattr(own, name) for name in ("kernels", "bias", "factor")}
    held = io.BytesIO()
    np.savez(held, **arrays)  # type: ignore[arg-type]
    return held.getvalue()


def _products_beside(network: LayerNetwork, ran: Container[str]) -> list[NetworkLayer]:
    return [layer for layer in network.layers if layer.work in PRODUCTS and layer.name not in ran]


def _constants(network: LayerNetwork) -> dict[str, tuple[int, ...]]:
    return {
        name: shape
        for layer in network.layers
        for operator in (layer.operator, *layer.merged)
        for name, shape in operator.weights
        if layer.work not in PRODUCTS or operator is not layer.operator
    }


def read_numbers(
    network: LayerNetwork,
    document: Mapping[str, Any],
    products: Mapping[str, tuple[Integers, Integers, Integers]],
    constants: bytes,
    source: str,
) -> NetworkNumbers:
    """The numbers that ``document`` says, with kernels, biases and factors of ``products`` by layer and the host's
    ``constants``.

    Raises: InputError if they are not those of this network.
    """
    try:
        found = _Document.model_validate(document)
    except ValidationError as error:
        raise validation_error(error, source, _Document) from None
    tensors = {*network.operators.inputs, *(name for layer in network.layers for name, _ in layer.outputs)}
    if found.layers.keys() != {layer.name for layer in network.layers} or not tensors <= found.formats.keys():
        raise InputError(source, "numbers", "are not those of the network's layers; generate it again")
    none = np.zeros((0, 0, 0, 1), np.int64)
    weights, beside = _read_constants(network, constants, _products_beside(network, products), source)
    products = {**products, **beside}
    layers: dict[str, LayerNumbers] = {}
    for name, own in found.layers.items():
        given = (none, np.array(own.bias, np.int64), np.array(own.factor, np.int64))
        kernels, bias, factor = products.get(name, given)
        rounding = None if own.rounding is None else Rounding(**own.rounding.model_dump())
        table = _table(own, network.layer(name), source)
        layers[name] = LayerNumbers(kernels, bias, factor, rounding, own.sums, own.times, own.zeros, table)
    for layer in network.layers:
        own, operands = found.layers[layer.name], len(layer.inputs)
        if len(own.times) not in (0, operands) or len(own.zeros) not in (0, operands + 1):
            raise InputError(source, f"numbers.layers.{layer.name[:60]}", "has not a number for each operand")
    formats = {name: Format(one.scale, one.zero, one.offset) for name, one in found.formats.items()}
    return NetworkNumbers(layers, formats, weights, found.origin, found.exact)


def _table(own: _Layer, layer: NetworkLayer, source: str) -> Integers | None:
    if own.table is None:
        return None
    given = layer.inputs[0].shape[1:]
    fits = not own.places or (
        len(own.places) == len(given)
        and all(one in (1, size) for one, size in zip(own.places, given, strict=True))
    )
    if len(own.table) != 256 * math.prod(own.places) or not fits:
        raise InputError(source, f"numbers.layers.{layer.name[:60]}.places", "are not those of its table")
    return np.array(own.table, np.int64).reshape(256, *own.places)


def _read_constants(
    network: LayerNetwork, data: bytes, beside: Sequence[NetworkLayer], source: str
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, tuple[Integers, Integers, Integers]]]:
    found, products = {}, {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum(member.file_size for member in packed.infolist()) > LARGEST_BYTES:
                raise ValueError
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            for at, (name, shape) in enumerate(_constants(network).items()):
                values = np.asarray(held[f"constant/{at}"])
                if values.shape != shape or values.dtype.kind not in "fiub":
                    raise ValueError
                found[name] = values
            for at, layer in enumerate(beside):
                own = [np.asarray(held[f"product/{at}/{name}"]) for name in ("kernels", "bias", "factor")]
                sizes = _product_sizes(layer_shape(layer))
                if [one.shape for one in own] != sizes or any(one.dtype.kind != "i" for one in own):
                    raise ValueError
                products[layer.name] = (own[0].astype(np.int64), own[1], own[2])
    except _UNREADABLE:
        raise InputError(source, "", "holds no constants of the network; generate it again") from None
    return found, products


def _product_sizes(shape: Convolution) -> list[tuple[int, ...]]:
    """Of kernels, biases and factors."""
    maps = (shape.out_channels,)
    return [(*shape.kernel, shape.in_channels // shape.groups, *maps), maps, maps]
