"""Whether a PE has room for a program: what it needs more of than there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mapper.arch.processing_element import ProcessingElement
from mapper.models.pe_allocation.configuration.program import LayerProgram, PeProgram
from mapper.models.pe_allocation.word.flow import Flow
from mapper.models.pe_allocation.word.operation import UNITS, Port, Unit
from mapper.models.pe_allocation.word.register_file import RegisterFile


@dataclass(frozen=True)
class Shortage:
    """What a program needs more of than a PE has: a field of the machine file, numbers, and both in words."""

    field: str
    needed: int
    there: int
    said: str


def late_sums(layer: LayerProgram, program: PeProgram, flow: Flow) -> Iterator[Shortage]:
    """A sum is added to again after as many cycles as there are other sums; it has to be there by then."""
    k1, k2, n, m = (loop.count for loop in program.loops)
    sums = n if layer.rule in ("max", "average") else m
    steps = k1 * k2 if layer.rule in ("max", "average") else k1 * k2 * n
    if steps > 1 and flow.again > sums:
        remedy = "give the layer fewer PEs" if sums == m else "give the machine a faster unit"
        yield Shortage(
            "latency",
            flow.again,
            sums,
            f"goes on with a sum after {sums} cycles, and its PEs' units take {flow.again} to add to one; {remedy}",
        )


def wide_numbers(file: RegisterFile, pe: ProcessingElement) -> Iterator[Shortage]:
    """A register must hold the largest number."""
    if file.bits > pe.register_bits:
        yield Shortage(
            "processing_element.register_bits",
            file.bits,
            pe.register_bits,
            f"needs {file.bits} bits, and a register has {pe.register_bits}; give the machine more, or have the "
            "layer compute sums of fewer products",
        )


def register_needs(file: RegisterFile) -> dict[str, int]:
    """Registers and FIFOs that a program takes, by the fields that limit them."""
    return {
        "data_registers": file.registers,
        "feedback_fifos": len(file.fifos),
        "feedback_words": sum(fifo.room for fifo in file.fifos),
        "input_registers": len(file.ports),
        "input_words": _waiting(file.ports),
        "output_registers": len(file.maps),
        "constant_registers": len(file.constants),
    }


def word_needs(words: int, units: Mapping[Unit, int]) -> dict[str, int]:
    """The memory of so many words, and the units that the largest of them asks for."""
    return {"instruction_words": words, **{f"units.{unit}s": units.get(unit, 0) for unit in UNITS}}


def too_large(needs: Mapping[str, int], pe: ProcessingElement) -> Iterator[Shortage]:
    """What there is less of than a program ``needs``."""
    for name, needed in needs.items():
        there = limit_of(pe, name)
        if there is not None and needed > there:
            yield Shortage(
                f"processing_element.{name}",
                needed,
                there,
                f"needs {needed:,} on a PE, and there are {there:,}; give the machine more, or the layer more PEs",
            )


def limit_of(pe: ProcessingElement, name: str) -> int | None:
    """The limit that a field of the machine file sets; None: there is none."""
    part, _, unit = name.partition(".")
    found: int | None = getattr(pe.units, unit) if unit else getattr(pe, part)
    return found


def _waiting(ports: list[Port]) -> int:
    return 1 + max((port.ahead for port in ports), default=0)
