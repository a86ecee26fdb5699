"""The number of instructions that load numbers into registers in the steps of a layer.

The code generator keeps the numbers that were used last in the registers. Of what a step needs, addresses in memory and
numbers that a loop changes are new in every step; addresses in buffers come back with their buffer, mostly two steps
later; sizes, pitches and lengths come back in every step. A number is still there when no more than the registers were
loaded since: here this is asked of all numbers of a kind at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from mapper.arch.snowflake import REGISTERS
from mapper.models.trace_partition.isa.instruction import REACH
from mapper.models.trace_partition.steps.step import ComputeObject
from mapper.models.trace_partition.steps.transfer_size import TransferGroup
from mapper.models.trace_partition.timing.compute_time import code_of

FREE_REGISTERS = REGISTERS - 2
"""All but r0 and the one for the next bank of instructions."""
NEW, TURN, KEPT = range(3)


class Need(NamedTuple):
    """Numbers that come into registers before a transfer or an object: ``new`` ones, and others with their kind and the
    instructions that load them."""

    new: int
    others: tuple[tuple[Hashable, int, int], ...]


def transfer_need(group: TransferGroup) -> Need:
    """What a transfer, or the loop of several, has in registers."""
    first = group.first
    others: list[tuple[Hashable, int, int]] = []
    new = (group.memory != 0) * 2 + (group.local != 0)
    if not group.local and first.local:
        others.append((first.local, TURN, 1))
    if group.local and not group.memory:
        others.append((first.local + (group.turns - 1) * group.local, TURN, 1))
    if first.target == "fill":
        others.append((first.value % (1 << 16), KEPT, 1))
    elif not group.memory:
        others.append(((first.tensor, first.memory), NEW, 1))
    size = first.count << 16 | first.words
    others.append((size, KEPT, 1 if size < REACH else 2))
    if first.count > 1:
        pitch = first.local_pitch << 16 | first.memory_pitch
        others.append((pitch, KEPT, 1 if pitch < REACH else 2))
    return Need(new, tuple(others))


def object_need(o: ComputeObject) -> Need:
    """What a compute object has in registers."""
    code = code_of(o)
    others: list[tuple[Hashable, int, int]] = []
    for base, offset in code.held:
        value = offset + (getattr(o, base) if base else 0)
        if value:
            others.append((value, TURN if base else KEPT, 1))
    return Need(code.owned, tuple(others))


def register_loads(needs: Sequence[Need]) -> tuple[int, ...]:
    """Instructions that bring numbers into registers before each transfer and object of a step, which ``needs`` has in
    their order."""
    kinds: dict[Hashable, int] = {}
    count = [sum(need.new for need in needs), 0, 0]
    for need in needs:
        for number, kind, _ in need.others:
            kinds[number] = kind
    for kind in kinds.values():
        count[kind] += 1
    loaded = _loaded(*count)
    seen: set[Hashable] = set()
    found = []
    for need in needs:
        instructions = need.new
        for number, kind, size in need.others:
            if number not in seen:
                seen.add(number)
                instructions += size if kind in loaded else 0
        found.append(instructions)
    return tuple(found)


def _loaded(new: int, turn: int, kept: int) -> Iterable[int]:
    """The kinds of numbers that are no longer in registers when they are needed again."""
    if 2 * (new + turn) + kept <= FREE_REGISTERS:
        return (NEW,)
    if new + turn + kept <= FREE_REGISTERS:
        return (NEW, TURN)
    return (NEW, TURN, KEPT)
