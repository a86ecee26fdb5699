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
FILES = (
    "api/solving.py",
    "api/part/search.py",
    "api/part/verification.py",
    "store/recall.py",
    "store/piece.py",
)
"""Sources that decide what an answer is: whole folders, and these."""


def part_contents(posed: PosedProblem) -> list[str]:
    """For each different part the hash of all that its answer depends on: machine, objective, options, and the workload
    as the document holds them, without the names under which they were found. A part that its kind says stands alone
    has its own content in place of the workload's and of its place there: another network's equal layer is the same."""
    document = posed.to_json()
    around = {key: document[key] for key in ("kind", "objective", "options", "machine")}
    whole = content_hash(around | {"structure": document["structure"]})
    different = {part.key: part for part in reversed(posed.parts)}
    parts = [part for part in posed.parts if different[part.key] is part]
    found = []
    for place, part in enumerate(parts):
        alone = posed.kind.alone(part.problem)
        found.append(content_hash([whole, place] if alone is None else [around, alone]))
    return found


def problem_key(content: str, method: str) -> str:
    """The key of a part of this content, solved by ``method``."""
    return content_hash([content, method])


def content_hash(content: object) -> str:
    """The hash of a value that JSON can hold."""
    return _hash(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


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
