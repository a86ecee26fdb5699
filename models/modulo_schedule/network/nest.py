"""Loop nests of layers, before and after unrolling and interchange [Bae2018, secs. IV and V-B].

A nest is given by its loops and by affine accesses; a box is the part of its iteration space that one kernel
runs over: per loop where it starts, how many iterations it has, and how many of them are one copy of the body.
The loop that is innermost runs on the array, the others around it in VLIW mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

from mapper.models.modulo_schedule.network.linear_transform import LinearTransform

Operation = Literal[
    "multiply_add", "max", "sum", "fill", "copy", "relu", "leaky_relu", "clip", "scale", "affine",
    "add", "subtract", "multiply", "larger", "window", "transform", "dot",
]  # fmt: skip
ACCUMULATING = frozenset({"multiply_add", "max", "sum", "window"})
"""Operations that add to what the output holds; the order in which they do is the order of the loops."""


@dataclass(frozen=True)
class Access:
    """Word ``sum(stride * loop) + tap`` of an array, for every tap."""

    array: str
    strides: tuple[tuple[str, int], ...]
    taps: tuple[int, ...] = (0,)

    def stride(self, loop: str) -> int:
        """Words between two iterations of ``loop``."""
        return dict(self.strides).get(loop, 0)

    def offsets(self, deltas: Mapping[str, int]) -> int:
        """Words from the copy of an unrolled body that is the first to the one ``deltas`` iterations on."""
        return sum(stride * deltas.get(loop, 0) for loop, stride in self.strides)


@dataclass(frozen=True)
class Nest:
    """``output = operation(output, inputs)`` for every iteration of ``loops`` (outer to inner as written).

    It runs ``repeats`` times on other data (images, groups). ``numbers`` are constants of the operation: the
    slope of a leaky ReLU, the ends of a clip, what a scale divides by. ``window``: kernel height, kernel
    width and stride of an optCGRA nest, whose last loop runs over the positions of all rows. ``merged``: the
    last loop runs over rows and columns in one [Bae2018, Fig. 4(c)]: after so many columns the inputs go on so many
    words further than a column's stride. ``in_register``: the last loop, over which the output accumulates, keeps each
    word's sum in a register; the word comes in as a live-in, and every iteration stores what it has become. ``rolled``:
    short loops that stay around the kernel, one iteration at a time. A ``dot`` starts its word with the first input and
    adds the products of the taps of the other two, one by one. ``transform``: a linear transform of the words that the
    input's taps name, which gives a word for each tap of the output.
    """

    name: str
    loops: tuple[tuple[str, int], ...]
    operation: Operation
    output: Access
    inputs: tuple[Access, ...]
    repeats: int = 1
    numbers: tuple[float, ...] = ()
    window: tuple[int, int, int] | None = None
    merged: tuple[int, int] | None = None
    in_register: bool = False
    rolled: tuple[str, ...] = ()
    transform: LinearTransform | None = None

    @property
    def extents(self) -> dict[str, int]:
        return dict(self.loops)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.loops)

    @property
    def accumulated(self) -> tuple[str, ...]:
        """Loops over which one word of the output accumulates."""
        if self.operation not in ACCUMULATING:
            return ()
        return tuple(name for name in self.names if self.output.stride(name) == 0)

    @property
    def keeps_last(self) -> bool:
        """Whether the last loop must stay innermost, since iterations hand registers on to the next one."""
        return self.window is not None or self.merged is not None or self.in_register

    def last_word(self, access: Access, counts: Mapping[str, int]) -> int:
        """The furthest word, from that of the first iteration, that ``access`` touches in so many iterations of
        every loop, the straddling windows of optCGRA left out."""
        last = sum(access.stride(name) * (count - 1) for name, count in counts.items()) + max(access.taps)
        if self.merged is not None and access is not self.output:
            last += (counts[self.names[-1]] - 1) // self.merged[0] * self.merged[1]
        return last

    @property
    def dependences(self) -> tuple[tuple[int, ...], ...]:
        """Distance vectors of the nest's dependences, in the order of its loops: each loop over which a word
        accumulates carries one, and its last one does where iterations hand registers on."""
        carried = list(self.accumulated)
        if self.keeps_last:
            carried.append(self.names[-1])
        return tuple(tuple(int(name == loop) for name in self.names) for loop in dict.fromkeys(carried))

    def innermost(self) -> Iterator[str]:
        """Loops that may be moved to the innermost place, the one written there first."""
        for name in reversed(self.names):
            if name not in self.rolled and is_legal(self, moved(self, name)):
                yield name


def moved(nest: Nest, innermost: str) -> tuple[str, ...]:
    """The loops' order with ``innermost`` taken to the innermost place."""
    return (*(name for name in nest.names if name != innermost), innermost)


def is_legal(nest: Nest, order: tuple[str, ...]) -> bool:
    """Whether running the loops in ``order`` keeps every dependence: all distance vectors stay lexicographically
    positive, those that accumulate over several loops keep their order, and registers carry values from one
    iteration of the innermost loop to the next [Bae2018, sec. V-B2]."""
    place = {name: position for position, name in enumerate(order)}
    for vector in nest.dependences:
        permuted = sorted((place[name], step) for name, step in zip(nest.names, vector, strict=True) if step)
        if permuted and permuted[0][1] < 0:
            return False
    among = [name for name in order if name in nest.accumulated]
    # Sums of floats keep their order only if the loops they run over keep theirs.
    if among != list(nest.accumulated):
        return False
    return not nest.keeps_last or order[-1] == nest.names[-1]


@dataclass(frozen=True)
class Box:
    """Per loop of a nest (in its order) the first iteration, the number of iterations and the unroll factor,
    which divides it; ``innermost`` runs on the array."""

    start: tuple[int, ...]
    count: tuple[int, ...]
    unroll: tuple[int, ...]
    innermost: str

    def trip_count(self, nest: Nest) -> int:
        """Iterations of the kernel."""
        place = nest.names.index(self.innermost)
        return self.count[place] // self.unroll[place]

    def runs(self, nest: Nest) -> int:
        """How often the kernel is started."""
        total = nest.repeats
        for name, count, unroll in zip(nest.names, self.count, self.unroll, strict=True):
            if name != self.innermost:
                total *= count // unroll
        return total


def is_whole_row(nest: Nest, count: int, unroll: int) -> bool:
    """Whether a merged loop of ``count`` iterations may be unrolled so: copies of a body stay within a row, and
    the loop begins and ends with one."""
    if nest.merged is None:
        return True
    return count == nest.loops[-1][1] and nest.merged[0] % unroll == 0


def copies(names: tuple[str, ...], unroll: Mapping[str, int]) -> list[dict[str, int]]:
    """The copies of an unrolled body, by the iterations of each loop that they are ahead."""
    return [
        dict(zip(names, deltas, strict=True)) for deltas in product(*(range(unroll[name]) for name in names))
    ]


def tile_is_exact(nest: Nest, boxes: tuple[Box, ...]) -> bool:
    """Whether the boxes are inside the iteration space, overlap nowhere and leave nothing out."""
    extents = tuple(extent for _, extent in nest.loops)
    volume = 0
    for box in boxes:
        for start, count, unroll, extent in zip(box.start, box.count, box.unroll, extents, strict=True):
            if start < 0 or count < 1 or unroll < 1 or count % unroll or start + count > extent:
                return False
        size = 1
        for count in box.count:
            size *= count
        volume += size
    whole = 1
    for extent in extents:
        whole *= extent
    apart = all(
        any(
            one.start[axis] + one.count[axis] <= other.start[axis]
            or other.start[axis] + other.count[axis] <= one.start[axis]
            for axis in range(len(extents))
        )
        for place, one in enumerate(boxes)
        for other in boxes[:place]
    )
    return volume == whole and apart
