"""Live-ins of a configuration: named where a kernel's text has parameters, and replaced by numbers for one start."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mapper.models.modulo_schedule.configuration.word import (
    Configuration,
    First,
    Immediate,
    LiveIn,
    LiveInName,
    Operand,
    Output,
    Register,
    Word,
)
from mapper.workloads.graph.dataflow_graph import Number

_Change = Callable[[Operand], Operand]


def with_live_ins(configuration: Configuration, names: Mapping[float, str]) -> Configuration:
    """The configuration with names in place of the floats that stand for live-ins.

    ``names``: per number that the front end gave a parameter its name. No constant of the kernel may be one of them.
    """

    def first(value: First) -> First:
        return LiveInName(live_in=names[value]) if isinstance(value, float) and value in names else value

    def operand(one: Operand) -> Operand:
        if isinstance(one, Immediate):
            known = isinstance(one.value, float) and one.value in names
            return LiveIn(position=one.position, name=names[one.value]) if known else one
        return one if isinstance(one, LiveIn) else _with_first(one, tuple(map(first, one.initial)))

    return _changed(configuration, operand) if names else configuration


def bound(configuration: Configuration, values: Mapping[str, Number]) -> Configuration:
    """The configuration as the driver leaves it before a start with these live-ins.

    Raises: KeyError if one is missing.
    """

    def first(value: First) -> First:
        return values[value.live_in] if isinstance(value, LiveInName) else value

    def operand(one: Operand) -> Operand:
        if isinstance(one, LiveIn):
            return Immediate(position=one.position, value=values[one.name])
        return one if isinstance(one, Immediate) else _with_first(one, tuple(map(first, one.initial)))

    return _changed(configuration, operand)


def live_in_names(configuration: Configuration) -> tuple[str, ...]:
    """The live-ins that words name, each once, in order."""
    found: dict[str, None] = {}
    for word in configuration.words:
        for one in word.read:
            if isinstance(one, LiveIn):
                found[one.name] = None
            elif not isinstance(one, Immediate):
                found |= {first.live_in: None for first in one.initial if isinstance(first, LiveInName)}
    return tuple(found)


def _with_first(operand: Output | Register, initial: tuple[First, ...]) -> Output | Register:
    return operand.model_copy(update={"initial": initial})


def _changed(configuration: Configuration, operand: _Change) -> Configuration:
    words = tuple(_word(word, operand) for word in configuration.words)
    return configuration.model_copy(update={"words": words})


def _word(word: Word, operand: _Change) -> Word:
    predicate = None if word.predicate is None else operand(word.predicate)
    return word.model_copy(update={"operands": tuple(map(operand, word.operands)), "predicate": predicate})
