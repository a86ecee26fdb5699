"""Into how many pieces each convolution is cut: as many as its timeline is shortest for.

More pieces overlap more, and need smaller buffers, yet the array is filled and drained for each.
"""

from __future__ import annotations

from mapper.codegen.algorithm_selection.convolution_program import Turns, convolution
from mapper.codegen.algorithm_selection.timeline import Timeline
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep
from mapper.workloads.document import InputError

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)


def cuts(control: Control, timeline: Timeline) -> dict[str, int]:
    """The number of pieces of every convolution that the Verilog runs: of those tried, the fewest of the shortest."""
    found: dict[str, int] = {}
    for step in control.convolutions:
        times = _times(control, step, timeline)
        if times:
            found[step.name] = min(times, key=lambda count: (times[count], count))
    return found


def _times(control: Control, step: ConvolutionStep, timeline: Timeline) -> dict[int, int]:
    """Cycles by number of pieces, kernels loaded before. Two numbers without gain end the search."""
    times: dict[int, int] = {}
    best = 0
    for count in COUNTS:
        if count > step.shape.output_size[0] or (count > 2 * max(1, best) and len(times) > 2):
            break
        try:
            program = convolution(control, step, 0, Turns(), count)
        except InputError:
            continue
        times[count] = timeline.cycles([*program.first, *program.rest])
        best = min(times, key=lambda one: (times[one], one))
    return times
