"""A proof that was tampered with is accepted only where what it claims is true all the same."""

from __future__ import annotations

import random
from typing import Any

import pytest

from mapper.formulations.tiling.problem import OBJECTIVES
from mapper.solver.tiling.catalogue import METHODS
from tests.checkers.tiling.claim import bound_again, claim_of, holds, proof_of, verdict
from tests.checkers.tiling.mutation import mutated
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.small import convolution, matrix_product, padded, problem, small_machine

FREE: dict[str, Any] = {
    "rules": {"partial_sums": "first_visit_free", "energy": "exact"},
    "noc": {"reduction": "mesh"},
}
PROBLEMS = [
    *(problem(matrix_product(2, 2, 4), objective=objective) for objective in OBJECTIVES),
    problem(convolution(), small_machine(rf={"double_buffered": False}, **FREE)),
    problem(matrix_product(2, 3, 2), K__rf="2"),
    padded(problem(matrix_product(1, 2, 3))),
    padded(problem(matrix_product(1, 3, 2), small_machine(rf={"double_buffered": False}, **FREE), "latency")),
    problem(matrix_product(), small_machine(rf_bytes=4)),
]


@pytest.mark.parametrize("count", [12, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_changed_proof_is_accepted_only_if_its_claim_still_holds(count: int) -> None:
    draw = random.Random(17)
    proofs = [proof_of(posed, METHODS["branch-and-bound"]) for posed in PROBLEMS]
    bounded = [claim_of(posed, next(mappings(posed)), 1) for posed in PROBLEMS[:-1]]
    accepted = 0
    for turn in range(count):
        proof = draw.choice(proofs + bounded)
        changed = mutated(proof, draw)
        if turn % 5 and "problem" in changed:
            changed = bound_again(changed)
        if verdict(changed)[0] != "certified":
            continue
        accepted += 1
        assert changed["problem_sha256"] == bound_again(changed)["problem_sha256"]
        assert holds(changed) is not False, (proof, changed)
    assert 0 < accepted < count / 2


def test_the_evidence_for_another_problem_is_refuted() -> None:
    one, other = proof_of(PROBLEMS[0]), proof_of(PROBLEMS[4])
    assert verdict({**one, "evidence": other["evidence"]})[0] == "refuted"
    assert verdict({**one, "problem": other["problem"]})[0] == "refuted"
    assert verdict({**one, "problem_sha256": other["problem_sha256"]})[0] == "refuted"
