"""Proofs with a number or an entry changed are accepted only where what they claim is still true."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from mapper.workloads.document import InputError
from tests.checkers.pe_allocation.example import (
    Document,
    bound_again,
    machine,
    posed,
    problem_of,
    proof_of,
    solved,
    verdict_on,
)

POSED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("tcpa-4x4", "throughput", {}),
    ("tcpa-4x4", "latency", {}),
    ("tcpa-4x4", "latency", {"longest_interval": 70_000}),
    ("tcpa-4x4", "latency", {"model": "streaming"}),
    ("tcpa-4x4", "pes", {"longest_interval": 500_000, "sharing": True}),
    ("tcpa-4x4", "throughput", {"mode": "mixed"}),
    ("tcpa-4x4", "throughput", {"mode": "layer-by-layer", "model": "lanes"}),
    ("tcpa-4x4", "throughput", {"longest_interval": 63_503}),
    ("tcpa-4x4", "pes", {"max_bytes": 12_067}),
)


@cache
def proofs() -> tuple[Document, ...]:
    return tuple(proof_of(problem_of("mnist-tcpa", array, goal, **options)) for array, goal, options in POSED)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(one, (*path, key))


def mutated(document: Document, draw: random.Random) -> Document:
    """One number, entry or order changed, or another proof's part put in place of this one's."""
    changed = copy.deepcopy(document)
    part = draw.choice(["problem", "claim", "evidence", "evidence"])
    if draw.random() < 0.05:
        return bound_again({**changed, part: draw.choice(proofs())[part]})
    path = draw.choice([path for path in places(changed[part]) if path])
    holder = changed[part]
    for key in path[:-1]:
        holder = holder[key]
    value = holder[path[-1]]
    if type(value) is int:
        holder[path[-1]] = draw.choice([value + 1, value - 1, 2 * value, -value])
    elif isinstance(value, list) and len(value) > 1 and draw.random() < 0.7:
        way = draw.choice(["cut", "swap", "drop", "twice"])
        if way == "cut":
            del value[draw.randrange(len(value)) :]
        elif way == "swap":
            one, other = draw.sample(range(len(value)), 2)
            value[one], value[other] = value[other], value[one]
        elif way == "drop":
            del value[draw.randrange(len(value))]
        else:
            value.append(copy.deepcopy(draw.choice(value)))
    elif isinstance(holder, dict) and draw.random() < 0.5:
        del holder[path[-1]]
    else:
        holder[path[-1]] = draw.choice([None, 0, 1, "1", [], {}, "caps", True, 1 << 70])
    return bound_again(changed)


def is_true(document: Document) -> bool:
    """Whether the claim holds of the problem, by the solver."""
    problem, claim = posed(document["problem"]), document["claim"]
    found = solved(problem)
    assert found.proven
    if claim["status"] == "infeasible":
        return found.mapping is None
    if found.value is None:
        return False
    said, bound = (_number(claim[field]) for field in ("value", "bound"))
    if claim["status"] == "optimal":
        return said == bound == found.value
    sign = 1 if problem.goal.most else -1
    return sign * said <= sign * found.value <= sign * bound


def _number(value: Any) -> float:
    above, _, below = str(value).partition("/")
    return int(above) / int(below or 1)


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_what_is_changed_is_accepted_only_where_it_is_true(count: int) -> None:
    draw = random.Random(17)
    refused = 0
    for _ in range(count):
        document = mutated(draw.choice(proofs()), draw)
        status, reason = verdict_on(document)
        assert status in ("certified", "refuted", "malformed", "not certified"), reason
        refused += status != "certified"
        if status == "certified":
            try:
                assert is_true(document), document
            except InputError:
                # A machine that no document may have; its clock does not matter to what was shown.
                continue
    assert refused > count // 2


def test_the_machine_of_a_row_has_its_pes() -> None:
    assert machine(7).pe_count == 7
