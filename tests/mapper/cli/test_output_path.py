"""Every file that a command is given to write: replaced if it is one, written to if it is anything else."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LAYER = "resnet-dmazerunner/conv5_2"
KERNEL = ("dot", "--arch", "srp-2x2")
Run = tuple[int, str, str]


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("solved") / "solution.json"
    words = [sys.executable, "-m", "mapper", "solve", *KERNEL, "--store", "none", "-o", str(path)]
    subprocess.run(words, check=True, capture_output=True)
    return path


COMMANDS: dict[str, tuple[str, Callable[[str], tuple[str, ...]]]] = {
    "solve": ("-o", lambda path: ("solve", *KERNEL, "-o", path)),
    "evaluate": ("-o", lambda path: ("evaluate", *KERNEL, "--mapping", "SOLVED", "-o", path)),
    "report": ("-o", lambda path: ("report", "SOLVED", "-o", path)),
    "export": ("--export", lambda path: ("explain", LAYER, "--export", "cpsat", path)),
    "store": ("export", lambda path: ("store", "export", path)),
    "front": ("-o", lambda path: ("solve", "mnist-tcpa", "--arch", "tcpa-2x3", "--pareto", "-o", path)),
}
"""What writes a document, and which option it is named by."""


@pytest.fixture(params=COMMANDS)
def written(request: pytest.FixtureRequest, mapper: Any, solved: Path) -> Callable[[Path], Run]:
    """Runs a command that writes a document to a path."""

    def run(path: Path) -> Run:
        words = COMMANDS[request.param][1](str(path))
        found: Run = mapper(*[str(solved) if word == "SOLVED" else word for word in words])
        return found

    return run


def test_a_link_stays_and_a_pipe_gets_what_a_file_would(
    tmp_path: Path, written: Callable[[Path], Run]
) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to("target")
    (tmp_path / "target").write_text("old")
    (tmp_path / "target").chmod(0o640)
    assert written(link)[0] == 0
    assert link.is_symlink() and stat.S_IMODE(link.stat().st_mode) == 0o640
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), daemon=True)
    reader.start()
    assert written(pipe)[0] == 0
    reader.join(20)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    # But for the seconds, it is the same document, and one alone.
    shape = [text.split("seconds")[0] for text in (received[0], link.read_text())]
    assert shape[0] == shape[1] and received[0][0] != "o"
    if received[0].startswith("{"):
        json.loads(received[0])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "target"]


@pytest.mark.parametrize("name", [".", "missing/file"])
def test_what_is_no_place_for_a_file_is_one_line(
    tmp_path: Path, written: Callable[[Path], Run], name: str
) -> None:
    code, out, err = written(tmp_path / name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "cannot be written" in err and str(tmp_path) in err
    assert list(tmp_path.iterdir()) == []


def test_a_full_device_is_one_line_and_stays(written: Callable[[Path], Run]) -> None:
    code, _, err = written(Path("/dev/full"))
    assert (code, err.count("\n")) == (2, 1)
    assert "/dev/full: cannot be written (No space left on device)" in err
    assert stat.S_ISCHR(Path("/dev/full").lstat().st_mode)


def test_an_answer_whose_file_is_full_is_shown_all_the_same(mapper: Any) -> None:
    code, out, _ = mapper("solve", *KERNEL, "--json", "-o", "/dev/full")
    assert code == 2 and json.loads(out)["certificate"]["found"]


def test_stdout_as_a_file_gets_the_document_and_nothing_else(tmp_path: Path) -> None:
    words = (sys.executable, "-m", "mapper", "solve", *KERNEL, "--store", "none", "-o")
    done = subprocess.run([*words, "/dev/stdout"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["schema"] == "mapper.solution/1"
    with (tmp_path / "file").open("w") as out:
        subprocess.run([*words, "/proc/self/fd/1"], stdout=out, check=True)
    assert json.loads((tmp_path / "file").read_text())["schema"] == "mapper.solution/1"


def test_a_full_stdout_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        words = (sys.executable, "-m", "mapper", "list", "archs")
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    said = "mapper: stdout: cannot be written (No space left on device); give -o a file\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_parts_that_are_done_are_written_to_a_file_but_not_to_a_pipe(
    tmp_path: Path, mapper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mapper.workloads.process import whole_file

    written: list[Path] = []
    monkeypatch.setattr(whole_file, "write_whole", lambda path, text, option: written.append(path))
    os.mkfifo(tmp_path / "pipe")
    for name in ("file", "pipe"):
        assert mapper("solve", "resnet-dmazerunner", "--store", "none", "-o", str(tmp_path / name))[0] == 0
    names = [path.name for path in written]
    assert names.count("pipe") == 1 < names.count("file")


def test_a_log_is_written_to_what_stands_there(tmp_path: Path, mapper: Any) -> None:
    (tmp_path / "log").symlink_to("target")
    assert mapper("solve", *KERNEL, "--store", "none", "--log", str(tmp_path / "log"))[0] == 0
    assert (tmp_path / "log").is_symlink()
    assert [json.loads(line) for line in (tmp_path / "target").read_text().splitlines()]


def test_a_log_that_cannot_be_written_is_one_line(tmp_path: Path, mapper: Any) -> None:
    code, out, err = mapper("solve", *KERNEL, "--store", "none", "--log", str(tmp_path))
    assert (code, out, err.count("\n")) == (2, "", 1) and "--log" in err


def test_a_log_that_is_full_ends_with_a_line_and_the_search_goes_on(mapper: Any) -> None:
    code, out, err = mapper("solve", *KERNEL, "--store", "none", "--log", "/dev/full", "--json")
    assert code == 0 and json.loads(out)["certificate"]["found"]
    assert err == "mapper: --log: /dev/full: ends here (No space left on device)\n"


def test_a_plot_keeps_a_link_and_its_rights(tmp_path: Path, mapper: Any) -> None:
    link = tmp_path / "plot.svg"
    link.symlink_to("target.svg")
    words = ("sweep", *KERNEL, "--vary", "clock_mhz=400,500", "--store", "none", "--plot")
    assert mapper(*words, str(link))[0] == 0
    assert link.is_symlink() and "<svg" in (tmp_path / "target.svg").read_text()
    code, out, err = mapper(*words, str(tmp_path / "no-such-folder" / "plot.svg"))
    assert (code, out, err.count("\n")) == (2, "", 1) and "--plot" in err


def test_generated_files_keep_what_stands_there(tmp_path: Path, mapper: Any, solved: Path) -> None:
    folder = tmp_path / "out"
    code, out, _ = mapper("generate", str(solved), "-o", str(folder))
    assert code == 0
    first = Path(out.splitlines()[0])
    text = first.read_text()
    first.unlink()
    first.symlink_to(tmp_path / "elsewhere")
    assert mapper("generate", str(solved), "-o", str(folder))[0] == 0
    assert first.is_symlink() and (tmp_path / "elsewhere").read_text() == text


@pytest.mark.parametrize("name", ["pipe", "folder", "full"])
def test_a_store_that_is_no_file_is_said_and_left_alone(tmp_path: Path, mapper: Any, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "full").symlink_to("/dev/full")
    before = (tmp_path / name).stat()
    code, out, err = mapper("solve", *KERNEL, "--store", str(tmp_path / name), "--json")
    assert code == 0 and json.loads(out)["certificate"]["found"]
    assert err.count("\n") == 1 and "the store cannot be used" in err
    after = (tmp_path / name).stat()
    assert (before.st_mode, before.st_rdev) == (after.st_mode, after.st_rdev)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "full", "pipe"]
