"""Keys of the store: hashes of a problem's content and of the sources that solve it."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib import metadata
from pathlib import Path

from mapper import kind
from mapper.api.problem import PosedProblem
from mapper.api.solution import SOLVERS

ROOT = Path(__file__).parent.parent
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


def version_key() -> str:
    """The hash of mapper's own sources, of those of kinds that stand elsewhere, and of the versions of the solvers
    beneath them: answers of a changed model, formulation or search are answers to another question."""
    folders = (entry.folder for entry in kind.ENTRIES)
    return _version(tuple(folder for folder in folders if not folder.is_relative_to(ROOT)))


@cache
def _version(elsewhere: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    own = [(ROOT, path) for floor in FLOORS for path in sorted((ROOT / floor).rglob("*"))]
    own += [(ROOT, ROOT / name) for name in FILES]
    for root, path in (*own, *((folder, path) for folder in elsewhere for path in sorted(folder.rglob("*")))):
        if path.suffix in (".py", ".yaml", ".c") and path.is_file():
            digest.update(str(path.relative_to(root)).encode())
            digest.update(path.read_bytes())
    for name in SOLVERS:
        digest.update(f"{name} {metadata.version(name)}".encode())
    return digest.hexdigest()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
