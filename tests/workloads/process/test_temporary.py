"""Temporary folders are gone when their process is; those of dead processes are removed, those of others never."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mapper.workloads.document import InputError
from mapper.workloads.process.temporary import remove_abandoned, temporary_folder

HOLD = """
from mapper.workloads.process.temporary import temporary_folder
with temporary_folder() as folder:
    (folder / "inner").mkdir()
    (folder / "inner" / "file").write_text("text")
    print(folder, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield tmp_path
    tempfile.tempdir = None


@pytest.fixture
def holder() -> Iterator[subprocess.Popen[bytes]]:
    """Another process with a temporary folder, which it has said the name of."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_folder_is_its_users_alone_and_gone_after_its_block(root: Path) -> None:
    with temporary_folder() as folder:
        assert folder.parent == root and folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").write_text("")
        remove_abandoned()
        assert folder.exists()
    assert list(root.iterdir()) == []


def test_a_folder_of_a_process_that_lives_is_left_alone(root: Path, holder: subprocess.Popen[bytes]) -> None:
    remove_abandoned()
    assert len(list(root.iterdir())) == 1


def test_a_folder_of_a_process_that_was_killed_is_removed(
    root: Path, holder: subprocess.Popen[bytes]
) -> None:
    holder.kill()
    holder.wait()
    assert len(list(root.iterdir())) == 1
    remove_abandoned()
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("name", ["mapper-notes", "mapper-0123456789abcdeg", "x-0123456789abcdef"])
def test_what_has_another_name_is_left_alone(root: Path, name: str) -> None:
    (root / name).mkdir()
    remove_abandoned()
    assert [path.name for path in root.iterdir()] == [name]


def test_a_link_with_such_a_name_is_not_followed(root: Path) -> None:
    (root / "precious").mkdir()
    (root / "mapper-0123456789abcdef").symlink_to("precious")
    remove_abandoned()
    assert (root / "precious").is_dir()


def test_folders_of_other_users_are_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "mapper-0123456789abcdef").mkdir()
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    remove_abandoned()
    assert len(list(root.iterdir())) == 1
    monkeypatch.setattr(os, "geteuid", lambda: mine)
    remove_abandoned()
    assert list(root.iterdir()) == []


def test_many_that_make_and_remove_at_once_never_lose_a_folder(root: Path) -> None:
    script = (
        "from mapper.workloads.process.temporary import remove_abandoned, temporary_folder\n"
        "for place in range(200):\n"
        "    with temporary_folder() as folder:\n"
        "        remove_abandoned()\n"
        "        (folder / 'file').write_text('')\n"
        "        assert (folder / 'file').exists()\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert list(root.iterdir()) == []


def test_without_a_place_for_one_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with (
        pytest.raises(InputError, match=r"TMPDIR.* needs a temporary folder \(No such"),
        temporary_folder(),
    ):
        pass
