"""Every value of a proof is of its type: what equals it for Python, or holds the same, is malformed all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from mapper.solver.proof import digest
from tests.fuzz.proof import SEEDS, checker

Document = dict[str, Any]


def likenesses(value: Any) -> Iterator[Any]:
    """What a careless reader takes for ``value``."""
    if isinstance(value, bool):
        yield from (int(value), "yes" if value else "", [0] if value else [])
    elif isinstance(value, int):
        yield from (bool(value) if value in (0, 1) else [value], str(value))
    elif value is None:
        yield from (False, [], "")
    elif isinstance(value, str):
        yield from ([value], {value: value})
    elif isinstance(value, list):
        yield {} if not value else dict.fromkeys(map(str, value))
        if value and all(isinstance(one, str) and len(one) == 1 for one in value):
            yield "".join(value)
    elif isinstance(value, dict):
        yield list(value)
        yield {**value, "another": next(iter(value.values()), None)}


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """What holds a value, and its key or position there."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def changes(document: Document, step: int) -> Iterator[tuple[str, Document]]:
    """The document with every ``step``-th of its values in turn as another type, and what was changed."""
    parts = ("problem", "claim", "evidence")
    found = [(document, part) for part in parts] + [
        place for part in parts for place in places(document[part])
    ]
    for at, (holder, key) in enumerate(found):
        value = holder[key]
        for number, other in enumerate(likenesses(value)):
            if (at + number) % step == 0:
                holder[key] = other
                changed = json.loads(json.dumps(document))
                changed["problem_sha256"] = digest(changed["problem"])
                more = ", 'another'" if isinstance(other, dict) and "another" in other else ""
                yield f"{key}: {value!r:.60} as {other!r:.60}{more}", changed
        holder[key] = value


def documents(kind: str) -> list[Document]:
    return [one for data in SEEDS[kind]() for one in json.loads(data)["proofs"]]


FREE = ("loops", "latency_cycles", "host", "entry")
"""Fields that hold names of the problem's own: another may be added, and a choice that is not taken may cost more."""


@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.parametrize("count", [40, pytest.param(1 << 20, marks=pytest.mark.slow)])
def test_no_value_is_taken_for_one_of_another_type(kind: str, count: int) -> None:
    tried, known = 0, documents(kind)
    size = sum(1 for document in known for _ in places(document))
    for document in known:
        accepted = checker(kind).verdict(json.loads(json.dumps(document)))
        for what, changed in changes(document, max(1, 2 * size // count)):
            _, status, reason = checker(kind).verdict(changed)
            tried += 1
            taken = (status, reason) == accepted[1:] or status == "certified"
            assert not taken or ("'another'" in what and what.split(":")[0] in FREE), what
    assert tried > 20
