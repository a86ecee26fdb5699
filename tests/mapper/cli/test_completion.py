"""Shells complete names of the catalogues, and files where a file would do; the program says its version."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mapper.cli.completion import names
from mapper.cli.listing import Listing


def test_names_of_the_catalogue_come_before_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("resnet-mine.onnx", "resnet.txt"):
        (tmp_path / name).touch()
    (tmp_path / "results").mkdir()
    offered = names(Listing.workloads, (".onnx",))("res")
    assert offered == ["resnet-dmazerunner", "resnet50", "resnet18", "resnet-mine.onnx", "results/"]


def test_files_are_offered_by_the_path_that_is_typed(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").touch()
    assert names(Listing.archs, (".yaml",))(f"{tmp_path}/mi") == [f"{tmp_path}/mine.yaml"]


def test_a_folder_that_is_not_there_completes_to_nothing() -> None:
    assert names(Listing.archs, (".yaml",))("no/such/folder/x") == []


def test_a_method_of_several_kinds_is_offered_once() -> None:
    assert names(Listing.methods)("branch-and-b") == ["branch-and-bound"]


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_has_a_short_name_too(mapper: Any, word: str) -> None:
    code, out, _ = mapper("solve", word)
    assert code == 0 and "Usage: mapper solve" in out


def test_the_version_is_one_line(mapper: Any) -> None:
    code, out, _ = mapper("--version")
    assert code == 0 and re.fullmatch(r"mapper \d+\.\d+\.\d+\n", out)
