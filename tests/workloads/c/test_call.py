from __future__ import annotations

import pytest

from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.document import InputError


def test_the_larger_of_two_floats_is_one_operation() -> None:
    text = "void f(float x[9], float y[9]) { for (int i = 0; i < 9; i++) y[i] = fmaxf(x[i], 0.0f); }"
    graph = kernel_from_c(text, "f.c", "f").graph
    assert [o.opcode for o in graph.operations] == ["add", "add", "load", "fmax", "store"]


def test_another_call_is_refused_by_name_of_what_is_allowed() -> None:
    text = "void f(float y[9]) { for (int i = 0; i < 9; i++) y[i] = sinf(y[i]); }"
    with pytest.raises(InputError, match="but for fmaxf, fminf"):
        kernel_from_c(text, "f.c", "f")


def test_parameters_stand_at_different_numbers() -> None:
    text = "void f(float y[9], float a, float b) { for (int i = 0; i < 9; i++) y[i] = y[i] * a + b; }"
    graph = kernel_from_c(text, "f.c", "f").graph
    assert [o.immediates for o in graph.operations if o.immediates and o.opcode != "add"] == [
        ((1, 0.5),),
        ((1, 1.0),),
    ]
