"""Proofs of mappings onto hierarchies: what is so is certified, and what is not so is refuted."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import mapper
from mapper.arch.hierarchy import hierarchy_from_document
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
from mapper.solver.hierarchy.space import Space
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.nest_file import nest_from_document
from tests.checkers.hierarchy.claim import Document, bound_again, claim_of, proof_of, verdict
from tests.solver.hierarchy.random_hierarchy import random_problem
from tests.solver.hierarchy.test_conformance import small

PRODUCT = matrix_product_nest("product", (), 2, 3, 4)
EDP = HierarchyProblem(PRODUCT, small(), "edp")


def nothing_fits() -> Document:
    """A proof that there is no mapping."""
    problem = HierarchyProblem(PRODUCT, small(1, keep=["I", "O"]), "edp")
    found = branch_and_bound(problem, Effort())
    assert found == Outcome.infeasible()
    return proof_of(problem, found)


def worse_than(problem: HierarchyProblem, value: float) -> HierarchyMapping | None:
    """Some mapping that costs more."""
    space, trials = Space(problem), Trials(problem, Effort())
    keep = next(space.keeps())
    rows = {loop: list(space.factorisations(loop)) for loop in problem.nest.loops}
    for turn in range(20):
        factors = {loop: own[turn % len(own)] for loop, own in rows.items()}
        orders = [
            next(space.orders(place, space.moving(factors, place)))
            for place in range(len(problem.machine.levels))
        ]
        mapping = space.mapping(factors, orders, keep)
        found = trials.take(mapping)
        if found is not None and found > value * (1 + 1e-6):
            return mapping
    return None


def agree(seed: int, most: int, monkeypatch: pytest.MonkeyPatch, seen: Counter[str], links: bool) -> None:
    """What brute force finds is certified, and nothing else is."""
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", most)
    problem = random_problem(seed, links)
    try:
        best = oracle.brute_force(problem, Effort())
    except InputError:
        return
    said, reason = verdict(proof_of(problem, best))
    assert said == "certified" or (links and said == "not certified"), reason
    seen["infeasible" if best.mapping is None else said] += 1
    if best.mapping is None or best.value is None:
        return
    assert verdict(claim_of(problem, None, "infeasible"))[0] in (("refuted", "not certified")[: 1 + links])
    other = worse_than(problem, best.value)
    if other is not None:
        assert verdict(claim_of(problem, other, "optimal"))[0] in (("refuted", "not certified")[: 1 + links])
        seen["worse"] += 1


def test_brute_force_and_checker_agree_on_drawn_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[str] = Counter()
    for seed in range(40):
        agree(seed, 100, monkeypatch, seen, links=False)
        agree(seed, 60, monkeypatch, seen, links=True)
    assert min(seen["certified"], seen["worse"]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("first", range(60, 1000, 100))
def test_brute_force_and_checker_agree_on_more(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[str] = Counter()
    for seed in range(first, first + 100):
        agree(seed, 2_000, monkeypatch, seen, links=seed % 3 == 0)
    assert seen["certified"] > 0


@pytest.mark.parametrize(
    "layer", ["lenet5/conv2", pytest.param("resnet-dmazerunner/conv5_2", marks=pytest.mark.slow)]
)
def test_a_layer_on_a_preset_is_certified_as_branch_and_bound_proves_it(layer: str) -> None:
    solution = mapper.solve(layer, arch="gemmini-16")
    (proof,) = mapper.certify(solution)
    said, reason = verdict(proof)
    assert said == "certified", reason
    value = Fraction(proof["claim"]["value"])
    for wrong in (value + 1, value - 1, value * 2):
        claim = {"status": "optimal", "value": _number(wrong), "bound": _number(wrong)}
        assert verdict({**proof, "claim": claim})[0] == "refuted"
    high = {"status": "bounded", "value": _number(value), "bound": _number(value + 1)}
    assert verdict({**proof, "claim": high})[0] == "refuted"


def _number(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)


def test_a_mapping_that_is_not_the_best_is_refuted_and_the_bound_of_the_best_is_certified() -> None:
    best = branch_and_bound(EDP, Effort())
    assert best.value is not None
    other = worse_than(EDP, best.value)
    said, reason = verdict(claim_of(EDP, other, "optimal"))
    assert (said, reason[:26]) == ("refuted", "there is a better mapping:")
    assert verdict(claim_of(EDP, other, "bounded", best.value))[0] == "certified"
    assert verdict(claim_of(EDP, other, "bounded", best.value * 1.001))[0] == "refuted"


def test_what_fits_nowhere_is_certified_with_the_level_and_the_tensors() -> None:
    proof = nothing_fits()
    said, reason = verdict(proof)
    assert said == "certified"
    assert "inner: the smallest tiles take" in reason and "of 1 words" in reason
    roomy = HierarchyProblem(PRODUCT, small(), "edp")
    other = {**proof, "problem": claim_of(roomy, None, "infeasible")["problem"]}
    assert verdict(bound_again(other))[0] == "refuted"


def test_an_optimum_that_overlooks_steps_that_coincide_is_refuted() -> None:
    # Rows of the image and of the filter step alike, so that some orders bring fewer words than tiles that differ.
    nest = nest_from_document(
        {
            "schema": "mapper.nest/1",
            "name": "window",
            "loops": {"K": 2, "P": 4, "R": 2},
            "operands": [
                {"tensor": "W", "index": ["K", "R"], "access": "read"},
                {"tensor": "I", "index": ["P + R"], "access": "read"},
                {"tensor": "O", "index": ["K", "P"], "access": "read_write"},
            ],
        },
        "window",
    )
    energy = {"read": 100, "fill": 0, "update": 1}
    inner = {
        "name": "inner",
        "words": 1,
        "energy_pj": energy | {"read": 1},
        "keep": ["I"],
        "bypass": ["W", "O"],
    }
    machine = {
        "schema": "mapper.hierarchy/1",
        "name": "two",
        "levels": [{"name": "outer", "energy_pj": energy}, inner],
        "compute": {"energy_pj": 1},
        "rules": {"link_transfers": False},
    }
    problem = HierarchyProblem(nest, hierarchy_from_document(machine, "two"), "energy")
    best = oracle.brute_force(problem, Effort())
    assert best.mapping is not None and best.value is not None
    said, reason = verdict(proof_of(problem, best))
    assert said == "certified", reason
    outer, kept = best.mapping.levels
    assert [one.loop for one in outer.temporal][-1] == "K"
    by_loop = {one.loop: one for one in outer.temporal}
    other = replace(outer, temporal=tuple(by_loop[loop] for loop in ("P", "K", "R")))
    overlooked = replace(best.mapping, levels=(other, kept))
    said, reason = verdict(claim_of(problem, overlooked, "optimal"))
    assert (said, reason[:26]) == ("refuted", "there is a better mapping:")


def test_a_mapping_that_breaks_a_rule_is_refuted() -> None:
    proof = proof_of(EDP, branch_and_bound(EDP, Effort()))
    for path, value in (
        ("evidence.mapping.0.keep", ["A"]),
        ("evidence.mapping.1.keep", ["B"]),
        ("evidence.mapping.0.temporal", [["I", 64]]),
        ("evidence.mapping.0.spatial", [["I", 2, "y"]]),
        ("problem.levels.1.words", [1]),
        ("problem.levels.1.exact.time", {"I": 1, "J": 1, "K": 1}),
        ("problem.levels.0.energy.read", 1),
        ("problem.compute.energy", 2),
    ):
        assert verdict(_changed(proof, path, value))[0] == "refuted", path


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("problem.loops", {}),
        ("problem.loops.I", 0),
        ("problem.loops.I", True),
        ("problem.loops.I", 1 << 40),
        ("problem.operands", []),
        ("problem.operands.0.index", [{"Q": 1}]),
        ("problem.operands.0.name", 1),
        ("problem.levels", []),
        ("problem.levels.0.fanout.x", -1),
        ("problem.levels.0.rates.read", [0]),
        ("problem.levels.0.rates.read", [0.5]),
        ("problem.levels.0.energy.read", "1/2"),
        ("problem.levels.0.keep", ["Q"]),
        ("problem.rules.throttling", "none"),
        ("problem.unknown", 1),
        ("evidence.mapping", {}),
        ("evidence.mapping.0.temporal", [["I"]]),
        ("evidence.mapping.0.temporal", [["I", 1.5]]),
        ("evidence.mapping.0.spatial", [["I", 2, "z"]]),
        ("evidence.rule", "trust me"),
        ("claim.value", None),
    ],
)
def test_a_hostile_file_is_malformed(path: str, value: Any) -> None:
    proof = proof_of(EDP, branch_and_bound(EDP, Effort()))
    assert verdict(_changed(proof, path, value))[0] in ("malformed", "refuted")


def test_what_the_checker_does_not_know_is_said() -> None:
    proof = proof_of(EDP, branch_and_bound(EDP, Effort()))
    reason = {"rule": "none", "reason": "nobody wrote it"}
    assert verdict({**proof, "evidence": reason}) == ("not certified", "nobody wrote it")
    both = _changed(proof, "problem.operands.0.index", [{"I": 1, "K": -1}])
    assert verdict(both)[0] == "not certified"


def test_a_limit_on_cycles_is_part_of_what_is_certified() -> None:
    free = branch_and_bound(HierarchyProblem(PRODUCT, small(), "energy"), Effort())
    fastest = branch_and_bound(HierarchyProblem(PRODUCT, small(), "latency"), Effort())
    assert isinstance(fastest.value, int) and free.mapping is not None
    within = HierarchyProblem(PRODUCT, small(), "energy", max_cycles=fastest.value)
    proof = proof_of(within, branch_and_bound(within, Effort()))
    assert verdict(proof)[0] == "certified"
    faster = HierarchyProblem(PRODUCT, small(), "energy", max_cycles=fastest.value - 1)
    assert verdict(claim_of(faster, None, "infeasible"))[0] == "certified"
    assert verdict(claim_of(within, None, "infeasible"))[0] == "refuted"
    forged = _changed(proof, "problem.most_cycles", [fastest.value - 1])
    assert verdict(forged)[0] == "refuted"


def test_pins_and_padding_are_part_of_what_is_certified() -> None:
    pinned = HierarchyProblem(PRODUCT, small(), "edp", Pins(keep=(("inner", "A"),), padded=(("J", 4),)))
    proof = proof_of(pinned, branch_and_bound(pinned, Effort()))
    assert proof["problem"]["loops"]["J"] == 4
    assert verdict(proof)[0] == "certified"
    free = claim_of(EDP, None, "infeasible")["problem"]
    assert verdict(bound_again({**proof, "problem": free}))[0] == "refuted"


def _changed(document: Document, path: str, value: Any) -> Document:
    changed = copy.deepcopy(json.loads(json.dumps(document)))
    *steps, last = path.split(".")
    place = changed
    for step in steps:
        place = place[int(step)] if step.isdigit() else place[step]
    place[last] = value
    return bound_again(changed)
