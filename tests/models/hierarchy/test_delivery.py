"""Closed forms of what crosses a boundary against a walk through the moments, one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from mapper.models.hierarchy.delivery import Delivery, delivery
from mapper.models.hierarchy.tile import Box, Offset, Step

Cell = tuple[int, ...]


def moments(temporal: list[Step]) -> Iterator[tuple[int, Offset]]:
    """The first and second trips of all loops, each with how many moments it stands for, and where tiles lie."""
    for bits in product(*(range(min(step.trips, 2)) for step in temporal)):
        weight, place = 1, (0,) * len(temporal[0].offset)
        for bit, step in zip(bits, temporal, strict=True):
            weight *= step.trips - 1 if bit else 1
            place = tuple(at + bit * by for at, by in zip(place, step.offset, strict=True))
        yield weight, place


def cells(box: Box, place: Offset) -> frozenset[Cell]:
    return frozenset(product(*(range(at, at + extent) for at, extent in zip(place, box, strict=True))))


def walked(
    box: Box,
    temporal: list[Step],
    spatial: tuple[Step, ...],
    width: tuple[int, int],
    *,
    reused: bool,
    links: bool,
) -> Delivery:
    """The same by sets of words: what instances held is kept from moment to moment."""
    places: list[Offset] = [(0,) * len(box)]
    for step in spatial:
        places = [
            tuple(at + trip * by for at, by in zip(place, step.offset, strict=True))
            for place in places
            for trip in range(step.trips)
        ]
    reads: Counter[int] = Counter()
    linked = 0
    held: frozenset[Cell] | None = None
    last: Offset | None = None
    stride: Offset | None = None
    before: list[frozenset[Cell]] | None = None
    for weight, place in moments(temporal) if temporal else [(1, (0,) * len(box))]:
        own = cells(box, place)
        moved = None if last is None else tuple(a - b for a, b in zip(place, last, strict=True))
        if not reused or held is None:
            new = own
        elif stride is None or stride == moved:
            new, stride = own - held, moved
        else:
            new, stride = own, None
        held, last = own, place
        now = [
            frozenset(tuple(a + b for a, b in zip(cell, at, strict=True)) for cell in new) for at in places
        ]
        usual = groups(now, range(len(now)))
        chosen, handed = usual, 0
        if links and before is not None and new:
            left = [one for one in range(len(now)) if not handed_on(one, now, before, spatial, width)]
            fewer = groups(now, left)
            if sum(fewer.values()) < sum(usual.values()):
                chosen, handed = fewer, len(now) - len(left)
        before = now
        for together, count in chosen.items():
            reads[together] += count * len(new) * weight
        linked += handed * len(new) * weight
    return Delivery(tuple(sorted((key, value) for key, value in reads.items() if value)), linked)


def groups(now: list[frozenset[Cell]], instances: object) -> Counter[int]:
    return Counter(Counter(now[one] for one in instances).values())  # type: ignore[attr-defined]


def handed_on(
    one: int,
    now: list[frozenset[Cell]],
    before: list[frozenset[Cell]],
    spatial: tuple[Step, ...],
    width: tuple[int, int],
) -> bool:
    across = down = 1
    for step in spatial:
        across *= step.trips if step.axis == "x" else 1
        down *= step.trips if step.axis == "y" else 1
    columns, rows = max(width[0], across), max(width[1], down)
    x, y = one % columns, one // columns
    for other_x, other_y in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
        other = other_y * columns + other_x
        if 0 <= other_x < columns and 0 <= other_y < rows and other < len(now) and before[other] == now[one]:
            return True
    return False


def drawn(random: Random) -> tuple[Box, list[Step], tuple[Step, ...]]:
    """Loops over a window in one dimension and a plain second one, strides as a nest has them."""
    coefficients = {"P": (random.choice((1, 2)), 0), "R": (1, 0), "C": (0, 1), "K": (0, 0)}
    strides = dict.fromkeys(coefficients, 1)
    order = [random.choice(list(coefficients)) for _ in range(random.randint(1, 6))]
    inside = random.randint(0, len(order))
    across = random.randint(inside, min(len(order), inside + 2))
    steps = []
    for loop in order:
        trips = random.choice((2, 2, 3, 4))
        offset = tuple(by * strides[loop] for by in coefficients[loop])
        steps.append((loop, trips, offset, dict(strides)))
        strides[loop] *= trips
    inner = steps[inside][3] if inside < len(steps) else strides
    box = (1 + coefficients["P"][0] * (inner["P"] - 1) + inner["R"] - 1, inner["C"])
    spatial = tuple(
        Step(trips, offset, random.choice("xy")) for _, trips, offset, _ in reversed(steps[inside:across])
    )
    temporal = [Step(trips, offset) for _, trips, offset, _ in reversed(steps[across:])]
    return box, temporal, spatial


@pytest.mark.parametrize("seed", range(300))
def test_closed_forms_count_what_a_walk_counts(seed: int) -> None:
    random = Random(seed)
    box, temporal, spatial = drawn(random)
    width = (random.choice((1, 4, 8)), random.choice((1, 4)))
    reused, links = random.random() < 0.8, random.random() < 0.7
    if not reused:
        box = (1, 1)
    found = delivery(box, temporal, spatial, width, reused=reused, multicast=True, links=links)
    assert found == walked(box, temporal, spatial, width, reused=reused, links=links)
