"""An allocation: how many PEs each layer gets, how it is throttled, and where its PEs are [Heidorn2019, sec. 6]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Pe = tuple[int, int]
Mode = Literal["layer-parallel", "layer-by-layer", "mixed"]
MODES: tuple[Mode, ...] = ("layer-parallel", "layer-by-layer", "mixed")


StreamKind = Literal["frame", "stored", "weights", "maps", "result"]


@dataclass(frozen=True)
class Way:
    """The way of a stream over the links: from the layer at ``source`` to that at ``target`` (positions; None: the
    buffers). ``pes``: those that it passes, from the PE where it leaves the region (or the buffers) to the one where it
    enters the other."""

    kind: StreamKind
    source: int | None
    target: int | None
    pes: tuple[Pe, ...]

    def to_json(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "from": None if self.source is None else names[self.source],
            "to": None if self.target is None else names[self.target],
            "way": [list(pe) for pe in self.pes],
        }


@dataclass(frozen=True)
class Placement:
    """The PEs of every layer, in the order of the layers. ``bound``: the least wiring that any placement of the
    allocation has, as far as it is known (None: nothing is). ``ways``: those of all streams (empty: each takes a
    shortest one, the first row by row)."""

    regions: tuple[tuple[Pe, ...], ...]
    bound: int | None = None
    ways: tuple[Way, ...] = ()


@dataclass(frozen=True)
class Allocation:
    """A decision for every layer, in the order of the network's layers.

    ``pes`` P_i; ``throttle``: idle cycles added to z_i^out, per output position; ``delta`` delta_i. ``shared``:
    groups of layers (positions) that take turns on one PE, which counts once. ``segments`` (mode ``mixed``): the
    position at which each run of fused layers starts, the first 0; ``on_chip``: for each but the last whether the maps
    that it leaves to later ones stay in the buffers (else they go off the chip and come back). ``unplaceable``: it is
    proven that the array has no placement.
    """

    mode: Mode
    pes: tuple[int, ...]
    throttle: tuple[int, ...]
    delta: tuple[int, ...]
    placement: Placement | None = None
    shared: tuple[tuple[int, ...], ...] = ()
    segments: tuple[int, ...] = (0,)
    on_chip: tuple[bool, ...] = ()
    unplaceable: bool = False

    def to_json(self, names: tuple[str, ...]) -> dict[str, Any]:
        """The document of an allocation to the layers called ``names``."""
        placed = None
        if self.placement is not None:
            placed = {
                name: [list(pe) for pe in region]
                for name, region in zip(names, self.placement.regions, strict=True)
            }
        document: dict[str, Any] = {
            "mode": self.mode,
            "pes": dict(zip(names, self.pes, strict=True)),
            "throttle": dict(zip(names, self.throttle, strict=True)),
            "delta": dict(zip(names, self.delta, strict=True)),
            "placement": placed,
        }
        if self.placement is not None and self.placement.ways:
            document["ways"] = [way.to_json(names) for way in self.placement.ways]
        if self.shared:
            document["shared"] = [[names[position] for position in group] for group in self.shared]
        if self.mode == "mixed":
            document["segments"] = [names[start] for start in self.segments]
            document["on_chip"] = [
                names[start] for start, stays in zip(self.segments, self.on_chip, strict=False) if stays
            ]
        return document

    def parts(self) -> tuple[range, ...]:
        """The positions of each segment's layers; one segment of all layers unless the mode is ``mixed``."""
        ends = (*self.segments[1:], len(self.pes))
        return tuple(range(start, end) for start, end in zip(self.segments, ends, strict=True))
