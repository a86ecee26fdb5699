"""What each pass over a loop did to the bounds on its initiation interval."""

from __future__ import annotations

from dataclasses import replace

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.bound import rec_mii, res_mii
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import is_source, load_kernel
from mapper.workloads.loop.passes import PASSES


def pass_remarks(text: str, machine: CgraMachine, source: SourceReading) -> list[str]:
    """A line per pass: RecMII, ResMII and operations with it and without it. None for a graph that is drawn."""
    if not is_source(text):
        return []
    with_all = _bounds(text, machine, source)
    lines = []
    for name, what in PASSES.items():
        ran = name in source.passes
        other = replace(source, added=(*source.added, name))
        if ran:
            other = replace(source, without=(*source.without, name))
        elif name in source.without:
            other = replace(source, without=tuple(one for one in source.without if one != name))
        done = f"pass {name} ({what}): {with_all}" if ran else f"pass {name} is left out ({what}): {with_all}"
        found = _bounds(text, machine, other)
        change = "the same" if found == with_all else found
        lines.append(f"{done}; {'without' if ran else 'with'} it {change}")
    return lines


def _bounds(text: str, machine: CgraMachine, source: SourceReading) -> str:
    try:
        graph = load_kernel(text, source)[0].graph
        recurrence, resources = rec_mii(graph, machine).value, res_mii(graph, machine).value
    except InputError as error:
        return f"refused ({error.remedy})"
    return f"RecMII {recurrence}, ResMII {resources}, {len(graph.operations)} operations"
