"""Small layers on the overlay's Verilog: an overlay large enough for all of them is built once."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mapper.codegen.algorithm_selection.instruction import Instruction, control_words
from mapper.codegen.algorithm_selection.overlay import host, verilog
from mapper.codegen.algorithm_selection.program import DRAM_LATENCY, Parameters, hexadecimal
from mapper.models.algorithm_selection.choice import INPUT_LAYOUTS, Choice, input_walk
from mapper.models.algorithm_selection.control.sequence import Control, Region, convolution_step
from mapper.models.algorithm_selection.control.walk import tensor
from mapper.sim.algorithm_selection.rtl.machine import RtlMachine, RtlRun
from mapper.workloads.nest.layer_nest import Convolution

DRAM_WORDS = 1 << 16


def sizes(array: tuple[int, int]) -> Parameters:
    """Square arrays have tiles of F(4, 3) and requantisers that round as single precision, others neither; those of an
    even number of columns have two wires a column for stationary blocks, others one."""
    log_banks, full = max(1, math.ceil(math.log2(max(array)))), array[0] == array[1]
    least = Parameters(*array, log_banks, 4096, 4096, 4096, 4096, 1 << 10, 64, 1 << 12, DRAM_LATENCY, 3, 64)
    least = replace(least, wires=2 - array[1] % 2)
    return replace(least, sum=36, large=1, single=1) if full else least


@functools.cache
def machine(array: tuple[int, int]) -> RtlMachine:
    return RtlMachine({**verilog(sizes(array)), **host()}, DRAM_WORDS)


def run(
    array: tuple[int, int], instructions: list[Instruction], dram: NDArray[np.int64], cycles: int = 200_000
) -> RtlRun:
    return machine(array).run(hexadecimal(control_words(instructions, sizes(array).room)), dram, cycles)


def plain(channels: int, size: tuple[int, ...]) -> Convolution:
    """A convolution whose input is a plain map."""
    return Convolution(1, channels, channels, size, (1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))


def layer_control(shape: Convolution, choice: Choice, *, stored: str = "own", relu: bool = False) -> Control:
    """One layer whose input lies in its own layout, or as the 3-D tensor (``stored`` = "tensor3d"), and whose output
    is stored as the 3-D tensor."""
    own = input_walk(shape, choice)
    maps = tensor(plain(shape.in_channels, shape.input_size))
    walk = own if stored == "own" else maps
    taken = Region(
        "input", INPUT_LAYOUTS[choice.algorithm], None, 0, shape.batch * walk.rows * walk.columns, walk
    )
    weights = math.prod(shape.kernel) * shape.in_channels // shape.groups * shape.out_channels
    out = tensor(plain(shape.out_channels, shape.output_size))
    put = Region("output", "tensor3d", None, taken.words + weights, shape.batch * out.rows * out.columns, out)
    step = convolution_step(
        "conv1",
        shape,
        choice,
        load="copy" if own == walk else "transform",
        weight_address=taken.words,
        relu=relu,
    )
    return Control("one", (4, 4), 4, (taken, put), (step,), put.address + put.words)
