"""Into how many pieces each convolution is cut: as many as its timeline is shortest for, of those that fit the buffers.

More pieces overlap more, and need smaller buffers, yet the array is filled and drained for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mapper.codegen.algorithm_selection.convolution_program import Turns, convolution, kernel_parts
from mapper.codegen.algorithm_selection.program import depths
from mapper.codegen.algorithm_selection.timeline import Timeline
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep
from mapper.models.algorithm_selection.overlay.layer import PIECES
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class Limits:
    """Words of the input buffer, in both halves, of each memory of sums, and of the tensor buffer for maps that stay on
    the chip; into how many parts of their depth and of their maps the kernels of layers are cut, so that they fit."""

    input: int | None = None
    result: int | None = None
    tensor: int = 0
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def cuts(
    control: Control,
    timeline: Timeline,
    limits: Limits | None = None,
    kept: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """The number of pieces of every convolution that the Verilog runs: of those tried that fit, the fewest of the
    shortest. ``kept``: where maps that stay on the chip begin in the tensor buffer."""
    found: dict[str, int] = {}
    for step in control.convolutions:
        times = _times(control, step, timeline, limits or Limits(), kept or {})
        if times:
            found[step.name] = min(times, key=lambda count: (times[count], count))
    return found


def _times(
    control: Control, step: ConvolutionStep, timeline: Timeline, limits: Limits, kept: Mapping[str, int]
) -> dict[int, int]:
    """Cycles of a part by number of pieces, kernels loaded before. Two numbers without gain end the search."""
    times: dict[int, int] = {}
    best, lanes = 0, timeline.lanes
    part = kernel_parts(step, limits.parts.get(step.name, (1, 1)))[0]
    for count in PIECES:
        if count > step.shape.output_size[0] or (count > 2 * max(1, best) and len(times) > 2):
            break
        try:
            program = convolution(control, step, 0, Turns(), count, part=part, kept=kept)
        except InputError:
            continue
        instructions = [*program.first, *program.rest]
        needs = depths(instructions, lanes)
        if limits.input is not None and 2 * lanes * needs["input"] > limits.input:
            continue
        if limits.result is not None and lanes * needs["result"] > limits.result:
            continue
        times[count] = timeline.cycles(instructions)
        best = min(times, key=lambda one: (times[one], one))
    return times
