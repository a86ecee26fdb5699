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
        (LOOP + "a[i] = g(i);", "calls of g"),
        (LOOP + "{ switch (a[i]) { case 1: { case 2: a[i] = 2; } } }", "Case"),
        (LOOP + "{ switch (a[i]) a[i] = 2; }", "its braces"),
        (LOOP + "memset(a, 0, 4 * n);", "no known number of whole words"),
        (LOOP + "memset(x, 1, 4);", "floats to other than 0"),
        (LOOP + "memcpy(a, x, 4);", "words of two types"),
        (LOOP + "a[i] = i > 2 && (s = 3);", "write an if"),
        (LOOP + "{ long double d = 1; a[i] = d; }", "type long double"),
        (LOOP + "a[i] = a < x;", "different arrays"),
        ("int *p = a; " + LOOP + "{ p = i > 2 ? p : (int *)x; p[0] = 1; }", "another size"),
        (LOOP + "x[i] = a;", "pointer"),
        (LOOP + "{ if (a[i]) goto end; } end: ;", "goto"),
        ("for (int i = 0; i < 9; i--) a[i] = 1;", "never ends"),
        ("for (int i = 9; i < 9; i++) a[i] = 1;", "never runs"),
        ("for (unsigned i = 9; i >= 0; i--) a[i] = 1;", "leaves the bits"),
        ("for (int i = 0; i <= 2147483647; i++) a[0] += 1;", "leaves the bits"),
        (LOOP + "a[i] = " + "9" * 5000 + ";", "digits"),
        (LOOP + "s = i;", "no result"),
        (LOOP + "a[i + 60] = 1;", "make it larger"),
        (LOOP + "a[i - 1] = 1;", "make it larger"),
        (LOOP + "a[i] = y;", "not declared"),
        (LOOP + "a[i] = t[i];", "not declared"),
        (LOOP + "a[i][0] = 1;", "subscripts"),
        (LOOP + "a[i] = x[i] % 2;", "needs integers"),
        (LOOP + "a[x[i]] = 2;", "subscript is an integer"),
        (LOOP + "{ int t; a[i] = t; t = 1; }", "no value"),
        (LOOP + "a[i] = 99999999999999999999;", "64 bits"),
        ("s = 1;", "no function has a loop"),
    ],
)
def test_each_construct_outside_the_subset_is_named(body: str, word: str) -> None:
    assert word in refused(HEAD + body + " }")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("int x = ;", "not C"),
        ("void f(", "not C"),
        ("\x00\x01", "not C"),
        ("void f(int *p) { for (int i = 0; i < 9; i++) p[i] = q; }", "not declared"),
        ('#include "missing.h"\nvoid f(int *p) { for (int i = 0; i < 9; i++) p[i] = 1; }', "--include"),
        ("#error no\nvoid f(int *p) { for (int i = 0; i < 9; i++) p[i] = 1; }", "no"),
        ("#if 1\n#endif", "no function"),
        ("void f(void) { for (;;) ; int x = " + "(" * 40000 + "1" + ")" * 40000 + "; }", "nested too deeply"),
        ("void f(void) { for (;;) ; " + "{" * 5000 + "}" * 5000 + " }", "nested too deeply"),
        (
            "void f(int a[4]) { for (int i = 0; i < 4; i++) a[i] = " + "1+" * 30000 + "1; }",
            "nested too deeply",
        ),
        ("/*" * 100000, "a comment is not closed"),
        ('"' + '\\"' * 100000, "no function"),
        ("void f(void) { for (;;) ; int a" + "[2]" * 20000 + "; }", "in a row"),
        ("void f(void) { for (;;) ; int a" + "()" * 20000 + "; }", "in a row"),
        ("void f(void) { for (;;) ; " + "int a = 1;" * 30000 + "}", "words and signs"),
        ("int a = 1;" * 30000, "declarations"),
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


VOLATILE = """typedef volatile unsigned reg; struct device { volatile int status; int data; };
reg port; struct device here; static int get(int x) { return x + here.status; }
"""


@pytest.mark.parametrize(
    "body",
    [
        "a[i] = port;",
        "a[i] = get(i);",
        "a[i] = here.status;",
        "a[i] = *(volatile int *)&a[i + 1];",
        "a[i] = t[0]; t[0] = a[i + 1];",
    ],
)
def test_a_loop_that_touches_volatile_words_is_refused(body: str) -> None:
    text = f"{VOLATILE} void f(int *a, volatile int *t) {{ for (int i = 0; i < 9; i++) {{ {body} }} }}"
    assert "volatile words are outside the subset" in refused(text, function="f")


def test_volatile_words_elsewhere_hurt_no_loop() -> None:
    text = VOLATILE + "void f(int *a) { volatile int k = 0; for (int i = 0; i < 9; i++) a[i] = here.data; }"
    assert kernel_from_c(text, "good.c", "t", function="f").graph.operations


def test_a_file_of_several_functions_wants_a_name_and_a_loop_that_exists() -> None:
    text = "".join(f"void {name}(int a[4]) {{ for (int i = 0; i < 4; i++) a[i] = 1; }} " for name in "fg")
    assert "several functions" in refused(text)
    assert "not a function in this file" in refused(text, function="h")
    assert "1 innermost loops" in refused(text, function="f", number=1)


@pytest.mark.slow
def test_definitions_cannot_grow_without_end() -> None:
    lines = ["#define A0 (1+1)", *(f"#define A{k} (A{k - 1}+A{k - 1})" for k in range(1, 40))]
    assert "preprocess" in refused("\n".join([*lines, "int x = A39;"]))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("void f(int *a, int n)\n{\n  for (int i = 0; i < n; i++)\n    a[i]  =  3 + h(i);\n}", "bad.c:4:18: f: calls"),
        ("void f(int *a) {\n for (int i = 0; i < 9; i++)\n  a[i] = ) 3; }", "bad.c:3:10: is not C"),
        ("void f(int *a) {\n for (int i = 0; i < 9; i++)\n  a[i] = 3 }", "bad.c:3:12: is not C"),
        ("#define N 3\nvoid f(int *a) { int z = \\\n 4 \\\n + 5;\nfor (;;) a[z] = N*h(3); }", "bad.c:5:19: f: calls"),
        ("int x; /* and\n more */ void f(int *a) { for (;;) /* h */ a[x] = h(3); }", "bad.c:2:51: f: calls"),
        (
            "#define T(x) (x + h(x))\nvoid f(int *a) {\n  for (int i = 0; i < 9; i++) a[i] =   T(a[i]);\n}",
            "bad.c:3:40: f: calls of h",
        ),
        ('char *s = "/*";\nvoid f(int *a) { for (;;) *a = 1;\n  /* no end\n', "bad.c:3:3: a comment"),
        ("void f(int **a) {\n  for (int i = 0; i < 9; i++) a[i][0] = 3; }", "bad.c:2:31: f: int **a is outside"),
        ("void f(int *a) {\n  for (int i = 0; i < 9; i++) { __asm__ volatile(\"\"); }\n}", "bad.c:2:33: f: assembly"),
        ("void f(int *a) {\n  for (;;) { asm(\"nop\" : : \"r\"(*a)); }\n}", "bad.c:2:14: f: assembly"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_the_users_own_line_and_column(text: str, place: str) -> None:
    assert refused(text).startswith(place)


def test_comments_that_strings_hold_hide_nothing() -> None:
    text = 'const char *open = "/*", *shut = "*/ //";\nvoid f(int *a) { for (int i = 0; i < 9; i++) a[i] = \'"\'; }'
    assert "store" in {operation.opcode for operation in kernel_from_c(text, "good.c", "t").graph.operations}
