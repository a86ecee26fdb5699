"""How a tile's weights lie in WBuf and, piece after piece, in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mapper.arch.snowflake import BLOCK, LANES, UNITS, VMACS
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping
from mapper.models.trace_partition.steps.step import Trace, Transfer, Units
from mapper.models.trace_partition.tile.window import window_classes

FIELD = (1 << 16) - 1
"""Largest number in a 16-bit field of a transfer."""
CHUNK = FIELD // LANES * LANES


@dataclass(frozen=True)
class WeightPart:
    """``blocks`` blocks of filters of which ``vmacs`` vMACs of each unit have any, from word ``local`` of WBuf; in
    memory from word ``memory`` of the tile in the order [block][chunk][unit][vMAC][word]."""

    blocks: int
    vmacs: int
    local: int
    memory: int


@dataclass(frozen=True)
class WeightTile:
    """The weights of one tile: each unit has ``filters`` of its own (``units`` 4) or all have the same (1).

    A block is a filter for each vMAC (COOP), or for each MAC of a unit, 64 (else). ``words``: of a block in a WBuf.
    COOP: a filter's traces, each from a multiple of 16 words on. INDP: [row][column][channel][16 lanes].
    LANE: [window class][row][column][16 lanes].
    """

    mode: str
    kernel: tuple[int, int]
    channels: int
    filters: int
    units: int
    runs: bool
    classes: int

    @property
    def block(self) -> int:
        return VMACS if self.mode == "coop" else BLOCK

    @cached_property
    def trace_pitch(self) -> int:
        """Words from a trace to the next in COOP: traces are whole rows of the kernel, or single positions where the
        window is dilated along columns."""
        length = self.channels * (self.kernel[1] if self.runs else 1)
        return -(-length // LANES) * LANES

    @cached_property
    def words(self) -> int:
        height, width = self.kernel
        if self.mode == "coop":
            return self.trace_pitch * height * (1 if self.runs else width)
        return LANES * height * width * (self.channels if self.mode == "indp" else self.classes)

    @property
    def vmac_words(self) -> int:
        """Words of the tile in each WBuf."""
        return -(-self.filters // self.block) * self.words

    @cached_property
    def parts(self) -> tuple[WeightPart, ...]:
        """Whole blocks, then what is left."""
        whole, left = divmod(self.filters, self.block)
        found = [WeightPart(whole, VMACS, 0, 0)] if whole else []
        if left:
            vmacs = left if self.mode == "coop" else -(-left // LANES)
            found.append(WeightPart(1, vmacs, whole * self.words, whole * VMACS * self.units * self.words))
        return tuple(found)

    @cached_property
    def memory_words(self) -> int:
        """Words of the tile in memory."""
        return sum(part.blocks * part.vmacs for part in self.parts) * self.units * self.words

    def place(self, row: int, column: int, window: int = 0) -> int:
        """Where the weights of a position of the kernel begin in a block; ``window``: the window's class in LANE."""
        height, width = self.kernel
        position = row * width + column
        if self.mode == "indp":
            return LANES * position * self.channels
        if self.mode == "lane":
            return LANES * (window * height * width + position)
        return row * self.trace_pitch + column * self.channels if self.runs else position * self.trace_pitch

    def traces(
        self,
        rows: tuple[int, int],
        columns: tuple[int, int],
        pitches: tuple[int, int],
        length: int,
        window: int,
    ) -> tuple[Trace, ...]:
        """The traces of a window that keeps ``rows`` and ``columns`` (begin, end) of the kernel. ``pitches``: words of
        Buf from one row and column of the kernel to the next; ``length``: words of a position. A window that lies all
        in the padding has one trace of no words, which writes the initial values."""
        (top, bottom), (left, right) = rows, columns
        if bottom <= top or right <= left:
            return (Trace(0, 0, 0),)
        if self.runs and self.mode != "lane":
            width = (right - left) * length
            return tuple(
                Trace((row - top) * pitches[0], self.place(row, left), width) for row in range(top, bottom)
            )
        return tuple(
            Trace(
                (row - top) * pitches[0] + (column - left) * pitches[1],
                self.place(row, column, window),
                length,
            )
            for row in range(top, bottom)
            for column in range(left, right)
        )

    def chunks(self) -> tuple[tuple[int, int], ...]:
        """First word and words of what one piece brings of a block."""
        size = self.words if self.words <= FIELD else CHUNK
        return tuple((first, min(size, self.words - first)) for first in range(0, self.words, size))

    def transfers(self, tensor: str, memory: int, local: int) -> tuple[Transfer, ...]:
        """What brings the tile from word ``memory`` of ``tensor`` to word ``local`` of WBuf."""
        found = []
        for part in self.parts:
            pieces = part.blocks * VMACS * self.units
            together = part.vmacs == VMACS and self.words <= FIELD and pieces <= FIELD
            at = memory + part.memory
            for block in range(1 if together else part.blocks):
                for first, words in self.chunks():
                    to = local + part.local + block * self.words + first
                    count = part.vmacs * (part.blocks if together else 1)
                    pitch = self.words if together else 0
                    turns: tuple[Units, ...] = ("all",)
                    if self.units > 1 and part.vmacs == VMACS:
                        turns, count = ("deal",), count * UNITS
                    elif self.units > 1:
                        turns = tuple(range(UNITS))
                    for units in turns:
                        found.append(Transfer("wbuf", units, to, tensor, at, count, words, pitch, words))
                        at += count * words
        return tuple(found)


def weight_tile(layer: TraceLayer, mapping: LayerMapping, channels: int, filters: int) -> WeightTile:
    """The weights of a tile with ``channels`` input channels and ``filters`` of each unit."""
    lane = layer.work == "lane"
    return WeightTile(
        "lane" if lane else mapping.mode,
        layer.kernel,
        1 if lane else channels,
        filters,
        1 if mapping.unit_split == "rows" else UNITS,
        layer.dilation[1] == 1 or layer.kernel[1] == 1,
        window_classes(layer).count if lane else 1,
    )
