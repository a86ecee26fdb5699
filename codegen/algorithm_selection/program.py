"""A whole control sequence as the overlay's control memory, and the sizes that the overlay needs for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mapper.codegen.algorithm_selection.instruction import Gemm, Instruction, control_words
from mapper.codegen.algorithm_selection.layer_program import convolution, max_pool, pools
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep, OtherStep
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer

MERGED = ("BatchNormalization", "Mul", "Add", "Sub", "Div", "Relu", "Clip")
"""What requantisation does besides: factors and addends per map, ReLU."""


@dataclass(frozen=True)
class StepProgram:
    """The instructions of one step; none if it runs beside the overlay, for ``reason``."""

    name: str
    instructions: tuple[Instruction, ...]
    reason: str = ""


@dataclass(frozen=True)
class Parameters:
    """What the overlay is built for: PEs, banks (a power of two), words per bank of each buffer, lines of the tables
    of calls and of scales, words of control memory, window and line of the pooling unit."""

    p1: int
    p2: int
    log_banks: int
    input_depth: int = 2
    kernel_depth: int = 2
    result_depth: int = 2
    tensor_depth: int = 2
    calls: int = 2
    maps: int = 2
    control_words: int = 2
    pool_window: int = 3
    pool_line: int = 2

    def verilog(self) -> str:
        """The header that ``overlay.sv`` includes."""
        lines = [f"`define OVERLAY_{name.upper()} {value}" for name, value in vars(self).items()]
        return "\n".join(["// What the overlay is built for; control.hex needs no less.", *lines, ""])


def programs(control: Control, network: LayerNetwork | None = None) -> tuple[StepProgram, ...]:
    """Every step in order. Max pools run on the overlay if ``network`` says their windows; a step for which the Verilog
    has no unit runs beside it."""
    scales = scale_addresses(control)
    return tuple(_step(control, step, scales, network) for step in control.steps)


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


def parameters(control: Control, made: Sequence[StepProgram]) -> Parameters:
    """The smallest overlay that runs all the programs."""
    p1, p2 = control.array
    log_banks = max(1, math.ceil(math.log2(max(p1, p2))))
    banks = 1 << log_banks
    depths = {"input": 2, "kernel": 2, "result": 2, "tensor": 2}
    calls, line = 2, 2
    window = 3
    for one in (instruction for program in made for instruction in program.instructions):
        if isinstance(one, Gemm):
            calls = max(calls, len(one.calls))
            columns = max(call.result[1] for call in one.calls) + one.c
            depths["result"] = max(depths["result"], _depth(one.rows[2], columns, banks))
            continue
        for place, path, rows in ((one.source, one.taken, one.rows[0]), (one.target, one.put, one.rows[1])):
            if place in depths:
                last = path.start + sum((level.count - 1) * level.step for level in path.levels)
                columns = max(0, last >> 16) + 1
                depths[place] = max(depths[place], _depth(rows, columns, banks))
        if one.pooling is not None:
            line = max(line, one.pooling.size[1])
            window = max(window, *one.pooling.kernel)
    return Parameters(
        p1,
        p2,
        log_banks,
        depths["input"],
        depths["kernel"],
        depths["result"],
        depths["tensor"],
        calls,
        max([2, *(step.shape.out_channels for step in control.convolutions)]),
        max(2, len(memory(made))),
        window,
        line,
    )


def memory(made: Iterable[StepProgram]) -> list[int]:
    """Control memory: programs one after another; before a step that runs beside the overlay it stops until resumed,
    and at the end for good."""
    words: list[int] = []
    running: list[Instruction] = []
    for program in made:
        if program.instructions:
            running += program.instructions
        elif running:
            words += control_words(running)
            running = []
    return words + control_words(running)


def hexadecimal(words: Iterable[int]) -> str:
    """Words as ``$readmemh`` takes them."""
    return "".join(f"{word:08x}\n" for word in words)


def _step(
    control: Control,
    step: ConvolutionStep | OtherStep,
    scales: Mapping[str, int],
    network: LayerNetwork | None,
) -> StepProgram:
    layer = network.layer(step.name) if network is not None else None
    if isinstance(step, ConvolutionStep):
        if layer is not None and (reason := _beside(layer)):
            return StepProgram(step.name, (), reason)
        try:
            return StepProgram(step.name, tuple(convolution(control, step, scales[step.name])))
        except InputError as error:
            return StepProgram(step.name, (), str(error))
    if layer is not None and pools(layer):
        return StepProgram(step.name, tuple(max_pool(control, step, layer)))
    return StepProgram(step.name, (), f"{step.work} has no unit")


def _beside(layer: NetworkLayer) -> str:
    """Why a layer of the array does not run in Verilog, if it does not."""
    if layer.work == "average_pool":
        return "average pools divide by a number that is not a power of two"
    other = [one.op for one in layer.merged if one.op not in MERGED]
    return f"{other[0]} has no unit" if other else ""


def _depth(rows: int, columns: int, banks: int) -> int:
    return rows * -(-columns // banks)
