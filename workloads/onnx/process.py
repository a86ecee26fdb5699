"""ONNX files of users, read in a process of their own.

The shape rules of onnx are C++ that a malformed operator can crash or keep busy for ever (seen in 1.23: an
Einsum of ``......``, an Expand, GatherND, LayerNormalization, Split). A child process with limits on memory and
time turns each into one line.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from mapper.workloads.document import InputError, is_file
from mapper.workloads.nest.nest_file import nest_from_document, nest_to_document
from mapper.workloads.network.network import NO_DIMS, Dims, InputFile, Layer, Network, SkippedOperator
from mapper.workloads.network.operator_document import operators_document, operators_from_document
from mapper.workloads.network.operator_network import OperatorNetwork
from mapper.workloads.process.child_process import run

if TYPE_CHECKING:
    import numpy.typing as npt

    from mapper.workloads.onnx.file import OnnxModel

Wanted = Literal["layers", "operators", "weights"]

MOST_MEMORY_BYTES = 900 << 20
MOST_SECONDS = 8
MEMORY_PER_FILE_BYTE = 8
FILE_BYTES_PER_SECOND = 1 << 20
MOST_COMPUTED_BYTES = 640 << 20
"""The most bytes of weights that a file may have computed instead of holding them: VGG-19 has 548 MiB."""


def read_network(path: Path, batch: int | None = None, dims: Dims = NO_DIMS) -> Network:
    """The layers in an ONNX file as loop nests, with the hashes of the file and of its external data.

    Raises: InputError if the file cannot be read, or not within ``MOST_SECONDS`` and ``MOST_MEMORY_BYTES``
    (for a small file; both grow with its size).
    """
    answer, files = _asked(path, batch, dims, "layers")
    layers = []
    for name, op, document in answer["layers"]:
        nest = nest_from_document(document, str(path))
        layers.append(Layer(nest.name, name, op, nest))
    skipped = tuple(SkippedOperator(*entry) for entry in answer["skipped"])
    return Network(answer["name"], tuple(layers), skipped, files, answer["batch"])


def read_operators(path: Path, batch: int | None = None, dims: Dims = NO_DIMS) -> OperatorNetwork:
    """The operators in an ONNX file, with the hashes and errors of ``read_network``."""
    answer, files = _asked(path, batch, dims, "operators")
    return operators_from_document(answer["document"] | {"dims": dict(dims)}, str(path), files)


def read_weights(
    path: Path, batch: int | None = None, dims: Dims = NO_DIMS
) -> tuple[dict[str, npt.NDArray[Any]], tuple[InputFile, ...]]:
    """The values of the weights in an ONNX file, by the names that ``read_operators`` gives them (floats in
    single precision), and the hashes of the file and of its external data.

    Raises: InputError as ``read_network``, or if a weight has no constant value.
    """
    import numpy as np

    # Through a file and one by one: two processes that held all of them at once would need their size four times.
    with _temporary_file(path) as data:
        answer, files = _asked(path, batch, dims, "weights", data)
        data.seek(0)
        return {name: np.load(data, allow_pickle=False) for name in answer["weights"]}, files


def _temporary_file(path: Path) -> BinaryIO:
    try:
        # Without a buffer numpy reads straight into its arrays.
        return tempfile.TemporaryFile(buffering=0)
    except OSError as error:
        remedy = f"needs a temporary file for its weights ({error.strerror}); set TMPDIR to a writable folder"
        raise InputError(str(path), "", remedy) from None


def _asked(
    path: Path, batch: int | None, dims: Dims, wanted: Wanted, data: BinaryIO | None = None
) -> tuple[dict[str, Any], tuple[InputFile, ...]]:
    """The answer of a child process, which writes arrays to ``data``, and the files that it read."""
    source = str(path)
    if not is_file(path):
        raise InputError(source, "", "is not a file; give an existing .onnx file")
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    descriptors = () if data is None else (data.fileno(),)
    sized = json.dumps(dict(dims))
    process = run(
        [
            sys.executable,
            "-P",
            "-m",
            __name__,
            source,
            wanted,
            str(batch or ""),
            sized,
            *map(str, descriptors),
        ],
        pass_fds=descriptors,
        env=os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
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
    if said and "MemoryError" in said[-1].partition(":")[0]:
        return f"takes more than {MOST_MEMORY_BYTES >> 20} MiB to read"
    return f"cannot be read ({said[-1][:200] if said else process.returncode})"


def _hashed(path: Path) -> InputFile:
    try:
        with path.open("rb") as file:
            return InputFile(str(path), hashlib.file_digest(file, "sha256").hexdigest())
    except OSError as error:
        raise InputError(str(path), "", f"cannot be read ({error.strerror}); give a readable file") from None


def _answer(path: Path, batch: int | None, dims: Dims, wanted: str, data: BinaryIO | None) -> dict[str, Any]:
    """What the child finds, as JSON; weights are written to ``data``."""
    from mapper.workloads.onnx.file import read_model
    from mapper.workloads.onnx.integer_operator import unfolded
    from mapper.workloads.onnx.shape.open_dimension import close_dimensions

    try:
        model = read_model(path)
        model = replace(model, proto=unfolded(model.proto))
        close_dimensions(model.proto.graph, dims, str(path))
        if wanted == "layers":
            found = _layers(model, path, batch)
        elif data is None:
            found = _operators(model, path, batch)
        else:
            found = _weights(model, path, batch, data)
    except InputError as error:
        return {"error": [error.source, error.field, error.remedy]}
    return found | {"inputs": [str(path), *map(str, model.external)]}


def _layers(model: OnnxModel, path: Path, batch: int | None) -> dict[str, Any]:
    from mapper.workloads.onnx.network import network_of

    network = network_of(model, path.stem, batch)
    return {
        "name": network.name,
        "batch": network.batch,
        "layers": [[layer.source, layer.op, nest_to_document(layer.nest)] for layer in network.layers],
        "skipped": [[entry.name, entry.op, entry.reason, entry.macs] for entry in network.skipped],
    }


def _operators(model: OnnxModel, path: Path, batch: int | None) -> dict[str, Any]:
    from mapper.workloads.onnx.operator import operators_of

    return {"document": operators_document(operators_of(model, path.stem, batch))}


def _weights(model: OnnxModel, path: Path, batch: int | None, data: BinaryIO) -> dict[str, Any]:
    import numpy as np

    from mapper.workloads.onnx.operator import operators_of
    from mapper.workloads.onnx.weight import weight_shapes, weights_of

    network = operators_of(model, path.stem, batch)
    computed = sum(4 * math.prod(shape) for shape in weight_shapes(network).values())
    stored = sum(file.stat().st_size for file in (path, *model.external))
    if computed > MOST_COMPUTED_BYTES + 4 * stored:  # stored ones may take a byte where four come of it
        remedy = f"would take {computed >> 20} MiB, which the file computes; store them in it"
        raise InputError(str(path), "weights", remedy)
    _limit(stored, computed)
    names = []
    for name, values in weights_of(model, network, path.parent):
        names.append(name)
        np.save(data, values, allow_pickle=False)
    return {"weights": names}


def _limit(size: int, computed: int = 0) -> None:
    seconds = MOST_SECONDS + (size + computed) // FILE_BYTES_PER_SECOND
    for kind, limit in (
        (resource.RLIMIT_AS, MOST_MEMORY_BYTES + MEMORY_PER_FILE_BYTE * size),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a system, or its administrator, may refuse a limit
            resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))


def main(path: Path, wanted: str, batch: int | None, dims: Dims, descriptor: int | None) -> None:
    """Read one file under limits and print what it holds, but write weights to the file of ``descriptor``."""
    _limit(path.stat().st_size)
    data = None if descriptor is None else os.fdopen(descriptor, "wb", buffering=0)
    print(json.dumps(_answer(path, batch, dims, wanted, data)))


if __name__ == "__main__":
    given = sys.argv[1:]
    own_batch = int(given[2]) if given[2] else None
    main(Path(given[0]), given[1], own_batch, json.loads(given[3]), int(given[4]) if given[4:] else None)
