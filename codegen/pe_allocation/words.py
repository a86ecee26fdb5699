"""The words of all PEs as files: their bits, and a listing for people to read."""

from __future__ import annotations

from collections.abc import Sequence

from mapper.arch.processing_element import ProcessingElement
from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.configuration.layer_data import LayerData
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram
from mapper.models.pe_allocation.word.encoding import header_of, word_bits, write_programs
from mapper.models.pe_allocation.word.flow import own_filters
from mapper.models.pe_allocation.word.operation import Assembled, Code, Fifo
from mapper.models.pe_allocation.word.program import LayerWords, has_words, words_of_all
from mapper.workloads.text.file_name import file_names
from mapper.workloads.text.plain_text import plain

LEGEND = """\
; A word is issued in every cycle; its operations, one for a unit, stand in { | }. RD data register, FD feedback FIFO
; (read: a word is taken out), ID input (read: the next word comes; ID!: it stays), RC constant, OD output.
; -> s:w: signal s of the loop controller leads to word w; 0 is no signal, and word 0 that of a PE at rest."""


def generate_words(
    configuration: Configuration, machine: TcpaMachine, constants: Sequence[LayerData]
) -> dict[str, str | bytes]:
    """File names and their content: for every layer ``NAME.words.txt``, and ``NAME.pe``, the bits of its PEs' programs
    with the ``constants`` of the layer. None where layers do not all work at once.

    Raises: InputError as ``words_of_all``.
    """
    if not has_words(configuration):
        return {}
    files: dict[str, str | bytes] = {}
    pe = machine.processing_element
    layers = configuration.layers
    programs = words_of_all(configuration, constants, pe)
    for name, layer, own in zip(file_names(layer.name for layer in layers), layers, programs, strict=True):
        codes = [None if one is None else one.code for one in own.pes]
        files[f"{name}.words.txt"] = word_listing(layer, own, pe)
        files[f"{name}.pe"] = write_programs(codes, pe.register_bits)
    return files


def word_listing(layer: LayerProgram, words: LayerWords, pe: ProcessingElement) -> str:
    """Each program once, with what its PEs have of their own: constants, and where their weights and pixels begin."""
    latency = pe.latency
    lines = [
        f"; {plain(layer.name)}",
        LEGEND,
        "",
        f".latency multiply {latency.multiply}, add {latency.add}, compare {latency.compare}, shift {latency.shift}, "
        f"move {latency.move}, table {latency.table}",
        f".drain a result leaves its PE {words.final} cycles after its last step begins",
    ]
    shown: dict[object, int] = {}
    for number, (program, made) in enumerate(zip(layer.pes, words.pes, strict=True)):
        if made is None:
            lines += ["", f"PE {number}: nothing"]
            continue
        filters = ", ".join(map(str, own_filters(program)))
        lines += ["", f"PE {number}: filters (maps) {filters}" if len(made.maps) == 1 else f"PE {number}:"]
        lines += [f"  {line}" for line in _own(made)]
        first = shown.setdefault(made.code.words, number)
        if first != number:
            lines.append(f"  the words of PE {first}")
            continue
        lines += [f"  {line}" for line in (*_controller(made), *_program(made.code, pe.register_bits))]
    return "\n".join(lines) + "\n"


def _own(made: Assembled) -> list[str]:
    lines = []
    for number, port in enumerate(made.ports):
        own = port.addresses
        if port.values:
            lines.append(f".ID{number} by position {_runs(port.values)}    ; each {own.counts[0]} times")
            continue
        counts, strides = " x ".join(map(str, own.counts)), " ".join(map(str, own.strides))
        offsets = f" + [{', '.join(map(str, port.offsets))}] by {own.loops[-1]}" if port.offsets else ""
        waits = f", {port.ahead} cycles ahead" if port.ahead else ""
        lines.append(
            f".ID{number} {port.source} [{counts} | {strides}] {own.base:+}{offsets}    ; {', '.join(own.loops)}{waits}"
        )
    for number, fifo in enumerate(made.code.fifos):
        lines.append(f".FD{number} {_fifo(fifo)}")
    for number, maps in enumerate(made.maps):
        lines.append(f".OD{number} maps {', '.join(map(str, maps))}")
    return lines


def _fifo(fifo: Fifo) -> str:
    content = f": {', '.join(map(str, fifo.content))}" if fifo.content else ""
    return f"room for {fifo.room}{', cyclic' if fifo.cyclic else ''}{content}"


def _controller(made: Assembled) -> list[str]:
    """What the loop controller sends: for each kind of k1, k2 and n its signals by m, equal ones once."""
    k1, k2, n, m = made.counts
    lines = [f".controller k1 x k2 x n x m = {k1} x {k2} x {n} x {m}"]
    for kind, row in enumerate(made.signals):
        if any(row):
            ends = [name for bit, name in _ENDS if kind & bit]
            said = ", ".join(ends) or "all others"
            lines.append(f".signals {said}: {_runs(row)}")
    return lines


_ENDS = ((8, "first k1 k2"), (4, "last k1 k2"), (2, "first n"), (1, "last n"))


def _runs(row: tuple[int, ...]) -> str:
    parts: list[list[int]] = []
    for signal in row:
        if parts and parts[-1][0] == signal:
            parts[-1][1] += 1
        else:
            parts.append([signal, 1])
    return " ".join(f"{signal}" if count == 1 else f"{signal}*{count}" for signal, count in parts)


def _program(code: Code, register_bits: int) -> list[str]:
    bits = word_bits(header_of(code, register_bits))
    constants = ", ".join(f"RC{number} = {value}" for number, value in enumerate(code.constants))
    lines = [f".constants {constants}", f".words {len(code.words)} of {bits} bits"]
    for number, word in enumerate(code.words):
        operations = " | ".join(map(str, word.operations)) or "nop"
        branches = " ".join(f"{signal}:{target}" for signal, target in word.branches)
        lines.append(f"{number:4}  {{ {operations} }} -> {branches}")
    return lines
