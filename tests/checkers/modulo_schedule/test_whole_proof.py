"""The sum of a whole kernel's cycles is certified from its loops, and nothing else that a proof might say is."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.catalogue import METHODS
from mapper.solver.modulo_schedule.proof import prove
from mapper.solver.modulo_schedule.whole.loop_by_loop import search_whole
from mapper.solver.proof import Claim, NotCertifiedError
from mapper.workloads.c.whole.kernel import whole_from_c
from mapper.workloads.whole.program import AUTO, HOST
from tests.checkers.modulo_schedule.checking import Document, bound_again, reason, status

TEXT = (
    "void f(float a, float m[24][24], float x[24], float y[24]) { int i, j; for (i = 0; i < 24; i++) y[i] = 0.0f; "
    "for (i = 0; i < 24; i++) { float s = a; for (j = 0; j < i; j++) s += m[i][j] * x[j]; y[i] = s; } }"
)


@cache
def posed(nest: str) -> tuple[WholeProblem, Claim[Any]]:
    machine, _ = load_machine("srp-4x4")
    assert isinstance(machine, CgraMachine)
    problem = WholeProblem(whole_from_c(TEXT, "f.c", "f", "f", nest=nest)[0], machine)
    found = search_whole(METHODS["iterative"], problem, Effort())
    assert found.proven and found.mapping is not None
    return problem, Claim("optimal", found.mapping, found.value, found.bound)


@cache
def written(nest: str) -> str:
    problem, claim = posed(nest)
    return json.dumps(prove(problem, claim, Effort()).to_json("modulo_schedule", "f"))


def proof(nest: str = HOST) -> Document:
    found: Document = json.loads(written(nest))
    return found


@pytest.mark.parametrize("nest", [HOST, AUTO])
def test_the_sum_over_all_loops_is_certified(nest: str) -> None:
    assert (status(proof(nest)), reason(proof(nest))) == ("certified", "optimal 2175")


@pytest.mark.parametrize("change", [-1, 1])
def test_no_other_sum_is(change: int) -> None:
    other = proof()
    other["claim"]["value"] += change
    assert status(other) == "refuted"
    other["claim"]["bound"] += change
    assert status(other) == "refuted"
    more = proof()
    more["claim"] = {"status": "bounded", "value": 2175, "bound": 2175 + abs(change)}
    assert status(more) == "refuted"


def test_what_is_counted_otherwise_takes_other_cycles() -> None:
    choice = proof()["problem"]["choices"][0]
    counts: list[tuple[Any, str]] = [("host", name) for name in choice["host"]]
    counts += [(number, name) for number in (0, 1) for name in ("starts", "iterations", "results", "values")]
    for place, name in counts:
        other = proof()
        holder = other["problem"]["choices"][0]
        (holder["host"] if place == "host" else holder["loops"][place])[name] += 1
        assert status(other) == "refuted", name  # the hash is of the problem as it was
        assert status(bound_again(other)) in ("refuted", "malformed"), name


def test_schedules_and_evidence_are_those_of_their_loops() -> None:
    for key in ("mapping", "bound"):
        other = proof()
        listed = other["evidence"][key] if key == "mapping" else other["evidence"][key][0]
        listed.reverse()
        assert status(other) != "certified"
        listed.pop()
        assert status(other) == "malformed"


def test_fewer_stages_than_the_longest_path_needs_break_a_rule() -> None:
    other = proof()
    for placement in other["evidence"]["mapping"][1]["placements"]:
        placement[1] = min(placement[1], 3)
    assert status(other) == "refuted"


def test_more_than_the_loops_add_up_to_is_not_claimed_to_be_shown() -> None:
    problem, claim = posed(HOST)
    with pytest.raises(NotCertifiedError, match="only 2,175 cycles can be shown"):
        prove(problem, replace(claim, bound=2176), Effort())
