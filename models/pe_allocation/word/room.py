"""Whether a PE has room for a program; it is refused where it has not."""

from __future__ import annotations

from mapper.arch.processing_element import ProcessingElement
from mapper.models.pe_allocation.configuration.program import LayerProgram, PeProgram
from mapper.models.pe_allocation.word.flow import Flow
from mapper.models.pe_allocation.word.operation import UNITS, Assembled
from mapper.models.pe_allocation.word.register_file import RegisterFile
from mapper.workloads.document import InputError


def refuse_late_sums(layer: LayerProgram, program: PeProgram, flow: Flow) -> None:
    """A sum is added to again after as many cycles as there are other sums.

    Raises: InputError if it is not there by then.
    """
    k1, k2, n, m = (loop.count for loop in program.loops)
    sums = n if layer.rule in ("max", "average") else m
    steps = k1 * k2 if layer.rule in ("max", "average") else k1 * k2 * n
    if steps > 1 and flow.again > sums:
        remedy = "give the layer fewer PEs" if sums == m else "give the machine a faster unit"
        raise InputError(
            layer.name,
            "latency",
            f"goes on with a sum after {sums} cycles, and its PEs' units take {flow.again} to add to one; {remedy}",
        )


def refuse_wide_numbers(layer: LayerProgram, file: RegisterFile, pe: ProcessingElement) -> None:
    """Raises: InputError if a register may overflow."""
    if file.bits > pe.register_bits:
        raise InputError(
            layer.name,
            "processing_element.register_bits",
            f"needs {file.bits} bits, and a register has {pe.register_bits}; give the machine more, or have the "
            "layer compute sums of fewer products",
        )


def refuse_large_program(layer: LayerProgram, made: Assembled, pe: ProcessingElement) -> None:
    """Raises: InputError if the program needs more of anything than a PE has."""
    code = made.code
    needs: dict[str, tuple[int, int | None]] = {
        "data_registers": (code.registers, pe.data_registers),
        "feedback_fifos": (len(code.fifos), pe.feedback_fifos),
        "feedback_words": (sum(fifo.room for fifo in code.fifos), pe.feedback_words),
        "input_registers": (code.inputs, pe.input_registers),
        "input_words": (1 + max((port.ahead for port in made.ports), default=0), pe.input_words),
        "output_registers": (code.outputs, pe.output_registers),
        "constant_registers": (len(code.constants), pe.constant_registers),
        "instruction_words": (len(code.words), pe.instruction_words),
    }
    used = code.units
    needs |= {f"units.{unit}s": (used[unit], getattr(pe.units, f"{unit}s")) for unit in UNITS}
    for name, (needed, there) in needs.items():
        if there is not None and needed > there:
            raise InputError(
                layer.name,
                f"processing_element.{name}",
                f"needs {needed:,} on a PE, and there are {there:,}; give the machine more, or the layer more PEs",
            )
