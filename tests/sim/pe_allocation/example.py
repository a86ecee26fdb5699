"""Small networks built layer by layer, and allocations of them."""

from __future__ import annotations

from typing import Any

from mapper.arch.tcpa import TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation import calculus
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork, stream_network
from mapper.workloads.source import load_layers

Window = int | tuple[int, int]


def _pair(kernel: Window) -> tuple[int, int]:
    return kernel if isinstance(kernel, tuple) else (kernel, kernel)


class Net:
    """A network under construction: each layer reads the ones given, the last made unless said, or the frame."""

    def __init__(self, size: tuple[int, int] = (6, 7), maps: int = 2) -> None:
        self.size, self.maps = size, maps
        self.layers: list[StreamLayer] = []

    def network(self) -> StreamNetwork:
        return StreamNetwork("net", tuple(self.layers), ())

    def convolution(self, filters: int, kernel: Window = 3, *feeds: int, **other: Any) -> Net:
        return self._windowed("convolution", filters, kernel, feeds, other)

    def pool(self, kernel: Window = 2, *feeds: int, **other: Any) -> Net:
        return self._windowed("pool", 0, kernel, feeds, {"strides": _pair(kernel), **other})

    def elementwise(self, op: str, *feeds: int) -> Net:
        read = self._read(feeds)
        size, maps = self._shape(read[:1])
        return self._add("elementwise", maps, max(1, len(read)), size, size, maps, maps, read, op=op)

    def _windowed(
        self, operation: str, filters: int, kernel: Window, feeds: tuple[int, ...], other: dict[str, Any]
    ) -> Net:
        read = self._read(feeds)
        size, channels = self._shape(read)
        strides, dilations = other.pop("strides", (1, 1)), other.pop("dilations", (1, 1))
        pads, groups = other.pop("pads", (0, 0)), other.pop("groups", 1)
        spans = [(high - 1) * dilation + 1 for high, dilation in zip(_pair(kernel), dilations, strict=True)]
        high, wide = (
            (side + 2 * pad - span) // stride + 1
            for side, pad, span, stride in zip(size, pads, spans, strides, strict=True)
        )
        maps = channels if operation == "pool" else filters
        depth = channels if operation == "pool" else channels // groups
        return self._add(
            operation, 1 if operation == "pool" else filters, depth, size, (high, wide), channels, maps, read,
            kernel=_pair(kernel), strides=strides, dilations=dilations, pads=pads, groups=groups, **other,
        )  # fmt: skip

    def _read(self, feeds: tuple[int, ...]) -> tuple[int, ...]:
        if feeds == (-1,):
            return ()
        return feeds or ((len(self.layers) - 1,) if self.layers else ())

    def _shape(self, read: tuple[int, ...]) -> tuple[tuple[int, int], int]:
        if not read:
            return self.size, self.maps
        return self.layers[read[0]].output_size, sum(self.layers[at].maps for at in read)

    def _add(
        self, operation: Any, filters: int, depth: int, size: tuple[int, int], made: tuple[int, int],
        channels: int, maps: int, read: tuple[int, ...], **other: Any,
    ) -> Net:  # fmt: skip
        plain: dict[str, Any] = {"kernel": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0)}
        fields: dict[str, Any] = {
            "channels": channels,
            "maps": maps,
            "groups": 1,
            "macs": 0,
            **plain,
            **other,
        }
        name = f"{operation}{len(self.layers)}"
        layer = StreamLayer(name, name, operation, filters, depth, size, made, feeds=read, **fields)
        self.layers.append(layer)
        return self


def array(name: str = "tcpa-4x4") -> TcpaMachine:
    document = tcpa_preset(name)
    assert document is not None
    return tcpa_from_document(document, name)


def network_called(name: str) -> StreamNetwork:
    return stream_network(load_layers(name, None))


def allocated(
    network: StreamNetwork, *pes: int, delta: int = 2, idle: tuple[int, ...] = (), **fields: Any
) -> Allocation:
    """``pes`` a layer (1 if none are given) at matched rates, or with ``idle`` cycles."""
    counts = pes or (1,) * len(network.layers)
    units = (delta,) * len(counts)
    z_out = calculus.unthrottled(network, counts, units)
    if not idle:
        paces = z_out if fields.get("mode") == "layer-by-layer" else calculus.matched(network, z_out)
        idle = tuple(pace - cycles for pace, cycles in zip(paces, z_out, strict=True))
    return Allocation(**{"mode": "layer-parallel", "pes": counts, "throttle": idle, "delta": units, **fields})


def problem_of(network: StreamNetwork, allocation: Allocation, **fields: Any) -> AllocationProblem:
    return AllocationProblem(
        network, array(), **{"mode": allocation.mode, "sharing": bool(allocation.shared), **fields}
    )
