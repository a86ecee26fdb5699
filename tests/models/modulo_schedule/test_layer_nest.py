"""Loop nests of layers: which orders keep their dependences, and which boxes cover them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.modulo_schedule.network.nest import (
    Access,
    Box,
    Nest,
    copies,
    is_legal,
    moved,
    tile_is_exact,
)

GEMM = Nest(
    "gemm",
    (("i", 4), ("j", 6), ("k", 5)),
    "multiply_add",
    Access("c", (("i", 6), ("j", 1))),
    (Access("a", (("i", 5), ("k", 1))), Access("b", (("k", 6), ("j", 1)))),
)
OPTCGRA = Nest(
    "optcgra",
    (("i", 2), ("j", 3), ("l", 12)),
    "window",
    Access("c", (("i", 12), ("l", 1))),
    (Access("b", (("j", 36), ("l", 3))),),
    window=(3, 3, 1),
)
POOL = Nest(
    "pool",
    (("c", 2), ("y", 2), ("x", 2), ("r", 5), ("q", 5)),
    "sum",
    Access("out", (("c", 4), ("y", 2), ("x", 1))),
    (Access("in", (("c", 100), ("y", 50), ("x", 5), ("r", 10), ("q", 1))),),
)
ADDITION = Nest(
    "elementwise",
    (("i", 3), ("j", 4)),
    "add",
    Access("out", (("i", 4), ("j", 1))),
    (Access("in", (("i", 4), ("j", 1))), Access("other", (("i", 4), ("j", 1)))),
)


def box(start: tuple[int, ...], count: tuple[int, ...], unroll: tuple[int, ...] | None = None) -> Box:
    return Box(start, count, unroll or (1,) * len(count), "k")


def additions(nest: Nest, order: tuple[str, ...]) -> dict[int, list[tuple[int, ...]]]:
    """Per word of the output what is added to it, as the summed loops' iterations in the order in which they run."""
    rows: dict[int, list[tuple[int, ...]]] = {}
    for one in copies(order, nest.extents):
        added = tuple(one[name] for name in nest.accumulated)
        rows.setdefault(nest.output.offsets(one), []).append(added)
    return rows


@pytest.mark.parametrize("nest", [GEMM, POOL, ADDITION], ids=lambda nest: nest.name)
def test_an_order_of_loops_is_legal_exactly_if_every_sum_keeps_its_order(nest: Nest) -> None:
    small = replace(nest, loops=tuple((name, 2) for name, _ in nest.loops))
    written = additions(small, small.names)
    for order in permutations(small.names):
        assert is_legal(small, order) == (additions(small, order) == written), order


def test_a_sum_may_run_innermost_or_outside_of_its_outputs() -> None:
    assert list(GEMM.innermost()) == ["k", "j", "i"]
    assert GEMM.dependences == ((0, 0, 1),)


def test_loops_of_a_window_keep_their_order_among_each_other() -> None:
    # Taking r innermost would add column by column.
    assert list(POOL.innermost()) == ["q", "x", "y", "c"]


def test_columns_in_registers_are_handed_on_along_the_last_loop_only() -> None:
    assert list(OPTCGRA.innermost()) == ["l"]
    assert is_legal(OPTCGRA, ("j", "i", "l"))
    assert not is_legal(OPTCGRA, ("i", "l", "j"))


def test_elements_on_their_own_may_run_in_any_order() -> None:
    assert ADDITION.dependences == ()
    assert list(ADDITION.innermost()) == ["j", "i"]


def test_the_loop_that_is_moved_innermost_leaves_the_others_as_they_are() -> None:
    assert moved(GEMM, "i") == ("j", "k", "i")


def test_runs_and_iterations_of_a_box_come_to_its_copies_of_the_body() -> None:
    nest = replace(GEMM, repeats=3)
    part = Box((0, 0, 0), (4, 6, 4), (2, 3, 2), "j")
    assert (part.trip_count(nest), part.runs(nest)) == (2, 3 * 2 * 2)


@st.composite
def splits(draw: st.DrawFn) -> tuple[Box, ...]:
    """Boxes that cover the product, by cutting one of them in two again and again."""
    boxes = [box((0, 0, 0), (4, 6, 5))]
    for _ in range(draw(st.integers(0, 5))):
        chosen = boxes.pop(draw(st.integers(0, len(boxes) - 1)))
        axis = draw(st.integers(0, 2))
        cut = draw(st.integers(0, chosen.count[axis] - 1))
        if cut == 0:
            boxes.append(chosen)
            continue
        first = tuple(cut if at == axis else count for at, count in enumerate(chosen.count))
        rest = tuple(count - cut if at == axis else count for at, count in enumerate(chosen.count))
        start = tuple(one + cut if at == axis else one for at, one in enumerate(chosen.start))
        boxes += [box(chosen.start, first), box(start, rest)]
    return tuple(boxes)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(splits())
def test_boxes_that_were_cut_from_the_whole_cover_it(boxes: tuple[Box, ...]) -> None:
    assert tile_is_exact(GEMM, boxes)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(splits(), st.data())
def test_a_box_that_is_missing_or_there_twice_is_noticed(boxes: tuple[Box, ...], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(boxes) - 1))
    assert not tile_is_exact(GEMM, boxes[:place] + boxes[place + 1 :])
    assert not tile_is_exact(GEMM, (*boxes, boxes[place]))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(splits(), st.data())
def test_a_box_that_slid_along_a_loop_is_noticed(boxes: tuple[Box, ...], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(boxes) - 1))
    axis = data.draw(st.integers(0, 2))
    step = data.draw(st.sampled_from([-1, 1]))
    chosen = boxes[place]
    start = tuple(one + step if at == axis else one for at, one in enumerate(chosen.start))
    slid = (*boxes[:place], box(start, chosen.count), *boxes[place + 1 :])
    assert not tile_is_exact(GEMM, slid)


def test_boxes_of_the_right_size_that_overlap_are_noticed() -> None:
    half = (2, 6, 5)
    assert tile_is_exact(GEMM, (box((0, 0, 0), half), box((2, 0, 0), half)))
    assert not tile_is_exact(GEMM, (box((0, 0, 0), half), box((1, 0, 0), half)))


def test_factors_that_do_not_divide_their_counts_are_noticed() -> None:
    assert tile_is_exact(GEMM, (box((0, 0, 0), (4, 6, 5), (2, 3, 5)),))
    assert not tile_is_exact(GEMM, (box((0, 0, 0), (4, 6, 5), (2, 3, 2)),))
    assert not tile_is_exact(GEMM, (box((0, 0, 0), (4, 6, 5), (0, 1, 1)),))
