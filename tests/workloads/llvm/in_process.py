"""Loops of LLVM IR that the tests wrote themselves, run by llvmlite's JIT in this process."""

from __future__ import annotations

import ctypes

from mapper.workloads.graph.kernel_execution import Memory
from mapper.workloads.llvm.alone import ENTRY, LoopModule


def run_in_process(module: LoopModule, memory: Memory) -> Memory:
    """The memory after the loop; ``memory`` is left as it is."""
    import llvmlite.binding as llvm

    after = {name: words.copy() for name, words in memory.items()}
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(module.text), machine)
    engine.finalize_object()
    address = engine.get_function_address(ENTRY)
    call = ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * len(module.arrays)))(address)
    call(*(after[name].ctypes.data if name in after else None for name in module.arrays))
    return after
