"""The order of a layer's steps: which tiles each works on, which buffers hold them, and which steps are alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.tile.layer_tiling import LayerTiling

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class StepSequence:
    """All steps of a layer on a cluster, an array element for each. Operands are ``input``, ``weights``, ``bias``,
    ``residual``, ``table`` and ``output``."""

    tiling: LayerTiling

    @cached_property
    def indices(self) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
        """For every step its group, row, column, output channel and input channel tile."""
        groups, rows, columns, outs, ins = self.tiling.counts
        if self.tiling.mapping.order == "weights_stationary":
            group, out, row, column, number = np.indices((groups, outs, rows, columns, ins)).reshape(5, -1)
        else:
            group, row, column, out, number = np.indices((groups, rows, columns, outs, ins)).reshape(5, -1)
        return group, row, column, out, number

    @cached_property
    def tiles(self) -> dict[str, Numbers]:
        """For every step which tile of each operand it works on."""
        group, row, column, out, number = self.indices
        _, rows, columns, outs, ins = self.tiling.counts
        pixel = (group * rows + row) * columns + column
        return {
            "input": pixel * outs + out if self.tiling.by_channel else pixel * ins + number,
            "weights": (group * outs + out) * ins + number,
            "bias": group * outs + out,
            "residual": pixel * outs + out,
            "table": np.zeros_like(out),
            "output": pixel * outs + out,
        }

    @cached_property
    def turns(self) -> dict[str, tuple[Numbers, Flags]]:
        """For every operand and step the buffer, and whether it has to be loaded: an operand's tiles take its buffers
        in turn, and one that the buffer of its turn still holds is not loaded again."""
        found = {}
        for operand, tiles in self.tiles.items():
            changed = np.ones(self.tiling.steps, dtype=np.bool_)
            changed[1:] = tiles[1:] != tiles[:-1]
            turn = np.cumsum(changed) - 1
            sequence = tiles[changed]
            fresh = np.ones(len(sequence), dtype=np.bool_)
            fresh[2:] = sequence[2:] != sequence[:-2]
            found[operand] = turn & 1, changed & fresh[turn]
        return found

    @cached_property
    def buffers(self) -> dict[str, Numbers]:
        """For every operand and step the buffer of its tile, 0 or 1."""
        return {operand: buffers for operand, (buffers, _) in self.turns.items()}

    @cached_property
    def loaded(self) -> dict[str, Flags]:
        """For every operand and step whether its tile has to be loaded."""
        return {operand: loaded for operand, (_, loaded) in self.turns.items()}

    @cached_property
    def stored(self) -> Flags:
        """The steps that complete a tile of an output that does not stay in Buf."""
        if self.tiling.mapping.output_resident:
            return np.zeros(self.tiling.steps, dtype=np.bool_)
        return np.asarray(self.indices[4] == self.tiling.ins - 1, dtype=np.bool_)

    @cached_property
    def kinds(self) -> dict[str, Numbers]:
        """For every step numbers that are equal where loads, compute objects or stores differ in addresses only."""
        _, row, column, out, number = self.indices
        tiling = self.tiling
        rows = np.asarray(tiling.rows.kinds, dtype=np.int64)[row]
        columns = np.asarray(tiling.columns.kinds, dtype=np.int64)[column]
        last_out, last_in = (
            (out == tiling.outs - 1).astype(np.int64),
            (number == tiling.ins - 1).astype(np.int64),
        )
        pixel = rows * len(tiling.columns.tiles) + columns
        output = pixel * 2 + last_out
        compute = (output * 2 + last_in) * 2 + (number > 0)
        if tiling.mapping.output_resident:
            _, width, channels = tiling.resident_output
            group = self.indices[0]
            starts = np.asarray(tiling.columns.starts, dtype=np.int64)[column]
            if tiling.shares_rows:
                first = group * tiling.share.channels + out * tiling.mapping.tile.out_channels
            else:
                starts = starts + np.asarray(tiling.rows.starts, dtype=np.int64)[row] * width
                first = 0 * out
            compute = compute * 16 + (starts * channels + first) % 16
        return {
            "input": pixel * 2 + (last_out if tiling.by_channel else last_in),
            "weights": last_out * 2 + last_in,
            "bias": last_out,
            "residual": output,
            "table": np.zeros_like(out),
            "output": output,
            "compute": compute,
        }


def first_equal(kinds: Numbers, only: Flags | None) -> Numbers:
    """For every step (of ``only``; what it says of others means nothing) the first one of its kind."""
    steps = np.arange(len(kinds), dtype=np.int64)
    if only is not None and not only.any():
        return steps
    of, where = (kinds, steps) if only is None else (kinds[only], steps[only])
    if len(kinds) and 0 <= int(kinds.max()) < 1 << 16:
        first = np.zeros(int(kinds.max()) + 1, dtype=np.int64)
        first[of[::-1]] = where[::-1]
        return first[kinds]
    distinct, index = np.unique(of, return_index=True)
    return where[index][np.minimum(np.searchsorted(distinct, kinds), len(distinct) - 1)]
