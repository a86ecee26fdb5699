"""That an II above the bound has no schedule is refuted step by step, and what has a schedule never is."""

from __future__ import annotations

import json
import time
from collections import Counter
from random import Random

import pytest
from hypothesis import assume, given

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.parity import least_bound
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.modulo_schedule.exact.refutation import refutation, trimmed
from mapper.solver.proof import Claim, NotCertifiedError
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_source import load_kernel
from tests.checkers.modulo_schedule.checking import CHECKER, Document, claim_of, proof_of, status
from tests.checkers.modulo_schedule.mutation import mutated
from tests.solver.modulo_schedule.random_kernel import problems
from tests.solver.modulo_schedule.test_random_kernel import tried
from tests.solver.sample import drawn

TWELVE = (0, 1, 4)
"""Seeds of loops of twelve operations that have no schedule on 2x2 PEs at the bound."""


def twelve(seed: int) -> ModuloProblem:
    rng, edges = Random(seed), []
    for w in range(1, 12):
        for operand in range(1 if rng.random() < 0.5 else 2):
            edges.append(Edge(rng.randrange(w), w, operand))
    edges.append(Edge(11, rng.randrange(12), 9, rng.choice([1, 2])))
    operations = tuple(Operation(f"o{v}", "add") for v in range(12))
    machine = load_machine("mesh-2x2")[0]
    assert isinstance(machine, CgraMachine)
    return ModuloProblem(Kernel("twelve", DataflowGraph("twelve", operations, tuple(edges))), machine)


@pytest.mark.parametrize("seed", TWELVE)
def test_twelve_operations_on_four_pes_have_no_schedule_at_the_bound(seed: int) -> None:
    problem = twelve(seed)
    least = least_bound(problem)
    document = proof_of(problem, Claim("bounded", None, None, least + 1))
    assert document["evidence"]["bound"]["rule"] == "clauses"
    assert CHECKER.verdict(document)[1:] == ("certified", f"bounded: no II below {least + 1}")
    assert len(json.dumps(document)) < 1_000_000


@pytest.mark.parametrize("array", ["mesh-3x3", "torus-3x3"])
def test_a_kernel_on_nine_pes_has_no_schedule_at_the_bound(array: str) -> None:
    machine = load_machine(array)[0]
    assert isinstance(machine, CgraMachine)
    problem = ModuloProblem(load_kernel("bitcount")[0], machine)
    assert least_bound(problem) == 2
    document = proof_of(problem, Claim("bounded", None, None, 3))
    assert CHECKER.verdict(document)[1:] == ("certified", "bounded: no II below 3")
    assert len(json.dumps(document)) < 20_000_000


def test_an_optimum_above_the_bound_is_certified() -> None:
    problem = twelve(4)
    document = proof_of(problem, claim_of(CONSTRAINT_PROGRAM.search(problem, Effort())))
    assert status(document) == "certified"
    assert document["claim"]["value"] > least_bound(problem)


def test_a_changed_refutation_shows_no_more_than_before() -> None:
    document = proof_of(twelve(1), Claim("bounded", None, None, 4))
    rng, found = Random(0), Counter[str]()
    for _ in range(20):
        found[status(mutated(document, rng, ("evidence", "bound", "steps")))] += 1
    assert found["refuted"] + found["malformed"] >= 5, found
    higher: Document = json.loads(json.dumps(document))
    higher["claim"]["bound"] = 5
    assert status(higher) == "refuted"
    higher["evidence"]["bound"]["steps"] *= 2
    assert status(higher) == "refuted"


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_an_interval_with_a_schedule_is_never_refuted(count: int) -> None:
    """The statements hold for every schedule: the solver finds them to agree wherever trying everything finds one."""
    seen = Counter[str]()

    @drawn(count)
    @given(problems(4, 3))
    def holds(problem: ModuloProblem) -> None:
        known = tried(problem)
        assume(known is not None)
        assert known is not None
        document = proof_of(problem, Claim("bounded", None, None, 1))["problem"]
        for ii in range(1, int(known.value or problem.fixed_ii or 3) + 2):
            feasible = known.value is not None and ii >= known.value
            if (
                feasible
                and ii != known.value
                and tried(ModuloProblem(problem.kernel, problem.machine, ii)) is None
            ):
                continue
            if feasible and ii != known.value:
                at = tried(ModuloProblem(problem.kernel, problem.machine, ii))
                feasible = at is not None and at.value is not None
            try:
                refutation(document, ii, Effort(time.monotonic() + 2))
                seen["refuted"] += 1
                assert not feasible, (problem, ii)
            except NotCertifiedError:
                seen["left"] += 1

    holds()
    assert min(seen["refuted"], seen["left"]) >= count // 4, seen


def test_only_what_the_last_step_rests_on_is_kept() -> None:
    lrat = "3 -1 0 1 2 0\n3 d 1 0\n5 7 0 1 0\n6 0 3 4 0\n7 8 0 1 0"
    assert trimmed(lrat, 3) == [[-1, 0, 0, 1], [0, 3, 2]]
