"""The steps of one layer on one cluster under its mapping: what each loads, computes and stores [Chang2018, sec. 4]."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping
from mapper.models.trace_partition.steps.compute_object import Addresses, compute_objects
from mapper.models.trace_partition.steps.movement import (
    Place,
    bias_place,
    bias_transfers,
    maps_transfers,
    output_transfers,
    table_transfers,
    weights_place,
    weights_transfers,
)
from mapper.models.trace_partition.steps.step import ComputeObject, Load, Operand, Step, Store
from mapper.models.trace_partition.steps.step_sequence import StepSequence, first_equal
from mapper.models.trace_partition.tile.layer_tiling import (
    LayerTiling,
    buf_layout,
    layer_tiling,
    resident_misfit,
)
from mapper.models.trace_partition.tile.share import misfit


class LoadClass(NamedTuple):
    """Loads of equal transfers but for their addresses; ``step`` is the first step that has one."""

    operand: Operand
    step: int


class StepClass(NamedTuple):
    """A step but for its addresses. ``compute`` and ``store`` (None: stores nothing) are the first steps with equal
    compute objects and an equal store."""

    loads: tuple[LoadClass, ...]
    compute: int
    store: int | None


class LayerPlan:
    """The steps of a layer on one cluster.

    ``unit_words``: words of Buf that each unit needs, maps that stay there included. ``vmac_words``: words of WBuf
    that each vMAC needs. ``weight_words``, ``bias_words``: length of this cluster's packing (packing.py), from whose
    start the transfers of ``weights:<layer>`` and ``bias:<layer>`` count. A cluster without a share has no steps and
    no packing. All are plain numbers: what they exceed is for the caller to see.
    """

    def __init__(
        self, tiling: LayerTiling, machine: SnowflakeMachine, input_at: int | None, output_at: int | None
    ) -> None:
        self.tiling = tiling
        self._sequence = StepSequence(tiling)
        self.count = tiling.steps
        self.unit_words = self.vmac_words = self.weight_words = self.bias_words = 0
        if self.count:
            self._buf = buf_layout(tiling, machine.unit_words, input_at, output_at)
            self.unit_words = self._buf.words
        if self.count and tiling.layer.work != "max":
            tile = tiling.weights(0, 0).vmac_words
            self._weights = tuple(tile * number for number in range(min(tiling.weight_tiles, 2)))
            self.vmac_words = tile * len(self._weights)
            packs = tiling.layer.gate is None
            self.weight_words = weights_place(tiling, tiling.share.groups, 0, 0) if packs else 0
            self.bias_words = bias_place(tiling, tiling.share.groups, 0)

    def steps(self) -> Iterator[Step]:
        """The steps in order."""
        for step in range(self.count):
            loads = tuple(
                self.load(LoadClass(operand, step))
                for operand in self._brought
                if self._sequence.loaded[operand][step]
            )
            yield Step(loads, self.compute(step), self.store(step) if self._sequence.stored[step] else None)

    def classes(self) -> tuple[StepClass, ...]:
        """The class of every step, in order."""
        if not self.count:
            return ()
        kinds, loaded, stored = self._sequence.kinds, self._sequence.loaded, self._sequence.stored
        columns = [
            np.where(loaded[operand], first_equal(kinds[operand], loaded[operand]), -1)
            for operand in self._brought
        ]
        columns.append(first_equal(kinds["compute"], None))
        columns.append(np.where(stored, first_equal(kinds["output"], stored), -1))
        code = np.zeros(self.count, dtype=np.int64)
        for column in columns:
            code = first_equal(code * (self.count + 1) + column + 1, None)
        table = np.stack(columns, axis=1)
        found: dict[int, StepClass] = {}
        for first in np.unique(code).tolist():
            *loads, compute, store = table[first].tolist()
            brought = zip(self._brought, loads, strict=True)
            found[first] = StepClass(
                tuple(LoadClass(operand, step) for operand, step in brought if step >= 0),
                compute,
                store if store >= 0 else None,
            )
        return tuple(map(found.__getitem__, code.tolist()))

    def load(self, which: LoadClass) -> Load:
        """The load of an operand in a step that has one: it represents its class."""
        operand, step = which
        place, buffer = self._place(step), int(self._sequence.buffers[operand][step])
        tile: tuple[int, ...]
        if operand == "input":
            tile = (
                place.group,
                place.row,
                place.column,
                place.out if self.tiling.by_channel else place.number,
            )
            transfers = maps_transfers(self.tiling, place, self._buf.maps[buffer])
        elif operand == "weights":
            tile = (place.group, place.out, place.number)
            transfers = weights_transfers(self.tiling, place, self._weights[buffer])
        elif operand == "bias":
            tile = (place.group, place.out)
            transfers = bias_transfers(self.tiling, place, self._buf.bias[buffer])
        elif operand == "table":
            tile = (0,)
            transfers = table_transfers(self.tiling, self._buf.table)
        else:
            view = self.tiling.layer.residual
            if view is None:
                raise ValueError(f"{self.tiling.layer.name} has no residual to load")
            tile = (place.group, place.row, place.column, place.out)
            transfers = output_transfers(self.tiling, place, view, self._buf.residual[buffer])
        return Load(operand, tile, buffer, transfers)

    def compute(self, which: int) -> tuple[ComputeObject, ...]:
        """The compute objects of step ``which``: they represent their class."""
        tiling, buf, place = self.tiling, self._buf, self._place(which)

        def at(operand: str, starts: tuple[int, ...]) -> int:
            return starts[int(self._sequence.buffers[operand][which]) % len(starts)] if starts else 0

        width = tiling.columns.tiles[tiling.columns.kinds[place.column]].outputs
        channels, out = tiling.unit_channels(place.out), at("output", buf.out)
        pitches = (width * channels, channels)
        if tiling.mapping.output_resident:
            _, width, channels = tiling.resident_output
            pitches = (width * channels, channels)
            out += self._resident_offset(place)
        addresses = Addresses(
            maps=at("input", buf.maps),
            weights=at("weights", self._weights) if tiling.layer.work != "max" else 0,
            out=out,
            out_pitches=pitches,
            bias=at("bias", buf.bias),
            residual=at("residual", buf.residual),
            partial=buf.partial,
            temporary=buf.temporary,
            table=buf.table,
        )
        return tuple(compute_objects(tiling, place, addresses))

    def store(self, which: int) -> Store:
        """The store of step ``which``, if it has one: it represents its class."""
        place, buffer = self._place(which), int(self._sequence.buffers["output"][which])
        transfers = output_transfers(self.tiling, place, self.tiling.layer.output, self._buf.out[buffer])
        return Store((place.group, place.row, place.column, place.out), buffer, transfers)

    def _place(self, step: int) -> Place:
        return Place(*(int(indices[step]) for indices in self._sequence.indices))

    def _resident_offset(self, place: Place) -> int:
        tiling = self.tiling
        _, width, channels = tiling.resident_output
        row = 0 if tiling.shares_rows else tiling.rows.starts[place.row] - tiling.share.first_row
        first = place.group * tiling.share.channels + place.out * tiling.mapping.tile.out_channels
        pixel = row * width + tiling.columns.starts[place.column]
        return pixel * channels + (first if tiling.shares_rows else 0)

    @cached_property
    def _brought(self) -> tuple[Operand, ...]:
        """Operands that are loaded."""
        layer = self.tiling.layer
        found: list[Operand] = ["weights", "bias"] if layer.work != "max" else []
        found += [] if layer.table is None else ["table"]
        found += [] if self.tiling.mapping.input_resident else ["input"]
        return (*found, "residual") if layer.residual is not None else tuple(found)


def plan_layer(
    layer: TraceLayer,
    mapping: LayerMapping,
    machine: SnowflakeMachine,
    sharing: int = 1,
    cluster: int = 0,
    input_at: int | None = None,
    output_at: int | None = None,
) -> LayerPlan:
    """The steps of ``layer`` on cluster number ``cluster`` of the ``sharing`` that share the image. ``input_at`` and
    ``output_at``: first word in Buf of maps that stay there (None: input at 0, output at the end).

    Raises: ValueError if the mapping does not fit this layer: a tile that is larger than the layer, a mode, a split or
    a residency that its work does not have.
    """
    wrong = misfit(layer, mapping, sharing)
    if wrong is None:
        tiling = layer_tiling(layer, mapping, sharing, cluster)
        wrong = None if tiling.share.empty else resident_misfit(tiling) or tiling.padding_misfit
    if wrong is not None:
        raise ValueError(f"{layer.name}: {wrong}")
    return LayerPlan(tiling, machine, input_at, output_at)
