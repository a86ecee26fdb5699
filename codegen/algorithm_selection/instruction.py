"""The instructions of the overlay's controller, word by word as ``rtl/overlay.sv`` takes them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Literal

Dataflow = Literal["NS", "WS", "IS"]
DATAFLOWS: tuple[Dataflow, ...] = ("NS", "WS", "IS")
Place = Literal["dram", "result", "tensor", "input", "kernel", "scale"]
SOURCES: dict[str, int] = {"dram": 0, "result": 1, "tensor": 2}
TARGETS: dict[str, int] = {"dram": 0, "input": 1, "kernel": 2, "tensor": 3, "result": 4, "scale": 5}
Unit = Literal["none", "winograd_input", "winograd_kernel", "winograd_output", "max_pool"]
UNITS: tuple[Unit, ...] = ("none", "winograd_input", "winograd_kernel", "winograd_output", "max_pool")
TILES: dict[str, tuple[int, int]] = {
    "winograd_input": (16, 16),
    "winograd_kernel": (9, 16),
    "winograd_output": (16, 4),
}
"""Words in and out of a linear transform."""
STOP, GEMM, MOVE, CALL = range(4)
LEVELS = 7
HIGHEST = 0x7FFF


def at(row: int, column: int) -> int:
    """The address of an element of a buffer's matrix."""
    return (column << 16) + row


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

    ``corner``: position of the first element; it may lie above and left of the map.
    """

    start: int
    levels: tuple[Level, ...]
    size: tuple[int, int] | None = None
    corner: tuple[int, int] = (0, 0)

    def words(self) -> list[int]:
        levels = [*self.levels, *[Level(1, 0)] * (LEVELS - len(self.levels))]
        # Positions are kept without a sign, so all of them move by what the corner lies outside the map.
        down, right = (max(0, -one) for one in self.corner)
        rows, columns = self.size or (HIGHEST, HIGHEST)
        return [
            self.start,
            _position(self.corner[0] + down, self.corner[1] + right),
            _position(down, right),
            _position(down + rows, right + columns),
            *(level.count for level in levels),
            *(level.step for level in levels),
            *(_position(level.down, level.right) for level in levels),
        ]


@dataclass(frozen=True)
class Requantisation:
    """((sum + bias) * factor + addend) / 2^shift, rounded down and limited to [lowest, highest]; bias and factor of the
    map stand in the table that a move to "scale" fills."""

    addend: int
    shift: int
    lowest: int
    highest: int


@dataclass(frozen=True)
class Pooling:
    """A kernel (rows, columns) over padded maps of ``size``, at ``stride`` in both directions."""

    kernel: tuple[int, int]
    stride: int
    size: tuple[int, int]


@dataclass(frozen=True)
class Move:
    """A stream of words from ``source`` to ``target`` through ``unit``. ``rows``: those of the source's and the
    target's matrix. ``fill``: what padding reads as."""

    source: Place
    target: Place
    taken: Path
    put: Path
    unit: Unit = "none"
    rows: tuple[int, int] = (0, 0)
    requantisation: Requantisation | None = None
    pooling: Pooling | None = None
    fill: int = 0

    def words(self) -> list[int]:
        pool = self.pooling or Pooling((0, 0), 0, (0, 0))
        took, gave = TILES.get(self.unit, (1, 1))
        return _record(
            MOVE,
            SOURCES[self.source],
            TARGETS[self.target],
            UNITS.index(self.unit),
            int(self.requantisation is not None),
            *(astuple(self.requantisation) if self.requantisation else (0,) * 4),
            *pool.kernel,
            pool.stride,
            *pool.size,
            took,
            max(0, gave - took),
            self.fill,
            *self.rows,
            *self.taken.words(),
            *self.put.words(),
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
    """Products of a x b by b x c in one dataflow. ``rows``: those of the input, kernel and result matrices.
    ``patches``: width of a kn2row patch, rows and columns of the output."""

    dataflow: Dataflow
    a: int
    b: int
    c: int
    calls: tuple[Call, ...]
    rows: tuple[int, int, int]
    patches: tuple[int, int, int] | None = None

    def words(self) -> list[int]:
        made: list[int] = []
        for index, call in enumerate(self.calls):
            place = (*call.input, *call.weight, *call.result, int(call.adds), *call.shift)
            made += _record(CALL, index, *place)
        return made + _record(
            GEMM,
            DATAFLOWS.index(self.dataflow),
            self.a,
            self.b,
            self.c,
            len(self.calls),
            int(self.patches is not None),
            *(self.patches or (0, 0, 0)),
            *self.rows,
        )


Instruction = Move | Gemm


def control_words(instructions: Sequence[Instruction]) -> list[int]:
    """The control memory: all instructions and the one that stops."""
    return [word for one in instructions for word in one.words()] + _record(STOP)


def _record(operation: int, *fields: int) -> list[int]:
    words = [operation, *fields]
    return [operation | len(words) << 8, *(field & 0xFFFFFFFF for field in fields)]


def _position(row: int, column: int) -> int:
    return (row << 16) + column
