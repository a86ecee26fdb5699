"""Covers of nests by boxes: everything once, and every sum in the order of its loops."""

from __future__ import annotations

from itertools import product

import pytest

from mapper.models.modulo_schedule.network.nest import Access, Box, Nest, copies, moved, tile_is_exact
from tests.codegen.modulo_schedule.small_layer import drawn_cover

GEMM = Nest(
    "gemm",
    (("i", 3), ("j", 5), ("k", 7)),
    "multiply_add",
    Access("c", (("i", 5), ("j", 1))),
    (Access("a", (("i", 7), ("k", 1))), Access("b", (("k", 5), ("j", 1)))),
)
OPTCGRA = Nest(
    "optcgra",
    (("i", 3), ("j", 5), ("l", 7)),
    "window",
    Access("c", (("i", 7), ("l", 1))),
    (Access("b", (("j", 21), ("l", 3))),),
    window=(3, 3, 1),
)
POOL = Nest(
    "pool",
    (("c", 2), ("y", 1), ("x", 3), ("r", 5), ("q", 4)),
    "sum",
    Access("out", (("c", 3), ("y", 3), ("x", 1))),
    (Access("in", (("c", 60), ("y", 12), ("x", 4), ("r", 12), ("q", 1))),),
)


def additions(nest: Nest, boxes: tuple[Box, ...]) -> dict[int, list[tuple[int, ...]]]:
    """Per word of the output the iterations of the summed loops that are added to it, box after box."""
    added: dict[int, list[tuple[int, ...]]] = {}
    for box in boxes:
        unroll = dict(zip(nest.names, box.unroll, strict=True))
        steps = {
            name: range(start, start + count, unroll[name])
            for name, start, count in zip(nest.names, box.start, box.count, strict=True)
        }
        order = moved(nest, box.innermost)
        for iteration in product(*(steps[name] for name in order)):
            first = dict(zip(order, iteration, strict=True))
            for deltas in copies(nest.names, unroll):
                at = {name: first[name] + deltas[name] for name in nest.names}
                place = tuple(at[name] for name in nest.accumulated)
                added.setdefault(nest.output.offsets(at), []).append(place)
    return added


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("nest", [GEMM, OPTCGRA, POOL], ids=lambda nest: nest.name)
def test_boxes_add_to_every_word_all_there_is_in_the_order_of_the_loops(nest: Nest, seed: int) -> None:
    for innermost in nest.innermost():
        boxes = drawn_cover(nest, innermost, seed)
        assert tile_is_exact(nest, boxes)
        whole = list(product(*(range(nest.extents[name]) for name in nest.accumulated)))
        assert all(places == whole for places in additions(nest, boxes).values())
