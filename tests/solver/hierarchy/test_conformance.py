"""Every method for hierarchies against every other on the same small problems."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from mapper.arch.hierarchy import HierarchyMachine, Rules, hierarchy_from_document
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy import catalogue
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.hierarchy.choice import first_choice
from mapper.solver.hierarchy.space import Space
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.workloads.nest.layer_nest import matrix_product_nest
from tests.solver.conformance import check_agreement, check_determinism, check_outcome, refereed_by

KIND = refereed_by(verify, HierarchyProblem.value)


def small(words: int = 8, **level: object) -> HierarchyMachine:
    energy = {"read": 3, "fill": 2, "update": 2}
    inner = {"name": "inner", "words": words, "energy_pj": energy, "bypass": ["W"], **level}
    return hierarchy_from_document(
        {
            "schema": "mapper.hierarchy/1",
            "name": "small",
            "levels": [
                {"name": "outer", "energy_pj": {"read": 50, "fill": 50, "update": 50}, "fanout": {"x": 2}},
                inner,
            ],
            "compute": {"energy_pj": 1},
        },
        "test",
    )


PRODUCT = matrix_product_nest("product", (), 2, 2, 2)
PROBLEMS = {
    "product": HierarchyProblem(PRODUCT, small(), "edp"),
    "little energy": HierarchyProblem(PRODUCT, small(), "energy"),
    "few cycles": HierarchyProblem(PRODUCT, small(bandwidth={"shared": 0.5}), "latency"),
    "nothing fits": HierarchyProblem(PRODUCT, small(1, keep=["I", "O"]), "edp"),
}
LONG = ("little energy", "few cycles")
"""Further objectives of the same space, which every method goes over again."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in PROBLEMS]
)
def test_methods_agree(name: str) -> None:
    problem = PROBLEMS[name]
    outcomes = [(method, method.search(problem, Effort())) for method in METHODS.values()]
    for method, outcome in outcomes:
        check_outcome(problem, method, KIND, outcome)
    check_agreement(problem, KIND, outcomes)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_mapping(method: str) -> None:
    check_determinism(PROBLEMS["product"], METHODS[method], 3)


def test_a_search_that_is_cut_off_before_it_finds_anything_has_the_mapping_of_a_climb(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Where neighbours may hand words on, a climb comes first in any case.
    own = small().model_copy(update={"rules": Rules(link_transfers=False)})
    problem = HierarchyProblem(PRODUCT, own, "edp")
    poor = first_choice(Space(problem))
    assert poor is not None
    mapping = poor.mapping(Space(problem))
    value = problem.value(evaluate(PRODUCT, own, mapping))

    def cut(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
        assert effort.seconds_left() is not None
        return Outcome.bounded(mapping, value, 1.0, "time_limit")

    monkeypatch.setattr(catalogue, "BRANCH_AND_BOUND", replace(catalogue.BRANCH_AND_BOUND, search=cut))
    found = METHODS["auto"].search(problem, Effort(deadline=time.monotonic() + 10))
    assert found.value is not None
    assert found.value < value
    assert (found.bound, found.stop, found.proven) == (1.0, "time_limit", False)
