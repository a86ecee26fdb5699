"""The site is read from the file system: search works there, and nothing comes from the network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from docs.site.hook import FORMULA, formula

ROOT = Path(__file__).parents[2]


def test_formulas_of_the_site_are_pictures() -> None:
    made = FORMULA.sub(formula, r'<p><span class="arithmatex">\(\lceil n \rceil\)</span></p>')
    assert "<svg" in made and "<path" in made and "arithmatex" not in made


@pytest.mark.slow
def test_the_site_is_searched_without_a_server(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "kind/tiling.md" in done.stdout, "the build tells which page it is at"
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox"]
        )
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "site" / "kind" / "tiling.html").as_uri())
        page.locator("input.md-search__input").click()
        page.get_by_text("Type to start searching").wait_for(state="attached")
        page.locator("input.md-search__input").press_sequentially("scratchpad")
        page.locator(".md-search-result__link").first.wait_for(state="attached")
        assert "matching documents" in page.locator(".md-search-result__meta").inner_text()
        browser.close()
    assert asked and all(url.startswith("file:") for url in asked)
