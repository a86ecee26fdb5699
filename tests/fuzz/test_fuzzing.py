"""A few hostile inputs for every reader, and the proof that what is wrong with a reader is found."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import watch
from tests.fuzz.catalogue import READERS
from tests.fuzz.engine import Report, drawn_inputs
from tests.fuzz.guard import Guard
from tests.fuzz.reader import Find, Reader

INPUTS = 15
FORKING = "onnx"
ONE = [name for name, reader in READERS.items() if reader.share == 1 and name != FORKING]
COMMANDS = ("command-pbqp-text", "command-snowflake", "command-mapping")


def same(data: bytes, random: Random) -> bytes:
    return data


def broken(read: Callable[[Path], None], seconds: float = 10.0) -> Reader:
    """A reader of one seed that is wrong."""
    return Reader("broken", ".txt", lambda: (b"seed",), same, read, seconds=seconds)


def found(reader: Reader, folder: Path) -> Find | None:
    return Guard(reader, reader.read, folder).trial(0, b"input")


@pytest.mark.parametrize("name", ONE)
def test_hostile_inputs_are_read_or_refused_with_one_line(name: str, tmp_path: Path) -> None:
    guard = Guard(READERS[name], READERS[name].read, tmp_path)
    guard.warm_up()
    drawn_inputs(guard, INPUTS, 1, Report(READERS[name], tmp_path / "finds"))
    assert not (tmp_path / "finds").exists()


def test_hostile_networks_are_read_or_refused_with_one_line(tmp_path: Path) -> None:
    # In a process of its own, small and without threads: each input is read in a copy of it.
    words = ["--reader", FORKING, "--engine", "hypothesis", "--inputs", str(INPUTS), "--keep", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert f"{INPUTS} inputs" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_hostile_inputs_end_commands_with_an_exit_code(name: str, tmp_path: Path) -> None:
    guard = Guard(READERS[name], READERS[name].read, tmp_path)
    drawn_inputs(guard, 5, 1, Report(READERS[name], tmp_path / "finds"))
    assert not (tmp_path / "finds").exists()


def test_a_reader_that_raises_anything_else_is_found_with_its_place(tmp_path: Path) -> None:
    def read(path: Path) -> None:
        dict[str, int]()["missing"]

    find = found(broken(read), tmp_path)
    assert find is not None and find.place.startswith("KeyError in") and "Traceback" in find.text


def test_a_message_that_is_no_line_is_found(tmp_path: Path) -> None:
    from mapper.workloads.document import InputError

    class LoudError(InputError):
        def __str__(self) -> str:
            return "two\nlines"

    def read(path: Path) -> None:
        raise LoudError("a", "b", "c")

    find = found(broken(read), tmp_path)
    assert find is not None and find.place == "message"


def test_a_reader_that_is_slow_is_found(tmp_path: Path) -> None:
    def read(path: Path) -> None:
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass

    find = found(broken(read, 0.2), tmp_path)
    assert find is not None and find.place == "time"


def test_a_reader_that_takes_too_much_memory_is_found(tmp_path: Path) -> None:
    # In a process of its own: this one may have held more before.
    code = (
        "import sys; from pathlib import Path; from dataclasses import replace;"
        "from tests.fuzz.test_fuzzing import broken, found;"
        "reader = replace(broken(lambda path: len(b'x' * (300 << 20))), memory=200 << 20);"
        "print(found(reader, Path(sys.argv[1])).place)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["memory"], done.stderr


def test_a_process_that_is_stuck_is_ended(tmp_path: Path) -> None:
    (tmp_path / "progress").write_text("3")
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    assert watch._hung(process, tmp_path, 0.5)
    assert process.returncode is not None and process.returncode < 0


def test_of_the_inputs_of_one_fault_the_smallest_is_kept(tmp_path: Path) -> None:
    report = Report(broken(lambda path: None), tmp_path)
    find = Find("KeyError in a.py:1", "Traceback")
    for data in (b"long input", b"in", b"input"):
        report.add(find, data)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"in"]


def test_a_run_ends_with_1_and_the_command_that_repeats_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.fuzz.__main__ import main

    def tried(reader: Reader, engine: str, count: int, seed: int, keep: Path) -> watch.Outcome:
        return watch.Outcome(reader.name, engine, count, 1.0, {"here": (keep / "x.dot", "Traceback")})

    monkeypatch.setattr(watch, "tried", tried)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--reader", "dot", "--inputs", "8", "--keep", str(tmp_path)])
    assert main() == 1
    out = capsys.readouterr().out
    assert "8 inputs for each reader, seed 1" in out
    assert f"-m tests.fuzz --reader dot --repeat {tmp_path / 'x.dot'}" in out
