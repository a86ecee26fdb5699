"""PBQP instances as values: what is folded, what is refused, what a choice costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mapper.workloads.document import InputError
from mapper.workloads.pbqp.instance import INFINITE, LARGEST_TOTAL, flat_instance, instance


def test_a_self_loop_adds_its_diagonal_to_the_vertex() -> None:
    found = instance([[1, 2], [5, 5]], [(0, 0, [[10, 99], [99, 20]]), (0, 1, [[0, 1], [2, 3]])])
    assert found.costs(0).tolist() == [11, 22]
    assert found.edges == 1


def test_integers_stay_exact_far_beyond_two_to_the_53() -> None:
    large = (1 << 57) + 1
    found = instance([[large], [1]], [(0, 1, [[2]])])
    assert found.exact and found.value([0, 0]) == large + 3


def test_a_fraction_makes_all_costs_floating_point() -> None:
    found = instance([[0.5, math.inf], [1, 2]])
    assert not found.exact
    assert found.value([0, 1]) == 2.5
    assert found.value([1, 0]) is None


def test_an_infinite_integer_cost_makes_the_value_infinite() -> None:
    found = instance([[0, 1], [0]], [(1, 0, [[math.inf, 4]])])
    assert found.exact and found.matrix(0).tolist() == [[INFINITE, 4]]
    assert (found.value([0, 0]), found.value([1, 0])) == (None, 5)


def test_costs_whose_sum_could_overflow_are_refused() -> None:
    with pytest.raises(InputError, match="scale the costs"):
        instance([[LARGEST_TOTAL // 2], [LARGEST_TOTAL // 2 + 2]])


@pytest.mark.parametrize("cost", [math.nan, -math.inf])
def test_what_is_no_cost_is_refused(cost: float) -> None:
    with pytest.raises(InputError, match="vertex 1"):
        instance([[0.5], [cost]])


def test_a_matrix_of_another_size_is_refused() -> None:
    with pytest.raises(InputError, match="2 rows and 1 columns"):
        instance([[1, 2], [3]], [(0, 1, [[1, 2]])])


def test_sizes_that_claim_more_than_there_is_are_refused_before_memory_is_taken() -> None:
    huge = np.array([1 << 40, 1 << 40], np.int64)
    with pytest.raises(InputError, match="correct the sizes"):
        flat_instance(huge, np.zeros(2, np.int64), np.array([[0, 1]]), np.zeros(4, np.int64))


@pytest.mark.parametrize("choice", [[0], [0, 2], [-1, 0]])
def test_a_choice_that_a_vertex_does_not_have_is_an_error(choice: list[int]) -> None:
    with pytest.raises(ValueError, match="one choice per vertex"):
        instance([[1, 2], [3, 4]]).value(choice)
