"""A signal at any of fifty moments, from the start to the last word: an answer or one line, and nothing left behind."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from pathlib import Path

import onnx
import pytest

from tests.mapper.cli.signalled import SIGNALS, Running, check_end, hard_pbqp

MOMENTS = 50
MOST_SECONDS = 8.0
"""Over which they are spread where the command takes longer."""
NEST = """schema: mapper.nest/1
name: product
loops: {I: 12, J: 8, K: 6}
operands:
  - {tensor: O, index: [I, J], access: read_write}
  - {tensor: A, index: [I, K]}
  - {tensor: B, index: [K, J]}
"""
STENCIL = """schema: mapper.recurrence/1
name: stencil
loops: {t: 100, i: 4000}
statements:
  - A[t, i] = A[t - 1, i - 1] + A[t - 1, i] + A[t - 1, i + 1]
"""
LAYER = ("resnet-dmazerunner/conv5_2",)
KERNEL = ("gemm", "--arch", "srp-4x4")
ALLOCATION = ("mnist-tcpa", "--arch", "tcpa-4x4")
SELECTION = ("squeezenet", "--arch", "dynamap-u200")
PARTITION = ("lenet5", "--arch", "snowflake-1cc")
COMMANDS = {
    **{f"tiling {name}": ("solve", *LAYER, "--method", name)
       for name in ("auto", "branch-and-bound", "cp-sat", "bounded-table", "annealing", "genetic", "random")},
    **{f"kernel {name}": ("solve", *KERNEL, "--method", name)
       for name in ("auto", "cp-sat", "decoupled", "iterative", "annealing")},
    **{f"network {name}": ("solve", "lenet5/conv1", "--arch", "srp-4x4", "--method", name)
       for name in ("auto", "exact", "algorithm-1")},
    **{f"allocation {name}": ("solve", *ALLOCATION, "--method", name)
       for name in ("auto", "ilp", "cp-sat", "brute-force", "greedy")},
    **{f"nest {name}": ("solve", "matmul", "--arch", "tcpa-4x4", "--method", name)
       for name in ("auto", "cp-sat", "brute-force")},
    **{f"recurrence {name}": ("solve", "STENCIL", "--arch", "tcpa-4x4", "--method", name)
       for name in ("auto", "brute-force")},
    **{f"selection {name}": ("solve", *SELECTION, "--method", name)
       for name in ("auto", "joint", "algorithm-1", "annealing", "random")},
    **{f"partition {name}": ("solve", *PARTITION, "--method", name)
       for name in ("auto", "cp-sat", "dynamic-programming", "greedy", "annealing")},
    **{f"pbqp {name}": ("solve", "HARD", "--method", name)
       for name in ("auto", "elimination", "branch-and-bound", "ilp", "cp-sat", "descent", "fixing")},
    "tiling brute-force": ("solve", "NEST", "--method", "brute-force"),
    "kernel brute-force": ("solve", "dot", "--arch", "srp-2x2", "--method", "brute-force"),
    "pbqp brute-force": ("solve", "SMALL", "--method", "brute-force"),
    "front": ("solve", *ALLOCATION, "--pareto"),
    "onnx": ("solve", "ONNX", "--arch", "dynamap-u200"),
    "parts": ("solve", "resnet-dmazerunner"),
    "compare": ("compare", *KERNEL),
    "side by side": ("compare", "lenet5", "--arch", "snowflake-1cc,dynamap-u200"),
    "sweep": ("sweep", *LAYER, "--vary", "rf.bytes=128,256,512"),
    "dask": ("sweep", *LAYER, "--vary", "rf.bytes=128,256,512", "--engine", "dask", "--workers", "2"),
}  # fmt: skip
"""Every kind's default and exact methods, some of its heuristics, and the commands around them."""


def words_of(name: str, folder: Path) -> tuple[str, ...]:
    """The command, with its files in ``folder``."""
    hard_pbqp(folder / "hard.in", 18, 5)
    shufflenet = Path(onnx.__file__).parent / "backend/test/data/light/light_shufflenet.onnx"
    shutil.copy(shufflenet, folder / "net.onnx")
    hard_pbqp(folder / "small.in", 8, 5)
    (folder / "nest.yaml").write_text(NEST)
    (folder / "stencil.yaml").write_text(STENCIL)
    files = {
        "HARD": str(folder / "hard.in"),
        "SMALL": str(folder / "small.in"),
        "NEST": str(folder / "nest.yaml"),
        "STENCIL": str(folder / "stencil.yaml"),
        "ONNX": str(folder / "net.onnx"),
    }
    words = tuple(files.get(word, word) for word in COMMANDS[name])
    output = ("-o", "OUT") if words[0] == "solve" else ()
    return (*words, "--store", "none", "--json", *output)


def started(words: tuple[str, ...], folder: Path) -> Running:
    folder.mkdir()
    output = str(folder / "output" / "answer.json")
    return Running(tuple(output if word == "OUT" else word for word in words), folder)


def seconds_of(words: tuple[str, ...], folder: Path) -> float:
    """How long the command takes when nobody disturbs it, and what it compiles is compiled."""
    run = started((*words, "--time-limit", "1"), folder)
    run.process.communicate(timeout=600)
    shutil.rmtree(folder)
    run = started(words, folder)
    try:
        run.process.wait(MOST_SECONDS)
    except subprocess.TimeoutExpired:
        run.send(signal.SIGINT)
    seconds = time.monotonic() - run.began
    run.ended()
    return min(seconds, MOST_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_whenever_a_signal_comes_there_is_an_answer_or_one_line(tmp_path: Path, name: str) -> None:
    words = words_of(name, tmp_path)
    seconds = seconds_of(words, tmp_path / "undisturbed")
    codes = []
    for moment in range(MOMENTS):
        run = started(words, tmp_path / f"{moment}")
        time.sleep(moment * seconds / (MOMENTS - 1))
        if run.process.poll() is None:
            run.send(SIGNALS[moment % len(SIGNALS)])
        code, document = check_end(run)
        assert document is None or document["schema"].startswith("mapper.")
        assert code == 3 or document is not None
        codes.append(code)
        shutil.rmtree(run.folder)
    assert codes[0] == 3, "the first signals come before anything is found"
