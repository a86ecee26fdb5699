"""Signals end the program with an answer or one line, and nothing of it stays behind."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

from tests.mapper.cli.signalled import Running, check_end, hard_pbqp

LAYER = "resnet-dmazerunner/conv5_2"


@pytest.fixture
def busy(tmp_path: Path) -> str:
    """A file that keeps onnx busy until its time is over."""
    nodes = [
        helper.make_node("Einsum", ["x"], ["t"], equation="......"),
        helper.make_node("MatMul", ["x", "x"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", 1, [2, 2])], [])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "busy.onnx"
    path.write_bytes(model.SerializeToString())
    return str(path)


@pytest.fixture
def hard(tmp_path: Path) -> str:
    """A problem that CBC does not solve while anybody waits."""
    path = tmp_path / "hard.in"
    hard_pbqp(path, 24, 6)
    return str(path)


def searching(folder: Path, *words: str, **given: Any) -> Running:
    """A search that has found something."""
    log = folder / "output" / "log.jsonl"
    words = ("solve", *words, "--store", "none", "--log", str(log))
    run = Running((*words, "-o", str(folder / "output" / "answer.json"), "--json"), folder, **given)
    run.wait_for(lambda: run.heard(r'"value": \d'))
    return run


@pytest.mark.parametrize(
    ("number", "delay"),
    [(signal.SIGINT, 0.0), (signal.SIGTERM, 0.0), (signal.SIGHUP, 0.0), (signal.SIGINT, 0.3)],
)
def test_before_the_search_there_is_one_line(tmp_path: Path, number: signal.Signals, delay: float) -> None:
    run = Running(("solve", LAYER, "--store", "none", "--method", "cp-sat"), tmp_path)
    time.sleep(delay)
    run.send(number)
    assert run.ended() == (3, "", "mapper: interrupted before anything was found\n")


@pytest.mark.parametrize("method", ["bounded-table", pytest.param("cp-sat", marks=pytest.mark.slow)])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_constraint_program_that_is_interrupted_has_its_answer(
    tmp_path: Path, number: signal.Signals, method: str
) -> None:
    run = searching(tmp_path, LAYER, "--method", method, "--workers", "2")
    run.send(number)
    code, document = check_end(run)
    assert code == 0 and document is not None
    assert document["certificate"]["found"] and document["certificate"]["stop"] == "interrupted"
    assert json.loads((run.output / "answer.json").read_text()) == document


def test_a_hang_up_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    run = Running(("list", "archs"), tmp_path, ignored=(signal.SIGHUP,))
    run.send(signal.SIGHUP)
    assert run.ended()[0] == 0


def test_the_linear_program_that_is_interrupted_ends_with_its_solver(tmp_path: Path, hard: str) -> None:
    run = Running(("solve", hard, "--store", "none", "--method", "ilp", "--json"), tmp_path)
    run.wait_for(lambda: bool(run.relatives("program.mps")))
    assert run.left()
    run.send(signal.SIGTERM)
    check_end(run)


def test_after_a_kill_no_solver_lives_and_the_next_start_clears_up(tmp_path: Path, hard: str) -> None:
    run = Running(("solve", hard, "--store", "none", "--method", "ilp"), tmp_path)
    run.wait_for(lambda: bool(run.relatives("program.mps")))
    run.send(signal.SIGKILL)
    run.ended()
    assert run.orphans() == []
    assert run.left()
    after = Running(("list", "archs"), tmp_path)
    assert after.ended()[0] == 0
    assert after.left() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_reader_ends_with_the_program(tmp_path: Path, busy: str, number: signal.Signals) -> None:
    run = Running(("solve", busy, "--store", "none"), tmp_path)
    run.wait_for(lambda: bool(run.relatives("onnx.process")))
    run.send(number)
    if number is signal.SIGKILL:
        assert run.ended()[0] == -signal.SIGKILL and run.orphans() == []
    else:
        assert check_end(run) == (3, None)


def test_a_second_signal_ends_it_at_once(tmp_path: Path, hard: str) -> None:
    run = Running(("solve", hard, "--store", "none", "--method", "ilp"), tmp_path)
    run.wait_for(lambda: bool(run.relatives("program.mps")))
    run.send(signal.SIGINT)
    time.sleep(0.1)
    run.send(signal.SIGINT)
    assert run.ended() == (3, "", "mapper: interrupted again; unfinished work is lost\n")
    assert run.left() == [] and run.orphans() == []


@pytest.mark.parametrize("signals", [1, 2])
def test_an_answer_that_is_being_written_is_written_unless_there_is_a_second_signal(
    tmp_path: Path, signals: int
) -> None:
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    # More than the pipe holds.
    run = Running(("explain", LAYER, "--format", "html"), tmp_path, stdout=writing)
    os.close(writing)
    filled = 4096

    def blocked() -> bool:
        held = bytearray(4)
        fcntl.ioctl(reading, 0x541B, held)  # FIONREAD
        return int.from_bytes(held, sys.byteorder) == filled

    run.wait_for(blocked)
    for _ in range(signals):
        run.send(signal.SIGINT)
        time.sleep(0.1)
    if signals == 2:
        run.process.wait(20)
    with os.fdopen(reading) as out:
        text = out.read()
    assert run.ended()[0] == (0 if signals == 1 else 3)
    assert text.endswith("</html>\n") == (signals == 1), text[-100:]


def test_a_caller_in_the_same_process_keeps_its_own_signals() -> None:
    script = (
        "import signal, sys\n"
        "before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]\n"
        "from mapper.cli import entry\n"
        "sys.argv = ['mapper', 'list', 'archs']\n"
        "try: entry.main()\n"
        "except SystemExit: pass\n"
        "after = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]\n"
        "assert before == after\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_one_search_of_several_that_is_interrupted_says_so_in_one_line(tmp_path: Path, hard: str) -> None:
    run = Running(("compare", hard, "--store", "none", "--method", "ilp", "--json"), tmp_path)
    run.wait_for(lambda: bool(run.relatives("program.mps")))
    run.send(signal.SIGINT)
    code, document = check_end(run)
    assert document is not None and len(document["rows"]) == 1
    assert code == (0 if document["rows"][0]["certificate"]["found"] else 3)


@pytest.mark.slow
@pytest.mark.parametrize("signals", [(signal.SIGKILL,), (signal.SIGINT, signal.SIGTERM), (signal.SIGINT,)])
def test_workers_of_a_cluster_end_with_the_program(
    tmp_path: Path, signals: tuple[signal.Signals, ...]
) -> None:
    words = ("sweep", "resnet-dmazerunner", "--vary", "rf.bytes=128,256,512,1024", "--store", "none")
    run = Running((*words, "--engine", "dask", "--workers", "2"), tmp_path)
    run.wait_for(lambda: len(run.relatives("spawn_main")) >= 2)
    time.sleep(0.5)
    run.send(*signals)
    code, _, err = run.ended()
    assert code in ((-signal.SIGKILL,) if signals == (signal.SIGKILL,) else (0, 3))
    assert run.orphans() == []
    if signals == (signal.SIGKILL,):
        assert Running(("list", "archs"), tmp_path).ended()[0] == 0
    else:
        assert "Traceback" not in err
    assert run.left() == []
