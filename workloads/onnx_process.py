"""ONNX files of users, read in a process of their own.

The shape rules of onnx are C++ that a malformed operator can crash or keep busy for ever (seen in 1.23: an
Einsum of ``......``, an Expand, GatherND, LayerNormalization, Split). A child process with limits on memory and
time turns each into one line.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mapper.workloads.document import InputError
from mapper.workloads.nest_file import nest_from_document, nest_to_document
from mapper.workloads.network import InputFile, Layer, Network, SkippedOperator
from mapper.workloads.operator_document import operators_document, operators_from_document
from mapper.workloads.operator_network import OperatorNetwork

if TYPE_CHECKING:
    from mapper.workloads.onnx_file import OnnxModel

Wanted = Literal["layers", "operators"]

MOST_MEMORY_BYTES = 900 << 20
MOST_SECONDS = 30
MEMORY_PER_FILE_BYTE = 8
FILE_BYTES_PER_SECOND = 1 << 20


def read_network(path: Path, batch: int | None = None) -> Network:
    """The layers in an ONNX file as loop nests, with the hashes of the file and of its external data.

    Raises: InputError if the file cannot be read, or not within ``MOST_SECONDS`` and ``MOST_MEMORY_BYTES``
    (for a small file; both grow with its size).
    """
    answer, files = _asked(path, batch, "layers")
    layers = []
    for name, op, document in answer["layers"]:
        nest = nest_from_document(document, str(path))
        layers.append(Layer(nest.name, name, op, nest))
    skipped = tuple(SkippedOperator(*entry) for entry in answer["skipped"])
    return Network(answer["name"], tuple(layers), skipped, files, answer["batch"])


def read_operators(path: Path, batch: int | None = None) -> OperatorNetwork:
    """The operators in an ONNX file, with the hashes and errors of ``read_network``."""
    answer, files = _asked(path, batch, "operators")
    return operators_from_document(answer["document"], str(path), files)


def _asked(path: Path, batch: int | None, wanted: Wanted) -> tuple[dict[str, Any], tuple[InputFile, ...]]:
    """The answer of a child process, and the files that it read."""
    source = str(path)
    if not path.is_file():
        raise InputError(source, "", "is no file; give an existing .onnx file")
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    process = subprocess.run(
        [sys.executable, "-P", "-m", __name__, source, wanted, str(batch or "")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    if process.returncode:
        raise InputError(source, "", f"{_end(process)}; simplify the model")
    answer = json.loads(process.stdout)
    if "error" in answer:
        raise InputError(*answer["error"])
    return answer, tuple(_hashed(Path(name)) for name in answer["inputs"])


def _end(process: subprocess.CompletedProcess[bytes]) -> str:
    if process.returncode == -signal.SIGXCPU:
        return f"takes longer than {MOST_SECONDS} s to read"
    if process.returncode < 0:
        return f"crashes onnx ({signal.Signals(-process.returncode).name})"
    said = process.stderr.decode("utf-8", "replace").strip().splitlines()
    if said and said[-1].startswith("MemoryError"):
        return f"takes more than {MOST_MEMORY_BYTES >> 20} MiB to read"
    return f"cannot be read ({said[-1][:200] if said else process.returncode})"


def _hashed(path: Path) -> InputFile:
    try:
        with path.open("rb") as file:
            return InputFile(str(path), hashlib.file_digest(file, "sha256").hexdigest())
    except OSError as error:
        raise InputError(str(path), "", f"cannot be read ({error.strerror}); give a readable file") from None


def _answer(path: Path, batch: int | None, wanted: Wanted) -> dict[str, Any]:
    """What the child finds, as JSON."""
    from mapper.workloads.onnx_file import read_model

    try:
        model = read_model(path)
        found = _FOUND[wanted](model, path.stem, batch)
    except InputError as error:
        return {"error": [error.source, error.field, error.remedy]}
    return found | {"inputs": [str(path), *map(str, model.external)]}


def _layers(model: OnnxModel, name: str, batch: int | None) -> dict[str, Any]:
    from mapper.workloads.onnx_network import network_of

    network = network_of(model, name, batch)
    return {
        "name": network.name,
        "batch": network.batch,
        "layers": [[layer.source, layer.op, nest_to_document(layer.nest)] for layer in network.layers],
        "skipped": [[entry.name, entry.op, entry.reason, entry.macs] for entry in network.skipped],
    }


def _operators(model: OnnxModel, name: str, batch: int | None) -> dict[str, Any]:
    from mapper.workloads.onnx_operator import operators_of

    return {"document": operators_document(operators_of(model, name, batch))}


_FOUND = {"layers": _layers, "operators": _operators}


def _limit(size: int) -> None:
    memory = MOST_MEMORY_BYTES + MEMORY_PER_FILE_BYTE * size
    seconds = MOST_SECONDS + size // FILE_BYTES_PER_SECOND
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a system, or its administrator, may refuse a limit
            resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))


def main(path: Path, wanted: Wanted, batch: int | None) -> None:
    """Read one file under limits and print what it holds."""
    _limit(path.stat().st_size)
    json.dump(_answer(path, batch, wanted), sys.stdout)


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        "operators" if sys.argv[2] == "operators" else "layers",
        int(sys.argv[3]) if sys.argv[3] else None,
    )
