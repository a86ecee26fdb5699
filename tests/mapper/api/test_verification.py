"""What ``verified`` says: the referee accepted a mapping. An answer without one is found or proven, never verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mapper
from mapper.api.solution import Solution
from mapper.api.solving import Search
from mapper.store import Store

IMPOSSIBLE = [
    ("mnist-tcpa", "tcpa-2x2", "auto"),
    ("mnist-tcpa", "tcpa-2x2", "brute-force"),
    ("lenet5", "snowflake-1cc", "dynamic-programming"),
]
"""The snowflake keeps nothing of its first layer's input in Buf: a pin asks for that."""


def solved(workload: str, arch: str, method: str, **named: Any) -> Solution:
    fix = {"conv1.input_resident": "yes"} if workload == "lenet5" else {}
    options = mapper.Options(fix=fix)
    return mapper.solve(workload, arch, None, options, Search(method, workers=1, **named))


@pytest.mark.parametrize(("workload", "arch", "method"), IMPOSSIBLE)
def test_a_proof_that_there_is_no_mapping_is_not_verified(workload: str, arch: str, method: str) -> None:
    solution = solved(workload, arch, method)
    for certificate in (solution.certificate, *(part.certificate for part in solution.shown)):
        assert (certificate.found, certificate.proven, certificate.verified) == (False, True, False)
        assert certificate.value is certificate.bound is None and not certificate.broken
    assert solution.exit_code == 1


def test_a_store_keeps_that_there_is_no_mapping_and_says_it_again_unverified(tmp_path: Path) -> None:
    store = Store(tmp_path / "answers.sqlite")
    solved("mnist-tcpa", "tcpa-2x2", "ilp", store=store)
    (entry,) = store.entries()
    assert entry.proven and entry.mapping is None and entry.certificate["verified"] is False
    again = solved("mnist-tcpa", "tcpa-2x2", "ilp", store=store)
    assert again.certificate.proven and not again.certificate.verified and again.exit_code == 1
    assert len(store.entries()) == 1


def test_a_store_keeps_no_answer_of_which_nothing_is_known(tmp_path: Path) -> None:
    store = Store(tmp_path / "answers.sqlite")
    solution = solved("mnist-tcpa", "tcpa-4x4", "ilp", store=store, time_limit=0.0)
    assert not solution.certificate.found and not solution.certificate.proven
    assert store.entries() == []


def test_methods_side_by_side_say_of_no_mapping_that_it_is_verified(mapper: Any) -> None:
    code, out, _ = mapper(
        "compare", "mnist-tcpa", "--arch", "tcpa-2x2", "--method", "ilp", "--method", "cp-sat", "--json"
    )
    certificates = [row["certificate"] for row in json.loads(out)["rows"]]
    assert [(one["found"], one["proven"], one["verified"]) for one in certificates] == [
        (False, True, False)
    ] * 2
    assert code == 1
