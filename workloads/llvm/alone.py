"""A loop of LLVM IR as a module of its own: one function of the addresses of its arrays, for a compiler to run."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from mapper.workloads.llvm.instruction import SILENT
from mapper.workloads.llvm.kernel import Lowering
from mapper.workloads.llvm.module import Block, Instruction
from mapper.workloads.loop.kind import FLOATING

ENTRY = "loop"
"""The name of the function."""
ATTACHED = re.compile(r", ![\w.]+ !\d+| #\d+")
"""Metadata and groups of attributes, which stand elsewhere in a file."""
CALLED = re.compile(r"\bcall\b[^@]*@([\w.]+)\(")


@dataclass(frozen=True)
class LoopModule:
    """``text``: IR with the function ``loop`` of the addresses of ``arrays``, in their order."""

    text: str
    arrays: tuple[str, ...]


def alone(lowering: Lowering) -> LoopModule:
    """The loop that was lowered, as a function: live-ins are the numbers that they stand at, pointers and globals are
    its arguments, and values that are used after the loop are stored where they are computed. What it calls are
    intrinsics and functions of mathematics: the front end refuses others.
    """
    loop, arrays = lowering.loop, tuple(lowering.whole.arrays)
    stored = frozenset(name for name in arrays if name in loop.inside)
    code = "\n".join(line for block in loop.blocks for line in _lines(block, stored))
    code = _left(_numbered(code, lowering), lowering)
    called = set(CALLED.findall(code))
    code = re.sub(r"@([\w.$]+)", lambda found: f"%{found[1]}" if found[1] in arrays else found[0], code)
    declared = [str(one).strip().split("\n")[-1] for one in loop.module.functions if one.name in called]
    arguments = ", ".join(f"ptr %out.{name}" if name in stored else f"ptr %{name}" for name in arrays)
    text = [
        *(ATTACHED.sub("", line) for line in declared),
        f"define void @{ENTRY}({arguments}) {{",
        f"origin:\n  br label %{loop.blocks[0].name}",
        code,
        "done:\n  ret void\n}\n",
    ]
    return LoopModule("\n".join(text), arrays)


def _lines(block: Block, stored: frozenset[str]) -> list[str]:
    """A block, with the values that are stored before it ends."""
    steps = [_line(one) for one in block.instructions if not _is_silent(one)]
    stores = []
    for one in block.instructions:
        if one.name in stored:
            name, kind = one.name, str(one.type)
            if kind == "i1":  # a word of 32 bits here
                stores.append(f"  %out.wide.{name} = zext i1 %{name} to i32")
                name, kind = f"out.wide.{name}", "i32"
            stores.append(f"  store {kind} %{name}, ptr %out.{one.name}")
    return [f"{block.name}:", *steps[:-1], *stores, steps[-1]]


def _line(one: Instruction) -> str:
    lines = (line for line in str(one).split("\n") if not line.lstrip().startswith("#dbg_"))
    return ATTACHED.sub("", f"  {' '.join(' '.join(lines).split())}")


def _is_silent(one: Instruction) -> bool:
    if one.opcode != "call":
        return False
    name = list(one.operands)[-1].name.removeprefix("llvm.")
    return any(name.startswith(silent) for silent in SILENT)


def _numbered(code: str, lowering: Lowering) -> str:
    """The code with the numbers that live-ins stand at."""
    for name, value in lowering.lines.values.items():
        if name in lowering.lines.assumed:
            shown = str(value.number)
            if value.kind in FLOATING:
                shown = f"0x{struct.unpack('>Q', struct.pack('>d', float(value.number)))[0]:016X}"
            code = re.sub(rf"%{re.escape(name)}(?![\w.$-])", shown, code)
    return code


def _left(code: str, lowering: Lowering) -> str:
    """The code whose ways out of the loop lead to the function's end, and those into it from its start."""
    loop = lowering.loop
    for block in loop.module.get_function(loop.function).blocks:
        if block.name not in loop.names:
            named = rf"%{re.escape(block.name)}(?![\w.$-])"
            code = re.sub(rf"label {named}", "label %done", code)
            code = re.sub(rf"(\[[^\]]*, ){named}", r"\1%origin", code)
    return code
