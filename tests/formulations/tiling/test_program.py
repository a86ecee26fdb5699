"""The constraint program of tiling meets brute force, and is explained from what builds it."""

from __future__ import annotations

import math

import pytest

from mapper.arch.source import load_machine
from mapper.formulations.explanation import render
from mapper.formulations.tiling.problem import OBJECTIVES, Objective, TilingProblem
from mapper.formulations.tiling.program.cp_sat import TilingProgram, build
from mapper.formulations.tiling.program.reuse_class import reuse_classes
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.cp_sat import run_cp_sat
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest
from mapper.workloads.source import load_network
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.small import matrix_product, problem, small_machine

LAYERS = {
    "conv1": 19282128596308480,
    "conv2_2": 7041210790216064,
    "conv3_2": 5600311053218816,
    "conv4_2": 4907837632251168,
    "conv5_1": 7907995514759424,
    "conv5_2": 6844957271165824,
}
"""Least energy-delay products, as branch and bound has them."""
STRIDED = convolution_nest("strided", Convolution(1, 2, 1, (5,), (3,), (2,), (1,), ((0, 0),)))
WIDE = {"networks": [{"carries": "read", "width_words": 3}, {"carries": "write", "width_words": 2}]}
SMALL = {
    "a stride, for EDP": problem(STRIDED),
    "a stride, for energy": problem(STRIDED, objective="energy"),
    "networks of several words, for latency": problem(
        matrix_product(), small_machine(noc=WIDE), objective="latency"
    ),
    "waits at both levels": problem(
        matrix_product(2, 2, 4),
        small_machine(
            noc={"reduction": "mesh"}, rf={"double_buffered": False}, spm={"double_buffered": False}
        ),
    ),
    "sums that stay and are not read at first": problem(
        matrix_product(2, 2, 4), small_machine(rules={"partial_sums": "first_visit_free", "energy": "exact"})
    ),
    "a pinned factor at the scratch-pad": problem(matrix_product(), K__spm="4"),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_program_proves_what_brute_force_finds(name: str) -> None:
    posed = SMALL[name]
    outcome = CONSTRAINT_PROGRAM.search(posed, Effort())
    assert outcome.proven and outcome.mapping is not None and outcome.value == outcome.bound
    assert not verify(posed, outcome.mapping).broken
    assert outcome.value == BRUTE_FORCE.search(posed, Effort()).value


def fixed(program: TilingProgram, mapping: TilingMapping) -> None:
    """Leave the program no other factors than those of a mapping."""
    for level, exponents in program.exponent.items():
        for axis, exponent in zip(program.axes, exponents, strict=True):
            factor, power = mapping.trip_counts(level)[axis.loop], 0
            while factor % axis.prime == 0:
                factor, power = factor // axis.prime, power + 1
            program.model.add(exponent == power)


def test_a_class_counts_what_the_model_costs() -> None:
    """Of every tenth mapping, whatever the tangents: the least over the classes is the least over its orders."""
    posed = problem(matrix_product(2, 2, 2), small_machine(1, 2), objective="latency")
    classes = reuse_classes(posed)
    costs: dict[object, int] = {}
    some: dict[object, TilingMapping] = {}
    for mapping in mappings(posed):
        cycles = evaluate(posed.nest, posed.machine, mapping).cycles
        costs[mapping.factors] = min(cycles, costs.get(mapping.factors, cycles))
        some[mapping.factors] = mapping
    for factors in list(costs)[::10]:
        counted = math.inf
        for one in classes:
            program = TilingProgram(posed, one, len(classes), None)
            program.build()
            fixed(program, some[factors])
            result = run_cp_sat(program.model, Effort(), lambda value, bound: None)
            if result.found:
                counted = min(counted, result.value_of(program.minimised))
        assert counted == costs[factors]


def test_what_is_known_before_is_kept_if_nothing_is_better() -> None:
    from mapper.solver.method import Start

    posed = SMALL["a stride, for EDP"]
    best = BRUTE_FORCE.search(posed, Effort())
    assert best.mapping is not None and best.value is not None
    start = Start(posed, best.mapping, best.value, None, "before")
    outcome = CONSTRAINT_PROGRAM.search(posed, Effort(start=start))
    assert outcome.proven and outcome.value == best.value


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_the_papers_layers_are_proven_by_cp_sat_alone(layer: str) -> None:
    nest = load_network(f"resnet-dmazerunner/{layer}").layers[0].nest
    machine, _ = load_machine("dmazerunner-256")
    outcome = CONSTRAINT_PROGRAM.search(TilingProblem(nest, machine, "edp"), Effort(workers=2))
    assert outcome.proven and outcome.value == outcome.bound == LAYERS[layer]


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES[1:])
@pytest.mark.parametrize("layer", ["conv4_2", "conv5_2"])
def test_energy_and_latency_of_layers_are_those_of_branch_and_bound(layer: str, objective: Objective) -> None:
    nest = load_network(f"resnet-dmazerunner/{layer}").layers[0].nest
    machine, _ = load_machine("dmazerunner-256")
    posed = TilingProblem(nest, machine, objective)
    outcome = CONSTRAINT_PROGRAM.search(posed, Effort(workers=2))
    assert outcome.proven and outcome.value == branch_and_bound(posed, Effort()).value


def built() -> TilingProgram:
    return build(problem(matrix_product()))


def test_the_explanation_names_every_part_with_its_count() -> None:
    program = built()
    text = render(program, "text")
    for part in program.built:
        assert part.part.name.replace("_", " ") in text
        assert part.part.tex in text
    variables, constraints = program.size()
    assert sum(part.variables for part in program.built) == variables
    assert sum(part.constraints for part in program.built) == constraints
    assert f"{variables} variables, {constraints} constraints" in text


def test_the_explanation_follows_a_change_of_the_instance() -> None:
    pinned = build(problem(matrix_product(), K__spm="2"))
    counts = {part.part.name: part.constraints for part in built().built}
    changed = {part.part.name: part.constraints for part in pinned.built}
    assert counts["admissible_factors"] == 0
    assert changed["admissible_factors"] > 0


@pytest.mark.parametrize(
    ("form", "mark"), [("markdown", "# Tiling"), ("latex", r"\section"), ("html", "<h1>"), ("text", "Tiling")]
)
def test_the_explanation_comes_in_four_forms(form: str, mark: str) -> None:
    assert mark in render(built(), form)


def test_the_model_can_be_exported_as_cp_sat_text_and_as_nothing_else() -> None:
    program = built()
    assert "variables" in program.export("cpsat")
    with pytest.raises(InputError, match="cpsat"):
        program.export("lp")
