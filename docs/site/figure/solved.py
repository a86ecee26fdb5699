"""A small problem, solved for a figure: the same answer on every computer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import mapper


@dataclass(frozen=True)
class Solved:
    """The problem of the only part, its mapping as the API returns it, and its cost by name."""

    problem: Any
    mapping: Any
    cost: dict[str, Any]


@cache
def solved(workload: str, arch: str | None, objective: str | None, method: str = "auto") -> Solved:
    """Solve, once in a process, with one worker and without the store. The answer must be proven: a figure shows an
    optimum."""
    search = mapper.Search(method=method, workers=1)
    found = mapper.solve(workload, arch, objective, search=search)
    (part,) = found.parts
    assert part.certificate.proven and part.certificate.verified and part.cost is not None
    return Solved(found.posed.parts[0].problem, part.mapping, part.cost)
