"""The words of all PEs of a configured layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mapper.arch.processing_element import ProcessingElement
from mapper.models.pe_allocation.configuration.layer_data import LayerData
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram, PeProgram
from mapper.models.pe_allocation.word.assembler import controlled, words_of
from mapper.models.pe_allocation.word.elementwise_flow import elementwise
from mapper.models.pe_allocation.word.flow import Flow, convolution, own_filters, pool
from mapper.models.pe_allocation.word.operation import Assembled, Code, Word
from mapper.models.pe_allocation.word.register_file import RegisterFile
from mapper.models.pe_allocation.word.room import (
    Shortage,
    late_sums,
    register_needs,
    too_large,
    wide_numbers,
    word_needs,
)
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class LayerWords:
    """The programs of a layer's PEs, in their order; None of a PE that has nothing to do. ``final``: cycles from the
    issue of a position's last step until its last result can be read."""

    pes: tuple[Assembled | None, ...]
    final: int


def layer_words(layer: LayerProgram, interval: int, data: LayerData, pe: ProcessingElement) -> LayerWords:
    """The programs that a layer's PEs run if a frame comes every ``interval`` cycles.

    Raises: InputError if units are lanes, or the PE has no room for them.
    """
    if layer.scheme != "depth":
        raise InputError(
            layer.name, "--model", "has units as lanes, for which there are no words; leave --model lanes out"
        )
    known: dict[int, tuple[Word, ...]] = {}
    between = max(0, interval - layer.cycles * layer.positions)
    found = tuple(_assembled(layer, program, between, data, pe, known) for program in layer.pes)
    return LayerWords(found, max(one.final for one in found if one is not None))


def _assembled(
    layer: LayerProgram,
    program: PeProgram,
    between: int,
    data: LayerData,
    pe: ProcessingElement,
    known: dict[int, tuple[Word, ...]],
) -> Assembled | None:
    own = len(own_filters(program))
    if own == 0:
        return None
    file = RegisterFile(pe.latency)
    flow = flow_of(layer, program, data, file)
    _refuse(layer, late_sums(layer, program, flow))
    _refuse(layer, wide_numbers(file, pe))
    told = controlled(layer, program, flow)
    # PEs with as many filters run the same words, on other weights and constants.
    if own not in known:
        known[own] = words_of(told, program, layer.positions, layer.idle, between)
    code = Code(
        known[own],
        tuple(file.constants),
        tuple(file.fifos),
        file.registers,
        len(file.ports),
        len(file.maps),
        file.table,
    )
    k1, k2, n, m = (loop.count for loop in program.loops)
    made = Assembled(code, tuple(file.ports), tuple(file.maps), flow.final, (k1, k2, n, m), told.table)
    _refuse(layer, too_large(register_needs(file) | word_needs(len(code.words), code.units), pe))
    return made


def flow_of(layer: LayerProgram, program: PeProgram, data: LayerData, file: RegisterFile) -> Flow:
    """What an iteration of the layer's rule does, with the registers that it takes from ``file``."""
    if layer.rule == "convolution":
        return convolution(layer, program, data, file)
    if layer.rule in ("max", "average"):
        return pool(layer, program, data, file)
    return elementwise(layer, program, data, file)


def _refuse(layer: LayerProgram, shortages: Iterable[Shortage]) -> None:
    """Raises: InputError if there is a shortage."""
    for shortage in shortages:
        raise InputError(layer.name, shortage.field, shortage.said)


def has_words(configuration: Configuration) -> bool:
    """Whether all layers work at once, at start times, each on PEs of its own."""
    return configuration.steady and configuration.mode == "layer-parallel" and not configuration.shared


def words_of_all(
    configuration: Configuration, constants: Sequence[LayerData], pe: ProcessingElement
) -> tuple[LayerWords, ...]:
    """The programs of every PE of an array whose layers all work at once, each at its start times.

    Raises: InputError if the configuration is another one, or a PE has no room.
    """
    if not has_words(configuration):
        raise InputError(
            configuration.network,
            "mode",
            "words are those of layers that work at once, at the start times of --model streaming, each on PEs of its "
            "own",
        )
    return tuple(
        layer_words(layer, configuration.interval, own, pe)
        for layer, own in zip(configuration.layers, constants, strict=True)
    )
