"""The whole configuration as a document (``mapper.tcpa-configuration/1``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.configuration.interconnect import border_side
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram, PeProgram, Source


def document(configuration: Configuration, machine: TcpaMachine) -> dict[str, Any]:
    """Global controller, interconnect, buffers, address generators and programs; cycles, words, and PEs as [row,
    column]. Without a placement PEs and borders are null, and routes empty."""
    layers = configuration.layers
    names = [layer.name for layer in layers]
    return {
        "schema": "mapper.tcpa-configuration/1",
        "network": configuration.network,
        "machine": configuration.machine,
        "mode": configuration.mode,
        "model": configuration.model,
        "controller": {
            "interval": configuration.interval,
            "steady": configuration.steady,
            "start": {layer.name: layer.start for layer in layers},
            "run": {layer.name: layer.run for layer in layers},
            "shared": [[names[at] for at in group] for group in configuration.shared],
        },
        "interconnect": [stream.to_json() for stream in configuration.streams],
        "buffers": _numbered(
            [buffer for layer in layers for buffer in _buffers(layer, names, machine)], layers
        ),
        "address_generators": [generator for layer in layers for generator in _generators(layer, names)],
        "programs": {layer.name: _program(layer) for layer in layers},
    }


def _numbered(buffers: list[dict[str, Any]], layers: Sequence[LayerProgram]) -> list[dict[str, Any]]:
    """``number``: which of its border PE's buffers each is; those of a kind that one layer reads lie in one."""
    run = {layer.name: layer.run for layer in layers}
    known: dict[tuple[int, str], list[tuple[str, str]]] = {}
    for buffer in buffers:
        taken = known.setdefault((run[buffer["layer"]], str(buffer["border_pe"])), [])
        own = (buffer["layer"], buffer["kind"])
        if own not in taken:
            taken.append(own)
        buffer["number"] = None if buffer["border_pe"] is None else taken.index(own)
    return buffers


def _buffers(layer: LayerProgram, names: list[str], machine: TcpaMachine) -> list[dict[str, Any]]:
    def buffer(kind: str, source: str | None, words: int, at: Pe | None) -> dict[str, Any]:
        side = None if at is None else border_side(machine, at)
        return {
            "kind": kind,
            "layer": layer.name,
            "from": source,
            "words": words,
            "border": side,
            "border_pe": _pe(at),
        }

    found = []
    if layer.weight_words:
        found.append(buffer("weights", None, layer.weight_words, layer.weight_border))
    for source in layer.sources:
        if source.feed is not None and source.words is not None:
            kind = "maps" if source.whole else "line"
            found.append(buffer(kind, names[source.feed], source.words, source.border))
    return found


def _generators(layer: LayerProgram, names: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for source in layer.sources:
        found += _source_generators(layer, source, names)
    for program in layer.pes:
        if program.weights is not None:
            use = {"use": "weights", "layer": layer.name, "pe": program.number}
            found.append({**use, **program.weights.to_json()})
    if layer.output is not None:
        found.append({"use": "output", "layer": layer.name, **layer.output.to_json()})
    return found


def _source_generators(layer: LayerProgram, source: Source, names: list[str]) -> list[dict[str, Any]]:
    maker = "frame" if source.feed is None else names[source.feed]
    reading: dict[str, Any] = {"use": "read", "layer": layer.name, "from": maker, **source.read.to_json()}
    if source.stretch != (1, 1):
        reading["stretch"] = list(source.stretch)
    if source.write is None:
        return [reading]
    return [{"use": "write", "layer": layer.name, "from": maker, **source.write.to_json()}, reading]


def _program(layer: LayerProgram) -> dict[str, Any]:
    return {
        "rule": layer.rule,
        "rectified": layer.rectified,
        "shift": layer.shift,
        "scheme": layer.scheme,
        "units": layer.delta,
        "filters": layer.filters,
        "depth": layer.depth,
        "filters_of_a_group": layer.group_filters,
        "input_size": list(layer.size),
        "output_size": list(layer.output_size),
        "kernel": list(layer.kernel),
        "strides": list(layer.strides),
        "dilations": list(layer.dilations),
        "pads": list(layer.pads),
        "spread": list(layer.spread),
        "arithmetic": layer.arithmetic.to_json(),
        "cycles": layer.cycles,
        "idle": layer.idle,
        "drain": layer.drain,
        "pes": [_pe_program(program) for program in layer.pes],
    }


def _pe_program(program: PeProgram) -> dict[str, Any]:
    return {
        "number": program.number,
        "pe": _pe(program.at),
        "loops": [loop.to_json() for loop in program.loops],
    }


def _pe(pe: Pe | None) -> list[int] | None:
    return None if pe is None else list(pe)
