"""Functions with several loops compute whole, bit by bit, what the system's compiler makes of their text, whoever runs
the loops around the innermost ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.models.modulo_schedule.whole.walk import walked
from mapper.sim.modulo_schedule.whole.compiled import run_compiled
from mapper.workloads.c.whole.kernel import whole_from_c
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import Memory
from mapper.workloads.reference.kernel import seeded_arrays
from mapper.workloads.whole.execution import Execution
from mapper.workloads.whole.program import FLATTEN, HOST, WholeKernel

HEAD = "#define N 12\nint total = 5; static int table[N];\n"
CALLEE = "static int clip(int v, int most) { return v > most ? most : v; }\n"
ARRAYS = "int a[64], int b[64], float x[64], float m[N][N], unsigned char c[64], double d[64]"
FUNCTIONS = {
    "a product": "for (i = 0; i < N; i++) { for (j = 0; j < N; j++) m[i][j] *= f; "
    "for (k = 0; k < N; k++) for (j = 0; j < N; j++) m[i][j] += f * x[i * 2 + k] * x[k + j]; }",
    "triangles, the first of them without iterations": "for (i = 0; i < N; i++) { "
    "for (j = 0; j < i; j++) { for (k = 0; k < j; k++) m[i][j] -= m[i][k] * m[k][j]; m[i][j] /= m[j][j] + 3.0f; } "
    "for (j = i; j < N; j++) for (k = 0; k < i; k++) m[i][j] -= m[i][k] * m[k][j]; }",
    "a sum that goes on from start to start": "int s = 7; for (i = 0; i < N; i++) { for (j = 0; j < i; j++) s += a[j]; "
    "if (s > 9000) s = 1; b[i] = s; } total = s;",
    "sums that begin anew": "for (i = 0; i < N; i++) { float s = x[i]; for (j = 0; j < n; j++) s = s + m[i][j]; "
    "x[i] = s; } for (i = 0; i < N; i++) { double t = 0; for (j = i; j < N; j++) t += d[j] * x[j]; d[i] = t; }",
    "where variables stand after loops": "for (i = 0; i < N; i++) { for (j = i; j < 20; j += 3) a[j] += i; b[i] = j; } "
    "for (k = 30; k > n; k--) a[k] = k; b[40] = i * k + j; total += k;",
    "a loop under a condition": "for (i = 0; i < N; i++) { if (i % 3 == 1) { for (j = 0; j < 9; j++) "
    "a[i + j] += b[j]; } else if (i & 1) for (j = 9; j != 3; j -= 2) b[j] ^= a[i]; else total += i; }",
    "loops that ask in other ways": "i = 3; while (i < 11) { for (j = 0; j < 5; j++) a[i + j] = b[j] * i; i += 2; } "
    "do { for (j = 0; j < 4; j++) b[i + j]++; i -= 4; } while (i > 2);",
    "conditions and numbers that starts bring": "for (i = 0; i < N; i++) for (j = 0; j < N; j++) "
    "{ if (i > j) m[i][j] = f; else if (i == j) m[i][j] = 1.0f / (i + 1); c[i + j] += i / 2 + j % 3; }",
    "a table and a call": "for (i = 0; i < N; i++) table[i] = clip(a[i], 100); "
    "for (k = 0; k < 3; k++) { total += table[k]; for (i = 0; i < N - k; i++) a[i] += table[i] * clip(total, k); }",
    "rows that the rows before change": "for (k = 0; k < 3; k++) for (i = 1; i < N - 1; i++) "
    "for (j = 1; j < N - 1; j++) m[i][j] = (m[i - 1][j] + m[i][j - 1] + m[i][j] + m[i + 1][j]) * 0.25f;",
    "bytes and doubles": "for (i = 0; i < 5; i++) { unsigned char t = c[i]; for (j = 0; j < 30; j++) { c[j] += t; "
    "t = t * 3 + 1; d[j] = d[j] * 0.1 + x[j]; } a[i] = t; }",
    "a loop that stops early": "for (i = 0; i < N; i++) { for (j = 0; j < 20; j++) { if (a[j] > 3000 + i) break; "
    "b[j] += i; } }",
    "a condition that counts": "k = 0; for (i = 0; (k = k + 2) < 9; i++) for (j = 0; j < 9; j++) a[j] += k * b[i];",
    "an early return, and a pointer that stays": "int *w = a + 9; if (n > 99) return; "
    "if (n == 3) { total = 2; return; } for (i = 0; i < N; i++) { if (i > 2) for (j = 0; j < N; j++) w[j] += a[i]; }",
    "loops that never run, leave nothing, or count no variable": "for (i = 3; i < 3; i++) a[i] = 1; "
    "for (i = 0; i < N; i++) k = i; for (j = 0; j < N; j++) a[j] += j - j; k = 9; while (k > 2) { b[k] += k; k -= 2; }",
    "downwards, in steps": "for (i = 40; i >= 0; i -= 7) for (j = 21; j > 0; j -= 4) a[i] += b[i + j];",
}


def whole_of(body: str, nest: str = HOST) -> WholeKernel:
    text = f"{HEAD}{CALLEE}void f(int n, float f, {ARRAYS}) {{ int i, j, k; {body} }}"
    return whole_from_c(text, "whole.c", "f", "f", nest=nest)[0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_compute_whole_what_the_compiler_makes_of_them(name: str) -> None:
    for nest in (HOST, FLATTEN):
        whole = whole_of(FUNCTIONS[name], nest)
        memory = seeded_arrays(whole.arrays, 1)
        expected = run_compiled(whole, memory)
        assert expected is not None and len(expected) >= 1
        run = Execution(whole, memory)
        after = run.run() | run.left(expected)
        assert +walked(whole).operations == run.operations
        for array, words in expected.items():
            assert words.tobytes() == after[array].tobytes(), f"{array} with nest {nest}"


def test_what_is_counted_without_data_is_what_runs() -> None:
    whole = whole_of(FUNCTIONS["triangles, the first of them without iterations"])
    tally, starts = walked(whole), [0, 0]
    run = Execution(
        whole,
        seeded_arrays(whole.arrays, 0),
        lambda at, _, memory: starts.__setitem__(at, starts[at] + 1) or memory,
    )
    run.run()
    assert starts == [tally.starts(0), tally.starts(1)] == [55, 77 - 11]
    assert tally.iterations(0) == sum(j for i in range(12) for j in range(i))
    assert run.operations == +tally.operations


@pytest.mark.parametrize(
    ("body", "iterations"),
    [
        # Iterations that all start the same, but for what comes first.
        ("for (i = 0; i < 5; i++) for (k = 0; k < 7; k++) { for (j = 0; j < 4; j++) a[j]++; b[k] = i; }", 5 * 7 * 4),
        # What the body leaves decides how often the next iteration runs.
        ("k = 1; for (i = 0; i < 5; i++) { for (j = 0; j < k; j++) a[j]++; k = k + 2; }", 1 + 3 + 5 + 7 + 9),
        ("k = 1; for (i = 0; i < 9; i++) { for (j = 0; j < 3; j++) a[j]++; i += k; if (i > 3) k = 3; }", 3 * 4),
        ("for (i = 0; i < 4; i++) { if (i == 2) for (j = 0; j < 3; j++) a[j]++; else for (j = 0; j < 8; j++) b[j]++; }",
         3 + 3 * 8),
    ],
)  # fmt: skip
def test_iterations_are_counted_whether_or_not_they_start_the_same(body: str, iterations: int) -> None:
    whole = whole_of(body)
    tally, trips = walked(whole), list[int]()

    def run(_: int, kernel: Kernel, memory: Memory) -> Memory:
        trips.append(kernel.trip_count or 0)
        return memory

    Execution(whole, seeded_arrays(whole.arrays, 0), run).run()
    counted = sum(tally.iterations(at) for at in range(len(whole.kernels)))
    assert counted == sum(trips) == iterations
    assert sum(tally.starts(at) for at in range(len(whole.kernels))) == len(trips)


def test_a_text_that_calls_more_than_arithmetic_is_not_compiled(tmp_path: Path) -> None:
    marked = tmp_path / "kept"
    marked.touch()
    text = (
        f'int unlink(const char *); void f(int unused[(unlink("{marked}"), 3)], int a[9]) '
        "{ int i, j; for (i = 0; i < 3; i++) for (j = 0; j < 9; j++) a[j] += i; }"
    )
    whole = whole_from_c(text, "whole.c", "f", "f")[0]
    assert run_compiled(whole, seeded_arrays(whole.arrays, 0)) is None
    assert marked.exists()


def test_a_perfect_nest_is_one_loop_when_flattened() -> None:
    whole = whole_of(FUNCTIONS["a product"], FLATTEN)
    tally = walked(whole)
    assert (tally.starts(1), tally.iterations(1)) == (12, 12 * 12 * 12)
    assert (tally.starts(0), tally.iterations(0)) == (12, 12 * 12)


@pytest.mark.parametrize(
    ("body", "joined"),
    [
        ("for (i = 0; i < N; i++) { float s = f; for (j = 0; j < N; j++) s += m[i][j] * x[j]; x[i + 20] = s; }", True),
        ("for (i = 0; i < n; i++) { b[i] = 0; for (j = 8; j > 0; j -= 2) { b[i] += a[j]; c[j] ^= i; } if (b[i] > 9) "
         "total += b[i]; a[i + 20] = total; }", True),
        # Whose iterations depend on the outer variable, or on what is before the inner loop.
        ("for (i = 2; i < 9; i++) for (j = i; j < N; j++) a[j] += i;", False),
        ("for (i = 2; i < 9; i++) for (j = N; j > i; j--) a[j] += i;", False),
        ("k = 3; for (i = 0; i < N; i++) { for (j = k; j < N; j++) a[j] += i; k = 5; }", False),
        ("for (i = 0; i < N; i++) { for (j = 0; j < N; j++) a[j] += i; b[i] = j; }", False),
    ],
)  # fmt: skip
def test_what_is_around_an_inner_loop_is_done_as_it_begins_and_ends(body: str, joined: bool) -> None:
    whole = whole_of(body, FLATTEN)
    assert [start.inner is not None for start in whole.starts] == [joined]
    run = Execution(whole, memory := seeded_arrays(whole.arrays, 2))
    expected = run_compiled(whole, memory)
    assert expected is not None
    after = run.run() | run.left(expected)
    assert {name: words.tobytes() for name, words in expected.items()} == {
        name: after[name].tobytes() for name in expected
    }


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("for (i = 0; i < 20; i++) for (j = 0; j < 8; j++) p[i * 80 + j] += i;", 19 * 80 + 8),
        ("for (i = 0; i < 20; i++) for (j = i; j < 200; j++) p[i * 80 + j] += i;", 19 * 80 + 200),
        ("for (i = 20; i > 0; i--) for (j = 0; j < i; j += 3) p[j * 30] += i;", 18 * 30 + 1),
    ],
)
def test_pointers_lead_to_as_many_words_as_all_starts_touch(body: str, words: int) -> None:
    text = f"void f(int *p) {{ int i, j; {body} }}"
    for nest in (HOST, FLATTEN):
        whole = whole_from_c(text, "f.c", "f", "f", nest=nest)[0]
        assert words <= whole.arrays[0].words <= max(1024, words + 30)
        run = Execution(whole, memory := seeded_arrays(whole.arrays, 0))
        expected = run_compiled(whole, memory)
        assert expected is not None and run.run()["p"].tobytes() == expected["p"].tobytes()


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (
            "for (i = 0; i < N; i++) { for (j = 0; j < 9; j++) a[j]++; if (a[i]) break; }",
            "a jump between loops",
        ),
        ("for (i = 0; i < N; i++) { for (j = 0; a[j] > 3; j++) a[j]--; }", "data say how often"),
        (
            "int *p = a; for (i = 0; i < N; i++) { p++; for (j = 0; j < 9; j++) p[j] = j; }",
            "declare it as an array",
        ),
        (
            "for (i = 0; i < 3; i++) { float s = 0; for (j = 0; j < 9; j++) s += x[j]; x[i] = s; } "
            "for (i = 0; i < 3; i++) { double s = 0; for (j = 0; j < 9; j++) s += d[j]; d[i] = s; }",
            "two types in two loops",
        ),
        ("int i = 3; for (i = 0; i < N; i++) a[i]++;", "is declared twice"),
    ],
)
def test_what_no_host_runs_is_said_in_a_line(body: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as error:
        whole_of(body)
    assert "\n" not in str(error.value)


def test_loops_that_run_as_often_as_data_say_have_no_count() -> None:
    whole = whole_of("for (i = 0; i < a[3]; i++) { for (j = 0; j < 9; j++) b[j]++; }")
    with pytest.raises(InputError, match="data decide how often its loops run"):
        walked(whole)
