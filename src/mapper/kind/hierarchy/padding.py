"""Padding for people: which bounds grew and what that won, or what it would win."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.kind.cell import number
from mapper.kind.part import Part
from mapper.kind.tiling.padding import MEASURES, WORTH_SAYING, less_than, listed, seconds_for
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.tiling.padding import paddable_loops

Answered = tuple[HierarchyProblem, Part]


def padding_lines(answered: Sequence[Answered]) -> list[str]:
    """Of one layer or of all of a network: which bounds grew, how much of what runs that is, and what was won; or what
    larger bounds would win where padding is off. Of a part that repeats another the other's figures hold."""
    if any(
        not isinstance(part.mapping, HierarchyMapping) or part.certificate.value is None
        for _, part in answered
    ):
        return []
    deadline = time.monotonic() + seconds_for(answered)
    grown = {part.name: dict(_mapping(part).padded) for _, part in answered}
    if any(grown.values()):
        return [_won(answered, grown, deadline)]
    is_off = not any(problem.pins.free or problem.pins.padded for problem, _ in answered)
    return _worth(answered, deadline) if is_off else []


def _won(answered: Sequence[Answered], grown: Mapping[str, Mapping[str, int]], deadline: float) -> str:
    """What was padded, and how much less that is than the bounds as they are take, where that is soon found."""
    runs = sum(problem.nest.padded(grown[part.name]).iterations for problem, part in answered)
    more = runs / sum(problem.nest.iterations for problem, _ in answered) - 1
    line = f"  padding  {listed(answered, grown)} ({more:.1%} more iterations)"
    plain: dict[str, int | float | None] = {}
    for problem, part in answered:
        if grown[part.name] and part.same_as is None:
            plain[part.name] = _least_value(problem.as_it_is(), deadline) if problem.pins.free else None
    values = [plain.get(part.same_as or part.name, part.certificate.value) for _, part in answered]
    found = [value for value in values if value is not None]
    value = _total(answered)
    if len(found) < len(values) or not value < sum(found):
        return line
    measure, unit = MEASURES[answered[0][0].objective]
    shown = f"{number(sum(found))}{unit and ' ' + unit}"
    return f"{line}; {measure} {less_than(value, sum(found))} than {shown} with bounds as they are"


def _worth(answered: Sequence[Answered], deadline: float) -> list[str]:
    """What larger bounds would win, where some are better and soon found."""
    better: dict[str, int | float] = {}
    grown: dict[str, Mapping[str, int]] = {}
    for problem, part in answered:
        if part.same_as is None and part.certificate.proven and time.monotonic() < deadline:
            found = _larger(problem, _mapping(part), deadline)
            if found is not None:
                grown[part.name], better[part.name] = found
    value = _total(answered)
    least = sum(better.get(part.same_as or part.name, part.certificate.value or 0) for _, part in answered)
    if not least < value * WORTH_SAYING:
        return []
    measure, _ = MEASURES[answered[0][0].objective]
    comma = "," if len(answered) > 1 else ""
    would = f"with {listed(answered, grown)}{comma} {measure} would be {less_than(least, value)}"
    return [f"  padding  off; {would}: --fix padding=auto"]


def _larger(
    problem: HierarchyProblem, mapping: HierarchyMapping, deadline: float
) -> tuple[dict[str, int], int | float] | None:
    """Larger bounds of a layer that are better, and the value with them."""
    from mapper.solver.hierarchy.exact.branch_and_bound import with_larger_bounds
    from mapper.solver.method import Effort

    free = replace(problem, pins=replace(problem.pins, free=paddable_loops(problem.nest)))
    found = with_larger_bounds(free, mapping, Effort(deadline=deadline))
    if found is None:
        return None
    return dict(found.padded), problem.value(evaluate(problem.nest, problem.machine, found))


def _mapping(part: Part) -> HierarchyMapping:
    assert isinstance(part.mapping, HierarchyMapping)
    return part.mapping


def _total(answered: Sequence[Answered]) -> int | float:
    return sum(part.certificate.value or 0 for _, part in answered)


def _least_value(problem: HierarchyProblem, deadline: float) -> int | float | None:
    """The optimum of given bounds, if that is found soon."""
    from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
    from mapper.solver.method import Effort

    found = branch_and_bound(problem, Effort(deadline=deadline))
    return found.value if found.proven else None
