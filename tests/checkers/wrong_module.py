"""A module of a solver with a mistake put back into it that was mended, for tests of what comes of its claims."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def patched(module: ModuleType, right: str, wrong: str, folder: Path) -> ModuleType:
    """A copy of a module with one place put wrong again."""
    text = Path(str(module.__file__)).read_text()
    assert text.count(right) == 1
    path = folder / "wrong_module.py"
    path.write_text(text.replace(right, wrong))
    spec = importlib.util.spec_from_file_location("wrong_module", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["wrong_module"] = made  # where dataclasses look up their types
    try:
        spec.loader.exec_module(made)
    finally:
        del sys.modules["wrong_module"]
    return made
