"""What there is to say of a whole kernel beyond its formulation: its loops, and what each pass did to them."""

from __future__ import annotations

from dataclasses import replace

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.whole.bound import bound, least_loop_cycles, outside_cycles
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.models.modulo_schedule.bound import rec_mii, res_mii
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.c.whole.kernel import whole_from_c
from mapper.workloads.document import InputError
from mapper.workloads.loop.passes import PASSES
from mapper.workloads.whole.program import WholeKernel


def whole_remarks(problem: WholeProblem) -> list[str]:
    """A line for every loop of every choice, with what it takes at the least, and one for what is around them."""
    lines = []
    for choice in problem.choices:
        tally = choice.tally
        for number, kernel in enumerate(choice.whole.kernels):
            runs = f"starts {tally.starts(number):,}, iterations {tally.iterations(number):,}"
            least = least_loop_cycles(choice, number)
            lines.append(
                f"nest {choice.whole.nest}, loop {kernel.name}: {runs}, "
                f"{_bounds(choice.whole, choice.machine)[number]}, at least {least:,} cycles"
            )
        outside = f"host and starts {outside_cycles(choice):,} cycles, all at least {bound(choice):,}"
        lines.append(f"nest {choice.whole.nest}: {outside}")
    return lines


def whole_pass_remarks(whole: WholeKernel, machine: CgraMachine, source: SourceReading) -> list[str]:
    """A line per pass: the loops whose bounds are others with it than without it."""
    lines = []
    now = _bounds(whole, machine)
    for name, what in PASSES.items():
        ran = name in source.passes
        other = replace(source, include=(), define=(), added=(*source.added, name))
        if ran:
            other = replace(other, without=(*source.without, name))
        else:
            other = replace(other, without=tuple(one for one in source.without if one != name))
        done = f"pass {name}{'' if ran else ' is left out'} ({what}): {'without' if ran else 'with'} it "
        lines.append(done + _change(whole, machine, other, now))
    return lines


def _change(whole: WholeKernel, machine: CgraMachine, other: SourceReading, now: list[str]) -> str:
    try:
        read = whole_from_c(whole.text, whole.name, whole.name, whole.function, other, whole.nest)[0]
        found = _bounds(read, machine)
    except InputError as error:
        return f"refused ({error.remedy})"
    if len(found) != len(now):
        return f"{len(found)} loops"
    changed = [
        f"{kernel.name} {then}"
        for kernel, had, then in zip(whole.kernels, now, found, strict=True)
        if had != then
    ]
    return "; ".join(changed) or "the same"


def _bounds(whole: WholeKernel, machine: CgraMachine) -> list[str]:
    """Per loop its bounds by argument, and its operations."""
    return [
        f"RecMII {rec_mii(one.graph, machine).value}, ResMII {res_mii(one.graph, machine).value}, "
        f"{len(one.graph.operations)} operations"
        for one in whole.kernels
    ]
