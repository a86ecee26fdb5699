"""How large the numbers of a problem can get, and that those of its statement can be counted exactly.

Searches count in machine words (tables of runs, CP-SAT) and throughputs are floating point. Both are exact as long as
no number of cycles or bytes passes ``LARGEST``: sums of a few of them stay within 64 bits, and of two frame intervals
up to it the shorter is the larger number of frames per second.
"""

from __future__ import annotations

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.calculus import position_cycles
from mapper.models.pe_allocation.storage import fused_words, input_words, output_words
from mapper.workloads.document import InputError

LARGEST = 1 << 50
"""The largest number of cycles or bytes that a problem may come to; at 50 MHz 260 days for a frame."""


def longest_time(problem: AllocationProblem) -> int:
    """No search counts with more cycles: all layers one after another on one PE and unit each (or all on one), paced as
    Eq. 9 asks, each delayed by all the pixels and the drain of those that it reads."""
    layers = problem.network.layers
    work = sum(position_cycles(layer, 1, 1) * layer.positions for layer in layers) if problem.sharing else 0
    paces: list[int] = []
    total = sum(problem.drains)
    for layer in layers:
        own = max(position_cycles(layer, 1, 1), -(-work // layer.positions))
        fed = max((paces[feed] for feed in layer.feeds), default=0)
        paces.append(max(own + (problem.pin(layer).throttle or 0), layer.new_pixels * fed))
        total += paces[-1] * (layer.positions + layer.new_pixels)
        for feed in layer.feeds:
            # The raster index of a pixel, rows and columns counted apart.
            pixels = layer.size[0] * layers[feed].output_size[1] + layer.size[1]
            total += paces[feed] * (layer.new_pixels + pixels)
    return total


def most_bytes_held(problem: AllocationProblem) -> int:
    """No search counts with more bytes: all weights, the windows of all layers in one run, and all maps, twice for
    every layer that frames may lag behind."""
    network = problem.network
    maps = sum(input_words(network, layer) + output_words(layer) for layer in network.layers)
    words = sum(fused_words(network, range(len(network.layers)))) + maps * 2 * len(network.layers)
    return words * problem.machine.word_bytes


def refuse_large(problem: AllocationProblem) -> None:
    """Raises: InputError if a number of the problem could pass ``LARGEST``, as where paces multiply from layer to layer
    (Eq. 9)."""
    for number, unit in ((longest_time(problem), "cycles"), (most_bytes_held(problem), "bytes")):
        if number > LARGEST:
            remedy = (
                f"may come to {_said(number)} {unit} on few PEs, and up to {LARGEST:.1e} are counted exactly; lower "
                "its sizes, strides or idle cycles"
            )
            raise InputError(problem.network.name[:60], "layers", remedy)


def _said(number: int) -> str:
    """A number that may be beyond floating point."""
    return f"{number:.1e}" if number < 1 << 1000 else f"2^{number.bit_length() - 1}"
