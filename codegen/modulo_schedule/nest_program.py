"""A nest of a layer as C: the kernels of its boxes, and the loops around them that run in VLIW mode [Bae2018, II-A]."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mapper.models.modulo_schedule.network.body import kernel_text
from mapper.models.modulo_schedule.network.nest import Access, Box, Nest

WEIGHTS = "a"
"""The array from which an optCGRA nest takes its live-in weights: ``a[filter][channel][column][row]``."""

POINTER = re.compile(r"(?:const )?float (?:\*restrict (\w+)|(\w+)\[\d+\])")
LIVE_IN = re.compile(r"float (\w+)")
_WINDOW_VALUE = re.compile(r"(a|sb)(\d+)_(\d+)_(\d+)")


def nest_program(nest: Nest, boxes: Sequence[Box]) -> str:
    """C11: a static function per box, ``<nest>_0`` and so on, whose loop is the kernel, and
    ``void <nest>_all(const float *..., float *...)``, which runs one repeat of the nest, box by box.

    Its parameters are those of ``nest_words``, in that order. What a kernel takes besides pointers is read in
    front of it: words that no iteration changes and, for optCGRA, the columns that the first window shares
    with what came before it.
    """
    numbers = ", ".join(f"{name} {words}" for name, words in nest_words(nest).items())
    lines = [
        f"/* {nest.name}: kernels, and the loops around them. Words touched: {numbers}. */",
        "#include <math.h>",
        "",
    ]
    for number, box in enumerate(boxes):
        text = kernel_text(nest, box)
        lines += [text.replace(f"void {nest.name}(", f"static void {_function(nest, number)}(", 1)]
    written = nest.output.array
    arrays = [f"{'' if name == written else 'const '}float *{name}" for name in nest_words(nest)]
    lines += [f"void {nest.name}_all({', '.join(arrays)})", "{"]
    for number, box in enumerate(boxes):
        lines += [f"    {line}" for line in _around(nest, number, box)]
    return "\n".join([*lines, "}", ""])


def nest_words(nest: Nest) -> dict[str, int]:
    """Per array of the nest, its inputs first and its output last, how many words one repeat touches.

    The windows of optCGRA that straddle the end of the last row reach beyond what im2row lays out by
    ``kernel width - stride`` columns: these words are read, and what is computed of them is not used.
    """
    words: dict[str, int] = {}
    if nest.window is not None:
        (_, filters), (_, channels), _ = nest.loops
        words[WEIGHTS] = filters * channels * nest.window[0] * nest.window[1]
    for access in (*nest.inputs, nest.output):
        last = nest.last_word(access, nest.extents)
        if nest.window is not None and access is not nest.output:
            last += nest.window[0] * nest.window[1] - 1
        words[access.array] = max(words.get(access.array, 0), last + 1)
    return {name: count for name, count in words.items() if name != nest.output.array} | {
        nest.output.array: words[nest.output.array]
    }


def _function(nest: Nest, number: int) -> str:
    return f"{nest.name}_{number}"


def _around(nest: Nest, number: int, box: Box) -> list[str]:
    """The loops around the kernel of a box, in the nest's order, with the kernel's call."""
    lines = []
    depth = 0
    for name, start, count, unroll in zip(nest.names, box.start, box.count, box.unroll, strict=True):
        if name != box.innermost:
            step = f"{name}++" if unroll == 1 else f"{name} += {unroll}"
            lines.append(f"{'    ' * depth}for (long {name} = {start}; {name} < {start + count}; {step})")
            depth += 1
    given = ", ".join(_argument(nest, box, parameter) for parameter in parameters(nest, box))
    return [*lines, f"{'    ' * depth}{_function(nest, number)}({given});"]


def parameters(nest: Nest, box: Box) -> list[str]:
    """The declarations in the head of the kernel's function."""
    head = kernel_text(nest, box).partition("\n")[0]
    return head[head.index("(") + 1 : head.rindex(")")].split(", ")


def _argument(nest: Nest, box: Box, parameter: str) -> str:
    if (pointer := POINTER.fullmatch(parameter)) is not None:
        access = access_of(nest, pointer[1] or pointer[2])
        return f"{access.array} + {_index(nest, box, access, 0)}"
    live_in = LIVE_IN.fullmatch(parameter)
    assert live_in is not None, parameter
    access, offset = place_of(nest, live_in[1])
    return f"{access.array}[{_index(nest, box, access, offset)}]"


def place_of(nest: Nest, live_in: str) -> tuple[Access, int]:
    """The access that a live-in stands for, and its distance in words from that of the first copy."""
    if nest.window is None:
        array, _, offset = live_in.rpartition("_")
        return access_of(nest, array), int(offset)
    height, width, _ = nest.window
    value = _WINDOW_VALUE.fullmatch(live_in)
    assert value is not None, live_in
    if value[1] == "sb":
        source = nest.inputs[0]
        channel, column, row = (int(part) for part in value.groups()[1:4])
        return source, channel * source.stride(nest.names[1]) + column * height + row
    filters, channels, _ = nest.names
    strides = ((filters, nest.extents[channels] * height * width), (channels, height * width))
    weights = Access(WEIGHTS, strides)
    one, channel, tap = (int(part) for part in value.groups()[1:4])
    return weights, weights.offsets({filters: one, channels: channel}) + tap


def access_of(nest: Nest, array: str) -> Access:
    return next(access for access in (nest.output, *nest.inputs) if access.array == array)


def _index(nest: Nest, box: Box, access: Access, offset: int) -> str:
    """The word of an access at the first iteration of the kernel, in terms of the loops around it."""
    terms = []
    for name, start in zip(nest.names, box.start, strict=True):
        stride = access.stride(name)
        if name == box.innermost:
            offset += stride * start
        elif stride:
            terms.append(name if stride == 1 else f"{stride} * {name}")
    return " + ".join([*terms, str(offset)] if offset or not terms else terms)
