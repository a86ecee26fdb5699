"""A function in C as the system's compiler has it, run on the words of a memory in a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import TimeoutExpired

import numpy as np
from pycparser import c_ast

from mapper.workloads.c.expression import OPERATION_CALLS
from mapper.workloads.c.file import LoopPlace, find_loops
from mapper.workloads.c.name import names_in, parameters_of
from mapper.workloads.c.preprocessor import COMPILERS
from mapper.workloads.c.statement import COPIES
from mapper.workloads.c.type import type_of, underlying
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.kernel_execution import Memory
from mapper.workloads.process.child_process import child, run
from mapper.workloads.process.temporary import temporary_folder
from mapper.workloads.whole.program import WholeKernel

FLAGS = (
    "-O1",
    "-ffp-contract=off",
    "-fwrapv",
    "-fsigned-char",
    "-fno-strict-aliasing",
    "-w",
    "-shared",
    "-fPIC",
)
ENTRY = "mapper_entry"
SECONDS = 5
MOST_COMPILING = 20
LIMITS = {
    "RLIMIT_AS": 2 << 30, "RLIMIT_CPU": SECONDS, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_NOFILE": 0,
    "RLIMIT_NPROC": 0,
}  # fmt: skip
BOUNDED = f'ulimit -v {2 << 20}; ulimit -t {MOST_COMPILING}; ulimit -f {1 << 16}; exec "$@"'
"""What the shell sets before it becomes the compiler: kilobytes, seconds, and blocks of what it writes."""
RUNNING = """
import ctypes, json, resource, sys
given = json.loads(sys.stdin.buffer.readline())
arrays = [bytearray(sys.stdin.buffer.read(size)) for size in given["sizes"]]
held = [(ctypes.c_char * len(words)).from_buffer(words) for words in arrays]
addresses = (ctypes.c_void_p * (len(held) + 1))(*map(ctypes.addressof, held))
function = getattr(ctypes.CDLL(given["library"]), given["entry"])
for name, most in given["limits"].items():
    resource.setrlimit(getattr(resource, name), (most, most))
function(addresses)
for words in arrays:
    sys.stdout.buffer.write(words)
"""
"""What the other process does. Once it runs the function it can open no file, and has but so much memory and time."""


def compiler() -> str | None:
    """The system's C compiler, None if there is none."""
    return next((found for name in COMPILERS if (found := shutil.which(name))), None)


def run_compiled(whole: WholeKernel, memory: Memory) -> Memory | None:
    """What the compiled function leaves of ``memory``, in the arrays that it is given or that are global, and in global
    scalars, each as one word; None if there is no compiler, it does not take the function, or the function does not end
    well."""
    known = compiler()
    if known is None:
        return None
    try:
        place = find_loops(whole.text, whole.name, whole.function, whole.reading)[0]
        if not _calls_only_known(place):
            return None
        words, lines = _entry(whole, place, memory)
    except InputError:
        return None
    with temporary_folder() as folder:
        (folder / "whole.c").write_text("\n".join([whole.text, *lines]), "utf-8")
        library = folder / "whole.so"
        command = [
            "/bin/sh",
            "-c",
            BOUNDED,
            "sh",
            known,
            *FLAGS,
            "-x",
            "c",
            "-o",
            str(library),
            str(folder / "whole.c"),
            "-lm",
        ]
        try:
            if run(command, MOST_COMPILING, family=True).returncode:
                return None
            return _after(library, words)
        except TimeoutExpired:
            return None


def _calls_only_known(place: LoopPlace) -> bool:
    """Whether the text calls nothing but its own functions and arithmetic: it may be anybody's."""
    known = {*place.callees, *OPERATION_CALLS, *COPIES}
    waiting: list[c_ast.Node] = [
        place.function,
        *place.declarations,
        *place.callees.values(),
        *place.types.values(),
    ]
    while waiting:
        node = waiting.pop()
        if isinstance(node, c_ast.FuncCall) and (
            not isinstance(node.name, c_ast.ID) or str(node.name.name).removeprefix("__builtin_") not in known
        ):
            return False
        waiting += [child for _, child in node.children()]
    return True


def _entry(whole: WholeKernel, place: LoopPlace, memory: Memory) -> tuple[Memory, list[str]]:
    """The words that the compiled function shares, and a function of their addresses that calls it."""
    scalars = dict(whole.scalars)
    words: Memory = {}
    given, before, after = list[str](), list[str](), list[str]()
    for parameter in parameters_of(place.function):
        name = str(parameter.name)
        if name in scalars:
            given.append(_number(scalars[name]))
        else:
            # What nothing touches has no words; no address is as good as any.
            given.append(f"memory[{len(words)}]" if name in memory else "0")
            words |= {name: memory[name]} if name in memory else {}
    for name, declared in _shared(place):
        kind = type_of(underlying(declared, place.types), place.types)
        if name in scalars and kind is not None and "const" not in getattr(declared, "quals", ()):
            before.append(f"{name} = {_number(scalars[name])};")
            after.append(f"__builtin_memcpy(memory[{len(words)}], &{name}, sizeof {name});")
            words[name] = np.zeros(1, kind.word)
        elif name in memory:
            before.append(f"__builtin_memcpy({name}, memory[{len(words)}], sizeof {name});")
            after.append(f"__builtin_memcpy(memory[{len(words)}], {name}, sizeof {name});")
            words[name] = memory[name]
    call = f"{whole.function}({', '.join(given)});"
    return words, [f"void {ENTRY}(void **memory) {{", *before, call, *after, "}", ""]


def _shared(place: LoopPlace) -> Iterator[tuple[str, c_ast.Node]]:
    """Global variables that the function, or one that it calls, names, and their types."""
    used = names_in(place.function).union(*map(names_in, place.callees.values()))
    for one in place.declarations:
        if str(one.name) in used and not isinstance(one.type, c_ast.FuncDecl):
            yield str(one.name), one.type


def _number(number: Number) -> str:
    return number.hex() if isinstance(number, float) else f"({number})"


def _after(library: Path, memory: Memory) -> Memory | None:
    given = {
        "library": str(library),
        "entry": ENTRY,
        "sizes": [words.nbytes for words in memory.values()],
        "limits": LIMITS,
    }
    sent = b"".join(words.tobytes() for words in memory.values())
    command, pipe = [sys.executable, "-I", "-c", RUNNING], subprocess.PIPE
    with child(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        out, _ = process.communicate(json.dumps(given).encode() + b"\n" + sent, timeout=4 * SECONDS)
    if process.returncode or len(out) != len(sent):
        return None
    found: Memory = {}
    at = 0
    for name, words in memory.items():
        found[name] = np.frombuffer(out[at : at + words.nbytes], words.dtype)
        at += words.nbytes
    return found
