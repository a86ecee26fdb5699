"""Of two loops as one, the distances of dependences are those of an enumeration."""

from __future__ import annotations

import random
from itertools import product

from mapper.workloads.loop.affine import Form, constant, plus
from mapper.workloads.loop.dependence import Access
from mapper.workloads.loop.flat import Flat, flat_edges

TRIPS, ROUNDS = 4, 9


def words(form: Form, flat: Flat) -> list[int]:
    """The word that an access touches in each iteration, the variables starting at 0."""
    outer, inner, base = form.get(("i",), 0), form.get(("j",), 0), form.get((), 0)
    return [
        base + outer * flat.outer_step * a + inner * flat.inner_step * b
        for a, b in product(range(ROUNDS), range(TRIPS))
    ]


def nearest(first: list[int], second: list[int]) -> tuple[int | None, int | None]:
    meetings = [t - s for s, word in enumerate(first) for t, other in enumerate(second) if word == other]
    later = [one for one in meetings if one >= 0]
    earlier = [-one for one in meetings if one < 0]
    return min(later, default=None), min(earlier, default=None)


def test_the_nearest_meetings_are_those_of_an_enumeration() -> None:
    random_ = random.Random(7)
    met = 0
    for _ in range(300):
        flat = Flat("i", "j", random_.choice((1, 2, -1)), random_.choice((1, -1, 3)), TRIPS)
        form: Form = {("i",): random_.randint(-4, 6), ("j",): random_.randint(-2, 3)}
        form = {term: factor for term, factor in form.items() if factor}
        other = plus(form, constant(random_.randint(-6, 6)))
        accesses = Access(0, "m", form, True), Access(1, "m", other, False)
        edges, assumed = flat_edges(accesses, flat, frozenset())
        found = {(edge.source, edge.destination): edge.distance for edge in edges}
        later, earlier = nearest(words(form, flat), words(other, flat))
        assert not assumed
        # What lies beyond the rounds that were enumerated is not known.
        most = (ROUNDS - 2) * TRIPS
        for key, wanted in (((0, 1), later), ((1, 0), earlier)):
            if found.get(key, most) < most or wanted is not None:
                assert found.get(key) == wanted, (flat, form, other)
                met += 1
    assert met > 100


def test_indices_that_move_apart_are_assumed_to_meet() -> None:
    flat = Flat("i", "j", 1, 1, TRIPS)
    accesses = Access(0, "m", {("i",): 1}, True), Access(1, "m", {("j",): 1}, False)
    edges, assumed = flat_edges(accesses, flat, frozenset())
    assert assumed == (accesses,) and [edge.distance for edge in edges] == [0, 1]
