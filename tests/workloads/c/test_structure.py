"""Structures of numbers have an array for every member; what else a structure may be is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.modulo_schedule.compiled_loop import compiled, function_text, recorded, run_compiled
from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.c.reading import AS_WRITTEN
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_execution import execute
from mapper.workloads.reference.kernel import seeded_memory

HEAD = """struct point { int x, y; short tag[4]; struct point *next; int bits : 3; };
typedef struct { struct point at; float w; } item;
struct state { int count; int table[256]; };
struct point all[64]; item items[32]; struct state own;
"""
LOOPS = {
    "an array of structures": "for (int i = 0; i < 40; i++) { all[i].x = all[i].y + n; all[i + 1].y ^= 3; }",
    "behind a pointer": "for (int i = 0; i < 40; i++) { s->table[p[i].x & 255] += p[i].tag[2]; s->count++; }",
    "one within another": "for (int i = 0; i < 32; i++) { items[i].w = items[i].w * 0.5f + items[i].at.x; }",
    "a single one": "for (int i = 0; i < 9; i++) { own.count += own.table[i]; own.table[i + 9] = own.count; }",
    "a pointer that moves": "struct point *q = p; for (int i = 0; i < 40; i++, q++) { q->x += n; (*q).y -= q[1].x; }",
    "a pointer set in the loop": "for (int i = 0; i < 9; i++) { struct point *q = &all[i + 2]; q->x = q->y + p->x; }",
    "a pointer to a pointer's": "struct point *q = all + 3; q += 2; for (int i = 0; i < 9; i++) { q->x += i; ++q; }",
    "a place that steps a pointer": "for (int i = 0; i < 9; i++) { (p++)->x += i; (*p++).tag[1]--; }",
    "a pointer that is moved by hand": "for (int i = 0; i < 9; i++) { p->x += i; p = p + 1; }",
    "a member's own row": "for (int i = 0; i < 9; i++) { short *t = all[i].tag; t[1] = t[0] + i; }",
}


def text(loop: str) -> str:
    return f"{HEAD}void f(struct state *s, struct point *restrict p, int n) {{ {loop} }}\n"


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_members_compute_what_the_compiler_makes_of_them(loop: str, tmp_path: Path) -> None:
    found, kernel = recorded(text(loop), "f.c", "f", 0, AS_WRITTEN)
    memory = seeded_memory(kernel, 1)
    mine = execute(kernel, memory)
    theirs = run_compiled(compiled([function_text(found, "k")], tmp_path), "k", found, memory)
    assert mine and all(words.tobytes() == theirs[name].tobytes() for name, words in mine.items())


def test_members_of_one_structure_share_no_word_and_those_of_two_pointers_may() -> None:
    def orders(loop: str) -> int:
        kernel = kernel_from_c(text(loop), "f.c", "f", "f", 0)
        return sum(edge.operand is None for edge in kernel.graph.edges)

    assert orders("for (int i = 0; i < 9; i++) s->table[i] = s->count;") == 0
    two = text("for (int i = 0; i < 9; i++) p[i].x = s->table[i];").replace("*restrict p", "*p")
    kernel = kernel_from_c(two, "f.c", "f", "f", 0)
    assert any(edge.operand is None for edge in kernel.graph.edges)


def test_parameters_may_be_declared_after_the_parentheses() -> None:
    body = "{ int i; for (i = 0; i < 64; i++) s->count += a[i] * n; }\n"
    old = f"f(a, n, s)\n  int a[64], n;\n  struct state *s;\n{body}"
    kernel = kernel_from_c(HEAD + "int g(int);\n" + old, "f.c", "f", "f", 0)
    assert {array.name for array in kernel.arrays} == {"a", "s.count"}
    assert kernel.trip_count == 64


@pytest.mark.parametrize(
    ("loop", "says"),
    [
        ("for (int i = 0; i < 9; i++) all[i] = all[i + 1];", "as a whole"),
        ("for (int i = 0; i < 9; i++) all[i].next->x = 1;", "all.next is no number"),
        ("for (int i = 0; i < 9; i++) all[i].bits = 1;", "no member with words of its own"),
        ("for (int i = 0; i < 9; i++) all[i].z = 1;", "no member with words of its own"),
        ("for (int i = 0; i < 9; i++) n += p->x.y;", "no structure that is known"),
        ("for (int i = 0; i < 9; i++) { struct { int a; } t; t.a = i; }", "declared outside the loop"),
    ],
)
def test_what_of_a_structure_is_no_number_is_one_line(loop: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        kernel_from_c(text(loop), "f.c", "f", "f", 0)
    assert "f.c:" in str(caught.value) and "\n" not in str(caught.value)
