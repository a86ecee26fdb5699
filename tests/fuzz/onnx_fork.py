"""ONNX files read as ``mapper`` reads them, but in copies of a warm process, where a new one would take a second."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import traceback
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, get_args
from unittest.mock import patch

from tests.fuzz.seed import networks

Wanted = Literal["layers", "operators", "weights"]


def read_onnx(path: Path) -> None:
    """Layers, operators or weights of an ONNX file, which of them by its content.

    Raises: InputError as the readers do, AssertionError where their child process ends with a traceback.
    """
    from mapper.workloads.onnx import process as onnx_process

    wanted, batch = _wanted(path)
    warm = SimpleNamespace(run=_forked, DEVNULL=subprocess.DEVNULL)
    _warm(path.parent)
    with patch.object(onnx_process, "subprocess", warm):
        if wanted == "layers":
            onnx_process.read_network(path, batch)
        elif wanted == "operators":
            onnx_process.read_operators(path, batch)
        else:
            onnx_process.read_weights(path, batch)


def read_onnx_here(path: Path) -> None:
    """The same in this process, which a rule of onnx may end."""
    from mapper.workloads.document import InputError
    from mapper.workloads.onnx import process as onnx_process

    wanted, batch = _wanted(path)
    with patch.object(onnx_process, "_limit", lambda *sizes: None):
        answer = _answer_here(path, batch, wanted)
    json.dumps(answer)
    if "error" in answer:
        raise InputError(*answer["error"])


def _wanted(path: Path) -> tuple[Wanted, int | None]:
    # Small weights lie beside a model that names them.
    beside = path.with_name("beside.bin")
    if not beside.exists():
        beside.write_bytes(bytes(500))
    place = zlib.crc32(path.read_bytes()) % 6
    return get_args(Wanted)[place % 3], 3 if place > 3 else None


@functools.cache
def _warm(folder: Path) -> None:
    """Load what reading takes before the first copy is made."""
    path = folder / "warm.onnx"
    for data in networks.onnx_models():
        path.write_bytes(data)
        for wanted in get_args(Wanted):
            _answer_here(path, None, wanted)


def _answer_here(path: Path, batch: int | None, wanted: Wanted) -> dict[str, Any]:
    from mapper.workloads.onnx import process as onnx_process

    with Path(os.devnull).open("wb", buffering=0) as data:
        return onnx_process._answer(path, batch, {}, wanted, data if wanted == "weights" else None)


def _forked(arguments: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """As ``subprocess.run`` of ``onnx_process``."""
    from mapper.workloads.onnx import process as onnx_process

    path, wanted, batch, dims, *descriptor = arguments[arguments.index(onnx_process.__name__) + 1 :]
    folder = Path(path).parent
    out, err = folder / "child.out", folder / "child.err"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for number, file in ((1, out), (2, err)):
                os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
            data = int(descriptor[0]) if descriptor else None
            onnx_process.main(Path(path), wanted, int(batch) if batch else None, json.loads(dims), data)
            sys.stdout.flush()
            code = 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code, said = os.waitstatus_to_exitcode(status), err.read_bytes()
    last = said.splitlines()[-1] if said else b""
    if code == 1 and b"MemoryError" not in last.partition(b":")[0]:
        raise AssertionError(said.decode("utf-8", "replace")[-4000:])
    return subprocess.CompletedProcess(arguments, code, out.read_bytes(), said)
