"""Inputs given to whole commands: any answer is an exit code of the documentation, never a traceback."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.fuzz.mutation.name import check_files, check_text
from tests.fuzz.reader import Reader
from tests.fuzz.seed import answers, documents, graphs

_SOLVE = ("--time-limit", "1", "--workers", "1", "--store", "none", "--quiet")
_KERNEL = (("solve", "FILE", "--arch", "srp-2x2", *_SOLVE), ("explain", "FILE", "--arch", "srp-2x2"))
_WORKLOAD = (("solve", "FILE", *_SOLVE), ("solve", "FILE", "--json", "--objective", "energy", *_SOLVE))
_MACHINE = (
    ("solve", "lenet5/conv1", "--arch", "FILE", *_SOLVE),
    ("solve", "matmul", "--arch", "FILE", *_SOLVE),
    ("solve", "dot", "--arch", "FILE", "-o", "OUT", *_SOLVE),
    ("solve", "mnist-tcpa", "--arch", "FILE", *_SOLVE),
)
_PBQP = (("solve", "FILE", "-o", "OUT", *_SOLVE), ("compare", "FILE", *_SOLVE[:-1], "--quiet"))
_SOLUTION = (("simulate", "FILE"), ("report", "FILE", "-o", "PAGE"), ("generate", "FILE", "-o", "FOLDER"))
LINES: dict[str, tuple[tuple[str, ...], ...]] = {
    "onnx": tuple(
        ("solve", "FILE", "--arch", machine, *_SOLVE) for machine in (*documents.MACHINES, "srp-4x4")
    ),
    "workload-yaml": _WORKLOAD,
    "workload-json": _WORKLOAD,
    "recurrence": (("solve", "FILE", "--arch", "tcpa-2x2", *_SOLVE),),
    "machine-yaml": _MACHINE,
    "machine-json": _MACHINE,
    "c": _KERNEL,
    "dot": _KERNEL,
    "edges": _KERNEL,
    "nodes": _KERNEL,
    "graphml": _KERNEL,
    "mlir": _KERNEL,
    "morpher": _KERNEL,
    "llvm": _KERNEL,
    "graph-json": _KERNEL,
    "pbqp-text": _PBQP,
    "pbqp-binary": _PBQP,
    "pbqp-json": _PBQP,
    "snowflake": (("show", "FILE"), ("simulate", "SOLVED", "--program", "FILE")),
    "solution": _SOLUTION,
    "mapping": tuple(
        ("evaluate", workload, "--arch", arch, "--mapping", "FILE") for workload, arch, _ in answers.PROBLEMS
    ),
    "store": (
        ("store", "list", "--store", "FILE"),
        ("store", "export", "OUT", "--store", "FILE"),
        ("solve", "dot", "--arch", "srp-2x2", *_SOLVE[:4], "--store", "FILE", "--quiet"),
        ("store", "prune", "--store", "FILE"),
    ),
}
SHARE = 50
"""One of so many inputs is given to a command."""


def of(reader: Reader) -> Reader:
    """The commands that take the reader's files."""
    return replace(
        reader,
        name=f"command-{reader.name}",
        read=partial(_run, LINES[reader.name]),
        guided=None,
        seconds=120.0,
        memory=4 << 30,
        share=SHARE,
    )


def generated(path: Path) -> None:
    """Generate a solution's files: they stay in the folder, and hold no more than text.

    Raises: InputError if the solution is refused, AssertionError if a file is none of these.
    """
    folder = path.with_name("folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    code, said = run_command(["generate", str(path), "-o", str(folder)])
    assert code in (0, 1, 2), said
    check_files(folder)


def _run(lines: tuple[tuple[str, ...], ...], path: Path) -> None:
    """Run one of the command lines, which of them by the file's content.

    Raises: InputError where the command says what is wrong, AssertionError for a code that it does not have.
    """
    words = list(lines[zlib.crc32(path.read_bytes()) % len(lines)])
    given: dict[str, Callable[[], Path]] = {
        "FILE": lambda: _edges_beside(path),
        "OUT": lambda: path.with_name("out.json"),
        "PAGE": lambda: path.with_name("page.html"),
        "FOLDER": lambda: path.with_name("folder"),
        "SOLVED": lambda: _solution_beside(path),
    }
    words = [str(given[word]()) if word in given else word for word in words]
    code, said = run_command(words)
    late = code == 3 and "--time-limit" in words
    if code not in (0, 1, 2) and not late:
        raise AssertionError(f"exit code {code} of mapper {' '.join(words)}: {said}")


def run_command(words: list[str]) -> tuple[int, str]:
    """Exit code and errors of ``mapper WORDS...`` without the last resort that turns any fault into a line.

    Raises: InputError, and whatever else the command lets through.
    """
    import typer

    from mapper.cli.app import UsageError, app

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = app(words, standalone_mode=False)
        except (UsageError, typer.Abort):
            code = 2
    # A terminal takes UTF-8 alone, and obeys more than it should.
    for text in (out.getvalue(), err.getvalue()):
        text.encode()
        check_text(text, f"what mapper {words[0]} prints")
    return code if isinstance(code, int) else 0, err.getvalue()


def _edges_beside(path: Path) -> Path:
    """The file that a command is given: of names of nodes, the edges that they are the names of."""
    if not path.name.endswith("_nodes"):
        return path
    edges = path.with_name("input_edges")
    edges.write_bytes(graphs.EDGES[0])
    return edges


def _solution_beside(path: Path) -> Path:
    beside = path.with_name("solved.json")
    if not beside.exists():
        beside.write_text(json.dumps(answers.solved(4).to_json()))
    return beside
