"""Into how many pieces each convolution is cut: as many as the model counted, or else as its timeline is shortest for,
of those that fit the buffers.

More pieces overlap more, and need smaller buffers, yet the array is filled and drained for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mapper.codegen.algorithm_selection.convolution_program import Turns, convolution
from mapper.codegen.algorithm_selection.piece import Limits, kernel_parts
from mapper.codegen.algorithm_selection.program import depths
from mapper.codegen.algorithm_selection.timeline import Timeline
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep
from mapper.models.algorithm_selection.overlay.layer import PIECES
from mapper.workloads.document import InputError


def cuts(
    control: Control,
    timeline: Timeline,
    limits: Limits | None = None,
    stays: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """The number of pieces of every convolution that the Verilog runs: the one that the model counted, where ``limits``
    say it, else, of those tried that fit, the fewest of the shortest. ``stays``: where maps that stay on the chip begin
    in the tensor buffer."""
    found: dict[str, int] = {}
    limits = limits or Limits()
    for step in control.convolutions:
        places = (control, step, timeline, limits, stays or {})
        said = limits.pieces.get(step.name)
        times = {1: 0} if step.name in limits.kept else {}
        if said is not None:
            times = times or _times(*places, (said,))
        times = times or _times(*places)
        if times:
            found[step.name] = min(times, key=lambda count: (times[count], count))
    return found


def _times(
    control: Control,
    step: ConvolutionStep,
    timeline: Timeline,
    limits: Limits,
    stays: Mapping[str, int],
    counts: Sequence[int] = PIECES,
) -> dict[int, int]:
    """Cycles of a part by number of pieces, kernels loaded before: of every number that the model knows, as the best
    one may follow several that are worse, by the remainders of passes."""
    times: dict[int, int] = {}
    lanes = timeline.lanes
    part = kernel_parts(step, limits.parts.get(step.name, (1, 1)))[0]
    pooled = limits.pooled.get(step.name)
    # Sums to which further parts of the depth are added are those of a single piece.
    most = -(-step.shape.output_size[0] // max(1, step.m)) if part.ends else 1
    for count in counts:
        if count > most:
            break
        try:
            program = convolution(control, step, 0, Turns(), count, part=part, stays=stays, pooled=pooled)
        except InputError:
            continue
        instructions = [*program.loads, *program.first, *program.rest, *program.last]
        needs = depths(instructions, lanes, timeline.wires)
        if limits.input is not None and 2 * lanes * needs["input"] > limits.input:
            continue
        if limits.result is not None and lanes * needs["result"] > limits.result:
            continue
        times[count] = timeline.cycles(instructions)
    return times
