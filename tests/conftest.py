"""What holds for every test: a skipped test is a failure of continuous integration."""

from __future__ import annotations

import gc
import os
from itertools import count

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Ten thousand tests are read without looking for garbage among them: that was half of the time it took."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """They stay until the end: no later look for garbage goes through them again."""
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Turn a run with skips into a failing one where continuous integration runs it."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if skipped and os.environ.get("CI"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


STORES = count()
"""The numbers of the folders that tests get."""


@pytest.fixture(autouse=True)
def own_store(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads what another, or the user, has solved before.

    The folder is made by the first who writes there. Most tests write nothing, and among thousands of folders pytest
    takes milliseconds to find the next free name, in every test.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache" / str(next(STORES))))
