"""Children end when the process that started them does, whichever way it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mapper.workloads.process import child_process
from mapper.workloads.process.child_process import child, run

WAYS = ["kernel", "watch", "family"]
"""How a child hears of the death: from the kernel, or from a process between, alone or with children of its own."""
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
FAMILY = [sys.executable, "-c", f"import subprocess; subprocess.run({SLEEP!r})"]
SECONDS = 5.0


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "watch":
        monkeypatch.setattr(child_process, "KERNEL", None)
    if request.param == "kernel" and child_process.KERNEL is None:
        pytest.skip("the kernel tells no child of its parent's death")
    return str(request.param)


def marked(mark: str) -> list[int]:
    """The processes that have ``mark`` in their environment, as all below the one that was given it."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (path / "environ").read_bytes():
                found.append(int(path.name))
        except OSError:
            continue
    return found


def wait_until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def parent(way: str) -> Iterator[tuple[subprocess.Popen[bytes], str, int]]:
    """A process with a child, its mark, and how many processes they are."""
    mark = f"MAPPER_MARK={os.urandom(8).hex()}"
    # The command sleeps in a thread beside the main one, as searches do.
    script = (
        "import threading, time\n"
        "from mapper.workloads.process import child_process\n"
        f"if {way == 'watch'}: child_process.KERNEL = None\n"
        "def started():\n"
        f"    with child_process.child({FAMILY if way == 'family' else SLEEP!r}, {way == 'family'}): time.sleep(60)\n"
        "threading.Thread(target=started, daemon=True).start()\n"
        "time.sleep(60)\n"
    )
    name, value = mark.split("=")
    count = {"kernel": 2, "watch": 3, "family": 4}[way]
    with subprocess.Popen([sys.executable, "-c", script], env=os.environ | {name: value}) as process:
        wait_until(lambda: len(marked(mark)) == count)
        yield process, mark, count
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_child_outlives_a_parent_that_is_killed(
    parent: tuple[subprocess.Popen[bytes], str, int], number: signal.Signals
) -> None:
    process, mark, _ = parent
    process.send_signal(number)
    process.wait()
    wait_until(lambda: not marked(mark), SECONDS)


def test_a_child_that_runs_when_its_block_is_left_is_killed(way: str) -> None:
    mark = f"MAPPER_MARK={os.urandom(8).hex()}"
    environment = os.environ | dict([mark.split("=")])
    with pytest.raises(ZeroDivisionError), child(FAMILY, way == "family", env=environment) as process:
        wait_until(lambda: len(marked(mark)) >= 2)
        raise ZeroDivisionError
    assert process.returncode == -signal.SIGKILL
    if way != "kernel":  # which is for commands without a family
        wait_until(lambda: not marked(mark), SECONDS)


def test_it_is_run_as_it_would_be_without_care(way: str, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    script = (
        "import os, sys\n"
        "print(os.getcwd(), os.environ['WORD'])\n"
        "print('said', file=sys.stderr)\n"
        "os.write(int(sys.argv[1]), b'x')\n"
        "sys.exit(len(sys.stdin.read()) + 7)\n"
    )
    command = [sys.executable, "-c", script, str(writing)]
    done = run(
        command, 30.0, way == "family", cwd=tmp_path, env=os.environ | {"WORD": "a"}, pass_fds=(writing,)
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (
        7,
        [str(tmp_path).encode(), b"a"],
        b"said\n",
    )
    assert os.read(reading, 2) == b"x"
    os.close(reading)
    os.close(writing)


def test_a_child_that_ends_by_a_signal_is_seen_to(way: str) -> None:
    command = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGXCPU)"]
    assert run(command, family=way == "family").returncode == -signal.SIGXCPU


def test_a_child_that_takes_too_long_is_ended(way: str) -> None:
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run(SLEEP, 0.3, way == "family")
    assert time.monotonic() - began < 30


def test_a_terminals_signals_are_not_the_childs_to_answer(way: str) -> None:
    with child(SLEEP, way == "family") as process:
        assert os.getpgid(process.pid) == process.pid != os.getpgrp()
