"""Commands on a machine that has compiled nothing end with their limit, with an answer; nothing is left behind."""

from __future__ import annotations

import json
import os
import pty
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SECONDS_TO_END = 2.0
COMMANDS = {
    "tiling": ("solve", "resnet-dmazerunner/conv5_2"),
    "kernel": ("solve", "gemm", "--arch", "srp-4x4"),
    "network layer": ("solve", "lenet5/conv1", "--arch", "srp-4x4"),
    "allocation": ("solve", "mnist-tcpa", "--arch", "tcpa-4x4"),
    "selection": ("solve", "squeezenet", "--arch", "dynamap-u200"),
    "partition": ("solve", "lenet5", "--arch", "snowflake-1cc"),
}


class Run:
    """A command with an empty folder for machine code."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.log = folder / "log"
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "machine-code")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mapper", *words, "--json", "--store", "none", "--log", str(self.log)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def document(self) -> Any:
        out, error = self.process.communicate(timeout=600)
        assert self.process.returncode == 0, error
        return json.loads(out)

    def await_compiling(self) -> int:
        """Wait until something is being compiled; the number of the process that does it."""
        for _ in range(30000):
            found = children(self.process.pid)
            if self.log.exists() and "compiling" in self.log.read_text() and found:
                return found[0]
            assert self.process.poll() is None, "the command ended without compiling"
            time.sleep(0.01)
        raise AssertionError("nothing was compiled")


def children(parent: int) -> list[int]:
    """The processes that a process has begun, and that compile."""
    lists = [path.read_text().split() for path in Path(f"/proc/{parent}/task").glob("*/children")]
    numbers = [int(number) for one in lists for number in one]
    return [number for number in numbers if b"compiling" in Path(f"/proc/{number}/cmdline").read_bytes()]


def is_alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def gone(process: int, seconds: float) -> bool:
    """Whether a process is gone within so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_alive(process):
            return True
        time.sleep(0.01)
    return not is_alive(process)


@pytest.fixture
def dense(tmp_path: Path) -> str:
    """A PBQP instance that plain Python does not solve in minutes."""
    draw = random.Random(1)
    vertices, choices = 60, 10

    def row(length: int) -> str:
        return " ".join(str(draw.randint(0, 100)) for _ in range(length))

    lines = [f"{vertices} {vertices * (vertices - 1) // 2}"]
    lines += [f"{choices} {row(choices)}" for _ in range(vertices)]
    for u in range(vertices):
        lines += [f"{u} {v} {choices} {choices} {row(choices**2)}" for v in range(u + 1, vertices)]
    path = tmp_path / "dense.in"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def answered(words: tuple[str, ...], folder: Path, limit: float) -> Any:
    """What a command answers within its limit, which is checked in processor seconds: others may have the processors.
    Where they have left it less than its limit and it has no answer, it is tried again with four times as much."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = Run(folder, *words, "--time-limit", str(limit))
    out, error = run.process.communicate(timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # Two processes at once at the most: one that solves, one that compiles.
    assert seconds < 2 * (limit + SECONDS_TO_END)
    if run.process.returncode == 3 and seconds < limit:
        return answered(words, folder, 4 * limit)
    assert run.process.returncode == 0, error
    return json.loads(out)


@pytest.mark.parametrize("kind", COMMANDS)
def test_every_kind_answers_within_its_limit(kind: str, tmp_path: Path) -> None:
    certificate = answered(COMMANDS[kind], tmp_path, 3.0)["certificate"]
    assert certificate["found"] and certificate["verified"]


def test_an_instance_beyond_plain_python_has_an_honest_answer(dense: str, tmp_path: Path) -> None:
    certificate = answered(("solve", dense), tmp_path, 3.0)["certificate"]
    assert certificate["found"] and certificate["verified"] and not certificate["proven"]
    assert (certificate["stop"], certificate["method"]) == ("time_limit", "descent")


def test_a_kernel_is_scheduled_without_machine_code(tmp_path: Path) -> None:
    certificate = answered(COMMANDS["kernel"], tmp_path, 10.0)["certificate"]
    assert (certificate["value"], certificate["proven"]) == (3, True)
    assert certificate["method"] in ("iterative", "cp-sat")


def test_ctrl_c_ends_a_command_that_compiles(dense: str, tmp_path: Path) -> None:
    run = Run(tmp_path, "solve", dense)
    child = run.await_compiling()
    run.process.send_signal(signal.SIGINT)
    began = time.monotonic()
    document = run.document()
    # Where others have the processors, two seconds of them take longer by the clock.
    assert time.monotonic() - began < 10 * SECONDS_TO_END
    assert document["certificate"]["stop"] == "interrupted"
    assert document["certificate"]["found"]
    assert gone(child, 1.0)


def test_a_killed_command_leaves_no_process(dense: str, tmp_path: Path) -> None:
    run = Run(tmp_path, "solve", dense)
    child = run.await_compiling()
    run.process.kill()
    run.process.communicate()
    assert gone(child, 5.0)


def _never_posed(*given: Any) -> None:
    while True:
        pass


def test_a_limit_holds_for_posing_too(mapper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mapper.api.problem.pose", _never_posed)
    code, _, error = mapper("solve", "gemm", "--time-limit", "0.1")
    assert (code, error) == (3, "mapper: no answer within the limit; raise --time-limit\n")


POSING = """
import mapper.api.problem
def never(*given):
    print("posing", file=sys.stderr, flush=True)
    while True:
        pass
import sys
mapper.api.problem.pose = never
sys.argv = ["mapper", "solve", "gemm"]
from mapper.cli.entry import main
main()
"""


def test_ctrl_c_ends_posing_too() -> None:
    with subprocess.Popen([sys.executable, "-c", POSING], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None and process.stderr.readline() == "posing\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 3
        assert process.stderr.read() == "mapper: interrupted before anything was found\n"


def test_a_terminal_is_told_that_something_is_compiled(dense: str, tmp_path: Path) -> None:
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "mapper", "solve", dense, "--store", "none"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "machine-code"), "COLUMNS": "120"},
        stdout=subprocess.DEVNULL,
        stderr=end,
    )
    os.close(end)
    shown = b""
    while b"compiling code (once per computer and version)" not in shown:
        # Raises OSError where the command has ended without a word of it.
        shown += os.read(terminal, 1 << 16)
    process.kill()
    process.wait()
    os.close(terminal)
