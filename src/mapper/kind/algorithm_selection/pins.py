"""Pinned decisions of algorithm selections, as ``--fix`` says them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast, get_args

from mapper.formulations.algorithm_selection.problem import Pin
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant

KNOWN = "array=95x64, algorithm, dataflow, LAYER.algorithm, LAYER.dataflow, LAYER.parts and TENSOR.store"


@dataclass(frozen=True)
class Fixed:
    """What is pinned: the array's shape, layers' algorithms and dataflows, tensors' layouts."""

    array: tuple[int, int] | None = None
    pins: dict[str, Pin] = field(default_factory=dict)
    stores: dict[str, str] = field(default_factory=dict)


def read_fix(fix: Mapping[str, str], network: OverlayNetwork) -> Fixed:
    """The pinned decisions of ``network``: ``conv1.algorithm=im2col``, ``conv1.algorithm=!winograd`` (any but that),
    ``dataflow=NS,WS`` (for every layer, one of these), ``array=95x64``, ``conv1.parts=2``, ``conv1.store=tensor3d``.

    A decision for every layer holds for those that can keep it; one for a layer by name is kept or an error.

    Raises: InputError for a decision, a layer or a value that there is none of.
    """
    found = Fixed()
    tensors = {store.name: network.labels[at] for at, store in enumerate(network.stores)}
    # What is said of one layer takes the place of what is said of all.
    for key, value in sorted(fix.items(), key=lambda pin: "." in pin[0]):
        name, dot, decision = key.rpartition(".")
        if not dot and key == "array":
            found = replace(found, array=_shape(value))
        elif decision in ("algorithm", "dataflow") and (not dot or name in network.names):
            layers = (name,) if dot else network.names
            pins = {layer: _pinned(key, value, decision, layer, network, bool(dot)) for layer in layers}
            found = replace(found, pins={**found.pins, **_joined(found.pins, pins)})
        elif dot and decision == "parts" and name in network.names:
            pins = {name: Pin(parts=_parts(key, value, name, network))}
            found = replace(found, pins={**found.pins, **_joined(found.pins, pins)})
        elif dot and decision == "store" and name in tensors:
            if value not in tensors[name]:
                raise InputError("--fix", key, f"{value[:40]!r} is not one of {', '.join(tensors[name])}")
            found = replace(found, stores={**found.stores, name: value})
        elif dot and decision in ("algorithm", "dataflow", "parts", "store"):
            there = tuple(tensors) if decision == "store" else network.names
            raise InputError(
                "--fix", key[:60], f"no such layer; {meant(name, there)}there are {', '.join(there[:4])} …"
            )
        else:
            keys = [f"{one}.{word}" for one in network.names for word in ("algorithm", "dataflow", "parts")]
            close = meant(
                key, ("array", "algorithm", "dataflow", *keys, *(f"{one}.store" for one in tensors))
            )
            raise InputError("--fix", key[:60], f"unknown decision; {close}there are {KNOWN}")
    return found


def _shape(value: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})", value)
    if match is None:
        raise InputError("--fix", "array", f"{value[:40]!r} is not a shape; write ROWSxCOLUMNS, as in 95x64")
    return int(match[1]), int(match[2])


def _pinned(key: str, value: str, decision: str, layer: str, network: OverlayNetwork, by_name: bool) -> Pin:
    """What ``value`` leaves of one layer's algorithms or dataflows."""
    known = get_args(Algorithm) if decision == "algorithm" else get_args(Dataflow)
    wanted = value.removeprefix("!").split(",")
    strange = [one for one in wanted if one not in known]
    if strange:
        raise InputError("--fix", key[:60], f"{strange[0][:40]!r} is not one of {', '.join(known)}")
    has = known
    if decision == "algorithm":
        has = network.layer(layer).algorithms(network.machine)
    left = frozenset(one for one in has if (one in wanted) != value.startswith("!"))
    if not left and by_name:
        raise InputError("--fix", key[:60], f"leaves nothing; {layer} can have {', '.join(has)}")
    if decision == "algorithm":
        return Pin(algorithms=cast("frozenset[Algorithm]", left or frozenset(has)))
    return Pin(dataflows=cast("frozenset[Dataflow]", left))


def _parts(key: str, value: str, layer: str, network: OverlayNetwork) -> frozenset[int]:
    """The number of parts that ``value`` says: one that some algorithm of the layer can have."""
    one, machine = network.layer(layer), network.machine
    has = sorted(
        {parts for name in one.algorithms(machine) for parts in one.part_choices(name, machine)} | {1}
    )
    if value not in map(str, has):
        said = ", ".join(map(str, has))
        raise InputError("--fix", key[:60], f"{value[:40]!r} is no number of parts; {layer} can have {said}")
    return frozenset({int(value)})


def _joined(old: Mapping[str, Pin], new: Mapping[str, Pin]) -> dict[str, Pin]:
    """Both pins of each layer: a later one of the same decision takes the place of an earlier one."""
    joined = {}
    for layer, pin in new.items():
        before = old.get(layer, Pin())
        joined[layer] = Pin(
            pin.algorithms or before.algorithms,
            pin.dataflows or before.dataflows,
            pin.parts or before.parts,
        )
    return joined
