"""A convolution as instructions of the overlay [Meng2021, sec. 3.1]: kernels, and for every piece of the output its
input, products and results, so that one piece is loaded and another stored while a third is multiplied."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from mapper.codegen.algorithm_selection.instruction import (
    Call,
    Engine,
    Gemm,
    Instruction,
    Level,
    Move,
    Path,
    at,
    requantisation,
    unit,
)
from mapper.codegen.algorithm_selection.layout.load_program import (
    kernel_load,
    loads,
    reads_written,
    scale_load,
)
from mapper.codegen.algorithm_selection.layout.path import grid_path, tile_path
from mapper.codegen.algorithm_selection.layout.plane_program import (
    check_planes,
    planes,
    store_paths,
    straight,
)
from mapper.codegen.algorithm_selection.layout.store_program import positions, store
from mapper.codegen.algorithm_selection.piece import (
    Part,
    Piece,
    covers,
    groups_of,
    kernel_parts,
    part_step,
    pieces,
)
from mapper.codegen.algorithm_selection.pool_program import check_pooled, pooled_move, results_of
from mapper.models.algorithm_selection.control.sequence import (
    Control,
    ConvolutionStep,
    Region,
)
from mapper.models.algorithm_selection.control.walk import TAP, tiles
from mapper.models.algorithm_selection.gemm_call import GemmCall
from mapper.models.algorithm_selection.number.network_number import LOWEST, Rounding
from mapper.models.algorithm_selection.number.seeded import FACTOR_BITS
from mapper.models.algorithm_selection.overlay.on_the_way import Pooled
from mapper.workloads.document import InputError

ACCUMULATOR = 32
"""Bits of sums; 36 where tiles of F(4, 3) are used."""
SCALE_ROOMS = 3
"""Thirds of the table of biases and factors: those of the layer that leaves, of that in the array, and of the next."""
SCALE = {0: 1, 2: 4, 4: 64}
"""What the output transform divides by in its shift, by the side of the tile."""


@dataclass(frozen=True)
class Given:
    """What a convolution's numbers say: how sums are rounded, the zero points of its input and of its output, and the
    largest magnitude of a sum."""

    rounding: Rounding
    zeros: tuple[int, int] = (0, 0)
    sums: int | None = None


@dataclass
class Turns:
    """The halves of the buffers that were filled last, and the third of the scales; the tensor that the output mover
    wrote last, and the one before, whose store was over (``passed``) when the last product of the layer that writes now
    began; what of the part before is still to leave, where parts of a layer's maps follow one another."""

    input: int = 0
    kernel: int = 0
    result: int = 0
    calls: int = 0
    scale: int = 0
    written: str = ""
    earlier: str = ""
    passed: bool = False
    leaving: tuple[Move, ...] = ()

    def write(self, tensor: str, passed: bool = False) -> None:
        """The output mover writes a tensor from now on."""
        if tensor != self.written:
            self.written, self.earlier = tensor, self.written
        self.passed = passed


@dataclass(frozen=True)
class ConvolutionProgram:
    """``kernels`` may run as soon as the layer before multiplies for the first time, after which the other half of the
    kernel buffer is free, and ``loads``, if they do not wait for what that stores (``ahead``), as soon as it multiplies
    for the last time. ``first`` goes up to the first product, ``rest`` follows it, ``last`` waits for the last product.
    """

    kernels: tuple[Move, ...]
    loads: tuple[Move, ...]
    first: tuple[Instruction, ...]
    rest: tuple[Instruction, ...]
    last: tuple[Move, ...] = ()
    ahead: tuple[Move, ...] | None = None


def convolution(
    control: Control,
    step: ConvolutionStep,
    scales: int,
    turns: Turns,
    count: int = 1,
    given: Given | None = None,
    part: Part | None = None,
    *,
    stays: Mapping[str, int] | None = None,
    pooled: Pooled | None = None,
) -> ConvolutionProgram:
    """A convolution, or a ``part`` of it, cut into at most ``count`` pieces per image. Biases and then factors of its
    maps lie from address ``scales`` of DRAM on. ``stays``: where maps that stay on the chip begin in the tensor buffer.

    While piece k is multiplied, k + 1 is loaded and k - 1 leaves: a product waits for both movers of maps, and as an
    instruction waits for its own unit anyhow, no half of a buffer is filled before it is empty. Parts whose input is
    kept follow one another in the same way. ``pooled``: the max pool that takes the results on their way; its own are
    stored instead.

    Raises: InputError if the Verilog has no unit for the step.
    """
    given = given or Given(Rounding(step.shift + FACTOR_BITS, 0 if step.relu else LOWEST))
    check(step, given.sums)
    if pooled is not None:
        step = replace(step, output=results_of(control, pooled.name))
    source, target = control.region(step.input), control.region(step.output)
    part = part or kernel_parts(step, (1, 1))[0]
    held, holds = (None if stays is None else stays.get(one) for one in (step.input, step.output))
    check_planes(step, source, target, _pitch(step))
    whole, step = step, part_step(step, part)
    cut = _cut(whole, step, part, count, (source, target))
    if pooled is not None:
        check_pooled(step, pooled, target, len(cut) // step.shape.batch)
    turns.kernel ^= 1
    if part.begins:
        turns.scale = (turns.scale + 1) % SCALE_ROOMS
    kernels = (scale_load(step, scales, turns.scale, part), kernel_load(step, turns.kernel, part))
    waits: tuple[Engine, ...] = (
        ("output",) if _writes(control, turns.written, source) or reads_written(step, source) else ()
    )
    loaded: list[Move] = []
    first: list[Instruction] = []
    rest: list[Instruction] = []
    leaving: list[Move] = []
    follows = part.kept and part.first > 0
    for number, one in enumerate(cut):
        turns.calls ^= 1
        if part.begins:
            turns.input, turns.result = turns.input ^ (not follows), turns.result ^ 1
        if number == 0 and part.begins and not follows:
            loaded += loads(one, step, source, turns.input, waits, given.zeros[0], held)
        # Earlier results of the half that the first product fills have left: a later store has begun.
        needs: tuple[Engine, ...] = ("input", "output") if number else ("input", "kernel")
        halves = (turns.input, turns.kernel, turns.result, turns.calls)
        own = list(_products(one.step, halves, ("kernel", "output") if follows else needs, part))
        own += turns.leaving
        turns.leaving = ()
        first, rest = (first + own, rest) if number == 0 else (first, rest + own)
        if number + 1 < len(cut):
            rest += loads(cut[number + 1], step, source, turns.input ^ 1, (), given.zeros[0], held)
        rest += leaving
        if not part.ends:
            continue
        leaving = [_finish(one, step, target, turns, given, part.first, holds)]
        if pooled is not None:
            leaving = [pooled_move(leaving[0], one, step, target, pooled, (_pitch(one.step), part.first))]
        if not straight(target) and (number + 1 == len(cut) or cut[number + 1].image != one.image):
            leaving += _stores(step, target, one.image, given.zeros[1])
    ahead = None if waits else _early(control, turns, source, loaded, held is not None)
    if part.kept and part.end < part.maps:
        turns.leaving = tuple(leaving)
        return ConvolutionProgram(kernels, tuple(loaded), tuple(first), (), (), ahead)
    # The last product waits for the output mover then.
    turns.write(step.output, passed=len(cut) > 1 or follows)
    # No further product says that the last one is done.
    last = tuple(replace(one, waits=("array",)) if at == 0 else one for at, one in enumerate(leaving))
    return ConvolutionProgram(kernels, tuple(loaded), tuple(first), tuple(rest), last, ahead)


def _early(
    control: Control, turns: Turns, source: Region, loaded: list[Move], held: bool
) -> tuple[Move, ...] | None:
    """The first load beside the last product of the layer before, if it is one load of a map in DRAM or ``held`` on the
    chip: what the layer before that stored may still be on its way."""
    if len(loaded) != 1 or (loaded[0].source != "dram" and not held):
        return None
    late = _writes(control, turns.earlier, source) and not turns.passed
    return (replace(loaded[0], waits=("output",) if late else ()),)


def _cut(
    whole: ConvolutionStep, step: ConvolutionStep, part: Part, count: int, regions: tuple[Region, Region]
) -> tuple[Piece, ...]:
    """The pieces of a layer, or of ``step``, the layer that a part of its maps is.

    Raises: InputError if one has too many rows or columns.
    """
    source, target = regions
    # Sub-maps that already lie one after another are not cut by rows.
    if step.load == "copy" and not straight(source) and step.algorithm == "kn2row":
        count = 1
    grouped = step.weight_columns < step.shape.out_channels
    cut = pieces(whole if grouped else step, count)
    if grouped:
        cut = tuple(replace(one, step=groups_of(one.step, part)) for one in cut)
    for one in cut:
        _check_rows(one.step, step, source, target)
    return cut


def _writes(control: Control, written: str, source: Region) -> bool:
    """Whether a tensor lies in another: as that itself, or as a part of a concatenation."""
    if not written:
        return False
    return source.address <= control.region(written).address < source.address + source.words


def check(step: ConvolutionStep, sums: int | None = None) -> None:
    """Raises: InputError if the Verilog cannot run the step: kn2row of outputs wider than the input's sub-maps, sums
    that may pass the accumulators."""
    if step.algorithm == "kn2row" and _pitch(step) < step.shape.output_size[1]:
        raise InputError(step.name, "kn2row", "gives rows longer than the patch's; take im2col")
    products = math.prod(step.shape.kernel) * step.shape.in_channels // step.shape.groups
    largest = products * LOWEST**2 if sums is None else sums
    # Wrapped sums come right again in the output transform, so long as 4 (64) times the result fits.
    if largest * SCALE[step.m] >= 1 << (accumulator(step.m) - 1):
        raise InputError(
            step.name,
            step.algorithm,
            f"sums {products} products, which may pass {accumulator(step.m)} bits",
        )


def accumulator(m: int) -> int:
    """Bits of the sums that tiles of so many results need."""
    return ACCUMULATOR + 4 * (m == 4)


def _check_rows(piece: ConvolutionStep, whole: ConvolutionStep, source: Region, target: Region) -> None:
    """Raises: InputError if a buffer's matrix has more than 65535 rows or columns: of a piece, or of a whole map that
    goes through the second group of the output buffer."""
    longest = max(
        piece.walk.rows, piece.walk.columns, piece.weight_rows, piece.weight_columns, _result_rows(piece)
    )
    if not straight(target):
        longest = max(longest, math.prod(_output(whole)))
    if reads_written(whole, source):
        longest = max(longest, source.walk.height * source.walk.width)
    if longest > 0xFFFF:
        raise InputError(whole.name, whole.algorithm, f"needs a matrix of {longest} rows; Verilog has 65535")


def _products(
    step: ConvolutionStep, halves: tuple[int, int, int, int], waits: tuple[Engine, ...], part: Part
) -> Iterator[Instruction]:
    """All calls as one instruction, so that their passes follow one another. The first patch of kn2row to write a group
    must cover its output; where none does, zeros come first."""
    calls: list[Call] = []
    rows = _result_rows(step)
    patched, depth = step.algorithm == "kn2row", part.bottom - part.top
    whole = part.begins and part.ends
    by_group: dict[int, list[GemmCall]] = {}
    for one in step.calls:
        if whole or not patched or part.top <= one.weight_row < part.bottom:
            by_group.setdefault(one.output_column, []).append(one)
    cleared = False
    for group in by_group.values():
        opens = patched and part.begins
        first = next((one for one in group if covers(step, one)), None) if opens else None
        if opens and first is None and not cleared:
            cleared = True
            nothing = Path(0, (Level(step.output_columns, 1), Level(rows, 0)), (0, 0))
            grid = grid_path(rows, step.output_columns)
            half = (0, halves[2])
            yield Move("dram", "result", nothing, grid, rows=(0, rows), halves=half, waits=("output",))
        for one in sorted(group, key=lambda call: call is not first):
            adds = one is not first if patched else one.accumulate
            weight_row = one.weight_row if whole or not patched else one.weight_row - part.top
            calls.append(
                Call(
                    (one.input_row, one.input_column + (0 if patched else part.top)),
                    (weight_row, one.weight_column),
                    (one.output_row, one.output_column),
                    adds or not part.begins,
                    one.shift or (0, 0),
                )
            )
    sizes = step.calls[0]
    yield Gemm(
        step.dataflow,
        sizes.a,
        sizes.b if whole or patched else depth,
        sizes.c,
        tuple(calls),
        (step.walk.rows, step.weight_rows if whole else depth, rows),
        (_pitch(step), *_output(step)) if patched else None,
        halves,
        waits,
    )


def _finish(
    piece: Piece,
    whole: ConvolutionStep,
    target: Region,
    turns: Turns,
    given: Given,
    first: int,
    stays: int | None,
) -> Move:
    """Sums through the output transform (Winograd) and requantisation: into DRAM where the map lies there as the 3-D
    tensor or in planes, else into the second group of the output buffer, where it may stay (``stays``)."""
    step = piece.step
    rows, columns = _output(step)
    channels = step.output_columns
    height, width = _output(whole)
    position, matrix = piece.output_row * columns, height * width
    if stays is not None:
        position, matrix = piece.image * matrix + position, positions(target)
    moves = straight(target) and stays is None
    if moves:
        start = target.address + (piece.image * height * width + position) * target.apart + first
        right, down, maps = target.apart, columns * target.apart, 1
    else:
        start, right, down, maps = at(position, first), at(1, 0), at(columns, 0), at(0, 1)
    if step.m:
        tiles1, tiles2 = tiles(step.shape, step.m)
        taken = tile_path(1, (step.m + TAP - 1) ** 2, tiles1 * tiles2, channels)
        put = Path(
            start,
            (
                Level(step.m, right, 0, 1),
                Level(step.m, down, 1, 0),
                Level(channels, maps),
                Level(tiles2, step.m * right, 0, step.m),
                Level(tiles1, step.m * down, step.m, 0),
            ),
            (rows, columns),
            lane=2,
        )
    elif planes(target):
        taken, put = store_paths(piece, target, first)
    else:
        pitch = _pitch(step)
        taken = Path(0, (Level(channels, at(0, 1)), Level(columns, at(1, 0)), Level(rows, at(pitch, 0))))
        put = Path(start, (Level(channels, maps), Level(rows * columns, right)))
    return Move(
        "result",
        "dram" if moves else "tensor",
        taken,
        put,
        unit(step.m, "output"),
        (_result_rows(step), matrix),
        requantisation(given.rounding),
        halves=(turns.result, 1),
        zeros=(0, given.zeros[1]),
        scale=turns.scale,
        stays=(None, stays),
        waits=(),
    )


def _stores(step: ConvolutionStep, target: Region, image: int, zero: int) -> Iterator[Move]:
    """Finished maps as their readers want them. The rows of a fully connected layer are images of its tensor."""
    rows, size = math.prod(_output(step)), target.walk.height * target.walk.width
    for one in range(rows // size):
        yield store(target, image * (rows // size) + one, one * size, rows, 1, zero)


def _output(step: ConvolutionStep) -> tuple[int, int]:
    rows, columns = step.shape.output_size
    return rows, columns


def _pitch(step: ConvolutionStep) -> int:
    """Rows of the result matrix from one row of the map to the next: the patch's width in kn2row."""
    patch = step.calls[0].patch
    return patch[1] if patch is not None else step.shape.output_size[1]


def _result_rows(step: ConvolutionStep) -> int:
    if step.algorithm == "kn2row":
        return step.shape.output_size[0] * _pitch(step)
    return step.output_rows
