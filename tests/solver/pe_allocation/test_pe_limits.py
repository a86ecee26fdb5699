"""Programs that a PE has no room for: they are no part of any answer, and proven so."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from mapper.formulations.pe_allocation.infeasible import why_infeasible
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import PROGRAMMED, verify
from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.word.need import has_limits, shortage
from mapper.models.pe_allocation.word.program import layer_words
from mapper.sim.pe_allocation.data import seeded
from mapper.sim.pe_allocation.report import report
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.catalogue import METHODS, RELOADED
from tests.checkers.pe_allocation.example import proof_of, verdict_on
from tests.sim.pe_allocation.example import Net, allocated, network_called
from tests.sim.pe_allocation.word.example import with_pe
from tests.sim.pe_allocation.word.test_rules import NETS

MNIST = network_called("mnist-tcpa")
CHAIN = Net((4, 4), 3).convolution(6, 2).convolution(4, 1).network()


def posed(network: Any = CHAIN, objective: Any = "throughput", **pe: Any) -> AllocationProblem:
    most = 6 if network is CHAIN else 0
    return AllocationProblem(network, with_pe(**pe), objective, "streaming", max_pes=most)


def test_sums_that_would_not_be_there_leave_layers_fewer_pes_and_a_certified_answer() -> None:
    problem = posed(MNIST, latency={"add": 8})
    found = METHODS["auto"].search(problem, Effort())
    assert found.proven and found.mapping is not None
    # At least eight filters on each PE.
    assert [-(-24 // found.mapping.pes[0]), -(-24 // found.mapping.pes[2])] == [8, 8]
    assert report(problem, found.mapping, words=True)["agrees"]
    status, said = verdict_on(proof_of(problem, found))
    assert status == "certified" and said.endswith("given which programs a PE has room for")


@pytest.mark.parametrize("objective", ["throughput", "latency", "pes"])
@pytest.mark.parametrize(
    "pe",
    [
        {"instruction_words": 24},
        {"feedback_words": 8},
        {"latency": {"add": 2}},
        {"latency": {"add": 3}, "feedback_words": 12},
    ],
)
def test_methods_agree_on_what_fits(objective: str, pe: dict[str, Any]) -> None:
    free, problem = posed(objective=objective), posed(objective=objective, **pe)
    answers = [METHODS[name].search(problem, Effort()) for name in ("auto", "cp-sat", "ilp", "brute-force")]
    assert all(answer.proven for answer in answers)
    assert len({answer.value for answer in answers}) == 1
    found = answers[0]
    if found.mapping is None:
        assert "no program of" in str(why_infeasible(problem))
    else:
        assert report(problem, found.mapping, words=True)["agrees"]
    assert verdict_on(proof_of(problem, found))[0] == "certified"
    best = METHODS["auto"].search(free, Effort())
    assert found.value is None or best.value is not None
    if found.value is not None and best.value is not None:
        assert found.value <= best.value if objective == "throughput" else found.value >= best.value


def test_what_fits_on_no_number_of_pes_is_infeasible_and_says_layer_limit_and_remedy() -> None:
    problem = posed(MNIST, instruction_words=24)
    found = METHODS["auto"].search(problem, Effort())
    assert found.proven and found.mapping is None
    said = str(why_infeasible(problem))
    assert "conv2" in said and "24 (processing_element.instruction_words)" in said and "raise" in said
    assert verdict_on(proof_of(problem, found)) == (
        "certified",
        "infeasible, given which programs a PE has room for",
    )


def test_the_referee_rejects_a_program_that_does_not_fit() -> None:
    verdict = verify(posed(feedback_words=8), allocated(CHAIN, 1, 1))
    assert [(one.rule, one.place, one.size) for one in verdict.broken] == [
        (PROGRAMMED, "convolution0: processing_element.feedback_words", 4)
    ]


@pytest.mark.parametrize("mode", ["layer-by-layer", "mixed"])
def test_programs_that_a_pe_runs_in_turn_are_answered_and_not_proven(mode: Any) -> None:
    problem = replace(posed(instruction_words=64), mode=mode)
    if mode == "mixed":
        problem = replace(problem, segments=(0, 1))
    found = METHODS["auto"].search(problem, Effort())
    assert found.mapping is not None and not found.proven and RELOADED in found.restrictions


@pytest.mark.parametrize("name", NETS)
def test_no_pace_asks_for_more_than_a_program_was_counted_with(name: str) -> None:
    draw = random.Random(name)
    machine = with_pe(5)
    for layer in NETS[name].layers:
        network = replace(NETS[name].network(), layers=(replace(layer, feeds=()),))
        for _ in range(3):
            pes, delta = draw.randint(1, layer.filters), draw.randint(1, 5)
            allocation = allocated(network, pes, delta=delta, idle=(draw.randint(0, 12),))
            configuration = configure(network, machine, allocation, "streaming")
            interval = configuration.interval + draw.choice((0, 1, 2, 5, 30))
            data = seeded(configuration, 1, 0).layers[0]
            made = layer_words(configuration.layers[0], interval, data, machine.processing_element)
            used = max(len(one.code.words) for one in made.pes if one is not None)
            short = shortage(layer, pes, delta, with_pe(5, instruction_words=1).processing_element)
            assert short is not None and short.needed >= used


def test_presets_limit_nothing() -> None:
    assert not has_limits(with_pe().processing_element)
    assert has_limits(with_pe(units={"adders": 1}).processing_element)
