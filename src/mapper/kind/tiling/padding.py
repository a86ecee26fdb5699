"""Padding for people: what was padded and what it won, or what it would win."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mapper.formulations.tiling.problem import TilingProblem
from mapper.kind.cell import number
from mapper.kind.part import Part
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.padding import NO_PADDING, Padding

if TYPE_CHECKING:
    from mapper.formulations.hierarchy.problem import HierarchyProblem

MEASURES = {"edp": ("EDP", "pJ·cycles"), "energy": ("energy", "pJ"), "latency": ("cycles", "")}
BOUNDS_REMARK = (
    "Bounds may grow to any below twice their own, and branch and bound proves the optimum over all of them; this "
    "program takes them as they are."
)
SECONDS = 5.0
"""As long as the search for the other bounds may take, of all layers together; without an answer nothing is said."""
WORTH_SAYING = 0.99
SHOWN_LAYERS = 3

Answered = tuple[TilingProblem, Part]


def padded_to(problem: TilingProblem, mapping: TilingMapping) -> TilingProblem:
    """The problem as of a nest with the bounds of ``mapping``."""
    return replace(problem, nest=problem.nest.padded(dict(mapping.padded)), padding=NO_PADDING)


def padding_lines(answered: Sequence[Answered]) -> list[str]:
    """Of one layer or of all of a network: which bounds grew, how much of what runs that is, and what was won; or what
    larger bounds would win where padding is off. Of a part that repeats another the other's figures hold."""
    if any(part.mapping is None or part.certificate.value is None for _, part in answered):
        return []
    deadline = time.monotonic() + seconds_for(answered)
    grown = {part.name: dict(_mapping(part).padded) for _, part in answered}
    if any(grown.values()):
        return [_won(answered, grown, deadline)]
    is_off = not any(problem.padding.ranges for problem, _ in answered)
    return _worth(answered, deadline) if is_off else []


def seconds_for(answered: Sequence[tuple[object, Part]]) -> float:
    """How long other bounds may be searched for; after a search that was cut off, not at all."""
    cut = any(part.certificate.stop in ("interrupted", "time_limit") for _, part in answered)
    return 0.0 if cut else SECONDS


def _won(answered: Sequence[Answered], grown: Mapping[str, Mapping[str, int]], deadline: float) -> str:
    """What was padded, and how much less that is than the bounds as they are take."""
    more = (
        sum(problem.nest.padded(grown[part.name]).iterations for problem, part in answered)
        / sum(problem.nest.iterations for problem, _ in answered)
        - 1
    )
    line = f"  padding  {listed(answered, grown)} ({more:.1%} more iterations)"
    plain: dict[str, int | float | None] = {}
    for problem, part in answered:
        if grown[part.name] and part.same_as is None:
            free = problem.padding.is_free
            plain[part.name] = _unpadded_value(problem, part, deadline) if free else None
    values = [plain.get(part.same_as or part.name, part.certificate.value) for _, part in answered]
    found = [value for value in values if value is not None]
    if len(found) < len(values):
        return line
    measure, unit = MEASURES[answered[0][0].objective]
    less = less_than(_total(answered), sum(found))
    return f"{line}; {measure} {less} than {number(sum(found))}{unit and ' ' + unit} with bounds as they are"


def _worth(answered: Sequence[Answered], deadline: float) -> list[str]:
    """What bounds with small factors would win, where they are others and better."""
    from mapper.solver.tiling.padded import friendly_bounds

    better: dict[str, int | float] = {}
    grown: dict[str, Mapping[str, int]] = {}
    for problem, part in answered:
        sizes = {} if part.same_as else friendly_bounds(replace(problem, padding=Padding.every(problem.nest)))
        if not sizes:
            continue
        fixed = Padding(tuple((loop, size, size) for loop, size in sizes.items()))
        found = _least_value(replace(problem, padding=fixed).as_it_is(), deadline)
        if found is not None and found < (part.certificate.value or 0):
            better[part.name], grown[part.name] = found, sizes
    value = _total(answered)
    least = sum(better.get(part.same_as or part.name, part.certificate.value or 0) for _, part in answered)
    if not least < value * WORTH_SAYING:
        return []
    measure, _ = MEASURES[answered[0][0].objective]
    comma = "," if len(answered) > 1 else ""
    would = f"with {listed(answered, grown)}{comma} {measure} would be {less_than(least, value)}"
    return [f"  padding  off; {would}: --fix padding=auto"]


def listed(
    answered: Sequence[tuple[TilingProblem | HierarchyProblem, Part]], grown: Mapping[str, Mapping[str, int]]
) -> str:
    """The loops that have grown, ``I 197 → 198``, of a network layer by layer."""
    layers = []
    for problem, part in answered:
        sizes, bounds = grown.get(part.name) or {}, problem.nest.trip_counts
        if sizes and part.same_as is None:
            loops = ", ".join(f"{loop} {bounds[loop]:,} → {size:,}" for loop, size in sizes.items())
            layers.append(loops if len(answered) == 1 else f"{part.name} {loops}")
    rest = f"; {len(layers) - SHOWN_LAYERS} more layers" if len(layers) > SHOWN_LAYERS else ""
    return "; ".join(layers[:SHOWN_LAYERS]) + rest


def less_than(value: int | float, other: int | float) -> str:
    """How much less ``value`` is than ``other``."""
    if value and other / value >= 2:
        return f"{other / value:,.1f} times less"
    return f"{1 - value / other:.1%} less" if other else "no less"


def _mapping(part: Part) -> TilingMapping:
    assert isinstance(part.mapping, TilingMapping)
    return part.mapping


def _total(answered: Sequence[Answered]) -> int | float:
    return sum(part.certificate.value or 0 for _, part in answered)


def _unpadded_value(problem: TilingProblem, part: Part, deadline: float) -> int | float | None:
    """The optimum of the bounds as they are: as the method found it that went before, or searched here."""
    from mapper.solver.tiling.padded import UNTRIED

    before = part.before
    if before is not None and isinstance(before.mapping, TilingMapping) and not before.mapping.padded:
        claim = before.certificate
        if claim.stop == "complete" and claim.restrictions == (UNTRIED,):
            return claim.value
    return _least_value(replace(problem, padding=NO_PADDING), deadline)


def _least_value(problem: TilingProblem, deadline: float) -> int | float | None:
    """The optimum of bounds as they are, if that is found soon."""
    from mapper.solver.method import Effort
    from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound

    found = branch_and_bound(problem, Effort(deadline=deadline))
    return found.value if found.proven else None
