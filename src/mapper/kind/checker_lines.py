"""Checkers as modules: who tells a proof in words takes its numbers from the very lines that accepted it."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

CHECKERS = Path(__file__).parents[1] / "checkers"


@cache
def checker(kind: str) -> ModuleType:
    """The checker of the proofs of a kind."""
    spec = importlib.util.spec_from_file_location(f"check_{kind}", CHECKERS / f"check_{kind}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def trusted(kind: str) -> str:
    """What remains trusted where a checker of this kind accepts a proof."""
    return str(checker(kind).TRUSTED)
