"""Whether the parts of a program fit together, so that running it stays within its memory and its kernels' tables."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mapper.models.modulo_schedule.configuration.live_in import live_in_names
from mapper.models.modulo_schedule.program.program import Program
from mapper.models.modulo_schedule.program.step import Bound, Copy, Load, Place, Run, Step
from mapper.workloads.document import InputError


def refuse_inconsistent(program: Program, source: str) -> None:
    """Raises: InputError naming the first field that does not fit the others."""
    for field, fault in _faults(program):
        raise InputError(source, field, f"{fault}; generate the program again")


def _faults(program: Program) -> Iterator[tuple[str, str]]:
    if program.constants > program.words:
        yield "constants", f"{program.constants} are more than the {program.words} words of memory"
    for field in ("inputs", "outputs", "tensors", "weights"):
        for number, tensor in enumerate(getattr(program, field)):
            if tensor.at + math.prod(tensor.shape) > program.words:
                yield f"{field}.{number}", "lies beyond the end of memory"
    names = [tensor.name for tensor in program.tensors]
    if len(set(names)) < len(names):
        yield "tensors", "one name stands twice"
    for number, step in enumerate(program.steps):
        for fault in _step_faults(step, program):
            yield f"steps.{number}", fault


def _step_faults(step: Step, program: Program) -> Iterator[str]:
    if isinstance(step, Load | Run) and step.kernel >= len(program.kernels):
        yield f"there is no kernel {step.kernel}"
    elif isinstance(step, Run):
        kernel = program.kernels[step.kernel]
        arrays = {word.array for word in kernel.words if word.array is not None}
        for wanted, given, what in (
            (arrays, step.arrays, "array"),
            (set(live_in_names(kernel)), step.live_ins, "live-in"),
        ):
            for name in sorted(wanted - given.keys()):
                yield f"the place of the {what} {name[:40]!r} is missing"
        if any(start >= stop for start, stop, _ in step.loops):
            yield "a loop has no iteration"
        places = (*step.arrays.values(), *step.live_ins.values())
        if any(len(place.strides) != len(step.loops) for place in places):
            yield "a place has not as many strides as there are loops"
    elif isinstance(step, Copy):
        yield from _copy_faults(step, program)


def _copy_faults(step: Copy, program: Program) -> Iterator[str]:
    if step.to + math.prod(step.loops) > program.words:
        yield "words are copied beyond the end of memory"
    bounded: tuple[Place | Bound, ...] = (step.source, *step.inside)
    if any(len(one.strides) != len(step.loops) for one in bounded):
        yield "a place has not as many strides as there are loops"
    elif not step.inside and not _lies_in(step.source, step.loops, program.words):
        yield "words are copied from outside of memory"


def _lies_in(place: Place, loops: tuple[int, ...], words: int) -> bool:
    ends = [stride * (count - 1) for stride, count in zip(place.strides, loops, strict=True)]
    return (
        place.at + sum(min(end, 0) for end in ends) >= 0
        and place.at + sum(max(end, 0) for end in ends) < words
    )
