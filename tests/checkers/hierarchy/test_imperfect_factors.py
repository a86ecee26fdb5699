"""Proofs about factors that need not divide: certified is what brute force finds among all cuts, and nothing else."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from mapper.formulations.hierarchy.problem import HierarchyProblem, ObjectiveName, Pins
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from tests.checkers.hierarchy.claim import Document, bound_again, claim_of, proof_of, verdict
from tests.solver.hierarchy.test_conformance import small
from tests.solver.hierarchy.test_imperfect import drawn

OBJECTIVES: tuple[ObjectiveName, ...] = ("edp", "energy", "latency")
MACHINE = small().model_copy(update={"rules": small().rules.model_copy(update={"link_transfers": False})})
SEVEN = HierarchyProblem(matrix_product_nest("seven", (), 7, 1, 1), MACHINE, "latency", Pins(imperfect=True))
BOTH_WAYS = ("not certified", "loops run through a dimension both ways")


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[HierarchyMapping]:
    """All mappings that brute force tries."""
    found: list[HierarchyMapping] = []
    take = Trials.take

    def kept(self: Trials, mapping: HierarchyMapping) -> Any:
        found.append(mapping)
        return take(self, mapping)

    monkeypatch.setattr(Trials, "take", kept)
    return found


def agree(seed: int, tried: list[HierarchyMapping], seen: Counter[str]) -> None:
    """The least is certified, as is every other mapping of this value; what is worse is refuted by a better one."""
    tried.clear()
    problem = drawn(seed)
    if problem is None:
        return
    try:
        best = oracle.brute_force(problem, Effort())
    except InputError:
        return
    said = verdict(proof_of(problem, best))
    if said == BOTH_WAYS:
        return
    assert said[0] == "certified", (seed, said)
    if best.mapping is None:
        seen["infeasible"] += 1
        return
    seen["optimal"] += 1
    assert verdict(claim_of(problem, None, "infeasible"))[0] == "refuted", seed
    least = problem.exact_value(evaluate(problem.nest, problem.machine, best.mapping))
    for other in Random(seed).sample(tried, min(4, len(tried))):
        if verify(problem, other).broken:
            continue
        value = problem.exact_value(evaluate(problem.nest, problem.machine, other))
        status, reason = verdict(claim_of(problem, other, "optimal"))
        if value <= least * (1 + 1e-9):
            assert status == "certified", (seed, reason)
        elif value > least * (1 + 1e-8):
            seen["worse"] += 1
            assert (status, reason[:26]) == ("refuted", "there is a better mapping:"), seed


def test_brute_force_over_all_cuts_and_checker_agree(
    tried: list[HierarchyMapping], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", 100)
    seen: Counter[str] = Counter()
    for seed in range(200):
        agree(seed, tried, seen)
    assert min(seen["infeasible"], seen["optimal"], seen["worse"]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("first", range(200, 3000, 200))
def test_brute_force_over_all_cuts_and_checker_agree_on_more(
    first: int, tried: list[HierarchyMapping], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", 400)
    seen: Counter[str] = Counter()
    for seed in range(first, first + 200):
        agree(seed, tried, seen)
    assert min(seen["optimal"], seen["worse"]) > 0


def seven() -> tuple[Document, Document]:
    """The proof of the optimum of seven rows on two units, and what is claimed of factors that divide."""
    best = oracle.brute_force(SEVEN, Effort())
    plain = oracle.brute_force(SEVEN.as_it_is(), Effort())
    assert (best.value, plain.value) == (4, 7)
    return proof_of(SEVEN, best), claim_of(SEVEN, plain.mapping, "optimal")


def test_the_optimum_of_factors_that_divide_is_refuted_where_they_need_not() -> None:
    best, plain = seven()
    assert verdict(best)[0] == "certified"
    status, reason = verdict(plain)
    assert (status, reason[:26]) == ("refuted", "there is a better mapping:")


@pytest.mark.parametrize("value", [3, 5])
def test_a_value_that_is_off_by_one_is_refuted(value: int) -> None:
    forged = copy.deepcopy(seven()[0])
    forged["claim"] |= {"value": value, "bound": value}
    assert verdict(forged) == ("refuted", "the mapping has another value")


def test_a_bound_above_the_value_of_a_mapping_that_is_better_is_refuted() -> None:
    plain = seven()[1]
    assert verdict({**plain, "claim": {"status": "bounded", "value": 7, "bound": 4}})[0] == "certified"
    assert verdict({**plain, "claim": {"status": "bounded", "value": 7, "bound": 5}})[0] == "refuted"


def test_a_last_pass_that_is_not_what_the_bound_leaves_is_refuted() -> None:
    forged = copy.deepcopy(seven()[0])
    loops = [
        one
        for level in forged["evidence"]["mapping"]
        for way in ("temporal", "spatial")
        for one in level[way]
    ]
    short = next(one for one in loops if type(one[-1]) is int and len(one) > 2)
    short[-1] += 1
    assert verdict(forged) == ("refuted", "I has another last pass")


def test_a_mapping_with_last_passes_does_not_prove_factors_that_divide() -> None:
    forged = copy.deepcopy(seven()[0])
    forged["problem"]["imperfect"] = False
    assert verdict(bound_again(forged))[0] == "refuted"
    assert verdict(forged) == ("refuted", "problem_sha256 is of another problem")


def test_machines_whose_neighbours_hand_words_on_are_not_certified() -> None:
    forged = copy.deepcopy(seven()[0])
    forged["problem"]["rules"]["link_transfers"] = True
    assert verdict(bound_again(forged)) == (
        "not certified",
        "neighbours hand words on where factors are imperfect",
    )


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_product_with_prime_bounds_is_certified(objective: ObjectiveName) -> None:
    nest = matrix_product_nest("prime", (), 5, 3, 1)
    problem = HierarchyProblem(nest, MACHINE, objective, Pins(imperfect=True))
    best = oracle.brute_force(problem, Effort())
    assert verdict(proof_of(problem, best))[0] == "certified"
    assert best.mapping is not None
    fewer = replace(problem, pins=Pins())
    assert verdict(proof_of(fewer, oracle.brute_force(fewer, Effort())))[0] == "certified"
