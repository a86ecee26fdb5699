"""The driver of a network as a listing for people: loops, what each start takes, copies, operators in VLIW mode."""

from __future__ import annotations

from collections.abc import Mapping

from mapper.models.modulo_schedule.program.program import Program
from mapper.models.modulo_schedule.program.step import Copy, Host, Load, Place, Run, Step
from mapper.workloads.text.plain_text import plain

HEAD = """\
; {name} on {machine}: {words} words of memory, the first {constants} constants ({data}).
; start: VLIW mode writes addresses of arrays (&) and live-ins from memory ($), then the kernel runs.
; [w]: word w of memory; i0, i1 ...: counters of the loops around, outer to inner. Placed: tensors by first word."""


def driver_listing(program: Program) -> str:
    """One line for every loop, start and copy, layer by layer."""
    head = HEAD.format(
        name=plain(program.name), machine=plain(str(program.machine.get("name"))), words=program.words,
        constants=program.constants, data=plain(program.data),
    )  # fmt: skip
    lines = [head, *(f"; {plain(one.name)} {list(one.shape)} at [{one.at}]" for one in program.tensors)]
    layer = None
    for step in program.steps:
        if step.layer != layer:
            layer = step.layer
            lines += ["", f"{plain(layer)}:"]
        lines += [f"  {line}" for line in _lines(step, program)]
    return "\n".join(lines) + "\n"


def _lines(step: Step, program: Program) -> list[str]:
    if isinstance(step, Load):
        kernel = program.kernels[step.kernel]
        return [
            f"load    kernel {step.kernel} ({plain(kernel.kernel)}, II {kernel.ii}, {kernel.stages} stages)"
        ]
    if isinstance(step, Copy):
        counts = " x ".join(map(str, step.loops))
        return [
            f"copy    {plain(step.what)}: {counts} words to [{step.to}], from {_word(step.source)}, else {step.outside}"
        ]
    if isinstance(step, Host):
        names = ", ".join(map(plain, step.operators))
        what = "the operator" if step.what == "whole" else names or step.what
        return [f"host    {what}: {step.elements} elements, {step.cycles} cycles each"]
    return _start(step)


def _start(step: Run) -> list[str]:
    lines = []
    for depth, (start, stop, by) in enumerate(step.loops):
        if len(range(start, stop, by)) > 1:
            lines.append(f"for     i{depth} = {start} .. {stop - 1} by {by}")
    given = [*_given("&", step.arrays), *_given("$", step.live_ins)]
    return [*lines, f"start   kernel {step.kernel}, {step.iterations} iterations: {', '.join(given)}"]


def _given(mark: str, places: Mapping[str, Place]) -> list[str]:
    return [f"{mark}{plain(name)} {_word(place)}" for name, place in places.items()]


def _word(place: Place) -> str:
    terms = [f"{stride} i{depth}" for depth, stride in enumerate(place.strides) if stride]
    return f"[{' + '.join([str(place.at), *terms])}]"
