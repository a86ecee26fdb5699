"""Proofs by parts of a decomposition are certified; no change of their evidence shows more than is so."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import numpy as np
import pytest

from bench.pbqp.random_instance import dense_blocks, grid
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.method import Effort
from mapper.solver.pbqp import proof as producer
from mapper.solver.pbqp.catalogue import METHODS
from mapper.solver.pbqp.exact import decomposition
from mapper.solver.proof import Claim
from mapper.workloads.pbqp.instance import PbqpInstance
from tests.checkers.pbqp.test_check_pbqp import VERDICT


@pytest.fixture(autouse=True)
def parts_of_small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """No elimination of the whole, no tree before parts, and no part that is the whole."""
    monkeypatch.setattr(producer, "LARGEST_TABLE", 1)
    monkeypatch.setattr(producer, "FEW_EDGES", 0)
    monkeypatch.setattr(decomposition, "ENTRIES", 700.0)


def _solved(given: PbqpInstance) -> tuple[PbqpProblem, PbqpAssignment, int]:
    problem = PbqpProblem(given)
    found = METHODS["elimination"].search(problem, Effort())
    assert found.mapping is not None and found.proven and isinstance(found.value, int)
    return problem, found.mapping, found.value


def _bounded(problem: PbqpProblem, best: PbqpAssignment, value: int, bound: int) -> dict[str, Any]:
    made = producer.prove(problem, Claim("bounded", best, value, bound), Effort())
    read: dict[str, Any] = json.loads(json.dumps(made.to_json("pbqp", "instance")))
    return read


def _shown(problem: PbqpProblem, best: PbqpAssignment) -> int:
    """What parts show of an instance."""
    chosen = np.array(best.choice)
    found = decomposition.decomposed(problem.instance, chosen, Effort(), lambda progress: None)
    assert isinstance(found.bound, int)
    return found.bound


@pytest.mark.parametrize("seed", range(3))
def test_parts_are_certified_up_to_what_they_show(seed: int) -> None:
    problem, best, value = _solved(dense_blocks(1, 9, 0, 3, seed))
    bound = _shown(problem, best)
    made = _bounded(problem, best, value, bound)
    assert made["evidence"]["rule"] == "parts" and len(made["evidence"]["parts"][2]) > 1
    assert VERDICT(made)[1] == "certified"
    made["claim"]["bound"] = bound + 1
    assert VERDICT(made)[1] == "refuted"


def test_parts_that_meet_the_value_prove_it() -> None:
    problem, best, value = _solved(grid(5, 5, 3, 4))
    made = producer.prove(problem, Claim("optimal", best, value, value), Effort())
    document = json.loads(json.dumps(made.to_json("pbqp", "instance")))
    assert document["evidence"]["rule"] == "parts" and 0 < len(document["evidence"]["order"]) < 25
    assert VERDICT(document)[1] == "certified"


def test_parts_with_something_missing_are_not_certified() -> None:
    problem, best, value = _solved(dense_blocks(1, 9, 0, 3, 1))
    made = _bounded(problem, best, value, _shown(problem, best))

    def status(change: Any) -> str:
        changed = copy.deepcopy(made)
        change(changed["evidence"]["parts"])
        return VERDICT(changed)[1]

    assert status(lambda parts: parts[2].pop()) == "refuted"
    assert status(lambda parts: parts[2][0][0].pop()) == "refuted"
    assert status(lambda parts: parts[2][0][1].pop()) == "malformed"
    assert status(lambda parts: parts[2][0][2][0][2].pop()) == "malformed"
    assert status(lambda parts: parts.__setitem__(1, 0)) == "malformed"
    assert status(lambda parts: parts[2][0][1][0].__setitem__(0, "9")) == "malformed"


def test_no_change_of_the_evidence_shows_more_than_the_least_cost() -> None:
    problem, best, value = _solved(dense_blocks(1, 7, 0, 3, 2))
    made = _bounded(problem, best, value, _shown(problem, best))
    made["claim"]["bound"] = value + 1
    draw, statuses = random.Random(0), set()
    for _ in range(300):
        changed = copy.deepcopy(made)
        moves, _, parts = changed["evidence"]["parts"]
        for _ in range(draw.randint(1, 4)):
            one = draw.choice(parts)
            kind = draw.randrange(5)
            if kind == 0:
                costs = draw.choice(one[1])
                costs[draw.randrange(3)] += draw.choice([-100_000, 1, 100_000])
            elif kind == 1:
                draw.choice(one[2])[2][draw.randrange(9)] += draw.choice([-100_000, 1, 100_000])
            elif kind == 2:
                one[2].append(copy.deepcopy(draw.choice(one[2])))
            elif kind == 3:
                parts.append(copy.deepcopy(one))
            else:
                draw.choice(moves)[draw.choice([2, 3])][draw.randrange(3)] += draw.choice([-50, 50])
        changed["evidence"]["parts"][1] = draw.choice([1, 1, 2, 1024, 1 << 20])
        statuses.add(VERDICT(changed)[1])
    assert statuses == {"refuted"}
