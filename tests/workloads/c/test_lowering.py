"""C loops become graphs that compute what the C says."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import execute


def kernel(text: str, function: str | None = None, number: int | None = None) -> Kernel:
    return kernel_from_c(text, "t.c", "t", function, number)


def run(text: str, **memory: list[Any]) -> dict[str, list[Any]]:
    made = kernel(text)
    kinds = {array.name: array.kind for array in made.arrays}
    words = {array.name: np.zeros(array.words, array.kind) for array in made.arrays}
    words |= {name: np.array(values, kinds[name]) for name, values in memory.items()}
    return {name: values.tolist() for name, values in execute(made, words).items()}


def opcodes(made: Kernel) -> list[str]:
    return [operation.opcode for operation in made.graph.operations]


def test_the_loop_variable_is_one_addition_to_itself() -> None:
    made = kernel("void f(int y[4]) { for (int i = 3; i < 7; i++) y[i - 3] = i; }")
    (itself,) = [
        edge
        for edge in made.graph.edges
        if made.graph.operations[edge.source].name == "i" == made.graph.operations[edge.destination].name
    ]
    assert (itself.distance, itself.initial, made.trip_count) == (1, (2,), 4)


def test_a_loop_may_count_down_in_steps() -> None:
    assert run("void f(int y[8]) { int i; for (i = 7; i >= 0; i -= 3) y[i] = i; }")["y"] == [
        0,
        1,
        0,
        0,
        4,
        0,
        0,
        7,
    ]


def test_if_and_else_are_predicated() -> None:
    text = """void f(const int x[4], int y[4]) { for (int i = 0; i < 4; i++) {
        if (x[i] > 2) y[i] = 1; else if (x[i] < 0) { y[i] = 2; } } }"""
    assert run(text, x=[3, 2, -1, 9], y=[7, 7, 7, 7])["y"] == [1, 7, 2, 1]


def test_a_load_under_a_condition_touches_memory_only_where_it_holds() -> None:
    text = """void f(const int x[4], int y[4]) { for (int i = 0; i < 4; i++)
        y[i] = i > 0 && x[i - 1] > 5 ? x[i - 1] : -1; }"""
    assert run(text, x=[9, 1, 8, 0])["y"] == [-1, 9, -1, 8]


def test_scalars_carried_over_two_iterations_take_their_start_values_oldest_first() -> None:
    text = """void f(int y[6]) { int a = 10, b = 20; for (int i = 0; i < 6; i++) {
        int c = a + b; a = b; b = c; y[i] = a; } }"""
    assert run(text)["y"] == [20, 30, 50, 80, 130, 210]


def test_scalars_that_change_places_do_so() -> None:
    text = """void f(int y[4]) { int a = 1, b = 2; for (int i = 0; i < 4; i++) {
        y[i] = a; int t = a; a = b; b = t; } }"""
    assert run(text)["y"] == [1, 2, 1, 2]


def test_a_scalar_that_becomes_constant_keeps_its_first_value_for_the_first_iteration() -> None:
    text = "void f(int y[3]) { int first = 1; for (int i = 0; i < 3; i++) { y[i] = first; first = 0; } }"
    assert run(text)["y"] == [1, 0, 0]


def test_a_sum_that_starts_in_memory_starts_there_in_the_first_iteration_only() -> None:
    text = """void f(const int x[3], int c[1]) { int sum = c[0];
        for (int i = 0; i < 3; i++) { sum += x[i]; c[0] = sum; } }"""
    # Its start is read before the loop from an array that the loop writes: refused, for it would be read again.
    open_text = text.replace("int sum = c[0]", "int sum = x[0]")
    assert run(open_text, x=[1, 2, 3])["c"] == [7]


def test_a_scalar_read_after_the_loop_is_stored_to_a_word_of_its_name() -> None:
    text = "int f(const int x[3]) { int sum = 0; for (int i = 0; i < 3; i++) sum += x[i]; return sum; }"
    assert run(text, x=[1, 2, 3])["sum"] == [6]
    assert "sum[0]" in kernel(text).notes[0]


def test_unsigned_numbers_compare_and_shift_as_unsigned() -> None:
    text = """void f(const unsigned x[2], int y[2], unsigned z[2]) { for (int i = 0; i < 2; i++) {
        y[i] = x[i] > 5u; z[i] = x[i] >> 28; } }"""
    after = run(text, x=[-1, 5])
    assert (after["y"], after["z"]) == ([1, 0], [15, 0])


def test_minimum_and_maximum_are_found_in_conditions() -> None:
    text = """void f(int x[4]) { for (int i = 0; i < 4; i++) {
        int v = x[i] < 9 ? x[i] : 9; if (v < 0) v = 0; x[i] = v; } }"""
    assert {"min", "max"} <= set(opcodes(kernel(text)))
    assert run(text, x=[-3, 4, 12, 9])["x"] == [0, 4, 9, 9]


def test_floats_are_added_in_the_order_of_the_text() -> None:
    text = "void f(const float x[4], float y[1]) { for (int i = 0; i < 1; i++) y[i] = x[0] + x[1] + x[2] + x[3]; }"
    assert run(text, x=[1e8, 1.0, -1e8, 1.0])["y"] == [1.0]


def test_common_subexpressions_are_computed_once_but_not_across_a_store() -> None:
    text = "void f(int x[4], int y[4]) { for (int i = 0; i < 4; i++) y[i] = (x[i] + i) * (i + x[i]) + x[i]; }"
    assert opcodes(kernel(text)).count("load") == 1
    text = "void f(int x[4], int y[4]) { for (int i = 0; i < 4; i++) { int a = x[i]; x[3] = a + 1; y[i] = x[i]; } }"
    assert opcodes(kernel(text)).count("load") == 2
    assert run(text, x=[1, 2, 3, 4])["y"] == [1, 2, 3, 5]


def test_rows_of_two_dimensions_lie_one_after_another() -> None:
    text = "void f(int a[2][3], int y[3]) { for (int i = 0; i < 3; i++) y[i] = a[1][i]; }"
    assert run(text, a=[1, 2, 3, 4, 5, 6])["y"] == [4, 5, 6]


def test_loops_around_the_kernel_stand_at_their_first_iteration() -> None:
    text = """void f(int y[12]) { for (int i = 2; i < 4; i++) { int base = i * 3;
        for (int j = 0; j < 3; j++) y[base + j] = 1; } }"""
    assert run(text)["y"] == [0] * 6 + [1] * 3 + [0] * 3
    assert "first iteration" in kernel(text).notes[0]


def test_the_nth_innermost_loop_of_a_function_can_be_named() -> None:
    text = """void g(int y[2]) { for (int i = 0; i < 2; i++) y[i] = 1; }
        void f(int y[4]) { for (int i = 0; i < 2; i++) y[i] = 1; for (int i = 0; i < 4; i++) y[i] = 2; }"""
    assert kernel(text, "f", 1).trip_count == 4
    assert "1 more innermost loop" in kernel(text, "f").notes[-1]


def test_constants_may_be_defined_and_comments_stand_anywhere() -> None:
    text = """#define N 4 /* words */
        #define M (2 * N)
        void f(int y[M]) { // all
        for (int i = 0; i < M; i++) y[i] = N; }"""
    assert run(text)["y"] == [4] * 8


def test_a_bound_that_is_a_parameter_leaves_the_trip_count_open() -> None:
    made = kernel("void f(int n, int y[]) { for (int i = 0; i < n; i++) y[i] = n; }")
    assert made.trip_count is None
    assert any("trip count" in note for note in made.notes) and any(
        "parameter n" in note for note in made.notes
    )


def test_an_unsigned_variable_counts_beyond_the_range_of_int() -> None:
    text = "void f(int y[1]) { for (unsigned i = 0; i < 3000000000u; i += 1000000000) y[0] += 1; }"
    assert kernel(text).trip_count == 3


def test_values_that_an_array_is_declared_with_are_said_to_be_left_out() -> None:
    text = "int taps[2] = {3, 4}; void f(int n, int y[n]) { for (int i = 0; i < 2; i++) y[i] = taps[i]; }"
    assert any("taps" in note for note in kernel(text).notes)
    assert run(text, taps=[5, 6])["y"] == [5, 6]
