"""Recurrences are read as they are meant, and what a TCPA cannot run is refused with the reason."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from mapper.workloads.document import InputError
from mapper.workloads.nest.nest_file import nest_from_document
from mapper.workloads.recurrence.memory import first_values
from mapper.workloads.recurrence.recurrence_file import (
    recurrence_from_document,
    recurrence_of_nest,
    recurrence_to_document,
)
from mapper.workloads.reference.recurrence import recurrence_results
from tests.solver.pe_allocation.nest.random_recurrence import random_recurrence


def document(*statements: str, local: tuple[str, ...] = (), **loops: int) -> dict[str, Any]:
    return {
        "schema": "mapper.recurrence/1",
        "name": "r",
        "loops": loops or {"t": 4, "i": 6},
        "statements": list(statements),
        "local": list(local),
    }


def refused(*statements: str, local: tuple[str, ...] = (), **loops: int) -> str:
    with pytest.raises(InputError) as error:
        recurrence_from_document(document(*statements, local=local, **loops), "r.yaml")
    return str(error.value)


def test_a_document_reads_back_as_the_same_recurrence() -> None:
    for seed in range(100):
        found = random_recurrence(random.Random(seed), 3, 5)
        assert recurrence_from_document(recurrence_to_document(found), "again") == found


def test_a_triangular_solver_computes_what_its_loops_do() -> None:
    n = 9
    found = recurrence_from_document(
        document(
            "p[i, j] = s[i, j - 1] * r[i] if i == j and j > 0",
            "p[i, j] = b[i] * r[i] if i == j",
            "p[i, j] = p[i - 1, j] if j < i",
            "s[i, j] = b[i] - L[i, j] * p[i, j] if j == 0",
            "s[i, j] = s[i, j - 1] - L[i, j] * p[i, j] if j < i",
            "x[i] = p[i, j] if i == j",
            local=("p", "s"),
            i=n,
            j=n,
        ),
        "trisolv",
    )
    first = first_values(found, 5)
    x = np.zeros(n, np.int64)
    for i in range(n):
        x[i] = (first["b"][i] - (first["L"][i, :i] * x[:i]).sum()) * first["r"][i]
    assert np.array_equal(recurrence_results(found, first)["x"], x)


def test_a_stencil_in_place_is_what_its_loops_do() -> None:
    """Seidel's, whose values of this sweep are those above and to the left."""
    found = recurrence_from_document(
        document("A[t, i, j] = A[t, i - 1, j] + A[t, i, j - 1] + A[t - 1, i, j + 1]", t=3, i=4, j=5), "seidel"
    )
    first = first_values(found, 1)
    a = first["A"].copy()
    for t in range(1, 4):
        for i in range(1, 5):
            for j in range(1, 6):
                a[t, i, j] = a[t, i - 1, j] + a[t, i, j - 1] + a[t - 1, i, j + 1]
    assert np.array_equal(recurrence_results(found, first)["A"], a)


def test_a_nest_of_one_statement_is_a_recurrence() -> None:
    nest = nest_from_document(
        {
            "schema": "mapper.nest/1",
            "name": "jacobi",
            "loops": {"t": 4, "i": 8},
            "operands": [
                {"tensor": "A", "name": "new", "index": ["t + 1", "i"], "access": "write"},
                {"tensor": "A", "name": "left", "index": ["t", "i - 1"]},
                {"tensor": "A", "name": "right", "index": ["t", "i + 1"]},
            ],
            "operation": "add",
        },
        "jacobi.yaml",
    )
    found = recurrence_of_nest(nest, "jacobi.yaml")
    assert [str(one) for one in found.statements] == ["A[t + 1, i] = (A[t, i - 1] + A[t, i + 1])"]
    assert found.distance(found.statements[0].reads[0]) == (1, 1)
    assert found.distance(found.statements[0].reads[1]) == (1, -1)


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (("A[t, i] = A[t, i + 1]",), "is read before an iteration has written it"),
        (("A[t, i] = B[t, i]", "B[t, i] = A[t, i]"), "is read before an iteration has written it"),
        (("A[t, i] = A[i, t]",), "differs from A[t, i] by more than numbers"),
        (("A[t, 2 * i] = x[i]",), "one loop, plus or minus a number"),
        (("A[t, t] = x[i]",), "one loop, plus or minus a number"),
        (("y[i] = x[i]",), "every iteration of t writes y"),
        (("y[i] = y[i - 1] if t == 0",), "y is read, so that its index needs t"),
        (("A[t, i] = x[i] if t > 7",), "no iteration keeps its conditions"),
        (("A[t, i] = x[i] if t < i and i < t",), "no iteration keeps its conditions"),
        (("A[t, i] = x[i] if t + i < 3",), "compares more than two loops"),
        (("A[t, i] = x[i] if t != 3",), "compares other than by"),
        (("A[t, i] = x[i] / 2",), "a term that no PE computes"),
        (("A[t, i] = k * x[i]",), "a term that no PE computes"),
        (("A[t, i]",), "has no ="),
        (("A[t, i] = x[",), "is no statement"),
        (("A[t, i] = x[i * t]",), "is not affine"),
        (("A[t, i] = x[i]", "A[t, i + 1] = x[i] if t == 0"), "written through two indexes"),
        (("A[t, i] = x[i] + x[t, i]",), "different numbers of dimensions"),
    ],
)
def test_what_is_no_uniform_recurrence_is_refused_in_a_line(statements: tuple[str, ...], said: str) -> None:
    line = refused(*statements)
    assert said in line and line.startswith("r.yaml: statements")


def test_a_recurrence_without_results_is_refused() -> None:
    assert "no tensor leaves the array" in refused("A[t, i] = x[i]", local=("A",))


def test_a_local_tensor_that_nobody_writes_is_refused() -> None:
    assert "x is not written" in refused("A[t, i] = x[i]", local=("x",))
