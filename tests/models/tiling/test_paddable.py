"""Which loops may run over their end."""

from __future__ import annotations

import pytest

from mapper.models.tiling.padding import paddable_loops
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document


def nest(index: list[str], **bounds: int) -> LoopNest:
    """``O[index] += A[c, k] B[c, n]``."""
    fields = {
        "schema": "mapper.nest/1",
        "name": "nest",
        "loops": {"k": 6, "n": 3, "c": 7, **bounds},
        "operands": [
            {"tensor": "O", "index": index, "access": "read_write"},
            {"tensor": "A", "index": ["c", "k"]},
            {"tensor": "B", "index": ["c", "n"]},
        ],
    }
    return nest_from_document(fields, "nest.yaml")


def test_all_loops_of_a_product_may_grow() -> None:
    assert paddable_loops(nest(["k", "n"])) == ("k", "n", "c")


@pytest.mark.parametrize("between", ["3*k+n", "4*k+n", "-9*k+n"])
def test_a_loop_that_would_grow_into_words_of_another_or_gaps_between_them_keeps_its_bound(
    between: str,
) -> None:
    assert paddable_loops(nest([between])) == ("k", "c")


def test_a_loop_that_runs_once_leaves_no_gaps() -> None:
    assert paddable_loops(nest(["4*k+n"], k=1)) == ("n", "c")
