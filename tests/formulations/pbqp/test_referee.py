"""The referee of PBQP assignments, pins, documents of answers, and why there is none."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from mapper.formulations.pbqp.infeasible import why_infeasible
from mapper.formulations.pbqp.problem import PbqpProblem, pbqp_problem
from mapper.formulations.pbqp.program.cp_sat import PbqpConstraintProgram
from mapper.formulations.pbqp.program.ilp import PbqpProgram
from mapper.formulations.pbqp.referee.verify import CHOSEN, FINITE, MOST_NAMED, PINNED, verify
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.models.pbqp.mapping_file import assignment_from_json
from mapper.workloads.document import InputError
from mapper.workloads.pbqp.instance import PbqpInstance, instance
from tests.solver.pbqp.oracle import brute_force, instances

SMALL = instance([[1, 2], [3, math.inf]], [(0, 1, [[1, 2], [math.inf, 4]])])


def test_a_good_assignment_gets_its_value() -> None:
    verdict = verify(PbqpProblem(SMALL), PbqpAssignment((0, 0)))
    assert (verdict.broken, verdict.cost) == ((), 5)


@pytest.mark.parametrize(
    ("choice", "rule", "place"),
    [
        ((0,), CHOSEN, "choice"),
        ((0, 2), CHOSEN, "vertex 1"),
        ((-1, 0), CHOSEN, "vertex 0"),
        ((0, 1), FINITE, "vertex 1"),
        ((1, 0), FINITE, "edge 0 1"),
    ],
)
def test_every_broken_rule_is_named_with_its_place(choice: tuple[int, ...], rule: str, place: str) -> None:
    verdict = verify(PbqpProblem(SMALL), PbqpAssignment(choice))
    assert verdict.cost is None
    assert (verdict.broken[0].rule, verdict.broken[0].place) == (rule, place)


def test_a_pin_that_is_not_kept_is_broken_but_costed() -> None:
    verdict = verify(pbqp_problem(SMALL, {"0": 1}), PbqpAssignment((0, 0)))
    assert [rule.rule for rule in verdict.broken] == [PINNED] and verdict.cost == 5


def test_many_broken_rules_are_counted_in_the_last() -> None:
    many = instance([[0]] * 500)
    verdict = verify(PbqpProblem(many), PbqpAssignment((1,) * 500))
    assert len(verdict.broken) == MOST_NAMED and verdict.broken[-1].size == 500 - MOST_NAMED + 1


@pytest.mark.parametrize("fixed", [{"2": 0}, {"x": 0}, {"0": 2}, {"0": "-1"}, {"-1": 0}])
def test_a_pin_that_names_nothing_is_refused(fixed: dict[str, object]) -> None:
    with pytest.raises(InputError, match="--fix"):
        pbqp_problem(SMALL, fixed)


def test_an_assignment_is_read_back_from_its_document() -> None:
    assignment = PbqpAssignment((1, 0))
    assert assignment.to_json() == {"choice": {"0": 1, "1": 0}}
    assert assignment_from_json(assignment.to_json(), SMALL, "a") == assignment


@pytest.mark.parametrize(
    "document",
    [{}, {"choice": [0, 0]}, {"choice": {"0": 0}}, {"choice": {"0": 0, "1": True}},
     {"choice": {"0": 0, "1": 0, "2": 0}}, {"choice": {"0": 0, "1": 0, "01": 0}}],
)  # fmt: skip
def test_a_document_that_is_no_assignment_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(InputError):
        assignment_from_json(document, SMALL, "a")


def test_a_vertex_whose_choices_are_all_infinite_is_named() -> None:
    assert "vertex 1 has no choice" in (why_infeasible(PbqpProblem(instance([[1], [math.inf] * 2]))) or "")


def test_a_vertex_that_its_edges_leave_without_a_choice_is_named() -> None:
    closed = instance([[1, 2], [3, 4]], [(0, 1, [[math.inf] * 2] * 2)])
    assert "vertex 0 has no choice" in (why_infeasible(PbqpProblem(closed)) or "")


@settings(derandomize=True, deadline=None)
@given(instances())
def test_what_is_called_impossible_has_no_finite_assignment(problem: PbqpInstance) -> None:
    if why_infeasible(PbqpProblem(problem)) is not None:
        assert brute_force(problem) is None


def test_the_program_counts_what_this_instance_has_and_can_be_exported() -> None:
    program = PbqpProgram(PbqpProblem(SMALL))
    counts = {built.part.name: built for built in program.build()}
    assert counts["chosen"].variables == 3 and counts["paired"].variables == 3
    assert counts["one_choice"].constraints == 2 and counts["rows"].constraints == 2
    assert "x_0_1" in program.export("lp")
    constraint = PbqpConstraintProgram(PbqpProblem(SMALL))
    constraint.build()
    assert "x_0_1" in constraint.export("cpsat")
