"""Lower bounds of what every tile of a family costs and takes, for all tiles at once: an option that these rule out
need not be costed.

What any run of the plan's steps does is counted (docs/snowflake/machine.md): lines that the vector unit reads and
writes, or the instructions that it takes, words that cross the external memory's port, and between two steps the
longer of computing one and loading the next. Left out are what alignment adds, fills, and waits within a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import BLOCK, LANES, UNITS, VMACS, WORD_BYTES
from mapper.formulations.trace_partition.floor.box import Boxes, shares_of
from mapper.formulations.trace_partition.floor.share_count import KEPT, LOAD_ISSUE, STORE_ISSUE, ShareCount
from mapper.formulations.trace_partition.floor.span import least
from mapper.formulations.trace_partition.problem import MOST_STEPS, PartitionProblem
from mapper.formulations.trace_partition.program.option import Family
from mapper.models.trace_partition.lowering.layer import TraceLayer

Integers = npt.NDArray[np.int64]
PAUSE = 2
"""Cycles from a wait for the vector unit to its next instruction, without what is issued in between."""


@dataclass(frozen=True)
class Floor:
    """At least so many ``cycles`` of the accelerator, ``dram_bytes``, and words read and written in its buffers; the
    most ``steps`` of a cluster, and whether the tile may fit the buffers and have so many."""

    cycles: Integers
    dram_bytes: Integers
    buffer_words: Integers
    steps: Integers
    fits: npt.NDArray[np.bool_]


def family_floor(
    problem: PartitionProblem, layer: TraceLayer, family: Family, boxes: Boxes | None = None
) -> Floor:
    """The bounds of every tile of ``family``, or those of all tiles of each of its ``boxes``: arrays over rows,
    columns, summed channels and output channels."""
    machine, configuration = problem.machine, problem.configuration
    shares = shares_of(layer, family, configuration.sharing)
    parts = [_Timed(problem, layer, family, share, boxes) for share in shares]
    shape = parts[0].shape
    images = configuration.clusters // configuration.sharing
    cycles = _in_turns(parts * images)
    moved = images * np.add.reduce([np.broadcast_to(least(part.dram_bytes), shape) for part in parts])
    used = images * np.add.reduce([np.broadcast_to(least(part.buffer_words), shape) for part in parts])
    steps = np.maximum.reduce([np.broadcast_to(part.steps, shape) for part in parts])
    fits = steps <= MOST_STEPS
    for part in parts:
        fits &= least(part.unit_words) <= machine.unit_words
        fits &= least(part.vmac_words) <= machine.vmac_words
    # All bytes of all clusters cross the memory one after another.
    numerator, denominator = machine.cycles_per_byte
    cycles = np.maximum(cycles, moved * numerator // denominator)
    return Floor(cycles, moved, used, steps, fits)


def _in_turns(parts: list[_Timed]) -> Integers:
    """Cycles of the slowest of an accelerator's clusters, which have the memory in turns.

    A cluster's first turn brings what its first two steps load, so that no cluster gets the loads of its first step
    before the first turns of those before it are over: what it does from its beginning is that much later.

    A turn after the computation of step k - 1 brings the loads of step k + 1, if clusters have as many tiles the same
    ones for all. Cluster 0 then has its next turn, for step k + 2, when all clusters have had theirs. If step k + 2
    loads anything, it begins no sooner after step k - 1 than all clusters' loads of step k + 1 take, and the latency.
    That is instead of computing steps k and k + 1, and holds for every new tile of what is stationary; if that comes
    in two steps, for both loads instead of three steps. Between two such tiles there are steps enough for no step to be
    left out twice, where each loads its tile of the other operand (more than ``KEPT`` steps a tile).
    """
    served: Any = np.int64(0)
    found = []
    for part in parts:
        late = part.awaits * served
        found.append(part.unhindered + part.waiting + late)
        found.append(part.unhindered + part.mapping + late)
        found.append(part.supplied)
        served = part.first_turn + served
    first = parts[0]
    # The last load of all is of a cluster that still has to compute its last step.
    loads: Any = sum(part.time(part.loaded_words) for part in parts)
    ends: Any = first.ending
    for part in parts[1:]:
        ends = np.minimum(ends, part.ending)
    found.append(loads + first.problem.machine.timing.memory_latency * first.awaits + ends)
    alike = np.ones(first.shape, dtype=np.bool_)
    for part in parts[1:]:
        same = part.share.groups == first.share.groups
        alike &= (part.rows.count == first.rows.count) & (part.outs == first.outs) & same
    _, often, always = first.bursts
    loaded = sum(part.time(part.bursts[0]) for part in parts)
    latency = first.problem.machine.timing.memory_latency
    waiting = loaded + often * (latency - first.longest_step) - first.covered
    found.append(first.unhindered + np.where(alike & always, np.maximum(0, waiting), 0))
    slowest: Integers = np.maximum.reduce([np.broadcast_to(least(one), first.shape) for one in found])
    return slowest


class _Timed(ShareCount):
    """The time of one cluster's part of a layer."""

    def _across(self, of: Any) -> Any:
        """What a row of the window of so many columns takes, summed over the output columns."""
        return sum(often * of(width) for width, often in self.columns.widths)

    def _across_tile(self, of: Any) -> Any:
        """The same over the output columns of a tile, at most."""
        return self.columns.most * of(self.layer.kernel[1])

    def _wide_lines(self, size: Any) -> Any:
        return -(-2 * self._filters(size) // LANES)

    def _computed(self, down: Any, points: Any, across: Any, over_ins: Any, outs: Any, moves: Any) -> Any:
        """Cycles for ``down`` rows of windows with ``points`` outputs. ``across``, ``over_ins`` and ``outs`` sum over
        columns, summed channels and output channels; ``moves``: how often an output is begun, from partial sums, from a
        residual, and how often the vector unit has to wait for its result to be written."""
        tiles, partial, residual, writes = moves
        traces = down * across(lambda width: min(width, 1) if self._runs else width)
        issued = outs(self._block) * (2 * traces - points) * tiles
        if not self.convolution:
            taps = down * across(lambda width: width)
            return np.maximum(issued, outs(self._lines) * (taps + points * writes))
        if self.family.mode == "coop":
            lines = over_ins(lambda size: across(lambda width: self._read(width, size)))
            return np.maximum(
                issued, outs(self._block) * (down * lines + points * (tiles + partial + residual))
            )
        initial = outs(self._wide_lines) * partial + outs(self._lines) * residual
        taps = down * across(lambda width: width) * over_ins(lambda size: size)
        return np.maximum(issued, outs(self._block) * taps + points * initial)

    def _read(self, width: int, channels: Any) -> Any:
        """Lines of maps in a row of the window."""
        if self._runs:
            return -(-width * channels // LANES)
        return width * -(-channels // LANES)

    @cached_property
    def _vector(self) -> Any:
        points, residual = self.rows.live * self.columns.live_once, self.layer.residual is not None
        # Where a step follows another without a pause the last results of the one are written beside the other.
        writes = np.where(self._pauses < self.steps, 0, self.ins)
        moves = self.ins, self.ins - 1, int(residual), writes
        computed = self._computed(
            self.rows.taps, points, self._across, self._over_ins, self._over_outs, moves
        )
        return self.share.groups * computed

    @property
    def _moves(self) -> Any:
        """The most ``moves`` of one step."""
        several = self.ins > 1
        return 1, several, np.where(several, 0, self.layer.residual is not None), 1

    @property
    def _between(self) -> int:
        """Cycles between two steps' computation, as ``_in_line`` counts them at most."""
        return self._pause + LOAD_ISSUE + STORE_ISSUE

    @cached_property
    def longest_step(self) -> Any:
        """As much as one step counts in ``_in_line``, at most."""
        points, down = self.rows.most * self.columns.most, self.rows.most * self.layer.kernel[0]
        computed = self._computed(
            down,
            points,
            self._across_tile,
            lambda of: of(self.ci),
            lambda of: of(self._first_out),
            self._moves,
        )
        return computed + self._between

    @cached_property
    def _pauses(self) -> Any:
        """Steps after which the vector unit is awaited: those that store, and those before a step that loads."""
        return np.maximum(self._loading_steps - 2, self._stores)

    @property
    def _pause(self) -> int:
        """Cycles of such a wait: for the last results, and until the vector unit works again."""
        return PAUSE + self.problem.machine.timing.vector_latency

    @cached_property
    def _in_line(self) -> Any:
        """All steps' computation one after another, with what is issued between them."""
        issued = LOAD_ISSUE * np.maximum(self._loading_steps - 2, 0) + STORE_ISSUE * self._stores
        return self._vector + np.maximum(self._pauses, 0) * self._pause + issued

    def time(self, words: Any) -> Any:
        """Cycles of the memory for so many words."""
        numerator, denominator = self.problem.machine.cycles_per_byte
        return words * WORD_BYTES * numerator // denominator

    @cached_property
    def bursts(self) -> tuple[Any, Any, Any]:
        """Where a new tile of what is stationary comes, in one or two steps, and others come that need none: the words
        of all these loads, how many such tiles there are, and whether each step loads its tile of the other operand.
        """
        none = np.zeros(self.shape, dtype=np.int64)
        if not self.convolution or self.empties:
            return none, none, none > 0
        maps, weights, _, _ = self._moved
        _, first_weights = self._weight_words
        stays, groups, first_maps = self.family.input_resident, self.share.groups, self._first_maps
        if self.family.order == "maps_stationary":
            always = self.outs * self.ins > KEPT
            again = np.where(always, (groups * self.spatial - 1) * first_weights, 0)
            loaded = (maps - first_maps) * (not stays) + again
            often, apart = groups * self.spatial - 1, self.outs > 1
        else:
            always = (self.spatial * self.ins > KEPT) & (not stays)
            again = np.where(always, (groups * self.outs - 1) * first_maps, 0)
            loaded = weights - first_weights + again
            often, apart = groups * self.outs - 1, self.spatial > 1
        few = (self.ins <= KEPT) & apart
        return np.where(few, loaded, none), np.where(few, often, none), few & always

    @cached_property
    def covered(self) -> Any:
        """What ``_in_line`` counts of the steps during which the tiles of ``bursts`` are loaded, and what comes after
        these steps, at most: for each tile the step before it (the last one with the tile before), and if it comes
        in two steps also the first one with it."""
        _, often, _ = self.bursts
        if self.family.order == "maps_stationary":
            last_out = self.share.channels - (self.outs - 1) * self.co
            before = self._computed(
                self.rows.taps,
                self.rows.work * self.layer.columns,
                self._across,
                lambda of: of(self.ci),
                lambda of: of(last_out),
                self._moves,
            )
        else:
            before = self._computed(
                self.rows.last_work * self.layer.kernel[0],
                self.rows.last_work * self.columns.last,
                lambda of: self.columns.last * of(self.layer.kernel[1]),
                lambda of: of(self.ci),
                self._over_outs,
                self._moves,
            )
        before = np.minimum(self.share.groups * before, often * (self.longest_step - self._between))
        return before + often * (2 * self._between + (self.ins - 1) * self.longest_step)

    @property
    def awaits(self) -> bool:
        """Whether anything is loaded before the first step: nothing is where a maximum pool finds its maps in Buf."""
        return not (self.layer.work == "max" and self.family.input_resident)

    @property
    def first_turn(self) -> Any:
        """Cycles of the memory for what the first two steps load: they are requested together."""
        return self.time(self.first_words + self.second_words)

    @cached_property
    def unhindered(self) -> Any:
        """Cycles of the cluster if no load but the first is awaited."""
        latency = self.problem.machine.timing.memory_latency * self.awaits
        last = self.rows.last * self.columns.last * (self.share.channels - (self.outs - 1) * self.co)
        last = last * (not self.family.output_resident)
        return self.time(self.first_words) + latency + self._in_line + self.time(last)

    @property
    def mapping(self) -> Any:
        """Cycles beyond ``unhindered`` for results that go through the look-up table."""
        if self.layer.table is None:
            return 0
        results = self.share.groups * self.rows.work * self.layer.columns * self._over_outs(self._channels)
        return results // self.problem.machine.timing.table_words

    @property
    def supplied(self) -> Any:
        """Cycles of the cluster if all loads follow one another without a pause: the last step is computed and stored
        after the last of them."""
        latency = self.problem.machine.timing.memory_latency * self.awaits
        return self.time(self.loaded_words) + latency + self.ending

    @cached_property
    def ending(self) -> Any:
        """Cycles of the last step's computation and of its store."""
        ends = self.rows.last * self.columns.last * (self.share.channels - (self.outs - 1) * self.co)
        return self._last_step + self.time(ends) * (not self.family.output_resident)

    @property
    def _last_step(self) -> Any:
        """Cycles of the last step's computation, and of the wait for its last results. Of windows on the edge only one
        position is counted."""
        last = self.share.channels - (self.outs - 1) * self.co
        points = self.rows.last_work * self.columns.last
        computed = self._computed(
            self.rows.last_work,
            points,
            lambda of: self.columns.last * of(1),
            lambda of: of(self.layer.group_inputs - (self.ins - 1) * self.ci),
            lambda of: of(last),
            (0, 0, 0, 0),
        )
        return computed * (not self.empties) + self._pause * (not self.family.output_resident)

    @property
    def waiting(self) -> Any:
        """Cycles beyond ``unhindered`` for the loads of ``bursts``."""
        loaded, often, _ = self.bursts
        latency = self.problem.machine.timing.memory_latency
        return np.maximum(0, self.time(loaded) + often * latency - self.covered)

    @property
    def buffer_words(self) -> Any:
        """Words that the vector unit reads and writes in all units' buffers, and those that cross the port."""
        points = self.rows.work * self.layer.columns
        taps = self.rows.taps * self._across(lambda width: width)
        if self.layer.work == "convolution":
            readers = VMACS if self.family.mode == "coop" else BLOCK
            read = self._over_outs(self._block) * taps * self.layer.group_inputs * (1 + readers)
        else:
            read = self._over_outs(self._filters) * taps * (2 if self.layer.work == "lane" else 1)
        written = self._over_outs(self._filters) * points
        maps, weights, _, _ = self._moved
        crossing = maps * (not self.family.input_resident) + weights
        crossing = crossing + self._results * (not self.family.output_resident)
        return UNITS * self.share.groups * (read + written) + crossing
