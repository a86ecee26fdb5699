"""The arrays that a loop touches, and whether its accesses stay inside them."""

from __future__ import annotations

from mapper.workloads.graph.kernel import Array
from mapper.workloads.loop.affine import ITERATION, Form, at
from mapper.workloads.loop.body import Node
from mapper.workloads.loop.lowered import LoweredLoop

ASSUMED_WORDS = 1024
LARGEST_ARRAY_WORDS = 1 << 26


def arrays_of(loop: LoweredLoop, accesses: list[Node]) -> tuple[Array, ...]:
    """The arrays of ``accesses``, in the order of their declarations.

    Raises: InputError if an access surely leaves its array.
    """
    arrays: list[Array] = []
    for name, shape in loop.arrays.items():
        own = [node for node in accesses if node.array == name]
        if not own:
            continue
        ranges = [_range(node.index_form, loop) for node in own]
        words = shape.words
        if words is None:
            known = [found for found in (_likely_range(node, loop) for node in own) if found is not None]
            words = max((high + 1 for _, high in known), default=0)
            if None in ranges or not 0 < words <= LARGEST_ARRAY_WORDS:
                words = max(words, ASSUMED_WORDS) if words <= LARGEST_ARRAY_WORDS else ASSUMED_WORDS
                loop.note(f"{name} has {words} words; declare its size to choose")
        for node, found in zip(own, ranges, strict=True):
            always = not node.entry and len(node.operands) == (1 if node.opcode == "load" else 2)
            if always and found is not None and not 0 <= found[0] <= found[1] < words:
                raise loop.fault(
                    f"{name[:40]} of {words} words is touched at {found[0]} to {found[1]}; make it larger"
                )
        written = any(node.opcode == "store" for node in own)
        arrays.append(Array(name, words, shape.type.word, written))
    return tuple(arrays)


def _range(form: Form | None, loop: LoweredLoop) -> tuple[int, int] | None:
    """The least and the largest index of an access, or None where parameters or data decide it."""
    if form is None or loop.trip_count is None:
        return None
    symbols = {name for term in form for name in term}
    if symbols & loop.assumed or any(term.count(ITERATION) > 1 for term in form):
        return None
    return _ends(form, loop.trip_count, loop)


def _likely_range(node: Node, loop: LoweredLoop) -> tuple[int, int] | None:
    """The same with the numbers that parameters stand at."""
    count = loop.trip_count or loop.assumed_trips
    form = node.index_form
    if form is None or count is None or any(term.count(ITERATION) > 1 for term in form):
        return None
    return _ends(form, count, loop)


def _ends(form: Form, count: int, loop: LoweredLoop) -> tuple[int, int]:
    ends = (at(form, 0, loop.symbols), at(form, count - 1, loop.symbols))
    return min(ends), max(ends)
