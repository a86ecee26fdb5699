"""Programs of PEs and layers: what the array is configured with [Heidorn2019, Algorithm 3].

Misprints of the algorithm are corrected: a weight and its pixel have the same map n+d, slots with n+d >= N are off,
and the bias is added with the last products of a position. PEs of a layer work in step: all run ceil(M/P) filters, and
one that has fewer is off in the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from mapper.models.pe_allocation.configuration.address import Affine
from mapper.models.pe_allocation.configuration.arithmetic import PLAIN, Arithmetic
from mapper.models.pe_allocation.mapping import StreamKind
from mapper.models.pe_allocation.stream.layer import Pair

Pe = tuple[int, int]
Rule = Literal[
    "convolution", "max", "average", "sum", "mean", "product", "largest", "smallest", "difference", "scale",
    "rectify", "pass",
]  # fmt: skip
Scheme = Literal["depth", "lanes"]


@dataclass(frozen=True)
class Loop:
    """``for name = first; ``count`` times; name += step``; bodies with ``name >= limit`` are off."""

    name: str
    first: int
    step: int
    count: int
    limit: int

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "first": self.first,
            "step": self.step,
            "count": self.count,
            "limit": self.limit,
        }


@dataclass(frozen=True)
class PeProgram:
    """The program of PE ``number`` of a layer. ``at``: where it stands, None without a placement.

    ``loops`` run outside in, for every position of the output: k1, k2, n, m. ``weights``: the addresses of the
    weights that its slots take, in that order and slot by slot; None of a layer without weights.
    """

    number: int
    at: Pe | None
    loops: tuple[Loop, ...]
    weights: Affine | None

    @property
    def work(self) -> int:
        """Cycles of one position: one VLIW word for each run of the innermost loop."""
        cycles = 1
        for loop in self.loops:
            cycles *= loop.count
        return cycles


@dataclass(frozen=True)
class Source:
    """Where a layer's pixels come from: the layer at position ``feed``, or the frame (None).

    ``words``: room of the line buffer (or of the buffer of whole maps, if ``whole``); None for the frame, which lies
    off the chip. ``write``: where the maker's pixels go; ``read``: the pixels of each window, by r, c, k1, k2 and map.
    ``calculus_words``: the calculus's room for all sources of the layer [Heidorn2019, Eqs. 16 and 17]. ``border``:
    the PE whose buffer it is. ``stretch``: ``read`` gives addresses of a map that has each row and each column so many
    times, whose pixel in row i and column j is that of row i // stretch[0] and column j // stretch[1] here.
    """

    feed: int | None
    maps: int
    words: int | None
    whole: bool
    write: Affine | None
    read: Affine
    border: Pe | None
    stretch: Pair = (1, 1)


@dataclass(frozen=True)
class LayerProgram:
    """A layer as the array runs it; letters and sizes as in ``StreamLayer``.

    ``rule``: what a position computes; sums are shifted right by ``shift`` bits with rounding (left, if it is
    negative), and all results are saturated (``arithmetic``). ``rectified``: negative results become 0. ``scheme``:
    slots take ``depth`` (maps n+d of one filter) or are ``lanes`` (filters m+d). ``idle``: cycles without work
    after each position's. ``start``: cycle at which the global controller starts the layer in a frame; frames
    follow every ``interval`` cycles. ``run``: the number of the run of layers that work at once. ``output``: where
    pixels of a network's result go. ``drain``: cycles after its time until a position's pixels are handed on.
    ``spread``: of the rows and columns that windows slide over one in so many has
    pixels, the others zeros.
    """

    name: str
    rule: Rule
    rectified: bool
    shift: int
    filters: int
    depth: int
    group_filters: int
    size: Pair
    output_size: Pair
    kernel: Pair
    strides: Pair
    dilations: Pair
    pads: Pair
    operands: int
    channels: int
    maps: int
    scheme: Scheme
    delta: int
    idle: int
    start: int
    run: int
    sources: tuple[Source, ...]
    calculus_words: int
    weight_words: int
    weight_border: Pe | None
    output: Affine | None
    output_border: Pe | None
    pes: tuple[PeProgram, ...]
    spread: Pair = (1, 1)
    arithmetic: Arithmetic = PLAIN
    drain: int = 0

    @property
    def cycles(self) -> int:
        """Cycles of one position with the idle ones."""
        return max(program.work for program in self.pes) + self.idle

    @property
    def positions(self) -> int:
        return self.output_size[0] * self.output_size[1]


@dataclass(frozen=True)
class Stream:
    """A stream over the links. ``route``: the PEs that it passes, from where it enters the array (or leaves the maker's
    region) to where it leaves it (or enters the reader's); empty without a placement. ``kind``: ``frame``, ``stored``
    (maps of an earlier run), ``weights`` (with intermediate values), ``maps``, ``result``."""

    kind: StreamKind
    source: str | None
    target: str | None
    route: tuple[Pe, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "from": self.source,
            "to": self.target,
            "way": [list(pe) for pe in self.route],
        }


@dataclass(frozen=True)
class Configuration:
    """The whole array, configured. ``interval``: cycles between frames; ``steady``: layers run at their start times
    and paces (else as soon as their pixels are there). ``shared``: layers (positions) that take turns on a PE;
    ``stored``: layers whose whole maps stay in the buffers until the last run that reads them has ended."""

    network: str
    machine: str
    mode: str
    model: str
    interval: int
    steady: bool
    layers: tuple[LayerProgram, ...]
    streams: tuple[Stream, ...]
    shared: tuple[tuple[int, ...], ...]
    stored: tuple[int, ...]
