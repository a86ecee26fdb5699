"""Proofs of tilings that were solved, as files that the checker reads alone, and what a hostile file comes to."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mapper.arch.dataflow import DataflowMachine
from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import OBJECTIVES, Objective, TilingProblem
from mapper.models.tiling.cost import evaluate
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.heuristic.annealing import annealing
from mapper.solver.tiling.proof import prove, restated
from mapper.workloads.source import load_network
from tests.checkers.tiling.claim import CHECKER, Document, bound_again, claim_of, proof_of, verdict
from tests.solver.tiling.small import matrix_product, problem, recurrence, small_machine

LAYERS = ("conv1", "conv2_2", "conv3_2", "conv4_2", "conv5_1", "conv5_2")
BYTES, SECONDS = 100_000, 10.0


def layer_problem(name: str, machine: str, objective: Objective) -> TilingProblem:
    layers = {layer.name: layer.nest for layer in load_network("resnet-dmazerunner").layers}
    read, _ = load_machine(machine)
    assert isinstance(read, DataflowMachine)
    return TilingProblem(layers[name], read, objective)


def checked_alone(proofs: list[Document], folder: Path) -> tuple[int, str]:
    """Exit code and output of the checker as a program without mapper."""
    path = folder / "proofs.json"
    path.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": proofs}))
    done = subprocess.run([sys.executable, "-I", CHECKER, path], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


def test_three_objectives_of_a_layer_are_certified_by_the_checker_alone(tmp_path: Path) -> None:
    proofs = [proof_of(layer_problem("conv5_2", "dmazerunner-256", objective)) for objective in OBJECTIVES]
    code, said = checked_alone(proofs, tmp_path)
    assert code == 0, said
    assert said.count("certified: optimal") == 3
    assert "6844957271165824" in said and "trusted: cost model" in said
    assert len(json.dumps(proofs)) < 3 * BYTES


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("machine", ["dmazerunner-256", "eyeriss-168-tiles"])
@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_of_the_paper_is_certified(layer: str, machine: str, objective: Objective) -> None:
    proof = proof_of(layer_problem(layer, machine, objective))
    assert len(json.dumps(proof)) < BYTES
    began = time.process_time()
    said, reason = verdict(proof)
    assert said == "certified", reason
    assert time.process_time() - began < SECONDS or machine != "dmazerunner-256"


@pytest.mark.parametrize("exposed", [True, False])
def test_a_proof_of_before_the_rule_of_leaving_sums_had_a_name_is_of_exposed_ones(exposed: bool) -> None:
    rule = "exposed" if exposed else "buffered"
    machine = small_machine(rules={"leaving_sums": rule}, dma={"initiation_cycles": 0, "cycles_per_byte": 0})
    proof = proof_of(problem(matrix_product(2, 3, 4), machine, "latency"))
    del proof["problem"]["machine"]["leaving_sums"]
    assert verdict(bound_again(proof))[0] == ("certified" if exposed else "refuted")


def test_one_more_or_less_is_refuted_on_a_layer_of_the_paper() -> None:
    true = proof_of(layer_problem("conv5_2", "dmazerunner-256", "edp"))
    value = true["claim"]["value"]
    for claim in (
        {"status": "optimal", "value": value - 1, "bound": value - 1},
        {"status": "optimal", "value": value, "bound": value - 1},
        {"status": "optimal", "value": value + 1, "bound": value + 1},
        {"status": "bounded", "value": value + 1, "bound": value},
        {"status": "infeasible", "value": value, "bound": value},
    ):
        assert verdict({**true, "claim": claim})[0] != "certified"


def test_a_mapping_that_is_not_the_best_is_refuted_and_its_bound_is_certified() -> None:
    posed = layer_problem("conv5_2", "dmazerunner-256", "latency")
    best = BRANCH_AND_BOUND.search(posed, Effort())
    found = annealing(200).search(posed, Effort()).mapping
    assert found is not None and best.value is not None
    assert posed.value(evaluate(posed.nest, posed.machine, found)) > best.value
    said, reason = verdict(claim_of(posed, found))
    assert (said, reason[:30]) == ("refuted", "there is a better mapping: RF ")
    assert verdict(claim_of(posed, found, best.value))[0] == "certified"
    assert verdict(claim_of(posed, found, best.value + 1))[0] == "refuted"


def test_what_fits_nowhere_is_certified_infeasible() -> None:
    proof = proof_of(problem(matrix_product(), small_machine(rf_bytes=4)))
    assert proof["claim"] == {"status": "infeasible", "value": None, "bound": None}
    assert verdict(proof)[0] == "certified"


def test_pins_are_part_of_what_is_certified() -> None:
    free, pinned = problem(matrix_product()), problem(matrix_product(), K__rf="1", order__spm="K,J")
    proof = proof_of(pinned)
    assert proof["problem"]["factors"]["rf"] == {"K": [1]}
    assert proof["claim"]["value"] > proof_of(free)["claim"]["value"]
    assert verdict(proof)[0] == "certified"
    unpinned = bound_again({**proof, "problem": proof_of(free)["problem"]})
    assert verdict(unpinned)[0] == "refuted"


def test_a_loop_that_carries_a_dependence_has_one_pe() -> None:
    proof = proof_of(problem(recurrence()))
    assert proof["problem"]["factors"]["spatial"] == {"i": [1]}
    assert verdict(proof)[0] == "certified"


def test_dependences_that_run_backwards_are_not_certified() -> None:
    posed = problem(recurrence(i=1, j=-1))
    assert restated(posed) is None
    with pytest.raises(NotCertifiedError, match="runs backwards"):
        prove(posed, Claim("infeasible", None, None, None), Effort())


def test_too_large_a_lattice_is_not_certified() -> None:
    proof = proof_of(problem(matrix_product()))
    large = {**proof["problem"], "loops": {loop: 735134400 for loop in ("I", "J", "K")}}
    said, reason = verdict(bound_again({**proof, "problem": large}))
    assert said == "malformed"
    large["loops"] = dict.fromkeys(("I", "J", "K"), 55440)
    free = {"status": "infeasible", "value": None, "bound": None}
    evidence = {"rule": "boxes", "mapping": None}
    said, reason = verdict(bound_again({**proof, "problem": large, "claim": free, "evidence": evidence}))
    assert (said, reason) == ("not certified", "has 1728000 tiles, too many to look at each")


def _changed(document: Document, path: str, value: Any) -> Document:
    changed = json.loads(json.dumps(document))
    *steps, last = path.split(".")
    place = changed
    for step in steps:
        place = place[int(step)] if step.isdigit() else place[step]
    place[last] = value
    return bound_again(changed)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("problem.loops.I", 0),
        ("problem.loops.I", True),
        ("problem.loops.I", "2"),
        ("problem.loops.I", 1 << 40),
        ("problem.loops", {}),
        ("problem.loops", []),
        ("problem.loops", {f"L{n}": 2 for n in range(40)}),
        ("problem.operands", []),
        ("problem.operands.0.access", "read"),
        ("problem.operands.1.access", "write"),
        ("problem.operands.0.index", [{"Q": 1}, {"I": 1}]),
        ("problem.operands.0.extents", [1]),
        ("problem.operands.0.zero_initialised", 1),
        ("problem.machine.rows", -1),
        ("problem.machine.rows", 10**400),
        ("problem.machine.clock_mhz", 0),
        ("problem.machine.dma_clock_mhz", 0),
        ("problem.machine.networks", []),
        ("problem.machine.networks", [{"carries": "read", "width_words": 1}]),
        ("problem.machine.energy_pj.noc", -1),
        ("problem.machine.energy_pj.noc", "2/4"),
        ("problem.machine.energy_pj.noc", 0.5),
        ("problem.machine.energy_pj.noc", "1/" + "3" * 900),
        ("problem.machine.unknown", 1),
        ("problem.innermost.spm", ["Q"]),
        ("problem.factors.rf", {"I": [0]}),
        ("problem.objective", nested(100)),
        ("evidence.mapping.tiling.I", [1, 1, 1, 2]),
        ("evidence.mapping.tiling.I", None),
        ("evidence.mapping.order.spm", [["I"], "J", "K"]),
        ("evidence.rule", "trust me"),
        ("evidence.hint", 1),
        ("claim.value", None),
        ("claim.bound", "1e9"),
    ],
)
def test_a_hostile_file_is_malformed_at_once(path: str, value: Any) -> None:
    hostile = _changed(proof_of(problem(matrix_product())), path, value)
    began = time.process_time()
    assert verdict(hostile)[0] in ("malformed", "refuted")
    assert time.process_time() - began < 1


@pytest.mark.parametrize("text", ["", "[" * 100_000, '{"schema": NaN}', '{"a": 1, "a": 2}', "1e999", "\xff"])
def test_what_is_no_proof_ends_with_exit_code_2(text: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_text(text, encoding="latin-1")
    done = subprocess.run([sys.executable, "-I", CHECKER, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "")
