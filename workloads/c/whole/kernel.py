"""From a function in C to a whole kernel."""

from __future__ import annotations

import re
from dataclasses import replace

from pycparser import c_ast

from mapper.workloads.c.file import LOOPS, Loop, LoopPlace, check_subset, find_loops
from mapper.workloads.c.lowering import lowered_by
from mapper.workloads.c.name import has
from mapper.workloads.c.reading import AS_WRITTEN, SourceReading
from mapper.workloads.c.whole.extent import words_of
from mapper.workloads.c.whole.flattened import PASSES as FLAT_PASSES
from mapper.workloads.c.whole.flattened import FlattenedLoop, inner_of
from mapper.workloads.c.whole.host import Host, Lowered
from mapper.workloads.c.whole.started import StartedLoop
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Array, Kernel
from mapper.workloads.loop.array import ASSUMED_WORDS
from mapper.workloads.loop.building import kernel_of
from mapper.workloads.loop.kind import ArrayShape
from mapper.workloads.network.network import InputFile
from mapper.workloads.whole.program import AUTO, FLATTEN, HOST, WholeKernel, segments_of

MOST_KERNELS = 64
_MARK = re.compile(r"^# \d+[^\n]*\n", re.MULTILINE)


def whole_from_c(
    text: str,
    source: str,
    name: str,
    function: str | None = None,
    reading: SourceReading = AS_WRITTEN,
    nest: str = HOST,
    joined: frozenset[int] | None = None,
) -> tuple[WholeKernel, tuple[InputFile, ...]]:
    """The whole of ``function`` (None: the only one with loops), and the headers that were read. ``nest``: loops around
    the innermost ones are run by the ``host``, or are one loop with them where that can be (``flatten``); ``auto``:
    both, to choose from. ``joined``: the kernels that are one with the loop around them at the most (None: all).

    Raises: InputError naming file, line and function for anything outside the subset.
    """
    try:
        places = find_loops(text, source, function, reading)
        found = _whole(places, name, reading, FLATTEN if nest == FLATTEN else HOST, joined)
        if nest == AUTO:
            found = replace(found, nest=AUTO, others=(_whole(places, name, reading, FLATTEN, joined),))
        return found, places[0].inputs
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None


def _whole(
    places: tuple[LoopPlace, ...], name: str, reading: SourceReading, nest: str, joined: frozenset[int] | None
) -> WholeKernel:
    first = places[0]
    if len(places) > MOST_KERNELS:
        raise first.fault(first.function, f"more than {MOST_KERNELS} innermost loops; split the function")
    plain = _MARK.sub("", first.text)
    lowered: Lowered = {}
    kernels: list[Kernel] = []
    notes: dict[str, None] = {}
    for place in places:
        check_subset(place)
        own_nest = nest if joined is None or len(kernels) in joined else HOST
        found = _lowered(place, f"{name}:{len(kernels)}", reading, own_nest)
        if found is None:
            notes[f"the host runs the loop in line {place.loop.coord.line}, too"] = None
            continue
        own, read, kernel = found
        lowered[id(own.loop)] = len(kernels), read, kernel
        reached = words_of(read)
        arrays = tuple(replace(one, words=max(one.words, reached.get(one.name, 0))) for one in kernel.arrays)
        kernels.append(replace(kernel, arrays=arrays, notes=()))
        notes |= dict.fromkeys(note for note in kernel.notes if _holds_for_the_whole(note))
    if not kernels:
        raise first.fault(first.loop, "no loop here is one for the array; store a result, count a variable")
    host = Host(replace(first, loop=first.function), reading.passes, lowered)
    outputs = {one for start in (read.kept for _, read, _ in lowered.values()) for one in start}
    arrays = _arrays(kernels, host, outputs)
    parameters = tuple((key, number) for key, number in host.first.items())
    stands = [f"parameter {key} stands at {number}" for key, number in parameters if key in host.assumed]
    return WholeKernel(
        name, plain, first.name, tuple(kernels), host.program, arrays, parameters,
        nest=nest, reading=replace(reading, include=(), define=()), notes=(*stands, *notes),
    )  # fmt: skip


def _lowered(
    place: LoopPlace, name: str, reading: SourceReading, nest: str
) -> tuple[LoopPlace, StartedLoop, Kernel] | None:
    """An innermost loop, as one with the loop around it where that is asked for and can be; None if the host runs it.

    Raises: InputError if it is outside the subset.
    """
    around = _around(place.function.body, place.loop)
    if nest == FLATTEN and around is not None:
        outer = replace(place, loop=around)
        try:
            check_subset(outer)
            both = FlattenedLoop(outer, reading.passes)
            return outer, both, kernel_of(both.lowered, name, "", reading.passes & FLAT_PASSES)
        except InputError:
            pass  # the host runs the loop around it
    read = lowered_by(StartedLoop, place, reading.passes)
    if not read.is_counted or not read.has_result:
        _check_host_runs(place)
        return None
    return place, read, kernel_of(read.lowered, name, "", reading.passes)


def _check_host_runs(place: LoopPlace) -> None:
    """Raises: InputError if nobody can say how often the loop runs, or something leaves it."""
    loop = place.loop
    by_data = loop.cond is not None and has(loop.cond, (c_ast.ArrayRef, c_ast.StructRef, c_ast.FuncCall))
    if by_data or has(loop.stmt, (c_ast.Break, c_ast.Continue, c_ast.Return)):
        raise place.fault(loop, "data say how often this loop runs; map it alone")


def _around(node: Loop, inner: Loop) -> Loop | None:
    """The loop in which ``inner`` is all there is."""
    if isinstance(node, LOOPS) and inner_of(node) is inner:
        return node
    found = (_around(child, inner) for _, child in node.children())
    return next((one for one in found if one is not None), None)


def _holds_for_the_whole(note: str) -> bool:
    """Whether a note of a loop says more than where it stands alone."""
    alone = ("stands at", "around the kernel", "so the trip count is not known", "is read after the loop")
    return not any(words in note for words in alone)


def _arrays(kernels: list[Kernel], host: Host, outputs: set[str]) -> tuple[Array, ...]:
    """All arrays that kernels or the host touch, as large as declared, or as any of them takes them to be."""
    found: dict[str, Array] = {}
    for kernel in kernels:
        for one in kernel.arrays:
            had = found.get(one.name, one)
            if had.kind != one.kind:
                raise InputError(kernel.name, one.name[:60], "has two types in two loops; rename one")
            written = one.written or had.written
            found[one.name] = replace(one, words=max(one.words, had.words), written=written)
    for segment in segments_of(host.program):
        for operation in segment.operations:
            if operation.array is not None:
                shape = host.shapes[operation.array]
                had = found.get(operation.array) or _declared(operation.array, shape)
                # Where the host goes in an array without a size, nobody knows.
                had = replace(had, words=max(had.words, ASSUMED_WORDS)) if shape.words is None else had
                found[operation.array] = replace(had, written=had.written or operation.opcode == "store")
    return tuple(
        replace(one, words=_words(host.shapes.get(key), one.words)) for key, one in sorted(found.items())
    )


def _declared(name: str, shape: ArrayShape) -> Array:
    return Array(name, shape.words or ASSUMED_WORDS, shape.type.word)


def _words(shape: ArrayShape | None, words: int) -> int:
    return words if shape is None or shape.words is None else shape.words
