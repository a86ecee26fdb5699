"""Keys of the store: hashes of a problem's content and of the sources that solve it."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib import metadata
from pathlib import Path

from mapper.api.problem import PosedProblem
from mapper.api.solution import SOLVERS

FLOORS = ("workloads", "arch", "models", "formulations", "solver", "kind")
FILES = ("api/solving.py", "api/verification.py", "store/recall.py")
"""Sources that decide what an answer is: whole folders, and these."""


def content_key(posed: PosedProblem) -> str:
    """The hash of workload, machine, objective and options, as the document holds them, without the names under which
    they were found."""
    document = posed.to_json()
    content = {key: document[key] for key in ("kind", "objective", "options", "machine", "structure")}
    return _hash(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


def problem_key(content: str, place: int, method: str) -> str:
    """The key of the part at ``place`` solved by ``method``, of the problem whose ``content_key`` is given: networks
    have many parts, and the whole is hashed once."""
    return _hash(json.dumps([content, place, method]).encode())


@cache
def version_key() -> str:
    """The hash of mapper's own sources and of the versions of the solvers beneath them: answers of a changed model,
    formulation or search are answers to another question."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    paths = [path for floor in FLOORS for path in sorted((root / floor).rglob("*"))]
    for path in (*paths, *(root / name for name in FILES)):
        if path.suffix in (".py", ".yaml", ".c") and path.is_file():
            digest.update(str(path.relative_to(root)).encode())
            digest.update(path.read_bytes())
    for name in SOLVERS:
        digest.update(f"{name} {metadata.version(name)}".encode())
    return digest.hexdigest()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
