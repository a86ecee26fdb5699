"""The program as tests call it, and its report pages in a real browser."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mapper import report, solve
from mapper.api.solution import Solution
from mapper.cli import entry

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


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


def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.fail("Chromium is missing; install it: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        opened = running.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


def page_of(*given: Any) -> str:
    documents = [one.to_json() if isinstance(one, Solution) else one for one in given]
    return _page(json.dumps(documents))


@cache
def _page(documents: str) -> str:
    return report(*json.loads(documents))


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens the page of solutions or documents, offline; what the console says besides fails the test."""
    said: list[str] = []
    contexts = []

    def open_page(*given: Any, scripts: bool = True, dark: bool = False) -> Page:
        path = tmp_path / "report.html"
        path.write_text(page_of(*given), encoding="ascii")
        assert path.stat().st_size < 3_000_000
        context = browser.new_context(
            java_script_enabled=scripts, offline=True, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: said.append(request.url) if request.url[:5] != "file:" else None)
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


@pytest.fixture(scope="module")
def tiled() -> Solution:
    return solve("resnet-dmazerunner/conv5_2")


@pytest.fixture(scope="module")
def scheduled() -> Solution:
    return solve("gemm", "srp-4x4")


@pytest.fixture(scope="module")
def selected() -> Solution:
    return solve("squeezenet", "dynamap-u200")
