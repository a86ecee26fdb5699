from __future__ import annotations

from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.c.reading import AS_PUBLISHED
from mapper.workloads.graph.kernel import Kernel


def kernel(body: str, pointer_uses: int | None = None) -> Kernel:
    text = f"void f(int a[99], int b[99], int y[99]) {{ for (int i = 2; i < 12; i++) {{ {body} }} }}"
    return kernel_from_c(text, "f.c", "f", pointer_uses=pointer_uses, reading=AS_PUBLISHED)


def pointers(made: Kernel) -> list[tuple[str, int]]:
    """Every operation that adds to itself, with the value before its first iteration."""
    operations = made.graph.operations
    return [
        (operations[edge.source].name, int(edge.initial[0]))
        for edge in made.graph.edges
        if edge.source == edge.destination
    ]


def offsets(made: Kernel) -> list[tuple[str, int]]:
    return [(o.name, o.offset) for o in made.graph.operations if o.array is not None]


def test_loads_of_one_stride_share_a_pointer_and_differ_in_their_displacement() -> None:
    made = kernel("y[0] = a[i] + a[i + 5] - b[i - 1];")
    assert pointers(made) == [("at_a", 1)]
    assert offsets(made)[:3] == [("load_a", 0), ("load_a_2", 5), ("load_b", -1)]


def test_loads_of_another_stride_have_another_pointer() -> None:
    assert pointers(kernel("y[0] = a[i] + b[3 * i];")) == [("at_a", 1), ("at_b", 3)]


def test_stores_do_not_share_the_pointer_of_the_loads() -> None:
    assert pointers(kernel("y[i] = a[i]; y[i + 20] = 1;")) == [("at_a", 1), ("at_y", 1)]


def test_loads_use_the_loop_variable_where_it_is_counted_anyway() -> None:
    made = kernel("y[0] = a[i + 4] * i;")
    assert pointers(made) == [("i", 1)]
    assert offsets(made)[0] == ("load_a", 4)


def test_a_word_that_no_iteration_changes_needs_no_pointer() -> None:
    made = kernel("y[3] = a[7];")
    assert pointers(made) == []
    assert [o.immediates[0] for o in made.graph.operations] == [(0, 7), (0, 3)]


def test_an_index_that_data_decide_is_left_as_it_is() -> None:
    made = kernel("y[0] = a[b[i] & 7];")
    assert [o.opcode for o in made.graph.operations] == ["add", "load", "and", "load", "store"]


def test_a_pointer_serves_no_more_accesses_than_are_allowed() -> None:
    made = kernel("y[0] = a[i] + a[i + 1] + a[i + 2];", pointer_uses=2)
    assert pointers(made) == [("at_a", 1), ("at_a_2", 3)]
    assert offsets(made)[:3] == [("load_a", 0), ("load_a_2", 1), ("load_a_3", 0)]


def test_what_is_added_to_an_index_that_data_decide_becomes_its_displacement() -> None:
    made = kernel("int p = b[i] & 7; y[0] = a[p] + a[p + 3];")
    assert offsets(made)[1:3] == [("load_a", 0), ("load_a_2", 3)]
