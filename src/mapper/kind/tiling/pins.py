"""Pinned decisions of the kind ``tiling``: which of them concern a layer; `Pins.parse` reads them, but for
padding, which says what bounds the others are of."""

from __future__ import annotations

from collections.abc import Mapping

from mapper.models.tiling.padding import NO_PADDING, Padding, paddable_loops
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.text.nearest import meant
from mapper.workloads.text.number_text import whole_number

PADDING, OFF, AUTO = "padding", "off", "auto"
PUBLISHED = "resnet-dmazerunner"


def own_pins(fix: Mapping[str, str], name: str, names: list[str]) -> dict[str, str]:
    """The decisions that concern one layer: those without a layer's name, and those with its own."""
    own = {}
    for key, value in fix.items():
        head, _, tail = key.partition(".")
        if head == name and tail:
            own[tail] = value
        elif head not in names:
            own[key] = value
    return own


def padding_of(nest: LoopNest, text: str, workload: str) -> Padding:
    """What bounds of ``workload``'s nest may grow to by ``padding=off``, ``auto`` or ``Oy:56,M:200``.

    Raises: InputError if the workload is defined with the bounds it has, if a loop is none of the nest's or may not be
    padded, or if a bound B does not grow to less than twice B.
    """
    if text == OFF:
        return NO_PADDING
    if is_published(workload):
        raise InputError("--fix", PADDING, f"{workload} is defined with its bounds; leave it out, or say off")
    if text == AUTO:
        return Padding.every(nest)
    sizes: dict[str, int] = {}
    free = paddable_loops(nest)
    for item in text.split(","):
        loop, _, size = (part.strip() for part in item.partition(":"))
        if loop not in nest.loops or loop in sizes:
            said = f"{meant(text, (OFF, AUTO)) if len(text) > 1 else ''}{item[:40]!r}"
            remedy = (
                f"{said} is not LOOP:BOUND, once for a loop of {', '.join(nest.loops)}; or say off or auto"
            )
            raise InputError("--fix", PADDING, remedy)
        bound = nest.trip_counts[loop]
        grown = whole_number(size, bound, 2 * bound - 1)
        if grown is None:
            remedy = f"{loop}:{size[:40]} is not its bound {bound} or more, and below {2 * bound}"
            raise InputError("--fix", PADDING, remedy)
        if grown > bound and loop not in free:
            remedy = (
                f"{loop} cannot grow without changing the result; loops that can: {', '.join(free) or 'none'}"
            )
            raise InputError("--fix", PADDING, remedy)
        sizes[loop] = grown
    return Padding(tuple((loop, size, size) for loop, size in sizes.items()))


def is_published(workload: str) -> bool:
    """Whether a workload is one whose bounds are its paper's, so that nothing is padded."""
    return workload.partition("/")[0] == PUBLISHED
