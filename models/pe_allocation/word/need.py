"""What a PE needs for a layer's program, whatever the pace of the layer is and its numbers are.

How many words a program has depends on the gaps between positions: what is under way meets what begins anew. A program
knows two gaps at the most, its layer's idle cycles and those with the ones before the next frame. A PE is to have room
for any two, so that what fits a layer does not hang on the others. Constants are those of whole numbers: of a network's
own numbers ``words_of_all`` judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np

from mapper.arch.processing_element import Latency, ProcessingElement
from mapper.models.pe_allocation.configuration.layer_data import LayerData
from mapper.models.pe_allocation.configuration.layer_program import bare_program
from mapper.models.pe_allocation.configuration.program import LayerProgram
from mapper.models.pe_allocation.stream.layer import StreamLayer
from mapper.models.pe_allocation.word.assembler import Controlled, controlled, words_of
from mapper.models.pe_allocation.word.operation import UNIT_OF, Unit, Word
from mapper.models.pe_allocation.word.program import flow_of
from mapper.models.pe_allocation.word.register_file import RegisterFile
from mapper.models.pe_allocation.word.room import (
    Shortage,
    late_sums,
    register_needs,
    too_large,
    wide_numbers,
    word_needs,
)

MOST_POSITIONS = 64
"""More positions one after another bring no new words."""
SCALE, OFFSET = 1 << 6, 16
"""The largest constants of normalisations among whole numbers."""
BIAS_BITS = 4
"""Biases are so many bits longer than what is cut off a sum."""


def shortage(layer: StreamLayer, pes: int, units: int, pe: ProcessingElement) -> Shortage | None:
    """What ``pe`` has too little of for the programs of ``layer`` on so many PEs and units; None if they fit."""
    if not has_limits(pe) and _again(layer, units, pe.latency) == 1:
        return None
    plain = replace(layer, name="", source="", feeds=(), macs=0)
    # Some PEs have one filter less than others.
    for share in sorted({-(-layer.filters // pes), layer.filters // pes} - {0}, reverse=True):
        found = _of_share(plain, share, units, pe)
        if found is not None:
            return found
    return None


def has_limits(pe: ProcessingElement) -> bool:
    """Whether there are programs that ``pe`` has no room for."""
    limited = pe.model_dump(exclude={"latency", "units", "register_bits"}).values()
    units = pe.units.model_dump().values()
    return pe.register_bits < ProcessingElement().register_bits or any(
        one is not None for one in (*limited, *units)
    )


def _again(layer: StreamLayer, units: int, latency: Latency) -> int:
    """After how many cycles at most a sum can be added to again; with 1 it is always there."""
    found: int = latency.add
    if layer.operation == "pool":
        found = max(found, latency.compare)
    elif layer.operation == "elementwise":
        joined = max(latency.add, latency.compare, latency.multiply) if layer.depth > 2 * units else 1
        found = max(latency.move, joined) if layer.depth > units else 1
    return found


@lru_cache(maxsize=1 << 14)
def _of_share(layer: StreamLayer, share: int, units: int, pe: ProcessingElement) -> Shortage | None:
    return next(_shortages(layer, share, units, pe), None)


def _shortages(layer: StreamLayer, share: int, units: int, pe: ProcessingElement) -> Iterator[Shortage]:
    alone = bare_program(_with_filters(layer, share), 1, units)
    program, file = alone.pes[0], RegisterFile(pe.latency)
    flow = flow_of(alone, program, _whole_numbers(alone), file)
    yield from late_sums(alone, program, flow)
    yield from wide_numbers(file, pe)
    yield from too_large(register_needs(file), pe)
    if pe.instruction_words is not None or any(one is not None for one in pe.units.model_dump().values()):
        # More filters than there are operations under way bring no new words.
        few = min(share, 2 * flow.final + 16)
        yield from too_large(word_needs(*_words(_with_filters(layer, few), units, pe.latency)), pe)


def _with_filters(layer: StreamLayer, share: int) -> StreamLayer:
    """The layer with the filters of one PE."""
    if layer.operation == "pool":
        return layer
    groups = 1 if layer.groups == 1 else share
    channels = share if layer.operation == "elementwise" else layer.channels
    return replace(layer, filters=share, maps=share, groups=groups, channels=channels)


def _whole_numbers(layer: LayerProgram) -> LayerData:
    """Constants of the largest size."""
    none = np.zeros(0, np.int64)
    if layer.rule == "convolution":
        return LayerData(none, np.full(layer.filters, 1 << (layer.shift + BIAS_BITS)), none, none)
    return LayerData(none, none, np.full(layer.maps, SCALE), np.full(layer.maps, OFFSET))


@lru_cache(maxsize=1 << 12)
def _words(layer: StreamLayer, units: int, latency: Latency) -> tuple[int, Counter[Unit]]:
    """Words of the program of a PE that has all of the layer's filters, for any two gaps, and the most operations of
    every sort in one of them."""
    alone = bare_program(layer, 1, units)
    program = alone.pes[0]
    told = controlled(alone, program, flow_of(alone, program, _whole_numbers(alone), RegisterFile(latency)))
    positions = min(alone.positions, MOST_POSITIONS)
    depth = _depth(told)
    most: Counter[Unit] = Counter()

    def count(idle: int, between: int) -> int:
        words = words_of(told, program, positions, idle, between)
        for word in words:
            most.update(_beyond(word, most))
        return len(words)

    if program.work < depth:
        # Several positions are under way at once, and meet at either gap.
        pairs = combinations_with_replacement(range(depth + 1), 2)
        return max(count(idle, longer - idle) for idle, longer in pairs), most
    counts = [count(idle, 0) for idle in range(depth + 1)]
    first, second = sorted(counts, reverse=True)[:2]
    # After the longest gap a position begins at rest, which every program knows.
    return first + second - counts[-1], most


def _depth(told: Controlled) -> int:
    return 1 + max((at for done in told.done for at, _ in done), default=0)


def _beyond(word: Word, most: Counter[Unit]) -> dict[Unit, int]:
    """By how many operations of a sort ``word`` has more than ``most``."""
    used = Counter(UNIT_OF[operation.name] for operation in word.operations)
    return {unit: count - most[unit] for unit, count in used.items() if count > most[unit]}
