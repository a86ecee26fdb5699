"""Proofs about bounds that may grow: certified is what brute force finds among all of them, and nothing else."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import mapper
from mapper.formulations.hierarchy.problem import HierarchyProblem, ObjectiveName, Pins
from mapper.models.tiling.padding import paddable_loops
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document
from tests.checkers.hierarchy.claim import Document, bound_again, checker, claim_of, proof_of, verdict
from tests.checkers.hierarchy.test_check_hierarchy import worse_than
from tests.solver.hierarchy.odd_hierarchy import odd_problem
from tests.solver.hierarchy.random_hierarchy import random_machine, random_problem
from tests.solver.hierarchy.test_conformance import small

OBJECTIVES: tuple[ObjectiveName, ...] = ("edp", "energy", "latency")
ROWS = HierarchyProblem(matrix_product_nest("rows", (), 5, 1, 1), small(), "latency", Pins(free=("I",)))
"""Five rows on two units take five turns, six take three."""


def odd(seed: int) -> HierarchyProblem:
    """The problem of a seed, or of the next one that can be posed."""
    try:
        return grown(odd_problem(seed))
    except InputError:
        return odd(seed + 1)


def grown(problem: HierarchyProblem) -> HierarchyProblem:
    """The problem with bounds that may grow wherever this changes no result."""
    return replace(problem, pins=replace(problem.pins, padded=(), free=paddable_loops(problem.nest)))


def prime(seed: int) -> HierarchyProblem:
    """A product, or a window, with bounds that divide no fan-out well."""
    random = Random(seed)
    sizes = [1, random.choice((3, 5, 7)), random.choice((1, 2, 3))]
    random.shuffle(sizes)
    if random.random() < 0.5:
        nest = matrix_product_nest("prime", (), sizes[0], sizes[1], sizes[2])
    else:
        bounds = {"K": 1, "P": random.choice((3, 5)), "R": random.choice((1, 2, 3))}
        nest = window(bounds, random.choice((1, 1, 2)))
    objective = random.choice(OBJECTIVES)
    return grown(HierarchyProblem(nest, random_machine(random, links=seed % 4 == 0), objective))


def window(bounds: dict[str, int], stride: int = 1) -> LoopNest:
    """Filters that slide over rows."""
    operands = [
        {"tensor": "W", "index": ["K", "R"], "access": "read"},
        {"tensor": "I", "index": [f"{stride}*P + R"], "access": "read"},
        {"tensor": "O", "index": ["K", "P"], "access": "read_write"},
    ]
    document = {"schema": "mapper.nest/1", "name": "window", "loops": bounds, "operands": operands}
    return nest_from_document(document, "window")


def agree(problem: HierarchyProblem, seen: Counter[str]) -> None:
    """The least of all bounds is certified, or the checker says why not; what is worse, or too high a bound, is not."""
    try:
        best = oracle.brute_force(problem, Effort())
        plain = oracle.brute_force(problem.as_it_is(), Effort())
    except InputError:
        return
    said, reason = verdict(proof_of(problem, best))
    assert said in ("certified", "not certified"), reason
    seen[said] += 1
    if best.mapping is None or best.value is None:
        return
    assert verdict(claim_of(problem, None, "infeasible"))[0] in ("refuted", "not certified")
    others = [worse_than(problem.as_it_is(), best.value)]
    if plain.value is not None and plain.value > best.value * (1 + 1e-8):
        others.append(plain.mapping)
        seen["grown"] += 1
    for other in others:
        if other is not None:
            seen["worse"] += 1
            assert verdict(claim_of(problem, other, "optimal"))[0] in ("refuted", "not certified")
            high = claim_of(problem, other, "bounded", best.value * (1 + 1e-6))
            assert verdict(high)[0] in ("refuted", "not certified")


def test_what_is_left_of_a_bound_is_all_that_any_trips_leave() -> None:
    for bound in range(1, 300):
        assert checker().needs(bound) == sorted({-(-bound // trips) for trips in range(1, bound + 1)})


def test_brute_force_over_all_bounds_and_checker_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", 500)
    seen: Counter[str] = Counter()
    for seed in range(6):
        agree(grown(random_problem(seed, links=seed % 3 == 0)), seen)
        agree(odd(50_000 + seed), seen)
    for seed in range(50):
        agree(prime(seed), seen)
    assert min(seen["grown"], seen["worse"]) > 0
    assert seen["certified"] > 3 * seen["not certified"]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 1000, 100))
def test_brute_force_over_all_bounds_and_checker_agree_on_more(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", 3_000)
    seen: Counter[str] = Counter()
    for seed in range(first, first + 100):
        agree(grown(random_problem(seed, links=seed % 3 == 0)), seen)
        agree(odd(50_000 + seed), seen)
        agree(prime(seed), seen)
    assert seen["certified"] > seen["not certified"]


def test_a_size_that_is_better_must_not_be_missing() -> None:
    best = branch_and_bound(ROWS, Effort())
    assert best.mapping is not None and best.mapping.padded == (("I", 6),)
    assert verdict(proof_of(ROWS, best))[0] == "certified"
    plain = branch_and_bound(ROWS.as_it_is(), Effort())
    said, reason = verdict(claim_of(ROWS, plain.mapping, "optimal"))
    assert (said, reason[:26]) == ("refuted", "there is a better mapping:")
    assert verdict(claim_of(ROWS.as_it_is(), plain.mapping, "optimal"))[0] == "certified"


@pytest.mark.parametrize(("change", "value"), [("growing", []), ("I", 3), ("I", 7)])
def test_bounds_that_were_changed_are_found_out(change: str, value: Any) -> None:
    proof = proof_of(ROWS, branch_and_bound(ROWS, Effort()))
    forged: Document = copy.deepcopy(proof)
    if change == "growing":
        forged["problem"]["growing"] = value
    else:
        forged["problem"]["loops"][change] = value
    assert verdict(bound_again(forged)) == ("refuted", "factors do not multiply to the bounds")
    assert verdict(forged) == ("refuted", "problem_sha256 is of another problem")


def test_a_loop_that_the_nest_lacks_cannot_grow() -> None:
    proof = proof_of(ROWS, branch_and_bound(ROWS, Effort()))
    proof["problem"]["growing"] = ["Q"]
    assert verdict(bound_again(proof))[0] == "malformed"


def test_proofs_of_before_bounds_could_grow_are_read() -> None:
    plain = ROWS.as_it_is()
    proof = proof_of(plain, branch_and_bound(plain, Effort()))
    del proof["problem"]["growing"]
    assert verdict(bound_again(proof))[0] == "certified"


def test_a_window_whose_loops_may_grow_is_certified() -> None:
    nest = window({"K": 3, "P": 7, "R": 3})
    rules = small().rules.model_copy(update={"link_transfers": False})
    machine = small().model_copy(update={"rules": rules})
    for objective in OBJECTIVES:
        problem = grown(HierarchyProblem(nest, machine, objective))
        found = branch_and_bound(problem, Effort())
        assert found.proven and set(problem.pins.free) == {"K", "P", "R"}
        assert verdict(proof_of(problem, found))[0] == "certified"


def test_the_default_of_a_product_on_a_preset_is_certified() -> None:
    solution = mapper.solve("matmul", arch="gemmini-16")
    (proof,) = mapper.certify(solution)
    assert sorted(proof["problem"]["growing"]) == ["I", "J", "K"]
    said, reason = verdict(proof)
    assert said == "certified", reason
    low = {**proof["claim"], "status": "bounded", "bound": 1}
    assert verdict({**proof, "claim": low})[0] == "certified"
    forged = {"status": "optimal", "value": 1, "bound": 1}
    assert verdict({**proof, "claim": forged})[0] == "refuted"
