"""Which loops a name of a file in C means: one of them, or the function with all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mapper.kind.part import Workload
from mapper.models.modulo_schedule.whole.walk import walked
from mapper.workloads.c.reading import SourceReading, reading_from_json
from mapper.workloads.c.whole.kernel import whole_from_c
from mapper.workloads.document import InputError, decoded, read_bytes, sha256
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_catalogue import KERNELS, LARGEST_KERNEL_BYTES
from mapper.workloads.graph.kernel_source import load_kernel
from mapper.workloads.network.network import InputFile
from mapper.workloads.text.nearest import meant
from mapper.workloads.whole.program import AUTO, FLATTEN, HOST, WholeKernel

LOOP = "loop"
NESTS = (LOOP, HOST, FLATTEN, AUTO)
"""Who runs the loops around an innermost one: nobody, it is mapped alone; or as of whole kernels."""
_FUNCTION = re.compile(r"(?P<path>.+\.c)(?::(?P<function>[A-Za-z_]\w*))?", re.DOTALL)
DOCUMENT = {"name", "function", "text", "nest", "source"}


def read_loops(
    text: str, source: SourceReading, fix: Mapping[str, str]
) -> Workload[Kernel] | Workload[WholeKernel]:
    """The kernel called ``text``, or, where ``nest`` pins that, the whole function in C.

    Raises: InputError if there is no such kernel or decision, or it cannot be read or mapped whole.
    """
    nest, named = fix.get("nest", LOOP), _FUNCTION.fullmatch(text)
    if nest not in NESTS:
        raise InputError(
            "--fix", "nest", f"{meant(nest, NESTS)}{nest[:40]!r} is not one of {', '.join(NESTS)}"
        )
    if nest == LOOP:
        return Workload(*load_kernel(text, source))
    if named is None or text in KERNELS:
        raise InputError("--fix", "nest", "is of a whole function in C; give FILE.c:FUNCTION")
    found, inputs = _read_whole(Path(named["path"]), named["function"], source, nest)
    walked(found)
    return Workload(found, inputs)


def _read_whole(
    path: Path, function: str | None, source: SourceReading, nest: str
) -> tuple[WholeKernel, tuple[InputFile, ...]]:
    data = read_bytes(path, LARGEST_KERNEL_BYTES)
    text = decoded(data, str(path))
    whole, headers = whole_from_c(text, str(path), function or path.stem, function, source, nest)
    return whole, (InputFile(str(path), sha256(data)), *headers)


def whole_document(value: WholeKernel) -> dict[str, Any]:
    """A whole kernel as documents hold it: its text, which is read again."""
    return {
        "name": value.name,
        "function": value.function,
        "nest": value.nest,
        "source": value.reading.to_json(),
        "text": value.text,
    }


def whole_from_document(fields: Any, source: str) -> WholeKernel:
    """The whole kernel that a document holds.

    Raises: InputError if it holds none.
    """
    texts = DOCUMENT - {"source"}
    if (
        not isinstance(fields, Mapping)
        or set(fields) != DOCUMENT
        or not all(isinstance(fields[key], str) for key in texts)
    ):
        raise InputError(source, "", f"must hold {', '.join(sorted(DOCUMENT))}")
    if fields["nest"] not in NESTS[1:]:
        raise InputError(source, "nest", f"is not one of {', '.join(NESTS[1:])}")
    reading = reading_from_json(fields["source"], source)
    return whole_from_c(fields["text"], source, fields["name"], fields["function"], reading, fields["nest"])[
        0
    ]
