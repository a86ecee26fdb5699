"""The instructions of the overlay's controller, word by word as ``rtl/overlay.sv`` takes them apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Literal

from mapper.models.algorithm_selection.number.network_number import Rounding

Dataflow = Literal["NS", "WS", "IS"]
DATAFLOWS: tuple[Dataflow, ...] = ("NS", "WS", "IS")
Place = Literal["dram", "result", "tensor", "input", "kernel", "scale"]
SOURCES: dict[str, int] = {"dram": 0, "result": 1, "tensor": 2}
TARGETS: dict[str, int] = {"dram": 0, "input": 1, "kernel": 2, "tensor": 3, "result": 4, "scale": 5}
Unit = Literal[
    "none", "winograd_input", "winograd_kernel", "winograd_output", "max_pool",
    "winograd_4x4_input", "winograd_4x4_kernel", "winograd_4x4_output",
]  # fmt: skip
UNITS: tuple[Unit, ...] = (
    "none", "winograd_input", "winograd_kernel", "winograd_output", "max_pool",
    "winograd_4x4_input", "winograd_4x4_kernel", "winograd_4x4_output",
)  # fmt: skip
TILES: dict[str, tuple[int, int]] = {
    "winograd_input": (16, 16),
    "winograd_kernel": (9, 16),
    "winograd_output": (16, 4),
    "winograd_4x4_input": (36, 36),
    "winograd_4x4_kernel": (9, 36),
    "winograd_4x4_output": (36, 16),
}
"""Words in and out of a linear transform."""
Engine = Literal["input", "kernel", "array", "output"]
ENGINES: tuple[Engine, ...] = ("input", "kernel", "array", "output")
"""What runs at once, by number: the mover that fills the input buffer, the one that fills the kernel buffer and the
scales, the array, and the mover that empties the output buffer, which pools, too."""
CALL, STOP = 4, 5
FETCH = 8
"""Words of a line of control memory."""
LEVELS = 7
HIGHEST = 0x7FFF


def at(row: int, column: int) -> int:
    """The address of an element of a buffer's matrix."""
    return (column << 16) + row


@dataclass(frozen=True)
class Room:
    """Lanes, and where the second half of each memory begins: words of a bank, lines of the tables; of the sums, which
    are two memories, their number."""

    lanes: int
    input: int = 0
    kernel: int = 0
    tensor: int = 0
    calls: int = 0
    scale: int = 0

    def base(self, memory: str, half: int) -> int:
        """Where a half begins; DRAM has none."""
        if memory == "result":
            return half
        return half * int(getattr(self, memory, 0))


@dataclass(frozen=True)
class Level:
    """A loop of a layout-transformation unit: ``count`` visits, ``step`` added to the address at each, and
    (``down``, ``right``) to the position in the map."""

    count: int
    step: int
    down: int = 0
    right: int = 0


@dataclass(frozen=True)
class Path:
    """The addresses a layout-transformation unit gives: ``levels`` from the innermost out (at most 7), and the
    ``size`` (rows, columns) of the map outside which an element is padding; null if there is none.

    ``lane``: the level whose elements move side by side, a row of lanes a cycle; its steps are adjacent words of DRAM,
    or adjacent elements of a buffer. ``corner``: position of the first element; it may lie above and left of the map.
    """

    start: int
    levels: tuple[Level, ...]
    size: tuple[int, int] | None = None
    corner: tuple[int, int] = (0, 0)
    lane: int = 0

    def rows(self, lanes: int) -> int:
        """Rows of lanes, one a cycle."""
        return math.prod(self._counts(lanes))

    def down(self) -> bool:
        """Whether lanes are elements of a column, where the path is that of a buffer."""
        return self.levels[self.lane].step == at(1, 0)

    def words(self, lanes: int) -> list[int]:
        rest = LEVELS - len(self.levels)
        # Positions are kept without a sign, so all of them move by what the corner lies outside the map.
        down, right = (max(0, -one) for one in self.corner)
        rows, columns = self.size or (HIGHEST, HIGHEST)
        steps = [level.step * (lanes if index == self.lane else 1) for index, level in enumerate(self.levels)]
        return [
            self.start,
            _position(self.corner[0] + down, self.corner[1] + right),
            _position(down, right),
            _position(down + rows, right + columns),
            self.lane,
            self.levels[self.lane].count,
            *self._counts(lanes),
            *([1] * rest),
            *steps,
            *([0] * rest),
            *(_position(level.down, level.right) for level in self.levels),
            *([0] * rest),
        ]

    def _counts(self, lanes: int) -> list[int]:
        return [
            -(-level.count // lanes) if index == self.lane else level.count
            for index, level in enumerate(self.levels)
        ]


@dataclass(frozen=True)
class Requantisation:
    """((sum + bias) * factor + addend) / 2^shift, rounded down and limited to [lowest, highest]; bias and factor of the
    map stand in the table that a move to "scale" fills. What is below zero is then taken times ``slope`` / 2^16, halves
    upward. ``single``: sum and product are first rounded as single precision has them, and halves go to the even
    number. Without a ``table`` the bias is 0 and the factor 1, or ``bias`` and ``addend`` where ``single``."""

    addend: int
    shift: int
    lowest: int
    highest: int
    slope: int = 1 << 16
    single: bool = False
    table: bool = True
    bias: int = 0

    @property
    def flags(self) -> int:
        return 1 | self.single << 1 | (not self.table) << 2


def requantisation(rounding: Rounding) -> Requantisation:
    """With bias and factor of the maps."""
    addend = 0 if rounding.single else 1 << rounding.shift >> 1
    return Requantisation(
        addend, rounding.shift, rounding.lowest, rounding.highest, rounding.slope, rounding.single
    )


def unit(m: int, end: Literal["input", "kernel", "output"]) -> Unit:
    """The linear transform of tiles of ``m`` x ``m`` results; none where there are no tiles."""
    names: dict[tuple[int, str], Unit] = {
        (2, "input"): "winograd_input",
        (2, "kernel"): "winograd_kernel",
        (2, "output"): "winograd_output",
        (4, "input"): "winograd_4x4_input",
        (4, "kernel"): "winograd_4x4_kernel",
        (4, "output"): "winograd_4x4_output",
    }
    return names.get((m, end), "none")


@dataclass(frozen=True)
class Pooling:
    """A kernel (rows, columns) over padded maps of ``size``, at ``stride`` in both directions; ``continues``: with the
    rows that follow those of the stream before."""

    kernel: tuple[int, int]
    stride: int
    size: tuple[int, int]
    continues: bool = False


@dataclass(frozen=True)
class Move:
    """A stream from ``source`` to ``target`` through ``unit``. ``rows``: those of the source's and the target's matrix;
    ``halves``: which half of their buffers these lie in. ``fill``: what padding reads as; a bias of all maps stands in
    its place, as what has one has no padding. ``scale``: the third of the
    scales that requantisation takes. ``zeros``: the zero points of maps that come from and go to DRAM. What goes to the
    sums is taken ``times`` a factor of 18 bits, and is added to what is there if it ``adds``. ``stays``: where a map
    that stays on the chip begins in the tensor buffer, as source and as target, in words of a bank. ``waits``: engines
    that must be idle first."""

    source: Place
    target: Place
    taken: Path
    put: Path
    unit: Unit = "none"
    rows: tuple[int, int] = (0, 0)
    requantisation: Requantisation | None = None
    pooling: Pooling | None = None
    fill: int = 0
    halves: tuple[int, int] = (0, 0)
    scale: int = 0
    zeros: tuple[int, int] = (0, 0)
    times: int = 1
    adds: bool = False
    stays: tuple[int | None, int | None] = (None, None)
    waits: tuple[Engine, ...] = ENGINES

    @property
    def engine(self) -> Engine:
        """The mover that runs it."""
        if self.target in ("kernel", "scale"):
            return "kernel"
        restores = (self.source, self.target, self.unit) == ("dram", "tensor", "none")
        loads = self.target in ("input", "result") or restores
        return "input" if loads else "output"

    def words(self, room: Room) -> list[int]:
        pool = self.pooling or Pooling((0, 0), 0, (0, 0))
        took, gave = TILES.get(self.unit, (1, 1))
        bases = [
            room.base(place, half) if first is None else first
            for place, half, first in zip((self.source, self.target), self.halves, self.stays, strict=True)
        ]
        return _record(
            ENGINES.index(self.engine),
            self.waits,
            SOURCES[self.source],
            TARGETS[self.target],
            UNITS.index(self.unit)
            | self.adds << 8
            | pool.continues << 9
            | _down(self.target, self.put) << 10,
            self.requantisation.flags if self.requantisation else 0,
            *(astuple(self.requantisation)[:4] if self.requantisation else (0,) * 4),
            *pool.kernel,
            pool.stride,
            *pool.size,
            took,
            max(0, gave - took),
            self.fill or (self.requantisation.bias if self.requantisation else 0),
            *self.rows,
            *bases,
            int(_down(self.source, self.taken)),
            *self.taken.words(room.lanes),
            *self.put.words(room.lanes),
            room.base("scale", self.scale),
            self.requantisation.slope if self.requantisation else 0,
            self.zeros[0] & 0xFFFF | (self.zeros[1] & 0xFFFF) << 16,
            self.times,
        )


@dataclass(frozen=True)
class Call:
    """Where one product's matrices begin in the buffers, and whether it adds. ``shift``: of a patch."""

    input: tuple[int, int]
    weight: tuple[int, int]
    result: tuple[int, int]
    adds: bool = False
    shift: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Gemm:
    """Products of a x b by b x c in one dataflow. ``rows``: those of the input, kernel and result matrices;
    ``halves``: which half of their buffers these lie in, and the calls in their table. ``patches``: width of a kn2row
    patch, rows and columns of the output. ``waits``: engines that must be idle first."""

    dataflow: Dataflow
    a: int
    b: int
    c: int
    calls: tuple[Call, ...]
    rows: tuple[int, int, int]
    patches: tuple[int, int, int] | None = None
    halves: tuple[int, int, int, int] = (0, 0, 0, 0)
    waits: tuple[Engine, ...] = ENGINES

    @property
    def engine(self) -> Engine:
        return "array"

    def words(self, room: Room) -> list[int]:
        input_half, kernel_half, result_half, call_half = self.halves
        made: list[int] = []
        first = room.base("calls", call_half)
        for index, call in enumerate(self.calls):
            place = (*call.input, *call.weight, *call.result, int(call.adds), *call.shift)
            made += _record(CALL, (), first + index, *place)
        return made + _record(
            ENGINES.index(self.engine),
            self.waits,
            DATAFLOWS.index(self.dataflow),
            self.a,
            self.b,
            self.c,
            len(self.calls),
            int(self.patches is not None),
            *(self.patches or (0, 0, 0)),
            *self.rows,
            first,
            room.base("input", input_half),
            room.base("kernel", kernel_half),
            room.base("result", result_half),
        )


Instruction = Move | Gemm


def control_words(instructions: Sequence[Instruction], room: Room) -> list[int]:
    """The control memory: all instructions and the one that stops."""
    return [word for one in instructions for word in one.words(room)] + _record(STOP, ENGINES)


def _record(operation: int, waits: Sequence[Engine], *fields: int) -> list[int]:
    """A record in whole lines."""
    rest = -(1 + len(fields)) % FETCH
    lines = (1 + len(fields) + rest) // FETCH
    mask = sum(1 << ENGINES.index(one) for one in waits)
    return [operation | lines << 8 | mask << 24, *(field & 0xFFFFFFFF for field in fields), *([0] * rest)]


def _down(place: Place, path: Path) -> bool:
    """Whether lanes are elements of a buffer's column, which all have the same map."""
    return place != "dram" and path.down()


def _position(row: int, column: int) -> int:
    return (row << 16) + column
