"""A layer as the overlay runs it: a convolution, and whatever is expressed as one [Meng2021, secs. 2 and 3.4]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from mapper.arch.overlay import OverlayMachine
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow, Layout
from mapper.models.algorithm_selection.overlay.on_the_way import Pooled
from mapper.models.algorithm_selection.resource import half_depth, most_banks

ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
DATAFLOWS: tuple[Dataflow, ...] = get_args(Dataflow)

TILE = {"winograd": 2, "winograd-4x4": 4}
"""m of the Winograd algorithms F(m x m, 3 x 3), which are named like their layouts."""
PIECES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
"""Numbers of pieces that an image is cut into on the generated overlay, whose program chooses among the same."""
Pair = tuple[int, int]
Ends = tuple[bool, bool]
"""Of what a layer reads, and of what it stores."""


@dataclass(frozen=True)
class OverlayLayer:
    """One layer. ``map`` is H1 x H2 of the input without padding, ``output`` O1 x O2, ``kernel`` K1 x K2; channels are
    those of all ``groups``. ``per_channel``: an average pool, the convolution of every channel by one kernel. A fully
    connected layer has maps of one element and its rows as ``images``. ``pooled``: the max pool that takes the results
    on their way."""

    name: str
    source: str
    op: str
    images: int
    in_channels: int
    out_channels: int
    map: Pair
    output: Pair
    kernel: Pair
    strides: Pair = (1, 1)
    pads: tuple[Pair, Pair] = ((0, 0), (0, 0))
    dilations: Pair = (1, 1)
    groups: int = 1
    per_channel: bool = False
    fully_connected: bool = False
    pooled: Pooled | None = None

    @property
    def positions(self) -> int:
        """O1 * O2."""
        return math.prod(self.output)

    @property
    def elements(self) -> int:
        """H1 * H2."""
        return math.prod(self.map)

    @property
    def window(self) -> int:
        """K1 * K2."""
        return math.prod(self.kernel)

    @property
    def pointwise(self) -> bool:
        """Whether im2col's matrix is the plain tensor."""
        plain = self.kernel == self.strides == self.dilations == (1, 1)
        return plain and not any(map(any, self.pads))

    @property
    def positions_read(self) -> tuple[frozenset[int], frozenset[int]] | None:
        """The rows and the columns of the map that some window covers, None if those are all."""
        rows, columns = (
            frozenset(
                at * step + tap * dilation - begin
                for at in range(count)
                for tap in range(taps)
                if 0 <= at * step + tap * dilation - begin < size
            )
            for count, step, taps, dilation, (begin, _), size in zip(
                self.output, self.strides, self.kernel, self.dilations, self.pads, self.map, strict=True
            )
        )
        return None if (len(rows), len(columns)) == self.map else (rows, columns)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the spatial convolution, Y_CONV of Eq. 14."""
        depth = 1 if self.per_channel else self.in_channels // self.groups
        return self.images * self.positions * self.window * depth * self.out_channels

    @property
    def weights(self) -> int:
        """Words of the kernels."""
        if self.per_channel:
            return self.window
        return self.window * (self.in_channels // self.groups) * self.out_channels

    def algorithms(self, machine: OverlayMachine) -> tuple[Algorithm, ...]:
        """What the machine can compute the layer with. kn2row of a 1 x 1 kernel is im2col."""
        found: list[Algorithm] = ["im2col"]
        # Pad-and-accumulate has no patch narrower than the output.
        narrow = machine.engines is not None and -(-self.map[1] // self.strides[1]) < self.output[1]
        if self.window > 1 and not narrow:
            found.append("kn2row")
        if self._suits_winograd(machine):
            if machine.winograd.f_2_3:
                found.append("winograd")
            if machine.winograd.f_4_3:
                found.append("winograd-4x4")
        if machine.engines is None or machine.engines.buffers is None:
            return tuple(found)
        return tuple(one for one in found if self.piece_counts(one, machine))

    def bands(self, algorithm: Algorithm) -> int:
        """Rows of the output, or of Winograd's tiles, by which a layer is cut into pieces."""
        return _up(self.output[0], TILE.get(algorithm, 1))

    def piece_counts(self, algorithm: Algorithm, machine: OverlayMachine) -> tuple[int, ...]:
        """Numbers of pieces whose matrices fit the generated overlay's buffers, of as many banks as the machine can
        have; buffers of fewer banks are as much deeper. Empty if not even the smallest pieces do."""
        bands = self.bands(algorithm)
        counts, engines = [count for count in PIECES if count <= bands], machine.engines
        if self.pooled is not None:
            counts = [count for count in counts if self.pooled.suits(bands, count)]
        room = engines.buffers if engines is not None else None
        if engines is None or room is None:
            return tuple(counts)
        lanes, parts, found = most_banks(machine), self.kernel_parts(algorithm, machine), []
        wires = engines.block_wires
        if parts is None:
            return ()
        for count in counts if parts[0] == 1 else counts[:1]:
            rows, columns, results = self._matrices(algorithm, _up(bands, count))
            lines = _up(self.part_maps(parts), lanes)
            inside = _up(rows, wires) * wires * _up(columns, lanes) <= half_depth(room.input, lanes, wires)
            if inside and results * lines <= room.result // lanes:
                found.append(count)
        return tuple(found)

    def kernel_parts(self, algorithm: Algorithm, machine: OverlayMachine) -> Pair | None:
        """Into how many parts of their depth and of their maps kernels are cut, so that each fits half the generated
        overlay's kernel buffer; None if no such parts do. A part has whole groups; of the depth it has channels
        (im2col) or taps, as many in each (kn2row), and the sums of a single piece stay where they are meanwhile."""
        room = machine.engines.buffers if machine.engines is not None else None
        if machine.engines is None or room is None:
            return 1, 1
        lanes, wires, depth = (
            most_banks(machine),
            machine.engines.block_wires,
            self.in_channels // self.groups,
        )
        half, lines = half_depth(room.kernel, lanes, wires), _up(self.out_channels, lanes)
        taps = self.window
        if algorithm in TILE:
            taps = math.prod(-(-side // 3) for side in self.kernel) * (TILE[algorithm] + 2) ** 2
        rows = _up(taps * depth, wires) * wires
        if self.groups > 1:
            fits = (half // rows) * lanes // (self.out_channels // self.groups)
            return (1, _up(self.groups, fits)) if fits else None
        if rows <= half:
            return 1, _up(lines, half // rows)
        if algorithm in TILE or (self.images > 1 and not self.fully_connected):
            return None
        if algorithm == "im2col":
            return _up(rows, half), lines
        even = (one for one in range(2, taps + 1) if taps % one == 0)
        deep = next((one for one in even if _up(taps // one * depth, wires) * wires <= half), None)
        return None if deep is None else (deep, lines)

    def part_choices(self, algorithm: Algorithm, machine: OverlayMachine) -> tuple[int, ...]:
        """Numbers of parts of the maps that kernels may come in: 1 for as many as fit the kernel buffer, and, where the
        whole input stays in its own, twice, four times ... as many, down to parts of one row of lanes."""
        engines = machine.engines
        if engines is None or not engines.kernel_parts or not engines.kernels:
            return (1,)
        needed = self.kernel_parts(algorithm, machine)
        one_piece = self.fully_connected or self.images == 1
        if needed is None or needed[0] > 1 or self.groups > 1 or not one_piece:
            return (1,)
        if 1 not in self.piece_counts(algorithm, machine):
            return (1,)
        found, parts, lines = [1], needed[1], _up(self.out_channels, most_banks(machine))
        while parts < lines:
            parts = min(2 * parts, lines)
            found.append(parts)
        return tuple(found)

    def part_maps(self, parts: Pair, *, last: bool = False) -> int:
        """Maps of every part, or of the ``last`` one, which may have fewer."""
        least = self.out_channels // self.groups if self.groups > 1 else 1
        most = _up(self.out_channels // least, parts[1]) * least
        return self.out_channels - (parts[1] - 1) * most if last else most

    def layout(self, algorithm: Algorithm) -> Layout:
        """The layout in which an algorithm wants the layer's input [Meng2021, sec. 3.3]."""
        if algorithm == "kn2row" or (algorithm == "im2col" and self.pointwise):
            return "tensor3d"
        return "toeplitz" if algorithm == "im2col" else algorithm

    def reads_planes(self, algorithm: Algorithm) -> bool:
        """Whether an algorithm reads maps that lie channel by channel: lanes are positions then, so that it takes all
        of them as they come."""
        if self.groups > 1 or self.fully_connected or self.strides != (1, 1):
            return False
        return algorithm == "kn2row" or (algorithm == "im2col" and self.pointwise)

    def writes_planes(self, algorithm: Algorithm) -> bool:
        """Whether an algorithm's results leave channel by channel: they lie in the sums position by position, and no
        pool takes them on their way."""
        if algorithm in TILE or self.fully_connected or self.pooled is not None:
            return False
        return algorithm != "kn2row" or -(-self.map[1] // self.strides[1]) == self.output[1]

    def _matrices(self, algorithm: Algorithm, height: int) -> tuple[int, int, int]:
        """Rows and columns of the input, and rows of the sums, of a piece of so many rows (of tiles) of the output."""
        wide, (step1, step2) = self.output[1], self.strides
        if self.fully_connected:
            return self.images, self.in_channels, self.images
        if algorithm in TILE:
            tiles, side = height * -(-wide // TILE[algorithm]), (TILE[algorithm] + 2) ** 2
            rounds = math.prod(-(-taps // 3) for taps in self.kernel)
            return rounds * side * tiles, self.in_channels, side * tiles
        if algorithm == "im2col":
            return height * wide, self.window * self.in_channels, height * wide
        reach = min(self.map[0], (height - 1) * step1 + (self.kernel[0] - 1) * self.dilations[0] + 1)
        patch = -(-self.map[1] // step2)
        return step1 * step2 * -(-reach // step1) * patch, self.in_channels, height * patch

    def _suits_winograd(self, machine: OverlayMachine) -> bool:
        rule = machine.winograd
        square = self.kernel[0] == self.kernel[1] or rule.kernels == "any"
        large = max(self.kernel) >= rule.smallest_kernel and self.window > 1
        return square and large and max(self.strides) <= rule.largest_stride and self.dilations == (1, 1)


def _up(one: int, other: int) -> int:
    return -(-one // other)
