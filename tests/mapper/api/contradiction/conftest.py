from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder at hand."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
