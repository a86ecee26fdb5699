"""Proofs of modulo schedules are certified by a program that has nothing of mapper, and wrong claims are refuted."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mapper.arch.cgra import OPERATION_CLASS, CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE
from mapper.solver.modulo_schedule.proof import prove
from mapper.solver.outcome import Outcome
from mapper.solver.proof import Claim, NotCertifiedError
from mapper.workloads.graph.kernel_source import load_kernel
from mapper.workloads.graph.opcode import ARITY
from tests.checkers.modulo_schedule.checking import (
    CHECKER,
    PATH,
    Document,
    bound_again,
    claim_of,
    proof_of,
    reason,
    status,
)
from tests.formulations.modulo_schedule.test_infeasible import IMPOSSIBLE
from tests.formulations.modulo_schedule.test_parity import TRIANGLE
from tests.formulations.modulo_schedule.test_parity import problem as on_board


def posed(kernel: str, array: str, fixed: int | None = None) -> ModuloProblem:
    machine, _ = load_machine(array)
    assert isinstance(machine, CgraMachine)
    return ModuloProblem(load_kernel(kernel)[0], machine, fixed)


def solved(problem: ModuloProblem) -> Outcome[ModuloSchedule]:
    return ITERATIVE.search(problem, Effort())


AT_THE_BOUND = {
    ("dot", "srp-4x4"): "cycle",
    ("histogram", "srp-2x2"): "cycle",
    ("gemv", "srp-3x3"): "units",
    ("stencil", "srp-3x3"): "cycle",
    ("saturate", "srp-4x4"): "units",
    ("saturate", "mesh-2x2"): "units",
    ("saturate", "left-memory-2x2"): "units",
    ("dot", "wide-4x4"): "cycle",
    ("saturate", "mesh7-4x4"): "units",
}


@pytest.mark.parametrize(("kernel", "array"), AT_THE_BOUND)
def test_a_schedule_at_the_bound_is_certified(kernel: str, array: str) -> None:
    document = proof_of(problem := posed(kernel, array), claim_of(found := solved(problem)))
    assert found.proven
    assert document["evidence"]["bound"]["rule"] == AT_THE_BOUND[kernel, array]
    assert CHECKER.verdict(document) == ("part", "certified", f"optimal {found.value}")
    assert len(json.dumps(document)) < 10_000


def test_the_checker_knows_the_unit_of_every_operation() -> None:
    own = {
        opcode: CHECKER.UNIT.get(opcode, "integer") for opcode in {*OPERATION_CLASS, *CHECKER.UNIT, *ARITY}
    }
    assert own == {opcode: OPERATION_CLASS.get(opcode, "integer") for opcode in own}


def test_memory_ports_and_colours_show_bounds_too() -> None:
    free = posed("conv3x3", "mesh-2x2")
    problem = replace(free, machine=free.machine.model_copy(update={"memory_ports": 1}))
    document = proof_of(problem, claim_of(solved(problem)))
    assert document["evidence"]["bound"] == {"rule": "ports"}
    assert status(document) == "certified"
    problem = on_board("mesh-2x2", *TRIANGLE)
    document = proof_of(problem, claim_of(CONSTRAINT_PROGRAM.search(problem, Effort())))
    assert document["evidence"]["bound"]["rule"] == "parity"
    assert (status(document), reason(document)) == ("certified", "optimal 2")


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_that_no_interval_has_a_schedule_is_certified(name: str) -> None:
    document = proof_of(IMPOSSIBLE[name], Claim("infeasible", None, None, None))
    assert (status(document), reason(document)) == ("certified", "infeasible")


def test_a_fixed_interval_is_attained_or_below_the_bound() -> None:
    problem = posed("dot", "srp-2x2", 5)
    assert reason(proof_of(problem, claim_of(solved(problem)))) == "optimal 5"
    below = proof_of(posed("dot", "srp-2x2", 2), Claim("infeasible", None, None, None))
    assert (status(below), reason(below)) == ("certified", "infeasible")


def test_a_bounded_claim_is_certified_with_and_without_a_schedule() -> None:
    problem = posed("dot", "srp-2x2")
    slow = solved(replace(problem, fixed_ii=5)).mapping
    document = proof_of(problem, Claim("bounded", slow, 5, 3))
    assert (status(document), reason(document)) == ("certified", "bounded 5, at least 3")
    assert reason(proof_of(problem, Claim("bounded", None, None, 2))) == "bounded: no II below 2"


def test_what_cannot_be_shown_is_not_claimed() -> None:
    problem = posed("dot", "srp-2x2")
    with pytest.raises(NotCertifiedError, match="no refutation of II 3"):
        prove(problem, Claim("bounded", None, None, 4), Effort())
    with pytest.raises(NotCertifiedError, match="no II has a schedule"):
        prove(problem, Claim("infeasible", None, None, None), Effort())
    with pytest.raises(NotCertifiedError, match="layer"):
        layer = LayerProblem(None, problem.machine)  # type: ignore[arg-type]
        prove(layer, Claim("bounded", None, None, 1), Effort())


def changed(document: Document, **claim: Any) -> Document:
    return {**document, "claim": {**document["claim"], **claim}}


def test_wrong_claims_are_refuted() -> None:
    document = proof_of(problem := posed("dot", "srp-2x2"), claim_of(solved(problem)))
    assert document["claim"] == {"status": "optimal", "value": 3, "bound": 3}
    assert status(changed(document, value=2, bound=2)) == "refuted"
    assert status(changed(document, value=4, bound=4)) == "refuted"
    assert status(changed(document, bound=2)) == "refuted"
    assert status(changed(document, status="bounded", bound=4)) == "refuted"
    assert status(changed(document, status="bounded", bound=2)) == "certified"
    nothing = {**document, "evidence": {**document["evidence"], "mapping": None}}
    assert status(changed(nothing, status="infeasible", value=None, bound=None)) == "refuted"
    assert status(changed(nothing, status="bounded", value=3)) == "refuted"
    other = proof_of(problem := posed("dot", "srp-3x3"), claim_of(solved(problem)))
    assert status({**document, "problem": other["problem"]}) == "refuted"
    assert status(bound_again({**other, "problem": document["problem"]})) in ("refuted", "malformed")


def written(folder: Path, *proofs: Any) -> Path:
    path = folder / "proof.json"
    path.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": proofs}))
    return path


def test_the_checker_runs_alone(tmp_path: Path) -> None:
    good = proof_of(problem := posed("dot", "srp-2x2"), claim_of(solved(problem)))
    wrong = changed(good, value=2, bound=2)
    for proofs, code in (([good], 0), ([good, wrong], 1), ([good, wrong, {}], 2)):
        command = [sys.executable, "-I", str(PATH), str(written(tmp_path, *proofs))]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (code, "")
        assert ran.stdout.splitlines()[0] == "part: certified: optimal 3"
        assert ran.stdout.splitlines()[-1].startswith("trusted: ")
