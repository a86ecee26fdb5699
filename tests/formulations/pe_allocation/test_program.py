"""The program of PE allocation: what it says, what it leaves out, and in which forms it can be written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.explanation import render
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import choices, paces
from mapper.formulations.pe_allocation.program.delay import delay_lines
from mapper.formulations.pe_allocation.program.goal import Limits
from mapper.formulations.pe_allocation.program.ilp import AllocationProgram, build
from mapper.formulations.pe_allocation.program.instance import instance_of
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.calculus import position_cycles
from mapper.models.pe_allocation.cost import Model
from mapper.models.pe_allocation.stream.layer import StreamNetwork, stream_network
from mapper.models.pe_allocation.stream.timing import delay
from mapper.solver.cbc import run_cbc
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.parallel.sequential_search import sequential
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers
from tests.solver.pe_allocation.random_allocation import networks, problems


@pytest.fixture(scope="module")
def mnist() -> AllocationProblem:
    document = tcpa_preset("tcpa-4x4")
    assert document is not None
    return AllocationProblem(
        stream_network(load_layers("mnist-tcpa", None)), tcpa_from_document(document, "x")
    )


def test_every_ceiling_has_one_choice(mnist: AllocationProblem) -> None:
    for layer in mnist.network.layers:
        kept = [choice.cycles for choice in choices(mnist, layer)]
        every = {position_cycles(layer, pes, 2) for pes in range(1, 17)}
        assert kept == sorted(every, reverse=True)


def test_matched_paces_are_those_of_figure_7(mnist: AllocationProblem) -> None:
    wanted = (4, 1, 8, 1, 2)
    chosen = [
        next(choice for choice in choices(mnist, layer) if choice.pes == pes)
        for layer, pes in zip(mnist.network.layers, wanted, strict=True)
    ]
    assert paces(mnist, chosen) == (54, 216, 324, 1296, 1296)


def test_limits_leave_out_what_cannot_keep_them(mnist: AllocationProblem) -> None:
    instance = instance_of(mnist, "pes", Limits(16, 63_504))
    assert instance.possible
    assert [min(choice.pes for choice in left) for left in instance.choices] == [3, 1, 8, 1, 2]
    assert max(choice.pes for choice in instance.choices[2]) == 8
    assert not instance_of(mnist, "pes", Limits(14, 63_504)).possible


def test_it_explains_itself_with_its_counts(mnist: AllocationProblem) -> None:
    program = build(mnist)
    assert isinstance(program, AllocationProgram)
    text = render(program)
    assert "PE allocation as an integer linear program" in text
    assert "one choice (5 constraints)" in text and "matched rates (4 constraints)" in text
    assert f"chosen ({sum(map(len, program.of.choices))} variables)" in text


def test_the_streaming_model_has_no_matched_rates(mnist: AllocationProblem) -> None:
    text = render(build(replace(mnist, model="streaming")))
    assert "matched rates (nothing here)" in text


@pytest.mark.parametrize(("form", "start"), [("lp", "\\* pe_allocation *\\"), ("mps", "*SENSE:Minimize")])
def test_it_is_written_in_the_usual_forms(mnist: AllocationProblem, form: str, start: str) -> None:
    assert build(mnist).export(form).startswith(start)


def test_other_forms_are_refused(mnist: AllocationProblem) -> None:
    with pytest.raises(InputError):
        build(mnist).export("cpsat")


def test_a_solution_is_read_back_with_the_least_idle_cycles(mnist: AllocationProblem) -> None:
    program = AllocationProgram(instance_of(mnist, "pes", Limits(16, 254_016)))
    program.build()
    first = {left[0].name for left in program.x}
    found = program.extract(lambda variable: int(getattr(variable, "name", "") in first))
    assert found.pes == (1, 1, 2, 1, 1)
    assert found.throttle[0] == 0 and found.throttle[1] == 864 - 48


@settings(derandomize=True, deadline=None, max_examples=60)
@given(networks(4), st.integers(1, 50), st.integers(1, 50))
def test_lines_give_the_streaming_model_s_delay(network: StreamNetwork, z_feed: int, z_out: int) -> None:
    for layer in network.layers:
        for feed in (network.layers[at] for at in layer.feeds):
            lines = delay_lines(layer, feed)
            assert max(a * z_feed - b * z_out for a, b in lines) == delay(layer, feed, z_feed, z_out)


@settings(derandomize=True, deadline=None, max_examples=12)
@given(problems("calculus", 4), st.sampled_from(("calculus", "lanes")))
def test_layers_one_by_one_are_the_closed_form_s(problem: AllocationProblem, model: Model) -> None:
    posed = replace(problem, mode="layer-by-layer", model=model)
    program = build(posed)
    result = run_cbc(program.model, Effort())
    closed = sequential(posed, Effort())
    assert result.found == (closed.mapping is not None)
    if closed.mapping is not None:
        best = verify(posed, program.extract(result.value_of))
        found = verify(posed, closed.mapping)
        assert best.valid and best.cost is not None and found.valid and found.cost is not None
        assert posed.rank(best.cost)[0] == posed.rank(found.cost)[0]
