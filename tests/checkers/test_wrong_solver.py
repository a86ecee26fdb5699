"""False proofs that solvers once gave are refuted, each with the evidence that its solver would give."""

from __future__ import annotations

import copy
import importlib.util
import json
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.proof import restated as restated_loop
from mapper.solver.pbqp import proof as pbqp_proof
from mapper.solver.pbqp.exact import branch_and_bound
from mapper.solver.proof import Claim, digest
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.pbqp.file import read_pbqp
from mapper.workloads.pbqp.instance import instance
from tests.checkers.modulo_schedule.checking import CHECKER as MODULO
from tests.checkers.modulo_schedule.checking import claim_of as schedule_claim
from tests.checkers.modulo_schedule.checking import proof_of as schedule_proof
from tests.checkers.modulo_schedule.test_proofs import posed, solved
from tests.checkers.pe_allocation.example import problem_of, verdict_on
from tests.checkers.pe_allocation.example import proof_of as allocation_proof
from tests.checkers.tiling import claim as tiling
from tests.checkers.wrong_module import patched
from tests.solver.pbqp.test_bound import SMALL
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.test_bound import strided, wide_and_dear_noc

Document = dict[str, Any]
ROOT = Path(__file__).parents[2]


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pbqp_status(document: Document) -> str:
    return str(loaded(ROOT / "checkers/check_pbqp.py").verdict(json.loads(json.dumps(document)))[1])


def pbqp_document(problem: PbqpProblem, choice: Any, value: int) -> Document:
    claim = Claim("optimal", PbqpAssignment(tuple(map(int, choice))), value, value)
    return pbqp_proof.prove(problem, claim, Effort()).to_json("pbqp", "instance")


FALSE_PRUNE = (
    "        if smaller.core is None:\n            break\n",
    "        if constant >= best:\n            return None\n        if smaller.core is None:\n            break\n",
)
"""What is decided already is taken for a bound, while a core is left that costs less than nothing."""


@pytest.mark.parametrize("largest_table", [None, 1], ids=["elimination", "tree"])
def test_a_prune_that_is_none_is_found_out(
    largest_table: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "small.in"
    file.write_text(SMALL)
    problem = PbqpProblem(read_pbqp(file)[0])
    right, wrong = branch_and_bound, patched(branch_and_bound, *FALSE_PRUNE, tmp_path)
    known = next(
        choice for choice in map(_choice(problem), range(1000)) if problem.pinned.value(choice) == -128
    )
    said = wrong.branch_and_bound(problem.pinned, known, Effort(), lambda progress: None)
    assert (said.value, said.stop) == (-128, "complete")
    assert right.branch_and_bound(problem.pinned, known, Effort(), lambda progress: None).value == -139
    if largest_table is None:
        document = pbqp_document(problem, said.choice, -128)
    else:
        # The tree of the true proof, with the claim of the false one.
        monkeypatch.setattr(pbqp_proof, "LARGEST_TABLE", largest_table)
        true = right.branch_and_bound(problem.pinned, known, Effort(), lambda progress: None)
        document = pbqp_document(problem, true.choice, -139)
        assert document["evidence"]["rule"] == "tree" and pbqp_status(document) == "certified"
        document["claim"] |= {"value": -128, "bound": -128}
        document["evidence"]["choices"] = [int(one) for one in said.choice]
    assert pbqp_status(document) == "refuted"
    document["claim"] |= {"status": "bounded", "bound": -138}
    assert pbqp_status(document) == "refuted"
    document["claim"] |= {"bound": -139}
    assert pbqp_status(document) == "certified"


def _choice(problem: PbqpProblem) -> Callable[[int], Any]:
    def drawn(seed: int) -> Any:
        draw = random.Random(seed)
        return np.array([draw.randrange(int(many)) for many in problem.pinned.choices], np.int64)

    return drawn


@pytest.mark.parametrize("seed", range(5))
def test_costs_that_doubles_take_for_the_same_are_told_apart(seed: int) -> None:
    """Near 2^58 a double leaves out 64 numbers of 65; a proof by such bounds is off by a few."""
    draw = random.Random(seed)

    def row() -> list[int | float]:
        return [(1 << 52) + draw.randrange(-9, 9) for _ in range(3)]

    edges = [(u, v, [row() for _ in range(3)]) for v in range(4) for u in range(v)]
    problem = PbqpProblem(instance([row() for _ in range(4)], edges))
    choices = [(a, b, c, d) for a in range(3) for b in range(3) for c in range(3) for d in range(3)]
    values = {one: int(problem.pinned.value(np.array(one, np.int64)) or 0) for one in choices}
    best = min(values, key=values.__getitem__)
    document = pbqp_document(problem, best, values[best])
    assert pbqp_status(document) == "certified"
    document["claim"] |= {"bound": values[best] + 1, "status": "bounded"}
    assert pbqp_status(document) == "refuted"
    for other in (one for one in choices if values[best] < values[one] < values[best] + 8):
        assert pbqp_status(pbqp_document(problem, other, values[other])) == "refuted"


def test_a_noc_that_is_charged_for_gaps_is_found_out() -> None:
    problem = TilingProblem(strided(), wide_and_dear_noc(), "edp")
    best = BRUTE_FORCE.search(problem, Effort())
    assert best.value is not None and round(best.value) == 2972
    false = next(
        mapping for mapping in mappings(problem)
        if not (checked := verify(problem, mapping)).broken
        and checked.cost is not None and round(problem.exact_value(checked.cost)) == 4398
    )  # fmt: skip
    assert tiling.verdict(tiling.proof_of(problem, BRUTE_FORCE))[0] == "certified"
    status, reason = tiling.verdict(tiling.claim_of(problem, false))
    assert status == "refuted" and "there is a better mapping" in reason
    assert tiling.verdict(tiling.claim_of(problem, false, 2973))[0] == "refuted"
    assert tiling.verdict(tiling.claim_of(problem, false, 2900))[0] == "certified"


def schedule_status(document: Document) -> tuple[str, str]:
    document["problem_sha256"] = digest(document["problem"])
    _, status, reason = MODULO.verdict(json.loads(json.dumps(document)))
    return status, reason


@pytest.mark.parametrize("bound", [
    {"rule": "fixed"}, {"rule": "ports"}, {"rule": "survival", "iterations": 4},
    {"rule": "clauses", "below": {"rule": "fixed"}, "steps": [[[0]]]},
    {"rule": "clauses", "below": {"rule": "fixed"}, "steps": [[]]},
    {"rule": "clauses", "below": {"rule": "fixed"}, "steps": [[[0, 0, 1, 2, 3]]]},
], ids=str)  # fmt: skip
def test_what_was_left_undecided_is_not_impossible(bound: Document) -> None:
    """A search that leaves a try undecided and takes it for impossible says so of an II that has a schedule."""
    free = schedule_proof(problem := posed("dot", "srp-2x2"), schedule_claim(solved(problem)))
    assert free["claim"]["value"] == 3
    document = copy.deepcopy(free)
    document["problem"]["fixed_ii"] = 3
    document["claim"] = {"status": "infeasible", "value": None, "bound": None}
    document["evidence"] |= {"mapping": None, "bound": bound}
    assert schedule_status(document)[0] in ("refuted", "not certified")
    document["claim"] = {"status": "bounded", "value": None, "bound": 4}
    assert schedule_status(document)[0] in ("refuted", "not certified")


def test_an_edge_without_latency_gives_no_second_slot() -> None:
    """Both operations in one cycle is what the edge allows; on one PE it is one too many, on two their links hold."""
    operations = (Operation("a", "add"), Operation("b", "add"))
    graph = DataflowGraph("pair", operations, (Edge(0, 1, 0, 0, 0),))
    problem = posed("dot", "srp-2x2")
    loop = type(problem)(Kernel("pair", graph), problem.machine)
    document = schedule_proof(problem, schedule_claim(solved(problem)))
    document["problem"] = json.loads(json.dumps(restated_loop(loop)))
    document["claim"] = {"status": "optimal", "value": 1, "bound": 1}
    document["evidence"] |= {"bound": {"rule": "ports"}}
    for other, said in ((0, "refuted"), (1, "certified")):
        document["evidence"]["mapping"] = {"ii": 1, "placements": [[0, 0], [other, 0]], "routes": [[None]]}
        assert schedule_status(document)[0] == said
    document["evidence"]["mapping"]["placements"] = [[0, 0], [0, 0]]
    assert schedule_status(document)[1] == "PE 0 issues two in cycle 0"


@pytest.mark.parametrize("off", [-1, 1])
@pytest.mark.parametrize("objective", ["latency", "pes"])
@pytest.mark.parametrize("model", ["calculus", "streaming"])
def test_an_allocation_that_is_off_by_one_is_found_out(model: str, objective: str, off: int) -> None:
    limit = {"longest_interval": 500_000} if objective == "pes" else {}
    document = allocation_proof(problem_of("mnist-tcpa", "tcpa-4x4", objective, model=model, **limit))
    assert verdict_on(document)[0] == "certified"
    value = document["claim"]["value"]
    wrong = copy.deepcopy(document)
    wrong["claim"] |= {"value": value + off, "bound": value + off}
    assert verdict_on(wrong)[0] == "refuted"
    wrong = copy.deepcopy(document)
    wrong["claim"] |= {"status": "bounded", "bound": value + 1}
    assert verdict_on(wrong)[0] == "refuted"
