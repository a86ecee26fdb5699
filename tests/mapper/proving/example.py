"""A proof of every kind, and of every rule that is told in words of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mapper
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.solver.method import Effort
from mapper.solver.pbqp import proof as pbqp_proof
from mapper.solver.pbqp.catalogue import METHODS
from mapper.solver.proof import Claim
from mapper.workloads.pbqp.instance import instance
from tests.checkers.hierarchy.test_check_hierarchy import nothing_fits
from tests.checkers.modulo_schedule.checking import claim_of, proof_of
from tests.checkers.modulo_schedule.test_proofs import posed, solved
from tests.checkers.modulo_schedule.test_refutations import twelve
from tests.checkers.pe_allocation.example import problem_of
from tests.checkers.pe_allocation.example import proof_of as allocation_proof
from tests.checkers.trace_partition.claim import example as chain
from tests.formulations.modulo_schedule.test_infeasible import IMPOSSIBLE
from tests.formulations.modulo_schedule.test_parity import TRIANGLE
from tests.formulations.modulo_schedule.test_parity import problem as on_board

Document = dict[str, Any]


def _certified(workload: str, arch: str, objective: str | None = None) -> Document:
    return mapper.certify(mapper.solve(workload, arch, objective=objective))[0]


def _pbqp() -> Document:
    problem = PbqpProblem(
        instance([[3, 1], [0, 4], [2, 2]], [(0, 1, [[0, 5], [2, 0]]), (1, 2, [[1, 0], [0, 6]])])
    )
    found = METHODS["auto"].search(problem, Effort())
    claim = Claim("optimal", found.mapping, found.value, found.bound)
    return pbqp_proof.prove(problem, claim, Effort()).to_json("pbqp", "instance")


def _parity() -> Document:
    problem = on_board("mesh-2x2", *TRIANGLE)
    found = solved(problem)
    return proof_of(problem, Claim("bounded", found.mapping, found.value, 2))


def _units() -> Document:
    problem = posed("saturate", "mesh-2x2")
    return proof_of(problem, claim_of(solved(problem)))


PROOFS: dict[str, Callable[[], Document]] = {
    "tiling": lambda: _certified("resnet-dmazerunner/conv5_2", "dmazerunner-256"),
    "cycle": lambda: _certified("gemm", "srp-4x4"),
    "units": _units,
    "parity": _parity,
    "clauses": lambda: proof_of(twelve(4), Claim("bounded", None, None, 4)),
    "impossible": lambda: proof_of(next(iter(IMPOSSIBLE.values())), Claim("infeasible", None, None, None)),
    "allocation": lambda: allocation_proof(problem_of("mnist-tcpa", "tcpa-8x8", "throughput")),
    "allocation, latency": lambda: allocation_proof(problem_of("mnist-tcpa", "tcpa-8x8", "latency")),
    "selection": lambda: _certified("lenet5", "dynamap-u200-model"),
    "selection, engines": lambda: _certified("lenet5", "dynamap-u200"),
    "pbqp": _pbqp,
    "hierarchy": lambda: _certified("resnet-dmazerunner/conv5_2", "gemmini-16"),
    "hierarchy, nothing fits": nothing_fits,
    "chain": chain,
}


@cache
def proof(name: str) -> Document:
    """One of ``PROOFS``, as a file would hold it."""
    found: Document = json.loads(json.dumps(PROOFS[name]()))
    return found


def written(folder: Path, *proofs: Any) -> Path:
    """A file of proofs."""
    path = folder / "proofs.json"
    path.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": proofs}))
    return path
