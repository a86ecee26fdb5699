"""LLVM IR as llvmlite reads it: a function after LLVM's own passes, and its innermost loops."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import networkx

from mapper.workloads.document import InputError, decoded
from mapper.workloads.process.child_process import child

Instruction: TypeAlias = Any
"""A value of llvmlite's binding, which has no types."""
CLEANUPS = (
    "add_sroa_pass", "add_simplify_cfg_pass", "add_instruction_combine_pass", "add_loop_rotate_pass",
    "add_loop_simplify_pass", "add_lcssa_pass", "add_new_gvn_pass", "add_simplify_cfg_pass",
    "add_loop_simplify_pass", "add_instruction_namer_pass",
)  # fmt: skip
"""LLVM's passes: scalars leave memory, loops test at their end, equal values are one, small branches are selects."""

READING = """
import resource, sys
import llvmlite.binding as llvm
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.stdout.write(str(llvm.parse_bitcode(sys.stdin.buffer.read())))
"""
"""What the other process does with bitcode."""
LARGEST_MEMORY = 2 << 30
READING_SECONDS = 20
LARGEST_TEXT_BYTES = 8 << 20


_PLACED = re.compile(r"<string>:(\d+:\d+): error: (.*)")
"""Where LLVM finds text at fault."""


@dataclass(frozen=True)
class Block:
    """A block: its name, its instructions, and the blocks that it may go to (of a conditional branch the one that is
    taken first)."""

    name: str
    instructions: tuple[Instruction, ...]
    next: tuple[str, ...]

    @property
    def end(self) -> Instruction:
        return self.instructions[-1]


@dataclass(frozen=True)
class IrLoop:
    """An innermost loop: its blocks in an order in which each comes after those that lead to it, the header first."""

    source: str
    function: str
    blocks: tuple[Block, ...]
    latch: str
    module: Any

    @cached_property
    def names(self) -> frozenset[str]:
        """The blocks' names."""
        return frozenset(block.name for block in self.blocks)

    @cached_property
    def inside(self) -> dict[str, Instruction]:
        """The instructions of the loop that give a value, by its name."""
        return {one.name: one for block in self.blocks for one in block.instructions if one.name}

    def fault(self, at: Instruction | None, remedy: str) -> InputError:
        """What is wrong with an instruction."""
        shown = "" if at is None else f" ({' '.join(str(at).split())[:120]})"
        return InputError(self.source, self.function, remedy + shown)


def read_module(data: bytes, source: str) -> Any:
    """The module of a file of text or bitcode.

    Raises: InputError if LLVM cannot read it.
    """
    import llvmlite.binding as llvm

    try:
        bitcode = data[:4] in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
        text = _text_of(data) if bitcode else decoded(data, source)
        if "\0" in text:
            raise InputError(source, "", "is no LLVM IR: it holds a zero byte; give a .ll or .bc file")
        return llvm.parse_assembly(text)
    except RuntimeError as error:
        version = ".".join(map(str, llvm.llvm_version_info))
        said = " ".join(str(error).split())
        placed = _PLACED.search(said)
        place, reason = (source, said) if placed is None else (f"{source}:{placed[1]}", placed[2])
        raise InputError(
            place, "", f"LLVM {version} cannot read it ({reason[:200]}); give IR of that version"
        ) from None


def _text_of(bitcode: bytes) -> str:
    """The text of a module of bitcode. LLVM ends the process where bitcode is broken in some ways, so that another one
    reads it.

    Raises: RuntimeError saying why it cannot be read.
    """
    command, pipe = [sys.executable, "-I", "-c", READING, str(LARGEST_MEMORY)], subprocess.PIPE
    try:
        with child(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            out, err = process.communicate(bitcode, timeout=READING_SECONDS)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"takes more than {READING_SECONDS} s to read") from None
    if process.returncode or len(out) > LARGEST_TEXT_BYTES:
        lines = err.decode(errors="replace").split("\n")
        said = next((line for line in lines if line.startswith(("RuntimeError: ", "LLVM ERROR: "))), "")
        what = said.partition(": ")[2].strip()
        raise RuntimeError(what or "broken, or too large")
    return out.decode(errors="replace")


def find_loop(module: Any, source: str, function: str | None, number: int | None) -> tuple[IrLoop, int]:
    """The innermost loop ``number`` (None: the first) of ``function`` (None: the only one that loops) after LLVM's
    passes, and how many more there are.

    Raises: InputError if there is none.
    """
    import llvmlite.binding as llvm

    manager = llvm.create_new_module_pass_manager()
    manager.add_always_inliner_pass()
    for name in CLEANUPS:
        getattr(manager, name)()
    machine = llvm.Target.from_default_triple().create_target_machine() if _ready(llvm) else None
    manager.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    loops = {one.name: _innermost(one, source, module) for one in module.functions if not one.is_declaration}
    looping = [name for name, found in loops.items() if found]
    if function is None and len(looping) == 1:
        function = looping[0]
    if function is None or function not in loops:
        if not looping:
            raise InputError(source, "", "no function has a loop; give a file with one")
        what = "several functions have loops" if function is None else "is not a function with a body here"
        raise InputError(source, (function or "")[:80], f"{what}; give one of {looping[:8]}")
    found = loops[function]
    if not found or (number or 0) >= len(found):
        remedy = f"has {len(found)} innermost loops after LLVM's passes, counted from 0; give one of them"
        raise InputError(source, function[:80], remedy)
    return found[number or 0], len(found) - 1


def _ready(llvm: Any) -> bool:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return True


def _innermost(function: Any, source: str, module: Any) -> list[IrLoop]:
    """The loops that hold no other, in the order of the text."""
    blocks = {block.name: _block(block) for block in function.blocks}
    graph = networkx.DiGraph([(name, after) for name, block in blocks.items() for after in block.next])
    entry = next(iter(blocks), None)
    if entry is None or entry not in graph:
        return []
    order = {name: at for at, name in enumerate(blocks)}
    above = dict(networkx.immediate_dominators(graph, entry))

    def dominates(head: str, name: str) -> bool:
        while name != head and above.get(name) not in (None, name):
            name = above[name]
        return name == head

    bodies: dict[str, tuple[set[str], str]] = {}
    for tail, head in graph.edges:
        if tail in above and dominates(head, tail):
            body = bodies.setdefault(head, ({head}, tail))[0]
            waiting = [tail]
            while waiting:
                name = waiting.pop()
                if name not in body:
                    body.add(name)
                    waiting += graph.predecessors(name)
    found = []
    for head in sorted(bodies, key=order.__getitem__):
        body, latch = bodies[head]
        if any(other != head and other in body for other in bodies):
            continue
        inner = graph.subgraph(body).copy()
        inner.remove_edges_from([(tail, head) for tail in list(inner.predecessors(head))])
        if networkx.is_directed_acyclic_graph(inner):
            names = networkx.lexicographical_topological_sort(inner, key=order.__getitem__)
            found.append(IrLoop(source, function.name, tuple(blocks[name] for name in names), latch, module))
    return found


def _block(block: Any) -> Block:
    instructions = tuple(block.instructions)
    labels = [one.name for one in instructions[-1].operands if str(one.type) == "label"]
    # Of a conditional branch LLVM lists the block for false first.
    return Block(block.name, instructions, tuple(reversed(labels)))
