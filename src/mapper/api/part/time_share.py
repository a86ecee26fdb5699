"""How the parts of a problem share its time: in proportion to what there is to gain, and again what others left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mapper.kind.part import Part
from mapper.store.recall import Kept

MOST_AGAIN = 3
"""Times that parts are searched again which were cut off while others left time."""
MUCH = 0.1
"""The share of the time limit that is worth another search."""


def weights_of(known: Sequence[Kept | None]) -> list[float]:
    """What there is to gain in each part: what its known mapping costs beyond its bound; the same in all if one has no
    mapping."""
    claims = [None if kept is None else kept.part.certificate for kept in known]
    values = [None if claim is None else claim.value for claim in claims]
    bounds = [None if claim is None else claim.bound for claim in claims]
    return [
        1.0 if None in values else abs(float(value or 0) - float(bound or 0))
        for value, bound in zip(values, bounds, strict=True)
    ]


def shares_of(weights: Sequence[float], side_by_side: int) -> list[float]:
    """The share of the time limit at which each part must end, so that those after it have theirs too; what a part
    leaves is left to the next."""
    whole = math.fsum(weights)
    ends = [min(len(weights), (place // side_by_side + 1) * side_by_side) for place in range(len(weights))]
    return [math.fsum(weights[:end]) / whole if whole else 1.0 for end in ends]


def cut_off(answers: Mapping[Any, Part], stop: str | None, left: float, limit: float | None) -> list[Any]:
    """Parts whose search ended by its share of the time although others ``left`` much of the ``limit``, in seconds."""
    if limit is None or stop is not None or left < MUCH * limit:
        return []
    claims = {key: one.certificate for key, one in answers.items()}
    return [key for key, claim in claims.items() if claim.stop == "time_limit" and not claim.proven]
