"""Proofs given to their checkers: valid ones, changes of them whose problem is bound again, and what an answer is."""

from __future__ import annotations

import importlib
import io
import json
import os
import resource
import signal
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any
from unittest.mock import patch

from tests.fuzz.mutation.byte import mutated_bytes
from tests.fuzz.mutation.document import as_json, mutated_json, mutated_tree
from tests.fuzz.mutation.name import check_text

Document = dict[str, Any]


def checker(kind: str) -> ModuleType:
    """The checker of a kind, as part of mapper, whose lines are watched."""
    return importlib.import_module(f"mapper.checkers.check_{kind}")


def answered(kind: str, path: Path) -> int:
    """The exit code with which a file is answered. Limits, which end a process, are left to this process's guard; what
    it has computed before is not the checker's.

    Raises: AssertionError for an answer that is none.
    """
    module, said = checker(kind), io.StringIO()
    limits = patch.object(resource, "setrlimit"), patch.object(signal, "signal")
    with limits[0], limits[1], patch.object(os, "times", return_value=(0.0,) * 5), redirect_stdout(said):
        found = module.verdicts(str(path), [])
        codes = {module.told(found, str(path), options) for options in ([], ["--json"])}
    assert len(codes) == 1 and codes <= {0, 1, 2, 3}, codes
    check_text(said.getvalue(), "what a checker prints")
    return int(codes.pop())


def shown(kind: str, path: Path) -> None:
    """Raises: AssertionError if a seed is not certified."""
    code = answered(kind, path)
    assert code == 0, code


def mutated(data: bytes, random: Random) -> bytes:
    """A file of proofs with one change in it, mostly with the hash that the problem then has."""
    if random.random() < 0.2:
        return mutated_json(data, random)
    try:
        tree = json.loads(data)
        proof = random.choice(tree["proofs"])
        part = random.choice(("problem", "claim", "evidence", "evidence"))
        proof[part] = mutated_tree(proof[part], random)
        from mapper.solver.proof import digest

        proof["problem_sha256"] = digest(proof["problem"])
        return as_json(tree)
    except Exception:  # whatever comes of text that is no file of proofs any more
        return mutated_bytes(data, random)


def _files(documents: Iterable[Document]) -> tuple[bytes, ...]:
    return tuple(as_json({"schema": "mapper.proofs/1", "proofs": [one]}) for one in documents)


@cache
def algorithm_selection() -> tuple[bytes, ...]:
    from mapper.formulations.algorithm_selection.problem import SelectionProblem
    from tests.checkers.algorithm_selection.test_check_algorithm_selection import _problem, _proof

    least = _problem("lenet5", "dynamap-u200-model")
    slack = _problem("lenet5", "dynamap-u200-paper", 130)
    return _files(map(_proof, (least, slack, SelectionProblem(least.network, "edp"))))


@cache
def hierarchy() -> tuple[bytes, ...]:
    from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
    from mapper.solver.method import Effort
    from tests.checkers.hierarchy.claim import proof_of
    from tests.checkers.hierarchy.test_check_hierarchy import EDP, nothing_fits
    from tests.solver.hierarchy.test_conformance import PROBLEMS

    problems = [EDP, PROBLEMS["little energy"], PROBLEMS["few cycles"]]
    return _files([*(proof_of(one, branch_and_bound(one, Effort())) for one in problems), nothing_fits()])


@cache
def modulo_schedule() -> tuple[bytes, ...]:
    from mapper.solver.proof import Claim
    from mapper.workloads.whole.program import AUTO
    from tests.checkers.modulo_schedule.checking import claim_of, proof_of
    from tests.checkers.modulo_schedule.test_proofs import posed, solved
    from tests.checkers.modulo_schedule.test_whole_proof import proof as whole_proof
    from tests.formulations.modulo_schedule.test_infeasible import IMPOSSIBLE
    from tests.formulations.modulo_schedule.test_parity import TRIANGLE
    from tests.formulations.modulo_schedule.test_parity import problem as on_board

    problems = [posed("dot", "srp-2x2"), posed("saturate", "mesh-2x2")]
    known = [proof_of(one, claim_of(solved(one))) for one in problems]
    known += [proof_of(one, Claim("infeasible", None, None, None)) for one in IMPOSSIBLE.values()]
    known += [whole_proof(), whole_proof(AUTO)]
    return _files([*known, proof_of(on_board("mesh-2x2", *TRIANGLE), Claim("bounded", None, None, 2))])


@cache
def pbqp() -> tuple[bytes, ...]:
    from bench.pbqp.random_instance import grid
    from mapper.formulations.pbqp.problem import PbqpProblem
    from mapper.solver.pbqp import proof as producer
    from tests.checkers.pbqp.test_check_pbqp import _dense, _proof

    problems = [PbqpProblem(_dense(seed, 5)) for seed in range(3)]
    found = [*map(_proof, problems)]
    with patch.object(producer, "LARGEST_TABLE", 1):
        found += map(_proof, problems)
        with patch.object(producer, "FEW_EDGES", 0):
            found.append(_proof(PbqpProblem(grid(4, 4, 2, 1))))
    return _files(found)


@cache
def pe_allocation() -> tuple[bytes, ...]:
    from tests.checkers.pe_allocation.test_mutation import proofs

    return _files(proofs())


@cache
def tiling() -> tuple[bytes, ...]:
    from tests.checkers.tiling.claim import proof_of
    from tests.solver.tiling.small import convolution, matrix_product, problem, small_machine

    problems = [
        problem(matrix_product(), None, "edp"),
        problem(matrix_product(), None, "latency"),
        problem(convolution(), None, "energy"),
        problem(matrix_product(), small_machine(rf_bytes=2)),
    ]
    return _files(map(proof_of, problems))


@cache
def trace_partition() -> tuple[bytes, ...]:
    from tests.checkers.trace_partition.claim import example

    return _files((example(),))


SEEDS: dict[str, Callable[[], tuple[bytes, ...]]] = {
    "algorithm_selection": algorithm_selection,
    "hierarchy": hierarchy,
    "modulo_schedule": modulo_schedule,
    "pbqp": pbqp,
    "pe_allocation": pe_allocation,
    "tiling": tiling,
    "trace_partition": trace_partition,
}
"""By kind."""


def read(kind: str, path: Path) -> None:
    """Raises: AssertionError if a file is not answered."""
    answered(kind, path)
