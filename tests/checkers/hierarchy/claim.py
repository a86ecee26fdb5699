"""Claims about mappings onto hierarchies as documents, and what the checker says of them."""

from __future__ import annotations

import importlib.util
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.proof import prove
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.proof import Claim, Status, digest

CHECKER = Path(__file__).parents[3] / "checkers" / "check_hierarchy.py"
Document = dict[str, Any]


@lru_cache(maxsize=1)
def checker() -> Any:
    """The checker as a module."""
    spec = importlib.util.spec_from_file_location("check_hierarchy", CHECKER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verdict(document: Any) -> tuple[str, str]:
    """Status and reason, of a document that has been a file."""
    _, status, reason = checker().verdict(json.loads(json.dumps(document)))
    return status, reason


def proof_of(problem: HierarchyProblem, outcome: Outcome[HierarchyMapping]) -> Document:
    """The proof of an outcome."""
    status: Status = "bounded" if not outcome.proven else "optimal" if outcome.mapping else "infeasible"
    return claim_of(problem, outcome.mapping, status, outcome.bound)


def claim_of(
    problem: HierarchyProblem, mapping: HierarchyMapping | None, status: Status, bound: float | None = None
) -> Document:
    """The proof that would be of a claim."""
    return prove(problem, Claim(status, mapping, 0, bound), Effort()).to_json("hierarchy", "layer")


def bound_again(document: Document) -> Document:
    """The document with the hash of the problem that it holds."""
    return {**document, "problem_sha256": digest(document["problem"])}
