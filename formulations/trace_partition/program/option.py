"""The decisions that one layer may take: every family of loop order, mode and splits, with the sizes of its tiles.

A tile may have any size. Of the sizes that cut a dimension into the same number of tiles two are tried before all
others, the least, and the least that is a multiple of what the machine works on at once (four units, lines of 16 words,
blocks of 4 or 64 channels): the number of tiles says how often operands are loaded again, and a larger size only moves
work from the last tile to the others, of which each then takes more room in the buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import isqrt, prod

from mapper.arch.snowflake import BLOCK, LANES, UNITS, VMACS
from mapper.formulations.trace_partition.problem import MOST_STEPS, PartitionProblem, Pin
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Mode, Order, Split, Tile
from mapper.models.trace_partition.tile.layer_tiling import layer_tiling, resident_misfit
from mapper.models.trace_partition.tile.share import misfit

SMALL_SUMS = (8, 4, 2, 1)
"""Channels of a sum below a line that are tried first."""
Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Share:
    """What the fullest cluster computes of a layer: output rows, and output channels of each of ``groups`` groups."""

    rows: int
    channels: int
    groups: int


@dataclass(frozen=True)
class Family:
    """All decisions but the tile, and the sizes that the tile may have in each of its dimensions."""

    mode: Mode
    order: Order
    unit_split: Split
    cluster_split: Split | None
    input_resident: bool
    output_resident: bool
    share: Share
    rows: Sizes
    columns: Sizes
    in_channels: Sizes
    out_channels: Sizes

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self.rows), len(self.columns), len(self.in_channels), len(self.out_channels)

    @property
    def size(self) -> int:
        """Tiles of the family."""
        return prod(self.shape)

    @property
    def is_resident(self) -> bool:
        """Whether maps stay in Buf before or after the layer."""
        return self.input_resident or self.output_resident

    @property
    def usual(self) -> Family:
        """The same with the sizes that are tried first."""
        by_rows = self.unit_split == "rows"
        grain = VMACS if self.mode == "coop" else BLOCK
        return replace(
            self,
            rows=_among(self.rows, usual_sizes(self.rows[-1], UNITS if by_rows else 1)),
            columns=_among(self.columns, usual_sizes(self.columns[-1])),
            in_channels=_among(self.in_channels, usual_sums(self.in_channels[-1])),
            out_channels=_among(
                self.out_channels, usual_sizes(self.out_channels[-1], grain if by_rows else UNITS * grain)
            ),
        )

    def mapping(self, row: int, column: int, in_channel: int, out_channel: int) -> LayerMapping:
        """The decisions with the tile of these places among the sizes."""
        tile = Tile(
            self.rows[row],
            self.columns[column],
            self.in_channels[in_channel],
            self.out_channels[out_channel],
        )
        return LayerMapping(
            self.mode,
            tile,
            self.order,
            self.unit_split,
            self.cluster_split,
            self.input_resident,
            self.output_resident,
        )

    @property
    def largest(self) -> LayerMapping:
        """The decisions with the largest tile."""
        rows, columns, in_channels, out_channels = self.shape
        return self.mapping(rows - 1, columns - 1, in_channels - 1, out_channels - 1)

    def mappings(self) -> Iterator[LayerMapping]:
        """Every decision of the family."""
        for places in product(*map(range, self.shape)):
            yield self.mapping(*places)


def usual_sizes(extent: int, grain: int = 1) -> Sizes:
    """For every number of tiles that ``extent`` can be cut into, the least size, and the least multiple of ``grain``
    that gives the same number; ascending."""
    root = isqrt(extent)
    least = {*range(1, root + 1), *(-(-extent // count) for count in range(1, root + 2))}
    found = set(least)
    for size in least:
        whole = min(extent, -(-size // grain) * grain)
        if -(-extent // whole) == -(-extent // size):
            found.add(whole)
    return tuple(sorted(found))


def usual_sums(extent: int) -> Sizes:
    """Sizes of a tile in summed channels that fill whole lines, or half of one and so on; ascending."""
    lines = {min(extent, LANES * size) for size in usual_sizes(-(-extent // LANES))}
    return tuple(sorted(lines | {size for size in SMALL_SUMS if size < extent}))


def _among(sizes: Sizes, usual: Sizes) -> Sizes:
    """Those of ``sizes`` that are usual; a single size, which is given or held whole, is kept."""
    return sizes if len(sizes) == 1 else usual


def cluster_shares(layer: TraceLayer, sharing: int) -> dict[Split | None, Share]:
    """How ``sharing`` clusters may share a layer, and the fullest cluster's part."""
    whole = Share(layer.rows, layer.group_outputs, layer.groups if layer.work == "convolution" else 1)
    if sharing == 1:
        return {None: whole}
    found: dict[Split | None, Share] = {"rows": replace(whole, rows=-(-layer.rows // sharing))}
    if whole.groups == 1:
        found["out_channels"] = replace(whole, channels=-(-whole.channels // sharing))
    elif whole.groups % sharing == 0:
        found["out_channels"] = replace(whole, groups=whole.groups // sharing)
    return found


def families(
    problem: PartitionProblem, layer: TraceLayer, input_resident: bool = False, output_resident: bool = False
) -> tuple[Family, ...]:
    """The families of a layer that its pins leave, with these data staying in Buf before and after it.

    What stays is held whole: an input that does is the only tile of its operand, an output that does is not cut in
    rows where units share rows, nor in channels where they share channels.
    """
    pin = problem.pin(layer.name)
    if _differs(pin.input_resident, input_resident) or _differs(pin.output_resident, output_resident):
        return ()
    shares = cluster_shares(layer, problem.configuration.sharing)
    if layer.work == "convolution":
        modes: tuple[Mode, ...] = ("coop", "indp")
        orders: tuple[Order, ...] = ("maps_stationary", "weights_stationary")
    else:
        modes, orders = ("indp",), ("maps_stationary",)
    splits: tuple[Split, ...] = ("rows", "out_channels")
    found = []
    for cluster_split, share in shares.items():
        for mode, order, unit_split in product(modes, orders, splits):
            taken = (mode, order, unit_split, cluster_split)
            given = (pin.mode, pin.order, pin.unit_split, pin.cluster_split)
            if not any(_differs(one, other) for one, other in zip(given, taken, strict=True)):
                family = Family(*taken, input_resident, output_resident, share, (), (), (), ())
                found.append(_sized(family, layer, pin))
    sharing = problem.configuration.sharing
    sized = (family for family in found if family.size)
    return tuple(family for family in sized if _is_possible(layer, family, sharing))


def _is_possible(layer: TraceLayer, family: Family, sharing: int) -> bool:
    """Whether the layer's work can be done so, whatever the sizes that are free."""
    mapping = family.largest
    if misfit(layer, mapping, sharing) is not None:
        return False
    return not family.is_resident or resident_misfit(layer_tiling(layer, mapping, sharing, 0)) is None


def _differs(given: object, taken: object) -> bool:
    return given is not None and given != taken


def _sized(family: Family, layer: TraceLayer, pin: Pin) -> Family:
    share, convolution = family.share, layer.work == "convolution"
    by_rows = family.unit_split == "rows"
    rows, columns, ins, outs = (
        # With smaller sizes a layer has more steps than it may.
        tuple(range(-(-extent // MOST_STEPS), extent + 1))
        for extent in (share.rows, layer.columns, layer.group_inputs, share.channels)
    )
    if family.input_resident:
        rows, columns, ins = rows[-1:], columns[-1:], ins[-1:]
        outs = outs if convolution else outs[-1:]
    if family.output_resident:
        rows, outs = (rows[-1:], outs) if by_rows else (rows, outs[-1:])
    return replace(
        family,
        rows=_pinned(rows, pin.rows, share.rows),
        columns=_pinned(columns, pin.columns, layer.columns),
        in_channels=_pinned(ins, pin.in_channels, layer.group_inputs),
        out_channels=_pinned(outs, pin.out_channels, share.channels),
    )


def _pinned(sizes: Sizes, pin: int | None, extent: int) -> Sizes:
    """The sizes, or the one that is given; none if it is no tile."""
    if pin is None or pin in sizes:
        return sizes if pin is None else (pin,)
    held_whole = sizes[-1:] == sizes and pin != extent
    return (pin,) if 1 <= pin <= extent and not held_whole else ()
