"""The program as tests call it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from mapper import entry


@pytest.fixture
def mapper(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs ``mapper WORDS...`` here: its exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["mapper", *words])
        with pytest.raises(SystemExit) as ended:
            entry.main()
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run
