"""Proofs about factors that need not divide: certified is what brute force finds among all cuts, and nothing else."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

import pytest

from bench.hierarchy.imperfect import nests
from mapper.formulations.hierarchy.problem import HierarchyProblem, ObjectiveName, Pins
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.proof import restated
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from tests.checkers.hierarchy.claim import Document, bound_again, checker, claim_of, proof_of, verdict
from tests.sim.hierarchy.drawn import preset_machine
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


def orders_of(random: Random, h: Any, one: Any) -> tuple[list[Any], list[Any], list[Any]] | None:
    """A random cut of each loop, in a random order at each level, as (cuts, loops in time, loops in space)."""
    cells = [one.cuts(j) for j in h.loops]
    cuts = [random.choice(cell.cuts) for cell in cells if cell]
    trips = {j: cut[1] for j, cut in enumerate(cuts)}
    space = [one.split(b, trips) for b in range(h.depth)] if all(cells) else [None]
    if None in space:
        return None
    time = [[(j, trips[j][b]) for j in h.loops if trips[j][b] > 1] for b in range(h.depth)]
    for own in time:
        random.shuffle(own)
    return cuts, time, space


def test_no_cell_no_cut_and_no_innermost_loop_is_bounded_above_what_an_order_costs() -> None:
    compared = 0
    for seed in range(20):
        random, problem = Random(seed), drawn(seed)
        if problem is None or (h := cut_problem(random, restated(problem))) is None:
            continue
        for one in random.sample(sample := list(islice(h.arrangements(), 500)), min(3, len(sample))):
            chosen = orders_of(random, h, one)
            if chosen is None:
                continue
            cuts, time, space = chosen
            energy, cycles = h.cost(one.keep, time, space)
            least, fewest, more = one.bound([cut[3] for cut in cuts])
            extra = sum(own[loops[-1][0]] for own, loops in zip(more, time, strict=True) if loops)
            assert (fewest <= cycles, least + extra <= energy) == (True, True), seed
            for rows in ([one.least(j) for j in h.loops], [one.cuts(j).row for j in h.loops]):
                least, fewest, more = one.bound(rows)
                least += sum(min(own.values(), default=0) for own in more)
                assert (fewest <= cycles, least <= energy) == (True, True), seed
            compared += 1
    assert compared > 10


def cut_problem(random: Random, problem: Document | None) -> Any:
    """The problem with other bounds and steps, and with room for all tiles; None where the checker knows none."""
    assert problem is not None
    problem = copy.deepcopy(problem) | {"objective": "least energy in pJ", "most_cycles": []}
    problem["loops"] = {
        loop: random.choice((bound, random.randint(1, 5))) for loop, bound in problem["loops"].items()
    }
    for level in problem["levels"]:
        level["words"] = []
    for operand in problem["operands"]:
        for index in operand["index"] if not operand["written"] else ():
            index |= {loop: random.choice((by, 1, 2)) for loop, by in index.items()}
    try:
        h = checker().Cut(problem)
    except checker().EndedError:
        return None
    h.cuts = {}
    return h


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(nests()))
def test_layers_of_alexnet_and_vit_are_certified(name: str) -> None:
    machine = preset_machine("eyeriss-like")
    problem = HierarchyProblem(nests()[name], machine, "edp", Pins(imperfect=True))
    found = METHODS["branch-and-bound"].search(problem, Effort())
    assert verdict(proof_of(problem, found))[0] == "certified"
