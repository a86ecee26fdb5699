"""Dependences through memory have the distances that the subscripts say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.c.reading import AS_PUBLISHED
from mapper.workloads.loop.affine import ITERATION
from mapper.workloads.loop.dependence import Access, order_edges


def orders(body: str, trips: int = 64) -> set[tuple[str, str, int]]:
    text = f"void f(int n, int a[9999], int b[9999]) {{ for (int i = 0; i < {trips}; i++) {{ {body} }} }}"
    graph = kernel_from_c(text, "t.c", "t", reading=AS_PUBLISHED).graph
    names = [operation.name for operation in graph.operations]
    return {(names[e.source], names[e.destination], e.distance) for e in graph.edges if e.operand is None}


def test_what_one_iteration_writes_the_third_after_it_reads() -> None:
    assert orders("a[i + 3] = a[i] + 1;") == {("store_a", "load_a", 3)}


def test_a_word_read_before_a_later_iteration_writes_it_must_be_read_first() -> None:
    assert orders("a[i] = a[i + 2] + 1;") == {("load_a", "store_a", 2)}


def test_words_that_never_meet_have_no_order() -> None:
    assert orders("a[2 * i] = a[2 * i + 1] + 1;") == set()
    assert orders("a[i] = a[i + 64] + 1;") == set()
    assert orders("a[i] = b[i] + 1;") == set()


def test_an_order_that_operands_imply_is_not_repeated() -> None:
    assert orders("a[i] += 1;") == set()


def test_a_sum_in_memory_is_carried_from_each_iteration_to_the_next() -> None:
    assert orders("a[5] += b[i];") == {("store_a", "load_a", 1)}


def test_subscripts_with_the_same_parameter_are_exact() -> None:
    assert orders("a[n + i + 1] = a[n + i] * 2;") == {("store_a", "load_a", 1)}


@pytest.mark.parametrize("body", ["a[b[i]] = a[i] + 1;", "a[n * i] = a[i] + 1;", "a[i] = a[n] + 1;"])
def test_what_the_text_does_not_tell_is_kept_in_order_and_said_so(body: str) -> None:
    assert ("store_a", "load_a", 1) in orders(body)
    text = f"void f(int n, int a[99], int b[99]) {{ for (int i = 0; i < 4; i++) {{ {body} }} }}"
    assert any("may touch the same word" in note for note in kernel_from_c(text, "t.c", "t").notes)


NUMBER = st.integers(-7, 7)


@settings(derandomize=True, deadline=None, max_examples=400)
@given(NUMBER, NUMBER, NUMBER, NUMBER, st.integers(1, 20))
def test_affine_distances_are_those_that_counting_finds(s: int, a: int, t: int, b: int, trips: int) -> None:
    first = Access(0, "x", {term: f for term, f in {(ITERATION,): s, (): a}.items() if f}, True)
    second = Access(1, "x", {term: f for term, f in {(ITERATION,): t, (): b}.items() if f}, False)
    edges, assumed = order_edges((first, second), trips)
    meetings = [y - x for x in range(trips) for y in range(trips) if s * x + a == t * y + b]
    forward = min((d for d in meetings if d >= 0), default=None)
    backward = min((-d for d in meetings if d < 0), default=None)
    assert not assumed
    found = {(edge.source, edge.distance) for edge in edges}
    assert found == {(who, d) for who, d in ((0, forward), (1, backward)) if d is not None}
