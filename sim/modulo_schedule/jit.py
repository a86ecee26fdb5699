"""A loop of LLVM IR as llvmlite's own JIT runs it, in a process of its own: on other words than it is meant for it may
never end, or leave its arrays."""

from __future__ import annotations

import json
import subprocess
import sys
from types import MappingProxyType

import numpy as np

from mapper.sim.modulo_schedule.against import Origins
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_execution import Memory
from mapper.workloads.llvm.alone import ENTRY, LoopModule
from mapper.workloads.process.child_process import child

RUNNING = """
import ctypes, json, resource, sys
import llvmlite.binding as llvm
given = json.loads(sys.stdin.buffer.readline())
for name, most in given["limits"].items():
    resource.setrlimit(getattr(resource, name), (most, most))
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine()
try:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(given["module"]), machine)
except RuntimeError as error:
    sys.exit("LLVM: " + " ".join(str(error).split())[:200])
engine.finalize_object()
arrays = [bytearray(sys.stdin.buffer.read(size)) for size in given["sizes"]]
held = [(ctypes.c_char * max(1, len(words))).from_buffer(words or bytearray(1)) for words in arrays]
call = ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * len(held)))(engine.get_function_address(given["entry"]))
call(*(ctypes.addressof(words) + first for words, first in zip(held, given["first"])))
for words in arrays:
    sys.stdout.buffer.write(words)
"""
"""What the other process does. It can open no file, start no process and write none, and is given but so much memory
and time."""
LARGEST_MEMORY = 2 << 30
SECONDS = 5
LIMITS = {
    "RLIMIT_AS": LARGEST_MEMORY, "RLIMIT_CPU": SECONDS, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_NOFILE": 0,
}  # fmt: skip
NOWHERE: Origins = MappingProxyType({})
SPARE_BYTES = 1 << 16
"""For arrays of which nothing is left in the kernel."""


def run_jitted(module: LoopModule, memory: Memory, origins: Origins = NOWHERE) -> Memory | None:
    """The memory after the loop, whose pointers lead to the words ``origins``; ``memory`` is left as it is. None if it
    does not end within ``SECONDS``, or is ended for what it touches.

    Raises: InputError if LLVM does not take the loop alone.
    """
    sizes = [memory[name].nbytes if name in memory else SPARE_BYTES for name in module.arrays]
    first = [origins.get(name, 0) * memory[name].itemsize if name in memory else 0 for name in module.arrays]
    given = {"module": module.text, "sizes": sizes, "first": first, "limits": LIMITS, "entry": ENTRY}
    words = b"".join(
        memory[name].tobytes() if name in memory else bytes(SPARE_BYTES) for name in module.arrays
    )
    command, pipe = [sys.executable, "-I", "-c", RUNNING], subprocess.PIPE
    try:
        with child(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            out, err = process.communicate(json.dumps(given).encode() + b"\n" + words, timeout=4 * SECONDS)
    except subprocess.TimeoutExpired:
        return None
    said = err.decode(errors="replace").strip()
    if process.returncode and said.startswith("LLVM: "):
        raise InputError(
            "the loop alone", "", f"is nothing that LLVM takes ({said}); simulate its solution instead"
        )
    if process.returncode or len(out) != len(words):
        return None
    after, at = dict(memory), 0
    for name, size in zip(module.arrays, sizes, strict=True):
        if name in memory:
            after[name] = np.frombuffer(out[at : at + size], memory[name].dtype)
        at += size
    return after
