"""Whole kernels as configuration words: the memory they leave behind, and loops of any graph."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.sim.modulo_schedule import report, simulate
from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Edge, Operation
from mapper.workloads.graph.entry import entered
from mapper.workloads.graph.kernel import Array
from mapper.workloads.graph.kernel_catalogue import KERNELS
from mapper.workloads.graph.kernel_source import load_kernel
from mapper.workloads.reference.kernel import reference, seeded_memory
from tests.sim.modulo_schedule.example import Example, accumulate, kernel_of, one_after_another


@pytest.mark.parametrize("name", KERNELS)
def test_the_words_of_a_kernel_leave_the_memory_that_its_c_means(name: str) -> None:
    kernel, machine, schedule = one_after_another(load_kernel(name)[0])
    assert verify(ModuloProblem(kernel, machine), schedule).broken == ()
    memory = seeded_memory(kernel, 3)
    run = simulate(
        assemble(entered(kernel, memory), machine, schedule), machine, memory, kernel.trip_count or 0
    )
    assert run.violations == ()
    for array, words in reference(name, memory).items():
        assert run.memory[array].tobytes() == words.tobytes(), array


@pytest.mark.parametrize("name", KERNELS)
def test_the_report_of_a_kernel_agrees_with_the_model(name: str) -> None:
    found = report(*one_after_another(load_kernel(name)[0]))
    assert found["outputs_equal"] and found["agrees"]
    assert found["values"] == "numbers and symbols"


def test_the_same_seed_gives_the_same_report() -> None:
    example = one_after_another(load_kernel("dot")[0])
    assert report(*example, seed=5) == report(*example, seed=5)


def test_a_loop_too_long_to_simulate_is_run_for_its_first_iterations() -> None:
    kernel, machine, schedule = accumulate()
    trips = 60_000
    arrays = (Array("x", trips), Array("y", trips, written=True))
    found = report(replace(kernel, trip_count=trips, arrays=arrays), machine, schedule)
    assert found["iterations"] < trips and found["agrees"] and found["outputs_equal"]
    assert found["cost_simulated"]["cycles"] == (trips + 1) * 3


@st.composite
def loops(draw: st.DrawFn) -> Example:
    """Any loop body of up to seven operations with operands up to three iterations old."""
    count = draw(st.integers(1, 7))
    edges = []
    for reader in range(count):
        for operand, source in enumerate(draw(st.lists(st.integers(0, count - 1), max_size=3))):
            distance = draw(st.integers(int(source >= reader), 3))
            initial = tuple(range(10 * operand, 10 * operand + distance))
            edges.append(Edge(source, reader, operand, distance, initial=initial))
    operations = tuple(Operation(f"v{n}", f"op{n}") for n in range(count))
    return one_after_another(kernel_of(operations, tuple(edges), trips=None))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(loops())
def test_any_loop_runs_one_operation_after_another(example: Example) -> None:
    kernel, machine, schedule = example
    assert verify(ModuloProblem(kernel, machine), schedule).broken == ()
    found = report(kernel, machine, schedule)
    assert found["outputs_equal"] and found["agrees"]


def test_integers_are_small_where_as_indices_they_would_lead_out_of_the_arrays() -> None:
    text = (
        "void f(signed char c[64], int t[32], int out[64]) { for (int i = 0; i < 64; i++) out[i] = t[c[i]]; }"
    )
    found = report(*one_after_another(kernel_from_c(text, "t.c", "t")))
    assert found["outputs_equal"] and found["agrees"] and found["values"] == "numbers and symbols"
    assert found["notes"] == ["integers in memory are from 0 to 7, as others lead out of the arrays"]


def test_what_leaves_its_arrays_with_any_numbers_is_refused() -> None:
    text = "void f(int c[64], int t[32], int out[64]) { for (int i = 0; i < 64; i++) out[i] = t[c[i] | 32]; }"
    with pytest.raises(InputError, match="lies outside the array of 32 words"):
        report(*one_after_another(kernel_from_c(text, "t.c", "t")))
