"""From what a user calls a kernel to the kernel that is meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from mapper.workloads.c.reading import AS_WRITTEN, SourceReading
from mapper.workloads.document import LARGEST_DOCUMENT_BYTES, InputError, decoded, read_bytes, sha256
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_catalogue import KERNELS, LARGEST_KERNEL_BYTES, kernel_bytes
from mapper.workloads.network.network import InputFile

DFG_MARK = b"mapper.dfg/"
IR = (".ll", ".bc")
_SOURCE = re.compile(
    r"(?P<path>.+\.(?:c|ll|bc))(?::(?P<function>[\w.$]+)(?::(?P<number>[0-9]{1,6}))?)?", re.DOTALL
)


def kernel_names() -> tuple[tuple[str, str], ...]:
    """Names and one-line descriptions of the built-in kernels."""
    return tuple(KERNELS.items())


def is_kernel(text: str) -> bool:
    """Whether ``text`` names a kernel: a built-in one, a loop in C or LLVM IR (``file.c:function:loop``), or a graph by
    the end of its name. Only a ``.json``, ``.yaml`` or ``.yml`` file is looked into, for its schema."""
    if text in KERNELS or _SOURCE.fullmatch(text) or text.endswith("_edges"):
        return True
    suffix = Path(text).suffix.lower()
    if suffix in (".json", ".yaml", ".yml") and "\0" not in text:
        try:
            if Path(text).is_file():
                with Path(text).open("rb") as file:
                    return DFG_MARK in file.read(LARGEST_DOCUMENT_BYTES)
        except OSError:
            pass
        return False
    return suffix in (".dot", ".graphml", ".mlir", ".xml")


def is_source(text: str) -> bool:
    """Whether ``text`` names a loop in C or LLVM IR, or a built-in kernel, which is one in C."""
    return text in KERNELS or bool(_SOURCE.fullmatch(text))


def load_kernel(text: str, reading: SourceReading = AS_WRITTEN) -> tuple[Kernel, tuple[InputFile, ...]]:
    """The kernel called ``text``, and the files read: a built-in one; ``file.c``, ``file.c:function`` or
    ``file.c:function:N`` for its N-th innermost loop, counted from 0 (``.ll`` and ``.bc`` likewise); or a graph
    (``.dot``, ``.graphml``, ``.mlir``, ``.xml``, a ``mapper.dfg/1`` document, ``*_edges``). ``reading``: how to read
    sources.

    Raises: InputError if there is no such kernel, or it cannot be read.
    """
    from mapper.workloads.c.kernel import kernel_from_c
    from mapper.workloads.graph.file import read_graph

    if text in KERNELS:
        data = kernel_bytes(text)
        kernel = kernel_from_c(data.decode("utf-8"), f"{text}.c", text, text, 0, reading=reading)
        return kernel, (InputFile(f"catalogue:{text}", sha256(data)),)
    if "\0" in text or not is_kernel(text):
        raise InputError(
            text[:80] or "workload", "", "names no kernel; give a file.c, a graph, or a name of the catalogue"
        )
    named = _SOURCE.fullmatch(text)
    return read_graph(text) if named is None else _load_source(named, reading)


@dataclass(frozen=True)
class NamedLoop:
    """The file of a loop, with its bytes, and which loop of it is meant; ``name``: what the kernel is called."""

    path: str
    data: bytes
    function: str | None
    number: int | None
    name: str


def is_ir(text: str) -> bool:
    """Whether ``text`` names a loop in LLVM IR."""
    named = _SOURCE.fullmatch(text)
    return named is not None and Path(named["path"]).suffix in IR


def read_ir(text: str) -> NamedLoop:
    """The loop in LLVM IR called ``text``.

    Raises: InputError if the file cannot be read.
    """
    named = _SOURCE.fullmatch(text)
    assert named is not None
    return _named_loop(named)


def _named_loop(named: re.Match[str]) -> NamedLoop:
    path, function = Path(named["path"]), named["function"]
    data = read_bytes(path, LARGEST_KERNEL_BYTES)
    number = None if named["number"] is None else int(named["number"])
    name = function or path.stem
    return NamedLoop(str(path), data, function, number, name if number is None else f"{name}:{number}")


def _load_source(named: re.Match[str], reading: SourceReading) -> tuple[Kernel, tuple[InputFile, ...]]:
    from mapper.workloads.c.kernel import read_c

    one = _named_loop(named)
    inputs = (InputFile(one.path, sha256(one.data)),)
    if Path(one.path).suffix in IR:
        from mapper.workloads.llvm.kernel import kernel_from_llvm

        return kernel_from_llvm(one.data, one.path, one.name, one.function, one.number, reading), inputs
    text = decoded(one.data, one.path)
    kernel, headers = read_c(text, one.path, one.name, one.function, one.number, reading=reading)
    return kernel, (*inputs, *headers)
