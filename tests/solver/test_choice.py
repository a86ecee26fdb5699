"""One option of every group within a limit, against trying every choice."""

from __future__ import annotations

import itertools
import random

import pytest

from mapper.solver.choice import Option, choice

Groups = list[list[Option]]


def drawn(seed: int) -> tuple[Groups, int]:
    draw = random.Random(seed)
    most = draw.choice((5, 40, 10**12))
    groups = [
        [Option(draw.randint(0, most), draw.randint(0, most)) for _ in range(draw.randint(1, 5))]
        for _ in range(draw.randint(1, 5))
    ]
    return groups, draw.randint(0, most * len(groups))


def best_of_all(groups: Groups, limit: int) -> int | None:
    sums = (
        (sum(option.value for option in chosen), sum(option.weight for option in chosen))
        for chosen in itertools.product(*groups)
    )
    return min((value for value, weight in sums if weight <= limit), default=None)


@pytest.mark.parametrize("seeds", [range(300), pytest.param(range(300, 20_000), marks=pytest.mark.slow)])
def test_the_choice_is_the_best_of_all_that_keep_the_limit(seeds: range) -> None:
    found = 0
    for seed in seeds:
        groups, limit = drawn(seed)
        best = best_of_all(groups, limit)
        places, proven = choice(groups, limit)
        assert proven
        if places is None:
            assert best is None
            continue
        taken = [group[place] for group, place in zip(groups, places, strict=True)]
        assert sum(option.weight for option in taken) <= limit
        assert sum(option.value for option in taken) == best
        found += 1
    assert len(seeds) / 4 < found < len(seeds)


def test_what_is_stopped_keeps_the_limit_and_proves_nothing() -> None:
    groups = [[Option(9, 1), Option(5, 2), Option(1, 5)]] * 4
    places, proven = choice(groups, 10, lambda: "time_limit")
    assert places is not None and not proven
    assert sum(group[place].weight for group, place in zip(groups, places, strict=True)) <= 10


def test_sixty_groups_of_thirty_options_are_no_work() -> None:
    draw = random.Random(1)
    groups = [
        [Option(draw.randint(10**6, 10**9) // (n + 1), 1000 * n + draw.randint(0, 900)) for n in range(30)]
        for _ in range(60)
    ]
    places, proven = choice(groups, 500_000)
    assert places is not None and proven
