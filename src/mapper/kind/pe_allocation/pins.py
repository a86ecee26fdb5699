"""Pinned decisions of the kind ``pe_allocation``, as ``--fix`` says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mapper.formulations.pe_allocation.problem import Pin
from mapper.models.pe_allocation.mapping import MODES, Mode
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant
from mapper.workloads.text.number_text import whole_number

LARGEST = 1 << 31
"""Beyond any count of PEs or cycles that can be meant."""

KNOWN = "mode, segments, sharing, delta, or LAYER.pes, LAYER.delta and LAYER.throttle"


@dataclass(frozen=True)
class Fixed:
    """What is pinned or let loose: the mode, sharing of PEs, delta as a decision, single layers' decisions, and the
    layers at which the runs of the mixed mode start (None: they are free)."""

    mode: Mode
    sharing: bool
    free_delta: bool
    pins: dict[str, Pin]
    segments: tuple[int, ...] | None = None


def read_fix(fix: Mapping[str, str], network: StreamNetwork) -> Fixed:
    """The pinned decisions of ``network``: ``mode=mixed``, ``segments=conv0,conv2``, ``sharing=on``, ``delta=free``,
    ``conv0.pes=4``.

    Raises: InputError for a decision, a layer or a value that there is none of.
    """
    found = Fixed("layer-parallel", False, False, {})
    for key, value in fix.items():
        name, dot, decision = key.rpartition(".")
        if not dot and key == "mode":
            if value not in MODES:
                remedy = f"{meant(value, MODES)}{value[:40]!r} is not one of {', '.join(MODES)}"
                raise InputError("--fix", key, remedy)
            found = replace(found, mode=value)
        elif not dot and key == "segments":
            found = replace(found, segments=_segments(value, network))
        elif not dot and key == "sharing":
            found = replace(found, sharing=_switch(key, value, "on", "off"))
        elif not dot and key == "delta":
            found = replace(found, free_delta=_switch(key, value, "free", "all"))
        elif decision in ("pes", "delta", "throttle") and name in network.names:
            least = 0 if decision == "throttle" else 1
            number = whole_number(value, least, LARGEST)
            if number is None:
                remedy = f"{value[:40]!r} is not a whole number from {least} to {LARGEST}"
                raise InputError("--fix", key[:60], remedy)
            pin = replace(found.pins.get(name, Pin()), **{decision: number})
            found = replace(found, pins={**found.pins, name: pin})
        elif dot and decision in ("pes", "delta", "throttle"):
            remedy = f"{name[:40]!r} is not a layer of the array; "
            remedy += f"{meant(name, network.names)}there are {', '.join(network.names[:4])} …"
            raise InputError("--fix", key[:60], remedy)
        else:
            keys = [f"{one}.{word}" for one in network.names for word in ("pes", "delta", "throttle")]
            close = meant(key, ("mode", "segments", "sharing", "delta", *keys))
            raise InputError("--fix", key[:60], f"unknown decision; {close}there are {KNOWN}")
    if found.sharing and found.mode == "layer-by-layer":
        raise InputError("--fix", "sharing", "layers that run one after another share nothing; leave it out")
    if found.segments is not None and found.mode != "mixed":
        raise InputError("--fix", "segments", "only the mixed mode has runs of fused layers; add mode=mixed")
    return found


def _segments(value: str, network: StreamNetwork) -> tuple[int, ...]:
    """The layers at which runs start, all of them, in the order of the layers."""
    names = [name.strip() for name in value.split(",")]
    strange = [name for name in names if name not in network.names]
    if strange:
        remedy = (
            f"{strange[0][:40]!r} is not a layer of the array; "
            f"{meant(strange[0], network.names)}there are {', '.join(network.names[:4])} …"
        )
        raise InputError("--fix", "segments", remedy)
    starts = tuple(network.names.index(name) for name in names)
    if starts[0] != 0 or list(starts) != sorted(set(starts)):
        remedy = f"name the first layer of every run in the order of the layers, {network.names[0]} first"
        raise InputError("--fix", "segments", remedy)
    return starts


def _switch(key: str, value: str, on: str, off: str) -> bool:
    if value not in (on, off):
        raise InputError("--fix", key, f"{value[:40]!r} is neither {on} nor {off}")
    return value == on
