"""Configuration words as an assembler listing."""

from __future__ import annotations

from itertools import groupby

from mapper.models.modulo_schedule.configuration.word import (
    Configuration,
    Immediate,
    LiveIn,
    LiveInName,
    Operand,
    Register,
    Word,
)
from mapper.workloads.text.plain_text import plain

LEGEND = """\
; OUT is the PE's own output register, OUT[r,c] that of PE [r,c], Rk an own register, #v an immediate,
; $x a live-in, which the driver writes into the word before each start.
; {a b} in front of an operand: iterations 0, 1 ... take these values instead.
; @Sn: active for iteration i in repetition i + n of the II words. +L: readable L cycles after the issue.
; ?x: switched off where x is 0. load a+3: the word 3 beyond the index."""

SHARED_LEGEND = "; sk is register k of the shared file, number {} + k in the configuration."


def listing(configuration: Configuration) -> str:
    """One block per PE that issues anything, one line per word: slot, stage, operation, destination, operands."""
    trips = "unknown" if configuration.trip_count is None else str(configuration.trip_count)
    lines = [
        f"; {plain(configuration.kernel)} on {plain(configuration.machine)}",
        f"; II {configuration.ii}, {configuration.stages} stages, trip count {trips}",
        LEGEND,
    ]
    shared_from = configuration.shared_from
    if shared_from is not None:
        lines.append(SHARED_LEGEND.format(shared_from))
    for pe, words in groupby(configuration.words, key=lambda word: word.pe):
        lines += ["", f"PE[{pe[0]},{pe[1]}]:"]
        lines += [_line(word, shared_from) for word in words]
    return "\n".join(lines) + "\n"


def _line(word: Word, shared_from: int | None) -> str:
    array = "" if word.array is None else f" {_token(word.array)}{f'{word.offset:+}' if word.offset else ''}"
    opcode = _token(word.opcode) + array
    places = (["OUT"] if word.output else []) + [_register(number, shared_from) for number in word.registers]
    operands = ", ".join(_operand(operand, word, shared_from) for operand in word.operands)
    predicate = "" if word.predicate is None else f" ?{_operand(word.predicate, word, shared_from)}"
    name = "" if word.operation is None else f"  ; {plain(word.operation)}"
    text = f"  {word.slot:>3} @S{word.stage:<3} {opcode:<14} {'+'.join(places):<8} <- {operands}{predicate}"
    return f"{text} +{word.latency}{name}"


def _register(number: int, shared_from: int | None) -> str:
    return f"R{number}" if shared_from is None or number < shared_from else f"s{number - shared_from}"


def _operand(operand: Operand, word: Word, shared_from: int | None) -> str:
    if isinstance(operand, Immediate):
        return f"#{operand.value}"
    if isinstance(operand, LiveIn):
        return f"${_token(operand.name)}"
    given = (
        f"${_token(one.live_in)}" if isinstance(one, LiveInName) else str(one) for one in operand.initial
    )
    first = "{" + " ".join(given) + "} " if operand.initial else ""
    if isinstance(operand, Register):
        return first + _register(operand.register_number, shared_from)
    return first + ("OUT" if operand.pe == word.pe else f"OUT[{operand.pe[0]},{operand.pe[1]}]")


def _token(name: str) -> str:
    """A name in front of the comment: a word that begins none and takes no operand's place."""
    return "".join("_" if char.isspace() or char in ";,<" else char for char in plain(name))
