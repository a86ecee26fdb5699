"""Transfers of a nest move each of its words once, to where it belongs."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.steps.transfer_nest import Dimension, nest_transfers

SIZES = (1, 2, 3, 5, 40_000, 70_000)


@settings(derandomize=True, deadline=None)
@given(
    st.integers(1, 6),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)), max_size=3),
    st.booleans(),
)
def test_small_nests_are_moved_word_for_word(
    words: int, steps: list[tuple[int, int, int]], dense: bool
) -> None:
    dimensions: list[Dimension] = []
    local = memory = words
    for times, near, far in reversed(steps):
        local, memory = local + (0 if dense else near), memory + (0 if dense else far)
        dimensions.insert(0, Dimension(times, local, memory))
        local, memory = local * max(1, times), memory * max(1, times)
    expected = sorted(
        (
            100 + sum(at * d.local for at, d in zip(point, dimensions, strict=True)) + word,
            7 + sum(at * d.memory for at, d in zip(point, dimensions, strict=True)) + word,
        )
        for point in product(*(range(d.times) for d in dimensions))
        for word in range(words)
    )
    found = sorted(
        (t.local + piece * t.local_pitch + word, t.memory + piece * t.memory_pitch + word)
        for t in nest_transfers("buf", 0, 100, "x", 7, tuple(dimensions), words)
        for piece in range(t.count)
        for word in range(t.words)
    )
    assert found == expected


@settings(derandomize=True, deadline=None)
@given(st.sampled_from(SIZES), st.sampled_from(SIZES[:4]), st.sampled_from(SIZES[:4]), st.sampled_from(SIZES))
def test_every_number_fits_sixteen_bits(words: int, rows: int, columns: int, spare: int) -> None:
    dimensions = (Dimension(rows, columns * words, columns * words + spare), Dimension(columns, words, words))
    found = list(nest_transfers("buf", "all", 0, "x", 0, dimensions, words))
    assert sum(t.total_words for t in found) == rows * columns * words
    assert all(0 <= n < 1 << 16 for t in found for n in (t.count, t.words, t.local_pitch, t.memory_pitch))


def test_rows_that_lie_one_behind_the_other_are_one_transfer() -> None:
    rows = (Dimension(5, 60, 60), Dimension(4, 15, 15))
    assert [(t.count, t.words) for t in nest_transfers("buf", 0, 0, "x", 0, rows, 15)] == [(1, 300)]


def test_pixels_at_equal_distances_are_pieces_of_one_transfer() -> None:
    rows = (Dimension(5, 60, 128), Dimension(4, 15, 32))
    assert [(t.count, t.words, t.memory_pitch) for t in nest_transfers("buf", 0, 0, "x", 0, rows, 15)] == [
        (20, 15, 32)
    ]
