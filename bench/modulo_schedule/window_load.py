"""Words that optCGRA and a matrix product after im2col load of an input [Bae2018, sec. IV-A, Figs. 2 and 3]."""

from __future__ import annotations

from mapper.models.modulo_schedule.network.mapping import kernel_of
from mapper.models.modulo_schedule.network.nest import Access, Box, Nest
from mapper.workloads.graph.kernel import Kernel


def loaded_words(kernel: Kernel, array: str) -> list[int]:
    """Every word of ``array`` that the loop loads, from its pointers (which step once an iteration) alone."""
    graph = kernel.graph
    words = []
    for position, operation in enumerate(graph.operations):
        if operation.opcode != "load" or operation.array != array:
            continue
        (to_load,) = (graph.edges[at] for at in graph.incoming[position] if graph.edges[at].operand == 0)
        pointer = graph.operations[to_load.source]
        (step,) = (value for _, value in pointer.immediates)
        (itself,) = (graph.edges[at] for at in graph.incoming[to_load.source])
        assert (pointer.opcode, itself.source, itself.distance) == ("add", to_load.source, 1)
        assert kernel.trip_count is not None
        first = itself.initial[0] + step + operation.offset
        words += [int(first + step * iteration) for iteration in range(kernel.trip_count)]
    return words


def sliding(rows: int, pitch: int, kernel: int, stride: int) -> Nest:
    """One filter on one channel, laid out as im2row does."""
    area = rows * pitch
    return Nest(
        "optcgra",
        (("i", 1), ("j", 1), ("l", area)),
        "window",
        Access("c", (("i", area), ("l", 1))),
        (Access("b", (("j", area * stride * kernel), ("l", stride * kernel))),),
        window=(kernel, kernel, stride),
    )


def product(taps: int, positions: int) -> Nest:
    """One filter as a matrix product after im2col."""
    return Nest(
        "gemm",
        (("i", 1), ("j", positions), ("k", taps)),
        "multiply_add",
        Access("c", (("i", positions), ("j", 1))),
        (Access("a", (("i", taps), ("k", 1))), Access("b", (("k", positions), ("j", 1)))),
    )


def im2col_places(nest: Nest) -> list[tuple[int, int]]:
    """Row and column in a 5x5 input of everything that the product loads of it: word k of position j is k's
    place in the 3x3 kernel, moved to j's place in the 3x3 output."""
    box = Box((0, 0, 0), (1, 1, 9), (1, 1, 1), "k")
    words = [word + j for j in range(9) for word in loaded_words(kernel_of(nest, box), "b")]
    return [(word // 9 // 3 + word % 9 // 3, word // 9 % 3 + word % 9 % 3) for word in words]


def im2row_places(nest: Nest, positions: int) -> list[tuple[int, int]]:
    """Row and column in a 5x5 input of what optCGRA loads up to the last window of the last row: the columns that
    the first window hands in as live-ins, and those that iterations load. Word w of im2row lies in column
    w / 3 % 5 of output row w / 15, w % 3 rows below it."""
    box = Box((0, 0, 0), (1, 1, positions), (1, 1, 1), "l")
    kernel = kernel_of(nest, box)
    preloaded = [word for word in range(2 * 3) if f"sb0_{word // 3}_{word % 3}" in kernel.text]
    words = preloaded + loaded_words(kernel, "b")
    return [(word // 15 + word % 3, word // 3 % 5) for word in words]


def in_corner(places: list[tuple[int, int]]) -> int:
    """How many of them lie in the 3x3 corner."""
    return sum(row < 3 and column < 3 for row, column in places)
