"""Documents changed in one place: numbers, and entries that are dropped, doubled, swapped, cut or put in."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

Place = tuple[Any, Any]
"""What holds a value, and its key or position there."""


def places(node: Any) -> list[Place]:
    """Every value below a node."""
    keys: list[Any] = (
        list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    )
    found: list[Place] = [(node, key) for key in keys]
    for key in keys:
        found += places(node[key])
    return found


def mutated(document: Any, rng: Random, within: tuple[str, ...] = ()) -> Any:
    """A copy with one change, in the part that these keys lead to."""
    changed = copy.deepcopy(document)
    part = changed
    for key in within:
        part = part[key]
    while True:
        holder, key = rng.choice(places(part))
        value = holder[key]
        if isinstance(value, int) and not isinstance(value, bool):
            holder[key] = rng.choice([value + 1, value - 1, value * 2, -value, None, value + 1])
            return changed
        if value is None:
            holder[key] = rng.randrange(4)
            return changed
        if isinstance(value, list) and rng.random() < 0.3:
            if not value:
                value.append(rng.choice([0, None, []]))
            else:
                at, other = rng.randrange(len(value)), rng.randrange(len(value))
                form = rng.randrange(4)
                if form == 0:
                    del value[at]
                elif form == 1:
                    value[at], value[other] = value[other], value[at]
                elif form == 2:
                    del value[at:]
                else:
                    value.insert(other, copy.deepcopy(value[at]))
            return changed
        if isinstance(holder, dict) and rng.random() < 0.1:
            del holder[key]
            return changed
