"""The mapped nest in C: loops level by level, and the copies between buffers.

A buffer is filled in the innermost loop in time that moves its tile, and stays through all loops further inside. Loops
in space are loops over the units, each of which has buffers of its own. Partial sums begin at zero in every buffer and
are added to the next one outside when the tile leaves, so that units that share a sum add up their parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from mapper.codegen.hierarchy.plan import Buffer, Kept, Plan
from mapper.codegen.tiling.nest_source import statement, tensors_of
from mapper.codegen.tiling.text import Writer, counted, indexed, linear
from mapper.workloads.text.plain_text import ascii_comment


def mapped_source(plan: Plan, names: Sequence[str]) -> str:
    """``mapped.c``; ``names`` are those of the levels, outer to inner."""
    writer = Writer()
    writer.line('#include "nest.h"')
    writer.line()
    for number, name in list(enumerate(names))[1:]:
        own = [(kept, buffer) for kept in plan.buffers for buffer in kept.buffers if buffer.level == number]
        for place, (kept, buffer) in enumerate(own):
            if not place:
                count = f"{buffer.units} instances, a tile of each tensor" if buffer.units > 1 else "a tile"
                writer.line(f"/* {ascii_comment(name)}: {count}. */")
            shape = map(str, (buffer.units, *buffer.shape))
            writer.line(f"static {kept.word} {indexed(kept.name(buffer), shape)};")
    writer.line()
    parameters = ", ".join(f"tensor_{tensor} *dram_{tensor}" for tensor in tensors_of(plan))
    writer.open(f"void mapped_nest({parameters})")
    _loops(writer, plan, names)
    writer.close()
    return writer.text()


def _loops(writer: Writer, plan: Plan, names: Sequence[str]) -> None:
    filled = [
        (kept, number, plan.depth(kept.operand, buffer.level))
        for kept in plan.buffers
        for number, buffer in enumerate(kept.buffers)
    ]
    # At one place outer buffers are filled before inner ones, and emptied after them.
    filled.sort(key=lambda one: one[0].buffers[one[1]].level)
    for depth in range(len(plan.turns) + 1):
        if depth:
            turn = plan.turns[depth - 1]
            if depth == 1 or turn.level != plan.turns[depth - 2].level:
                writer.line(f"/* {ascii_comment(names[turn.level])} */")
            if turn.axis:
                writer.line(f"/* in parallel along {turn.axis} */")
            writer.open(counted(turn.variable, turn.trips))
        for kept, number, place in filled:
            if place == depth:
                _fill(writer, plan, kept, number, depth, names)
    _statement(writer, plan)
    for depth in range(len(plan.turns), -1, -1):
        for kept, number, place in reversed(filled):
            if place == depth and kept.operand.writes:
                _empty(writer, plan, kept, number, depth, names)
        if depth:
            writer.close()


def _unit(plan: Plan, buffer: Buffer) -> str:
    """The instance of a buffer's level, from the digits of loops in space."""
    terms, weight = [], 1
    for turn in reversed(plan.turns[: plan.first(buffer.level)]):
        if turn.axis:
            terms.append((weight, turn.variable))
            weight *= turn.trips
    return linear(reversed(terms))


def _word(plan: Plan, kept: Kept, number: int, words: Sequence[str], inner: Buffer | None) -> str:
    """A word of an operand's buffer (``number`` -1: of the tensor itself), ``words`` after the beginning of the tile of
    ``inner`` that the loops in between say; without ``inner``, the word of this iteration."""
    outer = kept.buffers[number] if number >= 0 else None
    low = kept.tensor.low if outer is None else outer.low
    begin = 0 if outer is None else plan.first(outer.level)
    end = len(plan.turns) if inner is None else plan.first(inner.level)
    places = []
    for axis, dimension in enumerate(kept.operand.index):
        terms = [
            (factor * turn.stride, turn.variable)
            for turn in plan.turns[begin:end]
            for loop, factor in dimension.coefficients
            if loop == turn.loop
        ]
        least = dimension.constant if inner is None else inner.low[axis]
        terms += [(1, words[axis])] if words and words[axis] else []
        places.append(linear(terms, least - low[axis]))
    if outer is None:
        return indexed(f"(*dram_{kept.tensor.name})", places)
    return indexed(kept.name(outer), [_unit(plan, outer), *places])


def _each_word(writer: Writer, plan: Plan, kept: Kept, number: int, depth: int) -> tuple[int, str, str]:
    """Open loops over all units that take a tile here, and its words: how many loops, the word outside and inside."""
    inner = kept.buffers[number]
    space = [turn for turn in plan.turns[depth : plan.first(inner.level)] if turn.axis]
    words = [f"w{axis}" if size > 1 else "" for axis, size in enumerate(inner.shape)]
    heads = [counted(turn.variable, turn.trips) for turn in space]
    heads += [counted(word, size) for word, size in zip(words, inner.shape, strict=True) if word]
    count = writer.nested(heads)
    target = indexed(kept.name(inner), [_unit(plan, inner), *(word or "0" for word in words)])
    return count, _word(plan, kept, number - 1, words, inner), target


def _fill(writer: Writer, plan: Plan, kept: Kept, number: int, depth: int, names: Sequence[str]) -> None:
    inner = kept.buffers[number]
    what = "begins at zero" if kept.operand.writes else f"from {_outside(kept, number, names)}"
    writer.line(f"/* {kept.operand.name} into {ascii_comment(names[inner.level])}: {what}. */")
    count, outside, inside = _each_word(writer, plan, kept, number, depth)
    writer.line(f"{inside} = {0 if kept.operand.writes else outside};")
    writer.close(count)


def _empty(writer: Writer, plan: Plan, kept: Kept, number: int, depth: int, names: Sequence[str]) -> None:
    level = ascii_comment(names[kept.buffers[number].level])
    writer.line(f"/* {kept.operand.name} out of {level}: added to {_outside(kept, number, names)}. */")
    count, outside, inside = _each_word(writer, plan, kept, number, depth)
    writer.line(f"{outside} = add({outside}, {inside});")
    writer.close(count)


def _outside(kept: Kept, number: int, names: Sequence[str]) -> str:
    """The level that a buffer is filled from."""
    return ascii_comment(names[kept.buffers[number - 1].level if number else 0])


def _statement(writer: Writer, plan: Plan) -> None:
    words = [_word(plan, kept, len(kept.buffers) - 1, (), None) for kept in plan.buffers]
    reads = [word for word, kept in zip(words, plan.buffers, strict=True) if kept.operand.access == "read"]
    value, target = statement(plan, reads), words[plan.written]
    updated = plan.nest.operands[plan.written].is_updated
    writer.line(f"{target} = {f'add({target}, {value})' if updated else value};")
