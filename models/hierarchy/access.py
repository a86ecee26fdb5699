"""Accesses of one tensor at every level: what bypassing does, and which reads and fills of partial sums are left out.

The rules are those of Timeloop (NVlabs/timeloop, ``tiling.cpp``). Fractions are exact until a count is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from mapper.arch.hierarchy import HierarchyMachine, Rules
from mapper.models.hierarchy.delivery import Delivery, delivery
from mapper.models.hierarchy.tile import Walk
from mapper.workloads.nest.loop_nest import Operand


@dataclass(frozen=True)
class Accesses:
    """Of one tensor at one level: words of its tile, and words read, filled and updated by each of ``instances``.
    ``others`` are rows of instances that do less, as (instances, reads, fills, updates)."""

    words: int
    reads: int
    fills: int
    updates: int
    instances: int
    others: tuple[tuple[int, int, int, int], ...] = ()

    @property
    def writes(self) -> int:
        """Words filled and updated."""
        return self.fills + self.updates

    @property
    def rows(self) -> tuple[tuple[int, int, int, int], ...]:
        """All instances, as (instances, reads, fills, updates), those that do most first."""
        return ((self.instances, self.reads, self.fills, self.updates), *self.others)

    @property
    def used(self) -> int:
        """How many instances there are."""
        return sum(row[0] for row in self.rows)


def accesses(
    operand: Operand, walked: Walk, kept: Sequence[bool], machine: HierarchyMachine
) -> tuple[Accesses | None, ...]:
    """What a tensor costs at each level, outer to inner; None where it is bypassed."""
    crossing = _deliveries(operand, walked, machine)
    fanouts = [math.prod(step.trips for step in level) for level in walked.spatial]
    content, handed = _bypassed(crossing, fanouts, kept)
    shares = [
        Fraction(0),
        *(Fraction(one.received, below) for one, below in zip(crossing, fanouts, strict=True)),
    ]
    parts = _partitions(walked)
    found: list[Accesses | None] = []
    instances, outermost = 1, True
    for level, keeps in enumerate(kept):
        if not keeps:
            found.append(None)
        else:
            peer = Fraction(handed[level - 1], instances) if level else Fraction(0)
            share = Fraction(0) if outermost else shares[level]
            counts = _counts(operand, machine.rules, content[level], peer, share, parts[level], outermost)
            found.append(Accesses(walked.words(level), *counts, instances))
            outermost = False
        instances *= fanouts[level]
    return tuple(found)


def _deliveries(operand: Operand, walked: Walk, machine: HierarchyMachine) -> list[Delivery]:
    """What crosses the boundary below each level."""
    found = []
    for level, memory in enumerate(machine.levels):
        above = [step for loops in walked.temporal[: level + 1] for step in loops]
        fanout = memory.fanout
        found.append(
            delivery(
                walked.boxes[level + 1],
                above,
                walked.spatial[level],
                (fanout.x, fanout.y),
                reused=level + 1 < len(machine.levels),
                multicast=fanout.reduction if operand.writes else fanout.multicast,
                links=machine.rules.link_transfers,
            )
        )
    return found


def _bypassed(
    crossing: Sequence[Delivery], fanouts: Sequence[int], kept: Sequence[bool]
) -> tuple[list[Fraction], list[int]]:
    """Words that each level serves, and words that instances inside it hand to each other. The children of a level that
    is bypassed are served by the next one outside that keeps the tensor, as often as the bypassed one would have."""
    reads = [{together: Fraction(words) for together, words in one.reads} for one in crossing]
    handed = [one.links for one in crossing]
    content = [sum(one.values(), Fraction(0)) for one in reads]
    waiting = list(range(len(kept)))
    for level in reversed(range(len(kept))):
        if kept[level]:
            continue
        waiting.remove(level)
        outside = max((one for one in waiting if one < level), default=None)
        if outside is not None:
            arriving = sum((together * words for together, words in reads[outside].items()), Fraction(0))
            ratio = content[level] * fanouts[outside] / arriving if arriving else Fraction(0)
            reads[outside] = {together: words * ratio for together, words in reads[outside].items()}
            content[outside], handed[outside] = sum(reads[outside].values(), Fraction(0)), 0
    first = next((level for level, keeps in enumerate(kept) if keeps), len(kept))
    return content, [0 if level < first else words for level, words in enumerate(handed)]


def _partitions(walked: Walk) -> list[int]:
    """Words of the whole tensor for which one instance of each level is responsible."""
    parts = [walked.words(0)]
    for level in range(1, len(walked.temporal)):
        around = walked.spread[level - 1] if walked.spatial[level - 1] else walked.words(level)
        parts.append(parts[-1] * walked.words(level) // around)
    return parts


def _counts(
    operand: Operand,
    rules: Rules,
    content: Fraction,
    peer: Fraction,
    share: Fraction,
    part: int,
    outermost: bool,
) -> tuple[int, int, int]:
    """Words read, filled and updated by an instance; of words that are left out, no more than there are, which matters
    where the tiles of a sum have gaps between them (Timeloop counts such gaps as left out too)."""
    if not operand.writes:
        return _rounded(content + peer), math.floor(share + peer), 0
    zero = operand.zero_initialised
    reads = content + peer - (part if zero and rules.first_read == "elided" else 0)
    if outermost or not zero or rules.first_fill == "counted":
        return max(0, _rounded(reads)), math.floor(share + peer), _rounded(content)
    return max(0, _rounded(reads)), max(0, _rounded(share + peer - part)), _rounded(content)


def _rounded(count: Fraction) -> int:
    """The nearest integer, halves upwards."""
    return math.floor(count + Fraction(1, 2))
