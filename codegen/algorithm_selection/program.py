"""A whole control sequence as the overlay's control memory, and the sizes that the overlay needs for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from mapper.codegen.algorithm_selection.accumulate_program import activation, addition, average_pool
from mapper.codegen.algorithm_selection.convolution_program import (
    SCALE_ROOMS,
    ConvolutionProgram,
    Given,
    Turns,
    accumulator,
    convolution,
)
from mapper.codegen.algorithm_selection.instruction import (
    FETCH,
    Gemm,
    Instruction,
    Move,
    Room,
    control_words,
)
from mapper.codegen.algorithm_selection.layout.plane_program import planes
from mapper.codegen.algorithm_selection.piece import Limits, kernel_parts
from mapper.codegen.algorithm_selection.pool_program import max_pool
from mapper.codegen.algorithm_selection.timeline import Timeline
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep, OtherStep
from mapper.models.algorithm_selection.number.network_number import NetworkNumbers
from mapper.models.algorithm_selection.number.seeded import SCALES, seeded_numbers
from mapper.models.algorithm_selection.overlay.lying import lying, reads_whole
from mapper.models.algorithm_selection.overlay.running import activates, adds, averages, pools
from mapper.models.algorithm_selection.overlay.separate import UNITS
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer

DRAM_LATENCY = 32
"""Cycles from an address to its words."""
MERGED = ("BatchNormalization", "Mul", "Add", "Sub", "Div", *UNITS)
"""What requantisation does besides: factors and addends per map, ReLU, and LeakyReLU as the last."""


@dataclass(frozen=True)
class StepProgram:
    """The instructions of one step, which hold the kernels of the step after it, too, if they are loaded ahead; none if
    it runs beside the overlay, for ``reason``, or if there is nothing to do, as parts lie side by side already.
    ``pool``: the step that takes the results of this one on their way, and so has nothing left to do."""

    name: str
    instructions: tuple[Instruction, ...]
    reason: str = ""
    pool: str = ""


@dataclass(frozen=True)
class Parameters:
    """What the overlay is built for: PEs, banks (a power of two, which are the lanes of its movers, too), words per
    bank of each buffer, lines of the tables of calls and of scales, lines of control memory, cycles until DRAM answers,
    window and line of the pooling units, bits of sums, whether there are transforms of F(4, 3) and requantisers that
    round as single precision, and wires a column for stationary blocks."""

    p1: int
    p2: int
    log_banks: int
    input_depth: int = 2
    kernel_depth: int = 2
    result_depth: int = 2
    tensor_depth: int = 2
    calls: int = 2
    scale_depth: int = SCALE_ROOMS
    control_lines: int = 2
    dram_latency: int = DRAM_LATENCY
    pool_window: int = 3
    pool_line: int = 2
    sum: int = 32
    large: int = 0
    single: int = 0
    wires: int = 1

    @property
    def room(self) -> Room:
        """Lanes, the second halves of the buffers, and thirds of the scales."""
        return Room(
            1 << self.log_banks,
            self.input_depth // 2,
            self.kernel_depth // 2,
            self.tensor_depth // 2,
            self.calls // 2,
            self.scale_depth // SCALE_ROOMS,
        )

    def verilog(self) -> str:
        """The header that ``overlay.sv`` includes."""
        lines = [f"`define OVERLAY_{name.upper()} {value}" for name, value in vars(self).items()]
        return "\n".join(["// What the overlay is built for; control.hex needs no less.", *lines, ""])


def programs(
    control: Control,
    network: LayerNetwork | None = None,
    cuts: Mapping[str, int] | None = None,
    numbers: NetworkNumbers | None = None,
    limits: Limits | None = None,
    stays: Mapping[str, int] | None = None,
) -> tuple[StepProgram, ...]:
    """Every step in order; convolutions are cut into so many pieces as ``cuts`` says, their kernels into the parts of
    ``limits``. Pools and additions run on the overlay if ``network`` says what they are; a step for which the Verilog
    has no unit runs beside it. ``numbers``: how results are rounded, drawn ones if there are no others. ``stays``:
    where maps that stay on the chip begin in the tensor buffer."""
    if network is not None and numbers is None:
        numbers = seeded_numbers(network, 0)
    limits = limits or Limits()
    making = _Making(control, network, numbers, cuts or {}, limits, stays or {})
    made: list[tuple[str, ConvolutionProgram | StepProgram]] = []
    for step in control.steps:
        try:
            made += [(step.name, one) for one in making.programs(step)]
        except InputError as error:
            made.append((step.name, StepProgram(step.name, (), str(error))))
    steps = groupby(_ahead(made, limits.ahead), key=lambda one: one.name)
    return tuple(
        StepProgram(
            name,
            tuple(one for part in own for one in part.instructions),
            own[0].reason,
            making.pooled.get(name, ""),
        )
        for name, own in ((name, list(own)) for name, own in steps)
    )


class _Making:
    """Programs of steps, one after another."""

    def __init__(
        self,
        control: Control,
        network: LayerNetwork | None,
        numbers: NetworkNumbers | None,
        cuts: Mapping[str, int],
        limits: Limits,
        stays: Mapping[str, int],
    ) -> None:
        self.control, self.network, self.numbers, self.stays = control, network, numbers, stays
        self.scales, self.cuts, self.limits, self.turns = scale_addresses(control), cuts, limits, Turns()
        self.pooled: dict[str, str] = {}
        self.lies = {} if network is None else lying(network)

    def programs(self, step: ConvolutionStep | OtherStep) -> Sequence[ConvolutionProgram | StepProgram]:
        """Raises: InputError if the Verilog has no unit for the step."""
        layer = self.network.layer(step.name) if self.network is not None else None
        if isinstance(step, ConvolutionStep):
            given = None if layer is None else self._given(step, layer)
            parts, kept = self.limits.parts.get(step.name, (1, 1)), step.name in self.limits.kept
            cut = kernel_parts(step, parts, kept)
            given_to = (self.scales[step.name], self.turns, self.cuts.get(step.name, 1), given)
            pooled = self.limits.pooled.get(step.name)
            made = [
                convolution(self.control, step, *given_to, part, stays=self.stays, pooled=pooled)
                for part in cut
            ]
            if pooled is not None:
                self.pooled[step.name] = pooled.name
            return made
        if step.name in self.pooled.values():
            return [StepProgram(step.name, ())]
        if layer is None or self.numbers is None:
            raise InputError(step.name, step.work, "has no unit")
        return [StepProgram(step.name, tuple(self._other(step, layer, self.numbers)))]

    def _given(self, step: ConvolutionStep, layer: NetworkLayer) -> Given:
        assert self.numbers is not None
        own, zero = self.numbers.layers[step.name], self.numbers.zero
        if own.rounding is None or layer.work == "average_pool":
            raise InputError(step.name, layer.op, _beside(layer))
        if _beside(layer):
            raise InputError(step.name, layer.op, _beside(layer))
        return Given(own.rounding, (zero(step.input), zero(step.output)), own.sums)

    def _other(self, step: OtherStep, layer: NetworkLayer, numbers: NetworkNumbers) -> Iterable[Instruction]:
        given = (self.control, step, layer, numbers, self.turns)
        if _beside(layer):
            raise InputError(step.name, layer.op, _beside(layer))
        unit = pools(layer) or averages(layer) or adds(layer) or activates(layer)
        if unit and not reads_whole(layer, self.lies):
            raise InputError(step.name, step.inputs[0], "is read in parts, for which the Verilog has no path")
        if unit and any(planes(self.control.region(one)) for one in (*step.inputs, *step.outputs)):
            raise InputError(
                step.name,
                step.work,
                "reads or writes maps channel by channel, for which the Verilog has no path",
            )
        if pools(layer):
            self.turns.write(step.outputs[0])
            return max_pool(self.control, step, layer, numbers)
        if (averages(layer) or activates(layer)) and numbers.layers[step.name].rounding is None:
            raise InputError(step.name, layer.op, "no factor gives all of its integers")
        if averages(layer):
            return average_pool(*given)
        if adds(layer):
            return addition(*given)
        if activates(layer):
            return activation(*given)
        if step.work == "concatenation" and all(self.control.region(one).pitch for one in step.inputs):
            return ()
        raise InputError(step.name, step.work, "has no unit")


def _ahead(
    made: Sequence[tuple[str, ConvolutionProgram | StepProgram]], inputs: bool
) -> Iterator[StepProgram]:
    """Programs with the kernels of each convolution, or part of one, loaded while the one before it multiplies, where
    nothing between them runs beside the overlay; and, of convolutions that follow at once, the ``inputs``, too, where
    these do not wait for what that stores."""
    waiting: dict[int, int] = {}
    loaded: set[int] = set()
    early: set[int] = set()
    last: int | None = None
    for at, (_, one) in enumerate(made):
        if isinstance(one, ConvolutionProgram):
            if last is not None:
                waiting[last] = at
                loaded.add(at)
            last = at
        elif one.reason:
            last = None
    for at, (name, one) in enumerate(made):
        if isinstance(one, StepProgram):
            yield one
            continue
        following = made[waiting[at]][1] if at in waiting else None
        kernels = following.kernels if isinstance(following, ConvolutionProgram) else ()
        own = (() if at in loaded else one.kernels), (() if at in early else one.loads)
        loads: tuple[Move, ...] = ()
        behind = next((place for place in range(at + 1, len(made)) if not _nothing(made[place][1])), None)
        after = None if behind is None else made[behind][1]
        if (
            inputs
            and behind is not None
            and isinstance(after, ConvolutionProgram)
            and after.ahead is not None
            and one.last
        ):
            loads = after.ahead
            early.add(behind)
        yield StepProgram(name, (*own[0], *own[1], *one.first, *kernels, *one.rest, *loads, *one.last))


def _nothing(one: ConvolutionProgram | StepProgram) -> bool:
    """Whether a step has nothing left to do."""
    return isinstance(one, StepProgram) and not one.instructions and not one.reason


def scale_addresses(control: Control) -> dict[str, int]:
    """Where the biases and then the factors of each convolution's maps lie in DRAM, after what the control sequence
    has there."""
    address = control.dram_words
    found: dict[str, int] = {}
    for step in control.convolutions:
        found[step.name] = address
        address += 2 * step.shape.out_channels
    return found


def dram_words(control: Control) -> int:
    """Words of DRAM, scales included."""
    return control.dram_words + sum(2 * step.shape.out_channels for step in control.convolutions)


def timeline(control: Control) -> Timeline:
    """When the instructions of a control sequence run."""
    return Timeline(control.array, 1 << log_banks(control.array), DRAM_LATENCY, control.wires)


def log_banks(array: tuple[int, int]) -> int:
    """Banks of a buffer are a power of two, no fewer than either side of the array."""
    return max(1, math.ceil(math.log2(max(array))))


def parameters(control: Control, made: Sequence[StepProgram]) -> Parameters:
    """The smallest overlay that runs all the programs."""
    p1, p2 = control.array
    banks = 1 << log_banks(control.array)
    every = [instruction for program in made for instruction in program.instructions]
    halves, line, window = depths(every, banks, control.wires), 2, 3
    calls = max([1, *(len(one.calls) for one in every if isinstance(one, Gemm))])
    units = [one for one in every if isinstance(one, Move)]
    for one in units:
        if one.pooling is not None:
            across = one.taken.levels[1].count if one.source == "result" else 1
            line = max(line, one.pooling.size[1] * -(-across // banks))
            window = max(window, *one.pooling.kernel)
    maps = max([1, *(step.shape.out_channels for step in control.convolutions)])
    large = any("4x4" in one.unit for one in units)
    sizes = Parameters(
        p1,
        p2,
        log_banks(control.array),
        2 * halves["input"],
        2 * halves["kernel"],
        halves["result"],
        max(2 * halves["tensor"], halves["stays"]),
        2 * calls,
        SCALE_ROOMS * -(-maps // banks),
        pool_window=window,
        pool_line=line,
        sum=accumulator(4 * large),
        large=int(large),
        single=int(any(one.requantisation.single for one in units if one.requantisation is not None)),
        wires=control.wires,
    )
    return replace(sizes, control_lines=max(2, len(memory(made, sizes.room)) // FETCH))


def depths(instructions: Iterable[Instruction], banks: int, wires: int) -> dict[str, int]:
    """Words of a bank that half of each buffer needs; of the sums, each of the two memories; of the tensor buffer, all
    of what ``stays`` besides. What gives rows of a block to two wires at once has an even number of them."""
    halves = {"input": wires, "kernel": wires, "result": 2, "tensor": 1, "stays": 0}
    for one in instructions:
        if isinstance(one, Gemm):
            columns = max(call.result[1] for call in one.calls) + one.c
            halves["result"] = max(halves["result"], _depth(one.rows[2], columns, banks))
            continue
        ends = ((one.source, one.taken), (one.target, one.put))
        for (place, path), rows, stays in zip(ends, one.rows, one.stays, strict=True):
            if place in halves:
                last = path.start + sum((level.count - 1) * level.step for level in path.levels)
                columns = max(0, last >> 16) + 1
                whole = rows + rows % wires if place in ("input", "kernel") else rows
                needed = _depth(whole, columns, banks) + (stays or 0)
                buffer = place if stays is None else "stays"
                halves[buffer] = max(halves[buffer], needed)
    return halves


def memory(made: Iterable[StepProgram], room: Room) -> list[int]:
    """Control memory: programs one after another; before a step that runs beside the overlay it stops until resumed,
    and at the end for good."""
    words: list[int] = []
    running: list[Instruction] = []
    for program in made:
        if program.instructions:
            running += program.instructions
        elif running and program.reason:
            words += control_words(running, room)
            running = []
    return words + control_words(running, room)


def hexadecimal(words: Sequence[int]) -> str:
    """Words as ``$readmemh`` takes them, a line of control memory a line, its first word last."""
    lines = [words[at : at + FETCH] for at in range(0, len(words), FETCH)]
    return "".join("".join(f"{word:08x}" for word in reversed(line)) + "\n" for line in lines)


def _beside(layer: NetworkLayer) -> str:
    """Why what is merged into a layer has no unit, if it has none."""
    other = [one.op for one in layer.merged if one.op not in MERGED]
    if other:
        return f"{other[0]} has no unit"
    if any(one.op == "LeakyRelu" for one in layer.merged[:-1]):
        return "LeakyRelu has a unit only as the last"
    scaled = layer.work not in ("convolution", "fully_connected") and any(
        one.op in SCALES for one in layer.merged
    )
    return "scales have a unit only after products" if scaled else ""


def _depth(rows: int, columns: int, banks: int) -> int:
    return rows * -(-columns // banks)
