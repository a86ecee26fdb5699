"""Proofs of real solutions are certified, by the file alone and in process; what has no evidence says why."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mapper.formulations.pe_allocation.problem import Pin
from mapper.models.pe_allocation.cost import evaluate
from mapper.solver.proof import NotCertifiedError, digest
from tests.checkers.pe_allocation.example import CHECKER, UNPLACED, problem_of, proof_of, solved, verdict_on

PAPER: list[tuple[str, str, dict[str, Any], str]] = [
    ("tcpa-4x4", "throughput", {}, "optimal 3125000/3969 fps"),
    ("tcpa-4x5", "throughput", {}, "optimal 1562500/1323 fps"),
    ("tcpa-4x4", "latency", {}, "optimal 66528 cycles"),
    ("tcpa-4x4", "pes", {"longest_interval": 500_000}, "optimal 6 PEs"),
    ("tcpa-4x4", "pes", {"longest_interval": 500_000, "sharing": True}, "optimal 3 PEs"),
    ("tcpa-4x4", "latency", {"sharing": True}, "optimal 66456 cycles"),
    ("tcpa-4x4", "latency", {"free_delta": True}, "optimal 66528 cycles"),
    ("tcpa-4x4", "latency", {"model": "streaming"}, "optimal 76769 cycles"),
    ("tcpa-4x4", "throughput", {"mode": "layer-by-layer"}, "optimal 100000/147 fps"),
    ("tcpa-4x4", "throughput", {"mode": "layer-by-layer", "model": "lanes"}, "optimal 3125000/3479 fps"),
    ("tcpa-4x4", "throughput", {"mode": "mixed"}, "optimal 3125000/3639 fps"),
    ("tcpa-4x4", "latency", {"mode": "mixed"}, "optimal 58224 cycles"),
    ("tcpa-2x2", "throughput", {}, "infeasible"),
    ("tcpa-4x4", "throughput", {"longest_interval": 63_503}, "infeasible"),
    ("tcpa-4x4", "pes", {"max_bytes": 12_067}, "infeasible"),
    ("tcpa-4x4", "latency", {"pins": {"conv0": Pin(pes=17)}}, "infeasible"),
]


@pytest.mark.parametrize(
    ("array", "objective", "options", "said"), PAPER, ids=[f"{a}-{o}-{s}" for a, o, _, s in PAPER]
)
def test_the_papers_network_is_certified(
    array: str, objective: str, options: dict[str, Any], said: str
) -> None:
    document = proof_of(problem_of("mnist-tcpa", array, objective, **options))
    assert verdict_on(document) in (("certified", said), ("certified", said + UNPLACED))
    assert len(json.dumps(document)) < 10_000


@pytest.mark.parametrize("objective", ["throughput", "latency", "pes"])
def test_a_deep_network_is_certified_in_a_second(objective: str) -> None:
    document = proof_of(problem_of("vgg19", "tcpa-16x16", objective))
    begun = time.process_time()
    assert verdict_on(document)[0] == "certified"
    assert time.process_time() - begun < 1
    assert len(json.dumps(document)) < 1_000_000


def test_a_bound_that_is_not_met_is_certified_as_a_bound() -> None:
    problem = problem_of("mnist-tcpa", "tcpa-4x4", "latency")
    found = replace(solved(problem), proven=False, bound=60_000)
    assert verdict_on(proof_of(problem, found)) == (
        "certified",
        "bounded 66528 cycles, bound 60000" + UNPLACED,
    )


def test_the_checker_runs_by_itself(tmp_path: Path) -> None:
    proof = proof_of(problem_of("mnist-tcpa", "tcpa-4x4", "throughput"))
    path = tmp_path / "proofs.json"
    path.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": [proof]}))
    done = subprocess.run([sys.executable, "-I", CHECKER, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith(f"network: certified: optimal 3125000/3969 fps{UNPLACED}\ntrusted: ")


def test_a_claim_that_is_false_has_no_evidence() -> None:
    problem = problem_of("mnist-tcpa", "tcpa-4x4", "latency")
    with pytest.raises(NotCertifiedError, match="nothing that rules out"):
        proof_of(problem, replace(solved(problem), mapping=None, value=None, bound=None))


LINES = [
    ("latency", 20_000, "optimal 76769 cycles"),
    ("latency", 1_000, "infeasible"),
]


@pytest.mark.parametrize(("objective", "room", "said"), LINES)
def test_what_waits_in_line_buffers_is_restated(objective: str, room: int, said: str) -> None:
    problem = problem_of("mnist-tcpa", "tcpa-4x4", objective, model="streaming", max_bytes=room)
    assert verdict_on(proof_of(problem)) in (("certified", said), ("certified", said + UNPLACED))


@pytest.mark.parametrize("network", ["mnist-tcpa", "cifar10"])
def test_line_buffers_need_as_much_as_the_model_counts(network: str) -> None:
    problem = problem_of(network, "tcpa-16x16", "throughput", model="streaming", max_bytes=1 << 30)
    found = solved(problem)
    assert found.mapping is not None
    needed = evaluate(problem.network, problem.machine, found.mapping, "streaming").buffer_bytes
    document = proof_of(problem, found)
    for room, status in ((needed, "certified"), (needed - 1, "refuted")):
        posed = {**document["problem"], "bytes": room}
        assert verdict_on({**document, "problem": posed, "problem_sha256": digest(posed)})[0] == status
