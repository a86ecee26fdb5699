"""The numpy reference against the nest executed iteration by iteration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from mapper.sim.tiling import reference, reference_output
from mapper.sim.tiling.reference import initial_tensors
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document
from mapper.workloads.nest.tensor import first_state, seeded_integers, tensors
from tests.sim.tiling.small_nest import SMALL_NESTS, nest_of


def executed(nest: LoopNest, data: dict[str, Any]) -> Any:
    """The written tensor after every iteration in nest order, in Python's integers modulo 2^64."""
    where = {position: tensor for tensor in tensors(nest) for position in tensor.operands}
    words = {name: values.astype(object) for name, values in data.items()}

    def place(k: int, digits: dict[str, int]) -> tuple[int, ...]:
        return tuple(
            dimension.constant - low + sum(factor * digits[loop] for loop, factor in dimension.coefficients)
            for dimension, low in zip(nest.operands[k].index, where[k].low, strict=True)
        )

    written = next(k for k, operand in enumerate(nest.operands) if operand.writes)
    for values in product(*(range(bound) for _, bound in nest.bounds)):
        digits = dict(zip(nest.loops, values, strict=True))
        value = 1 if nest.operation == "multiply_add" else 0
        for k, operand in enumerate(nest.operands):
            if operand.access == "read":
                read = words[where[k].name][place(k, digits)]
                value = value * read if nest.operation == "multiply_add" else value + read
        target, at = words[where[written].name], place(written, digits)
        total = value + (target[at] if nest.operands[written].is_updated else 0)
        target[at] = (total + 2**63) % 2**64 - 2**63
    return words[where[written].name].astype(np.int64)


@pytest.mark.parametrize("name", SMALL_NESTS)
def test_the_reference_is_the_nest_as_written(name: str) -> None:
    nest = nest_of(name)
    data = initial_tensors(nest, seed=3)
    before = {tensor: values.copy() for tensor, values in data.items()}
    assert np.array_equal(reference_output(nest, data), executed(nest, data))
    assert all(np.array_equal(values, before[tensor]) for tensor, values in data.items())


@pytest.mark.parametrize("name", ["strided-convolution", "mttkrp", "transposition", "summed-addition"])
def test_large_tensors_are_taken_in_slices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nest = nest_of(name)
    data = initial_tensors(nest)
    whole = reference_output(nest, data)
    monkeypatch.setattr(reference, "LARGEST_SLICE", 5)
    assert np.array_equal(reference_output(nest, data), whole)


def test_integers_are_drawn_as_documented() -> None:
    state, drawn = first_state(7, 2), []
    for _ in range(70000):
        state = (state * 1664525 + 1013904223) % 2**32
        drawn.append((state >> 28) - 8)
    assert seeded_integers(70000, 7, 2).tolist() == drawn
    assert seeded_integers(3, 7, 2).tolist() == drawn[:3]
    assert set(drawn) == set(range(-8, 8))


def test_a_partial_sum_begins_at_zero_unless_it_says_otherwise() -> None:
    assert not initial_tensors(nest_of("matmul"))["O"].any()
    assert initial_tensors(nest_of("dilated-grouped-convolution"))["O"].any()


def test_a_recurrence_keeps_the_row_before_its_first() -> None:
    stored = next(tensor for tensor in tensors(nest_of("recurrence")) if tensor.written)
    assert (stored.low, stored.shape) == ((-1, 0), (7, 8))


@pytest.mark.parametrize(
    ("index", "fault"),
    [(["2*I"], "differ by more than a constant"), (["I", "I"], "different numbers of dimensions")],
)
def test_copies_that_cannot_be_kept_coherent_are_refused(index: list[str], fault: str) -> None:
    nest = nest_from_document(
        {
            "schema": "mapper.nest/1",
            "name": "tangled",
            "loops": {"I": 4},
            "operands": [
                {"tensor": "A", "index": ["I"], "access": "write"},
                {"tensor": "A", "name": "other", "index": index},
            ],
            "dependences": [{"I": 1}],
        },
        "tangled",
    )
    with pytest.raises(InputError, match=f"tangled: A: .*{fault}"):
        tensors(nest)
