"""Options in a solution document that are of another type or size are refused in one line."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from mapper.api.problem import pose, pose_again
from mapper.workloads.document import InputError


@pytest.fixture(scope="module")
def problem() -> dict[str, Any]:
    return pose("mnist-tcpa", "tcpa-4x4").to_json()


@pytest.mark.parametrize(
    ("option", "value"),
    [("min_throughput", "100"), ("min_throughput", -1), ("min_throughput", 10**400), ("max_pes", 2.5),
     ("max_pes", 0), ("max_pes", True), ("max_buffer", [1]), ("batch", 1 << 80), ("model", 5)],
)  # fmt: skip
def test_an_option_that_is_no_such_number_or_name_is_refused(
    problem: dict[str, Any], option: str, value: Any
) -> None:
    wrong = copy.deepcopy(problem)
    wrong["options"][option] = value
    with pytest.raises(InputError, match=rf"^s\.json: problem\.options\.{option}: must be "):
        pose_again({"schema": "mapper.solution/1", "problem": wrong}, "s.json")


def test_a_machine_of_another_kind_than_the_documents_is_refused(problem: dict[str, Any]) -> None:
    for kind in ("tiling", "algorithm_selection"):
        with pytest.raises(InputError, match=r"^s\.json: problem\.machine: is none of a "):
            pose_again({"schema": "mapper.solution/1", "problem": problem | {"kind": kind}}, "s.json")


def test_the_options_of_a_document_pose_its_problem(problem: dict[str, Any]) -> None:
    limited = copy.deepcopy(problem)
    limited["options"] |= {"min_throughput": 100.5, "max_pes": 12, "max_buffer": 1 << 20}
    posed = pose_again({"schema": "mapper.solution/1", "problem": limited}, "s.json")
    assert posed.options.to_json() == limited["options"]
