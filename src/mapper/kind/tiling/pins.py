"""Pinned decisions of the kind ``tiling``: which of them concern a layer; `Pins.parse` reads them. Padding comes before
all others, since it makes another nest."""

from __future__ import annotations

from collections.abc import Mapping

from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.text.number_text import whole_number

PADDING, OFF = "padding", "off"


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


def padded(nest: LoopNest, text: str) -> LoopNest:
    """The nest with bounds as ``padding=Oy:56,M:200`` says: tiles that do not divide a loop run over its end, on words
    and iterations that count.

    Raises: InputError if a loop is none of the nest's, or a bound B does not grow to less than twice B.
    """
    sizes: dict[str, int] = {}
    for item in [] if text == OFF else text.split(","):
        loop, _, size = (part.strip() for part in item.partition(":"))
        if loop not in nest.loops or loop in sizes:
            remedy = (
                f"{item[:40]!r} is not LOOP:BOUND, once for a loop of {', '.join(nest.loops)}; or say off"
            )
            raise InputError("--fix", PADDING, remedy)
        bound = nest.trip_counts[loop]
        grown = whole_number(size, bound, 2 * bound - 1)
        if grown is None:
            remedy = f"{loop}:{size[:40]} is not its bound {bound} or more, and below {2 * bound}"
            raise InputError("--fix", PADDING, remedy)
        sizes[loop] = grown
    return nest.padded(sizes)
