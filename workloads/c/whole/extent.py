"""How far a loop that is started many times goes in arrays whose size nobody says."""

from __future__ import annotations

from mapper.workloads.c.whole.flattened import FlattenedLoop
from mapper.workloads.c.whole.started import StartedLoop
from mapper.workloads.loop.affine import ITERATION, Form
from mapper.workloads.loop.array import LARGEST_ARRAY_WORDS

Interval = tuple[int, int]
DEEPEST = 16
"""Loops around each other whose bounds are followed."""


def words_of(read: StartedLoop) -> dict[str, int]:
    """Per array without a size the words that all starts of the loop touch at the most, as far as bounds tell."""
    found: dict[str, int] = {}
    for node in read.body.nodes:
        shape = read.arrays.get(node.array or "")
        if node.array is None or shape is None or shape.words is not None or node.index_form is None:
            continue
        reached = _interval(node.index_form, read, DEEPEST)
        if reached is not None and 0 <= reached[1] < LARGEST_ARRAY_WORDS:
            found[node.array] = max(found.get(node.array, 0), reached[1] + 1)
    return found


def _interval(form: Form, read: StartedLoop, depth: int) -> Interval | None:
    """The least and the largest number of ``form``, or beyond them."""
    low = high = 0
    for term, factor in form.items():
        ends = [factor]
        for name in term:
            own = _range(name, read, depth)
            if own is None:
                return None
            ends = [one * end for one in ends for end in own]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _range(name: str, read: StartedLoop, depth: int) -> Interval | None:
    """What the iteration, the variable of a loop around, or a live-in is at the least and at the most."""
    header, bounds = read.header, read.bounds.get(name)
    if isinstance(read, FlattenedLoop) and read.flat is not None and header is not None:
        inner = read.inner_header
        assert inner is not None
        bounds = {read.flat.outer: header.ends, read.flat.inner: inner.ends}.get(name, bounds)
    if name == ITERATION and header is not None:
        bounds = header.ends
    if bounds is None:
        return (read.symbols[name], read.symbols[name]) if name in read.symbols else None
    if depth == 0 or bounds[0] is None or bounds[1] is None:
        return None
    first, last = _interval(bounds[0], read, depth - 1), _interval(bounds[1], read, depth - 1)
    if first is None or last is None:
        return None
    if name == ITERATION and header is not None:
        return 0, max(0, (last[1] - first[0]) // abs(header.step))
    return first[0], max(first[0], last[1])
