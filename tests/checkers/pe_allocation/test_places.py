"""Places and ways of a certified allocation: the checker counts what links carry and border PEs hold by itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.catalogue import METHODS
from tests.checkers.pe_allocation.example import Document, bound_again, proof_of, verdict_on
from tests.sim.pe_allocation.example import Net, network_called


def posed(model: str = "streaming", mode: str = "layer-parallel", **border: Any) -> AllocationProblem:
    document = tcpa_preset("tcpa-4x4")
    assert document is not None
    array = tcpa_from_document({**document, "border": {**document["border"], **border}}, "tcpa-4x4")
    return AllocationProblem(network_called("mnist-tcpa"), array, model=model, mode=mode)  # type: ignore[arg-type]


@cache
def placed() -> Document:
    problem = posed()
    return proof_of(problem, METHODS["auto"].search(problem, Effort()))


def test_ways_stand_in_the_certificate_and_are_counted() -> None:
    assert verdict_on(placed()) == ("certified", "optimal 3125000/3969 fps")
    mapping = placed()["evidence"]["mapping"]
    assert len(mapping["regions"]) == 5 and len(mapping["ways"]) == 11


@pytest.mark.parametrize("mode", ["mixed", "layer-parallel"])
def test_answers_of_every_mode_that_is_placed_are_counted(mode: str) -> None:
    problem = posed(mode=mode)
    document = proof_of(problem, METHODS["auto"].search(problem, Effort()))
    status, said = verdict_on(document)
    assert status == "certified" and "without" not in said


def test_an_allocation_without_places_is_said_to_have_none() -> None:
    status, said = verdict_on(proof_of(posed()))
    assert status == "certified" and said.endswith(", without its places")


def _less(field: str, value: int) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["problem"]["array"][field] = value

    return change


def _elsewhere(document: Document) -> None:
    regions = document["evidence"]["mapping"]["regions"]
    regions[0][0], regions[2][0] = regions[2][0], regions[0][0]


def _upon_another(document: Document) -> None:
    regions = document["evidence"]["mapping"]["regions"]
    regions[1] = [regions[0][0]]


def _a_leap(document: Document) -> None:
    way = next(one for one in document["evidence"]["mapping"]["ways"] if one[0] == "maps")
    way[3] = [way[3][0], [0, 0], [3, 3], way[3][-1]]


def _no_way(document: Document) -> None:
    document["evidence"]["mapping"]["ways"].pop()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_less("buffers", 2), "a border PE has more buffers than it reaches"),
        (_less("address_generators", 6), "there are too few address generators"),
        (_less("columns", 3), "a PE is not on the array"),
        (_elsewhere, "not in one piece"),
        (_upon_another, "a "),
        (_a_leap, "a way is not over links"),
        (_no_way, "streams have other ways"),
    ],
)
def test_places_that_break_a_rule_are_refuted(change: Callable[[Document], None], said: str) -> None:
    document = copy.deepcopy(placed())
    change(document)
    status, reason = verdict_on(bound_again(document))
    assert status == "refuted" and said in reason


def test_a_link_that_carries_too_much_is_refuted() -> None:
    # In 16 cycles a pool of 8 maps reads windows of 32 words: two in each, where a link carries four.
    problem = replace(posed(sides=["west"]), network=Net((8, 8), 8).pool(2).network())
    document = proof_of(problem, METHODS["auto"].search(problem, Effort()))
    assert verdict_on(document)[0] == "certified"
    document["problem"]["array"]["link_words"] = 1
    assert verdict_on(bound_again(document)) == ("refuted", "a link carries more words than it can")


@pytest.mark.parametrize(
    ("border", "mode"),
    [({"address_generators": 6}, "layer-parallel"), ({"address_generators": 1}, "layer-by-layer"),
     ({"sides": ["west"], "buffers": 1}, "layer-parallel")],
)  # fmt: skip
def test_too_few_generators_or_buffers_are_certified_to_allow_nothing(border: Any, mode: str) -> None:
    problem = posed(mode=mode, **border)
    found = METHODS["auto"].search(problem, Effort())
    assert found.proven and found.mapping is None
    document = proof_of(problem, found)
    assert verdict_on(document) == ("certified", "infeasible")
    document["problem"]["array"] |= {"address_generators": 99, "buffers": 9}
    assert verdict_on(bound_again(document))[0] == "refuted"
