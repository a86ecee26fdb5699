"""A plan of numbers as the files that `mapper generate` writes: formats as JSON, constants as arrays."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from mapper.models.pe_allocation.configuration.arithmetic import Arithmetic
from mapper.models.pe_allocation.configuration.layer_data import LayerData
from mapper.models.pe_allocation.configuration.program import Rule
from mapper.models.pe_allocation.number.origin import origins
from mapper.models.pe_allocation.number.plan import LayerPlan, NumberPlan
from mapper.models.pe_allocation.number.unknown import UnknownNumbersError
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.operator_network import Shape

PARTS = ("weights", "bias", "scale", "offset", "table")
RULES = frozenset(get_args(Rule))
LARGEST_SHIFT = 48
LARGEST_BYTES = 4 << 30
_UNREADABLE = (
    ValueError, OSError, EOFError, KeyError, NotImplementedError, RuntimeError, SyntaxError, TypeError,
    AttributeError, struct.error, MemoryError, OverflowError,
)  # fmt: skip
"""What a file that is no archive of arrays may raise."""


def plan_document(plan: NumberPlan, origin: str) -> dict[str, Any]:
    """The formats of ``plan``, whose weights are from ``origin``."""
    return {
        "bits": plan.bits,
        "weights": origin,
        "layers": {
            stream.name: {
                "rule": layer.rule,
                "shift": layer.shift,
                "operands": list(layer.operands),
                "made": layer.made,
                "arithmetic": layer.arithmetic.to_json(),
            }
            for stream, layer in zip(plan.streams.layers, plan.layers, strict=True)
        },
    }


def plan_arrays(plan: NumberPlan) -> bytes:
    """The constants: of the array's layers words, those of the tile's processor as they are."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for at, layer in enumerate(plan.layers):
        for part in PARTS:
            values = getattr(layer.data, part)
            if values.size:
                arrays[f"array/{at}/{part}"] = values.astype(
                    np.int64 if part in ("bias", "offset") else np.int16
                )
    for number, name in enumerate(_processed(plan.network, plan.streams)):
        arrays[f"processor/{number}"] = np.asarray(plan.weights[name])
    held = io.BytesIO()
    np.savez(held, **arrays)  # type: ignore[arg-type]
    return held.getvalue()


def read_plan(
    network: LayerNetwork, streams: StreamNetwork, document: Mapping[str, Any], data: bytes, source: str
) -> NumberPlan:
    """The plan that ``document`` and ``data`` are.

    Raises: InputError if they are not those of this network.
    """
    arrays = _arrays(data, source)
    try:
        bits = int(document["bits"])
        listed = document["layers"]
        weights = {
            name: _float(arrays[f"processor/{number}"], shape)
            for number, (name, shape) in enumerate(_processed(network, streams).items())
        }
        found = origins(network, streams)
        layers = tuple(
            _layer(stream, listed[stream.name], arrays, at, bits, found[at])
            for at, stream in enumerate(streams.layers)
        )
        if bits not in (8, 16):
            raise ValueError
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, UnknownNumbersError):
        raise InputError(source, "", "has not the numbers of this network; generate it again") from None
    return NumberPlan(network, streams, weights, bits, layers)


def _arrays(data: bytes, source: str) -> dict[str, npt.NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum(member.file_size for member in packed.infolist()) > LARGEST_BYTES:
                raise ValueError
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            return {name: np.asarray(held[name]) for name in held.files}
    except (*_UNREADABLE, zipfile.BadZipFile, zlib.error):
        raise InputError(source, "", "holds no constants of a network; generate it again") from None


def _processed(network: LayerNetwork, streams: StreamNetwork) -> dict[str, Shape]:
    """The constants of operators that the tile's processor runs."""
    own = set(streams.names)
    return {
        name: shape
        for layer in network.layers
        if layer.name not in own
        for operator in (layer.operator, *layer.merged)
        for name, shape in operator.weights
    }


def _layer(
    stream: StreamLayer, fields: Mapping[str, Any], arrays: Mapping[str, Any], at: int, bits: int, found: Any
) -> LayerPlan:
    rule, shift, given = fields["rule"], int(fields["shift"]), dict(fields["arithmetic"])
    given["lifts"] = tuple(int(lift) for lift in given["lifts"])
    arithmetic = Arithmetic(**given)
    parts = {part: arrays.get(f"array/{at}/{part}", np.zeros(0)).astype(np.int64) for part in PARTS}
    filters = (stream.filters, stream.depth, *stream.kernel)
    wanted = {
        "weights": filters if rule == "convolution" else (0,),
        "bias": (stream.filters,) if rule == "convolution" else (0,),
        "scale": (stream.maps,) if arithmetic.scaled else (0,),
        "offset": (stream.maps,) if arithmetic.scaled else (0,),
        "table": (1 << bits,) if arithmetic.tabled else (0,),
    }
    half = 1 << (bits - 1)
    shifts = (shift, *arithmetic.lifts)
    read, made = tuple(int(one) for one in fields["operands"]), int(fields["made"])
    if (
        rule not in RULES
        or arithmetic.bits != bits
        or not -half <= arithmetic.least <= arithmetic.most < half
        or max(map(abs, (*shifts, *read, made))) > LARGEST_SHIFT
        or len(read) != len(found)
        or len(arithmetic.lifts) not in (0, 1, len(read))
        or any(parts[part].shape != shape for part, shape in wanted.items())
    ):
        raise ValueError
    return LayerPlan(rule, shift, arithmetic, LayerData(**parts), read, made, found)


def _float(values: npt.NDArray[Any], shape: Shape) -> npt.NDArray[Any]:
    if values.shape != shape or values.dtype.kind not in "fiub":
        raise ValueError
    return values
