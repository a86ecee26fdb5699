"""Passes take away recurrences through memory, each by its name; that the graph computes the same is held against the
system's compiler beside the front end's tests."""

from __future__ import annotations

import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.models.modulo_schedule.bound import rec_mii
from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.graph.kernel import Kernel

ARRAYS = "float a[64][64], float b[64][64], float x[64], float y[64], int k[64], int n"


def kernel(body: str, **reading: tuple[str, ...]) -> Kernel:
    text = f"void f({ARRAYS}) {{ int i, j, t; {body} }}"
    return kernel_from_c(text, "f.c", "f", "f", 0, reading=SourceReading(**reading))


def bound(made: Kernel) -> int:
    machine, _ = load_machine("srp-4x4")
    assert isinstance(machine, CgraMachine)
    return rec_mii(made.graph, machine).value


def opcodes(made: Kernel) -> list[str]:
    return [operation.opcode for operation in made.graph.operations]


TRIANGLE = "for (i = 0; i < n; i++) for (j = 0; j < i; j++) for (t = 0; t < j; t++) "


@pytest.mark.parametrize(
    ("body", "name", "without", "with_it"),
    [
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] = x[i] + a[i][j] * y[j];", "promotion", 20, 3),
        (TRIANGLE + "a[i][j] -= a[i][t] * a[t][j];", "ranges", 23, 3),
        ("for (i = 0; i < n; i++) for (j = 0; j < i; j++) x[i] -= a[i][j] * x[j];", "ranges", 23, 3),
        ("for (i = 1; i < n; i++) x[i] = (y[i] + x[i - 1]) / 3.0f;", "forwarding", 32, 15),
        ("float s = x[3]; for (i = 0; i < n; i++) { s += y[i]; } x[3] = s;", "entry", 4, 3),
    ],
)  # fmt: skip
def test_a_recurrence_is_as_long_as_its_arithmetic(body: str, name: str, without: int, with_it: int) -> None:
    assert bound(kernel(body)) == with_it
    assert bound(kernel(body, without=(name,))) == without


def test_stores_of_both_sides_are_one_store_without_a_condition() -> None:
    body = "for (i = 0; i < n; i++) { if (k[i] > 3) x[i] = 1.0f; else x[i] = 2.0f; }"
    assert opcodes(kernel(body)).count("store") == 1 and "eq" not in opcodes(kernel(body))
    assert opcodes(kernel(body, without=("merging",))).count("store") == 2


def test_a_window_is_loaded_once_where_loads_are_shared() -> None:
    body = "for (i = 0; i < n; i++) y[i] = x[i] + x[i + 1] + x[i + 2];"
    assert opcodes(kernel(body)).count("load") == 3
    assert opcodes(kernel(body, added=("sharing",))).count("load") == 1


def test_what_every_iteration_computes_alike_is_computed_before_the_loop() -> None:
    body = "for (i = 0; i < n; i++) y[i] = y[i] * (x[3] + 1.0f);"
    assert [one.opcode for one in kernel(body).entry] == ["load", "fadd"]
    assert not kernel(body, without=("hoisting",)).entry


def test_a_store_under_a_condition_is_not_taken_for_one_that_always_happens() -> None:
    body = "for (i = 1; i < n; i++) { if (k[i] > 3) x[i] = y[i]; y[i] = x[i - 1]; }"
    assert "load_x" in [operation.name for operation in kernel(body).graph.operations]


def test_pointers_that_may_be_the_same_keep_their_loads() -> None:
    text = "void f(float *p, float *q, int n) { for (int i = 0; i < n; i++) p[0] = p[0] + q[i]; }"
    assert bound(kernel_from_c(text, "f.c", "f")) == 20
    apart = text.replace("float *", "float *restrict ")
    assert bound(kernel_from_c(apart, "f.c", "f")) == 3
    assert any("same memory" in note for note in kernel_from_c(text, "f.c", "f").notes)
