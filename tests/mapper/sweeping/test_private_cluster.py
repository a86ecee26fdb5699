"""A cluster here is reached by nobody else, and leaves nothing behind."""

from __future__ import annotations

import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from mapper.sweeping import private_cluster
from mapper.sweeping.engine import DaskEngine
from mapper.workloads.process.temporary import remove_abandoned

NOBODY = 65534
HOLDS = """
import sys, time
from mapper.sweeping.engine import DaskEngine

if __name__ == "__main__":
    with DaskEngine(None, 1) as engine:
        print(engine._client.scheduler.address, *engine.processes(), flush=True)
        time.sleep(60)
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    with DaskEngine(None, 1) as running:
        yield running


def sockets(engine: DaskEngine) -> list[Path]:
    """Where the processes of a cluster listen."""
    folder = Path(engine._client.scheduler.address.removeprefix("private://")).parent
    return [path for path in folder.iterdir() if stat.S_ISSOCK(path.stat().st_mode)]


def test_every_process_listens_in_a_folder_that_only_its_owner_may_enter(engine: DaskEngine) -> None:
    found = sockets(engine)
    # The scheduler, the worker and the nanny that begins it anew.
    assert len(found) == 3 and len({path.parent for path in found}) == 1
    folder = found[0].parent.stat()
    assert stat.S_IMODE(folder.st_mode) == 0o700 and folder.st_uid == os.getuid()
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in found)


def connection_of(user: int, path: Path) -> int:
    """What a connection by ``user`` ends with: 0, or the number of the error."""
    child = os.fork()
    if child == 0:
        os.setuid(user)
        with socket.socket(socket.AF_UNIX) as connection:
            os._exit(connection.connect_ex(str(path)))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_stranger_is_refused_and_the_owner_is_not(engine: DaskEngine) -> None:
    # Only root can become a stranger; what keeps strangers out for others are the rights tested above.
    strangers = {NOBODY: errno.EACCES} if os.getuid() == 0 else {}
    for path in sockets(engine):
        for user, ended in {os.getuid(): 0, **strangers}.items():
            assert connection_of(user, path) == ended


def test_no_process_of_a_cluster_listens_on_a_port(engine: DaskEngine) -> None:
    psutil = import_module("psutil")

    def ports(process: int) -> list[int]:
        connections = psutil.Process(process).net_connections("inet")
        return [one.laddr.port for one in connections if one.status == psutil.CONN_LISTEN]

    assert [ports(process) for process in (os.getpid(), *engine.processes())] == [[], []]
    with socket.socket() as seen:
        seen.bind(("127.0.0.1", 0))
        seen.listen()
        assert ports(os.getpid()) == [seen.getsockname()[1]]


def _runs(process: int) -> bool:
    found: bool = import_module("psutil").pid_exists(process)
    return found


def test_an_end_leaves_no_folder_and_no_process() -> None:
    with DaskEngine(None, 1) as engine:
        folder, processes = sockets(engine)[0].parent, list(engine.processes())
    assert not folder.exists()
    assert not any(_runs(process) for process in processes)


def test_after_a_kill_workers_end_and_the_next_start_removes_the_folder() -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address, worker = running.stdout.readline().split()
        running.kill()
    folder = Path(address.removeprefix("private://")).parent
    assert folder.exists()
    until = time.monotonic() + 30
    while _runs(int(worker)):
        assert time.monotonic() < until
        time.sleep(0.1)
    remove_abandoned()
    assert not folder.exists()


def test_a_folder_of_a_program_that_runs_stays() -> None:
    with private_cluster._private_folder() as first, private_cluster._private_folder() as second:
        assert Path(first).exists() and Path(second).exists()
    assert not Path(first).exists() and not Path(second).exists()


def test_a_long_path_for_temporary_files_has_room_for_sockets_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    long = tmp_path / ("long" * 20)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with private_cluster._private_folder() as folder:
        assert len(folder) < 90 and stat.S_IMODE(Path(folder).stat().st_mode) == 0o700


def test_ctrl_c_at_a_terminal_is_not_for_workers(engine: DaskEngine) -> None:
    (worker,) = engine.processes()
    os.kill(worker, signal.SIGINT)
    assert engine._client.submit(int, "7").result(timeout=20) == 7
    assert list(engine.processes()) == [worker]
