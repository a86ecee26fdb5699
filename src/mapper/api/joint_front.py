"""Trade-offs of a workload of several parts: sums of those of its parts.

Where criteria add up, every answer of the whole is a sum of answers, each of which a point of its part equals or beats.
So the sums that no other sum beats are all there are, if the parts' points are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mapper.api.problem import PosedProblem
from mapper.api.solution import joint_certificate
from mapper.kind.part import JsonValue, Part
from mapper.workloads.document import InputError

MOST_POINTS = 2000
"""Trade-offs that a document lists; each holds the mappings of all parts."""
Row = tuple[int, ...]


@dataclass(frozen=True)
class PartFront:
    """Points of one part, with what each is judged by; ``complete``: there are no others."""

    parts: tuple[Part, ...]
    rows: tuple[Row, ...]
    complete: bool


@dataclass(frozen=True)
class PartMappings:
    """The mappings of all parts, by their names."""

    by_part: Mapping[str, JsonValue]

    def to_json(self) -> dict[str, Any]:
        return {name: mapping.to_json() for name, mapping in self.by_part.items()}


def joint_points(posed: PosedProblem, fronts: Sequence[PartFront]) -> tuple[Part, ...]:
    """The sums of one point of each part's front that no other sum beats, ascending by the first criterion. They are
    proven if the fronts are complete; what is missing in one could beat any sum.

    Raises: InputError if there are more than can be listed.
    """
    complete = all(one.complete for one in fronts)
    sums: list[tuple[Row, tuple[int, ...]]] = [((0, 0), ())]
    for one in fronts:
        usable = [place for place, part in enumerate(one.parts) if part.cost is not None]
        grown = [
            (tuple(a + b for a, b in zip(row, one.rows[place], strict=True)), (*chosen, place))
            for row, chosen in sums
            for place in usable
        ]
        sums = unbeaten(grown)
        if len(sums) > MOST_POINTS:
            remedy = f"{posed.workload} has more than {MOST_POINTS:,} trade-offs; give one part, NAME/PART"
            raise InputError("--pareto", "", remedy)
    return tuple(_joined(posed, fronts, chosen, complete) for _, chosen in sums)


def unbeaten(rows: Sequence[tuple[Row, tuple[int, ...]]]) -> list[tuple[Row, tuple[int, ...]]]:
    """The rows of two criteria that no other is at most as large as in both, the first of equal ones, ascending."""
    kept: list[tuple[Row, tuple[int, ...]]] = []
    for one in sorted(rows):
        if not kept or one[0][1] < kept[-1][0][1]:
            kept.append(one)
    return kept


def _joined(posed: PosedProblem, fronts: Sequence[PartFront], chosen: Sequence[int], complete: bool) -> Part:
    parts = [front.parts[place] for front, place in zip(fronts, chosen, strict=True)]
    names = [part.name for part in posed.parts]
    certificate = joint_certificate([part.certificate for part in parts])
    if not complete:
        certificate = replace(certificate, proven=False, bound=None)
    return Part(
        posed.workload,
        "",
        None,
        PartMappings({name: part.mapping for name, part in zip(names, parts, strict=True) if part.mapping}),
        posed.kind.total([part.cost for part in parts if part.cost is not None]),
        None,
        certificate,
    )
