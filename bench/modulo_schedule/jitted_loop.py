"""Loops of LLVM IR as llvmlite's own JIT has them: each as a function of its own on the memory of its kernel."""

from __future__ import annotations

import ctypes
import re
import struct
from typing import Any

import numpy.typing as npt

from mapper.workloads.c.reading import AS_WRITTEN, SourceReading
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.llvm.kernel import Lowering
from mapper.workloads.llvm.module import find_loop, read_module
from mapper.workloads.loop.building import kernel_of
from mapper.workloads.loop.kind import FLOATING

Memory = dict[str, npt.NDArray[Any]]


def jitted(
    text: str, function: str, number: int = 0, reading: SourceReading = AS_WRITTEN
) -> tuple[Kernel, str, list[str]]:
    """The kernel of a loop, the loop as a module with the one function ``loop`` of its arrays, and their order."""
    loop, _ = find_loop(read_module(text.encode(), "loop.ll"), "loop.ll", function, number)
    lowering = Lowering(loop, reading.passes)
    lowered = lowering.lowered()
    if lowered is None:
        lowering = Lowering(loop, reading.passes, flagged=True)
        lowered = lowering.lowered()
    assert lowered is not None
    stored = {name for name in lowered.arrays if name in loop.inside}
    lines = []
    for block in loop.blocks:
        steps = [" ".join(str(one).split()) for one in block.instructions]
        own = {one.name: str(one.type) for one in block.instructions if one.name in stored}
        steps[-1:] = [*(f"  store {kind} %{name}, ptr %out.{name}" for name, kind in own.items()), steps[-1]]
        lines += [f"{block.name}:", *steps]
    code = "\n".join(lines)
    for name, value in lowering.lines.values.items():
        if name in lowering.lines.assumed:
            shown = str(value.number)
            if value.kind in FLOATING:
                shown = f"0x{struct.unpack('>Q', struct.pack('>d', float(value.number)))[0]:016X}"
            code = re.sub(rf"%{re.escape(name)}(?![\w.$-])", shown, code)
    for block in loop.module.get_function(function).blocks:
        if block.name not in loop.names:
            named = rf"%{re.escape(block.name)}(?![\w.$-])"
            code = re.sub(rf"label {named}", "label %done", code)
            code = re.sub(rf"(\[[^\]]*, ){named}", r"\1%origin", code)
    parameters = [f"ptr %out.{name}" if name in stored else f"ptr %{name}" for name in lowered.arrays]
    head = f"define void @loop({', '.join(parameters)}) {{\norigin:\n  br label %{loop.blocks[0].name}\n"
    code = re.sub(r"@(\w+)", lambda found: f"%{found[1]}" if found[1] in lowered.arrays else found[0], code)
    code = re.sub(r", ![\w.]+ !\d+|, !llvm.loop !\d+| #\d+", "", code)
    declared = sorted({found for found in re.findall(r"call [^@]*(@[\w.]+)\(", code)})
    known = [str(one).strip() for one in loop.module.functions if f"@{one.name}" in declared]
    kernel = kernel_of(lowered, function, "", reading.passes)
    declarations = "\n".join(re.sub(r" #\d+", "", one.split("\n")[-1]) for one in known)
    return kernel, f"{declarations}\n{head}{code}\ndone:\n  ret void\n}}\n", list(lowered.arrays)


def run_jitted(module: str, order: list[str], memory: Memory) -> Memory:
    """The memory after the function ``loop`` of ``module``; ``memory`` is left as it is."""
    import llvmlite.binding as llvm

    after = {name: words.copy() for name, words in memory.items()}
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(module), machine)
    engine.finalize_object()
    address = engine.get_function_address("loop")
    call = ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * len(order)))(address)
    call(*(after[name].ctypes.data if name in after else None for name in order))
    return after
