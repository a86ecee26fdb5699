"""C outside the subset is refused in one line that names the place and the remedy."""

from __future__ import annotations

import pytest

from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.document import InputError

HEAD = "void f(int n, int a[64], float x[64]) { int s = 0; "
LOOP = "for (int i = 0; i < 9; i++) "


def refused(text: str, **choice: int | str) -> str:
    with pytest.raises(InputError) as caught:
        kernel_from_c(text, "bad.c", "t", **choice)  # type: ignore[arg-type]
    line = str(caught.value)
    assert line.startswith("bad.c") and "\n" not in line
    return line


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (LOOP + "a[i] = g(i);", "function calls"),
        (LOOP + "a[i] = *a;", "pointers"),
        (LOOP + "a[i] = a;", "pointer"),
        ("while (s < n) s++;", "unknown trip count"),
        ("do s++; while (s < n);", "unknown trip count"),
        (LOOP + "{ if (a[i]) break; }", "trip count"),
        (LOOP + "{ if (a[i]) goto end; } end: ;", "goto"),
        (LOOP + "{ a[i] = 1; i = 3; }", "header alone"),
        ("for (int i = 0; i < 9; i += n) a[i] = 1;", "step"),
        ("for (int i = 0; i < a[0]; i++) a[i] = 1;", "trip count"),
        ("for (int i = 0; i < 9; i--) a[i] = 1;", "never ends"),
        ("for (int i = 9; i < 9; i++) a[i] = 1;", "never runs"),
        ("for (unsigned i = 9; i >= 0; i--) a[i] = 1;", "leaves the 32 bits"),
        ("for (int i = 0; i <= 2147483647; i++) a[0] += 1;", "leaves the 32 bits"),
        (LOOP + "a[i] = " + "9" * 5000 + ";", "digits"),
        ("for (;;) a[0] = 1;", "single variable"),
        (LOOP + "s = i;", "no result"),
        (LOOP + "a[i + 60] = 1;", "make it larger"),
        (LOOP + "a[i - 1] = 1;", "make it larger"),
        (LOOP + "a[i] = y;", "not declared"),
        (LOOP + "a[i] = t[i];", "declare it as an array"),
        (LOOP + "a[i][0] = 1;", "subscripts"),
        (LOOP + "a[i] = x[i] % 2;", "needs integers"),
        (LOOP + "a[x[i]] = 2;", "subscript is an integer"),
        (LOOP + "{ double d = 1; a[i] = d; }", "type double"),
        (LOOP + "{ int t; a[i] = t; t = 1; }", "no value"),
        (LOOP + "a[i] = (s = 3);", "inside an expression"),
        (LOOP + "return;", "return"),
        (LOOP + "{ int s = 1; a[i] = s; }", "hides"),
        (LOOP + "a[i] = 99999999999;", "32 bits"),
        ("int t = a[0]; " + LOOP + "a[i] = t;", "read before the loop"),
        ("s = 1;", "no function has a for loop"),
    ],
)
def test_each_construct_outside_the_subset_is_named(body: str, word: str) -> None:
    assert word in refused(HEAD + body + " }")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("void f(int *p) { for (int i = 0; i < 9; i++) p[i] = 1; }", "alias"),
        ("void f(int **p) { for (int i = 0; i < 9; i++) p[i][0] = 1; }", "alias"),
        ("int x = ;", "not C"),
        ("void f(", "not C"),
        ("\x00\x01", "not C"),
        ("#if 1\n#endif", "only #define"),
        ("#define F(x) x\n", "macro with parameters"),
        ('#define S "a"\n', "not a constant"),
        ("void f(void) { int x = " + "(" * 40000 + "1" + ")" * 40000 + "; }", "nested too deeply"),
        ("void f(void) { " + "{" * 5000 + "}" * 5000 + " }", "nested too deeply"),
        (
            "void f(int a[4]) { for (int i = 0; i < 4; i++) a[i] = " + "1+" * 30000 + "1; }",
            "nested too deeply",
        ),
        ("/*" * 100000, "in a row"),
        ("int a" + "[2]" * 30000 + ";", "in a row"),
        ("int a" + "()" * 30000 + ";", "in a row"),
        ("int a = 1;" * 30000, "words and signs"),
        (
            "void f(" + ", ".join(f"int p{n}" for n in range(2000)) + ") { for (int i = 0; i < 4; i++) ; }",
            "scalars",
        ),
        ("#define A " + "(1+" * 40 + "1" + ")" * 40 + "\nint x = " + "A+" * 50000 + "1;", "too long"),
        ("void a[3](int b[4]) { for (int i = 0; i < 4; i++) b[i] = 1; }", "no function"),
        ("", "no function"),
    ],
)
def test_text_that_is_no_kernel_is_refused_in_one_line(text: str, word: str) -> None:
    assert word in refused(text)


def test_a_file_of_several_functions_wants_a_name_and_a_loop_that_exists() -> None:
    text = "".join(f"void {name}(int a[4]) {{ for (int i = 0; i < 4; i++) a[i] = 1; }} " for name in "fg")
    assert "several functions" in refused(text)
    assert "not a function in this file" in refused(text, function="h")
    assert "1 innermost loops" in refused(text, function="f", number=1)


def test_definitions_cannot_grow_without_end() -> None:
    lines = ["#define A0 (1+1)", *(f"#define A{k} (A{k - 1}+A{k - 1})" for k in range(1, 40))]
    assert "not a constant" in refused("\n".join(lines))
