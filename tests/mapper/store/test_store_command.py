"""``mapper store``, and ``--store`` of the commands that solve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

LAYER = "resnet-dmazerunner/conv5_2"


@pytest.fixture
def answered(mapper: Any, tmp_path: Path) -> str:
    """A store with one answer."""
    path = str(tmp_path / "s.sqlite")
    assert mapper("solve", LAYER, "--store", path, "--quiet")[0] == 0
    return path


def test_list_shows_an_answer_with_its_value_and_proof(mapper: Any, answered: str) -> None:
    code, out, _ = mapper("store", "list", "--store", answered)
    assert code == 0
    assert "conv5_2" in out and "6.844957e+15" in out and "yes" in out


def test_show_gives_mapping_and_certificate(mapper: Any, answered: str) -> None:
    key = json.loads(mapper("store", "list", "--store", answered, "--json")[1])[0]["problem"]
    code, out, _ = mapper("store", "show", key[:10], "--store", answered)
    assert code == 0
    shown = json.loads(out)
    assert shown["certificate"]["proven"] and shown["mapping"]["tiling"]


def test_show_of_an_unknown_key_says_where_keys_are(mapper: Any, answered: str) -> None:
    code, _, errors = mapper("store", "show", "zz", "--store", answered)
    assert code == 2 and "mapper store list" in errors


def test_export_writes_every_answer(mapper: Any, answered: str, tmp_path: Path) -> None:
    assert mapper("store", "export", str(tmp_path / "all.json"), "--store", answered)[0] == 0
    document = json.loads((tmp_path / "all.json").read_text())
    assert document["schema"] == "mapper.store/1" and len(document["answers"]) == 1


def test_prune_keeps_the_answers_of_this_version(mapper: Any, answered: str) -> None:
    assert "0 answers" in mapper("store", "prune", "--store", answered)[1]
    assert "1 answers" in mapper("store", "prune", "--all", "--store", answered)[1]
    assert json.loads(mapper("store", "list", "--store", answered, "--json")[1]) == []


def test_without_a_store_nothing_is_kept(
    mapper: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert mapper("solve", LAYER, "--store", "none", "--quiet")[0] == 0
    assert not list(tmp_path.rglob("*.sqlite"))


def test_a_store_that_cannot_be_used_costs_one_line(mapper: Any, tmp_path: Path) -> None:
    code, out, errors = mapper("solve", LAYER, "--store", str(tmp_path), "--json", "--quiet")
    assert code == 0 and json.loads(out)["certificate"]["proven"]
    assert len(errors.splitlines()) == 1 and "continuing without it" in errors


def test_a_store_that_cannot_be_used_costs_a_sweep_one_line_too(mapper: Any, tmp_path: Path) -> None:
    words = ("sweep", LAYER, "--vary", "rf.bytes=256,512", "--store", str(tmp_path), "--json", "--quiet")
    code, out, errors = mapper(*words)
    assert code == 0 and len(json.loads(out)["rows"]) == 2
    assert len(errors.splitlines()) == 1


def test_store_commands_on_a_broken_file_are_one_line(mapper: Any, tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").write_text("broken" * 1000)
    for command in (("list",), ("show", "a"), ("prune",)):
        code, _, errors = mapper("store", *command, "--store", str(tmp_path / "s.sqlite"))
        assert code == 2 and len(errors.splitlines()) == 1
