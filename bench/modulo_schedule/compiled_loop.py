"""Loops as the system's compiler has them: each as a function of its own on the memory of its kernel.

What comes before the loop is written as the front end follows it, with the numbers that live-ins stand at.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pycparser import c_ast, c_generator

from bench.modulo_schedule.structure_text import NotWrittenError, StructureText, named, plain
from mapper.workloads.c.file import LoopPlace, find_loop
from mapper.workloads.c.lowering import Lowering, lower
from mapper.workloads.c.name import calls, names_in, stores
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.c.type import type_of
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.loop.body import Value
from mapper.workloads.loop.building import kernel_of
from mapper.workloads.loop.kind import FLOATING, WIDE, ValueType

Memory = dict[str, npt.NDArray[Any]]
C_TYPE = {
    "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "float32": "float", "float64": "double",
}  # fmt: skip
FLAGS = ("-O1", "-ffp-contract=off", "-fwrapv", "-fsigned-char", "-fno-strict-aliasing", "-w")
COMPILER = "g++"


def c_type(found: ValueType) -> str:
    """The type as C names it."""
    wide = {"int": "int", "unsigned": "unsigned", "long": "long long", "ulong": "unsigned long long"}
    return C_TYPE.get(found.word) or wide[found.kind]


def c_number(value: Value) -> str:
    """The number that a live-in stands at."""
    if value.kind in FLOATING:
        return f"{float(value.number).hex()}{'f' if value.kind == 'float' else ''}"
    return f"(({c_type_of(value)}){int(value.number)}{'LL' if value.kind in WIDE else ''})"


def c_type_of(value: Value) -> str:
    return {"unsigned": "unsigned", "ulong": "unsigned long long", "long": "long long"}.get(value.kind, "int")


class Recorded(Lowering):
    """Writes down what the front end follows on its way to the loop."""

    def __init__(self, place: LoopPlace, passes: frozenset[str], middle: bool, least: int) -> None:
        self.written: list[str] = []
        self.declared: dict[str, str] = {}
        self.outputs: dict[str, str] = {}
        super().__init__(place, passes, middle, least)

    def _attempt(self, node: c_ast.Node) -> None:
        numbers = self._numbers(names_in(node))
        super()._attempt(node)
        generator = self.text_of_structures()
        for one in node.decls if isinstance(node, c_ast.DeclList) else [node]:
            if (
                isinstance(one, c_ast.Assignment)
                and not stores(one)
                and self.scalars.get(getattr(one.lvalue, "name", ""))
            ):
                self._write(numbers, one, generator)
            elif isinstance(one, c_ast.Decl) and one.init is not None and self.scalars.get(str(one.name)):
                self._write(numbers, one.init, generator, f"{one.name} = ")

    def text_of_structures(self) -> StructureText:
        """What writes the structures as the front end has them by now."""
        pointers = {name: value.base for name, value in self.scalars.items() if value is not None}
        bases = {name: base for name, base in pointers.items() if base in self.structures}
        return StructureText(
            frozenset(self.arrays),
            frozenset(self.structures),
            bases,
            lambda node: self.structure_of(node) is not None,
        )

    def _write(
        self, numbers: list[str], node: c_ast.Node, generator: c_generator.CGenerator, before: str = ""
    ) -> None:
        """Writes a statement that was followed; what the scalars of others are, is written before the loop."""
        numbered = {name for name, value in self.scalars.items() if value is not None}
        if named(node) <= self.types.keys() | self.arrays.keys() | self.structures.keys() | numbered:
            with suppress(NotWrittenError):
                self.written += [*numbers, f"{before}{generator.visit(node)};"]

    def _numbers(self, names: frozenset[str]) -> list[str]:
        lines = []
        for name in sorted(names & self.scalars.keys()):
            value = self.scalars[name]
            if value is not None and value.node is None and name in self.types:
                lines.append(
                    f"{name} = {c_number(value) if value.base is None else self._pointer_to(value)};"
                )
        return lines

    def _pointer_to(self, value: Value) -> str:
        """A pointer to a known word of an array; of structures it is their index."""
        assert value.base is not None
        if value.base in self.structures:
            return str(value.number)
        own = "__own" if value.base in self.scalars else ""
        return f"({c_type(self.arrays[value.base].type)} *){plain(value.base)}{own} + {value.number}"

    def _enter(self, count: int) -> None:
        self.written += self._numbers(frozenset(self.scalars))
        for name, found in self.types.items():
            value = self.scalars.get(name)
            base = None if value is None else value.base
            pointer = "" if base is None else f"{c_type(self.arrays[base].type)} *"
            self.declared[name] = "long long" if base in self.structures else pointer or c_type(found)
        super()._enter(count)

    def _keep(self, loop: c_ast.Node, phis: dict[str, int]) -> None:
        before = set(self.arrays)
        super()._keep(loop, phis)
        self.outputs = {name: c_type(self.arrays[name].type) for name in self.arrays if name not in before}


def recorded(
    text: str, source: str, function: str | None, number: int | None, reading: SourceReading
) -> tuple[Recorded, Kernel]:
    """The loop with what was written down, and its kernel."""
    place = find_loop(text, source, function, number, reading)
    usual = lower(place, reading.passes)
    found = Recorded(place, reading.passes, usual.middle, usual.least)
    return found, kernel_of(found.lowered, place.name, text, reading.passes)


def _called(place: LoopPlace) -> list[c_ast.FuncDef]:
    """The functions that the loop calls, and those that they call, in the order of the file."""
    waiting, found = list(calls(place.loop)), set[str]()
    while waiting:
        name = waiting.pop()
        if name in place.callees and name not in found:
            found.add(name)
            waiting += calls(place.callees[name].body)
    return [one for name, one in place.callees.items() if name in found]


def function_text(loop: Recorded, name: str) -> str:
    """The loop as a C function of the addresses of its arrays.

    Raises: NotWrittenError for structures that are reached in ways that are not written out.
    """
    place = loop.place_of_loop
    generator = loop.text_of_structures()
    lines = []
    for key, node in place.types.items():
        scalar = type_of(node, place.types)
        if scalar is not None:
            lines.append(f"#define {key} {c_type(scalar)}")
    lines += [
        f"#define {key} {value.number}"
        for key, value in loop.scalars.items()
        if key not in loop.types and value is not None and value.node is None and not key.startswith("#")
    ]
    shared = {str(one.name) for one in place.declarations}  # functions that are called see these too
    before, inside, at = list[str](), list[str](), 0
    for array, shape in loop.arrays.items():
        if array in loop.outputs:
            continue
        shown = plain(array) + "__own" * (array in loop.declared)  # a pointer that moves has that name
        rows = "".join(f"[{size}]" for size in shape.sizes[1:])
        declared = f"{c_type(shape.type)} {f'(*{shown}){rows}' if rows else f'*{shown}'}"
        if array.partition(".")[0] in shared:
            before.append(f"static {declared};")
            inside.append(f"{shown} = memory[{at}];")
        else:
            inside.append(f"{declared} = memory[{at}];")
        at += 1
    for key, kind in loop.declared.items():
        if not key.startswith("#"):
            (before if key in shared else inside).append(f"{'static ' * (key in shared)}{kind} {key};")
    lines += before
    lines += [
        "static inline " + re.sub(r"^((static|inline)\s+)+", "", generator.visit(one))
        for one in _called(place)
    ]
    lines += [f"void {name}(void **memory) {{", *inside]
    whole = place.loop
    if isinstance(whole, c_ast.For):  # what it starts with is among what was written
        whole = c_ast.For(None, whole.cond, whole.next, whole.stmt)
    # What returns from the function leaves the loop, and its results are written all the same.
    body = re.sub(r"\breturn\b[^;]*;", "goto mapper_end;", generator.visit(whole))
    lines += [*loop.written, body, ";", "mapper_end: ;"]
    for key, kind in loop.outputs.items():
        lines.append(f"*({kind} *)memory[{at}] = {key};")
        at += 1
    return "\n".join([*lines, "}"]) + "\n"


def compiled(texts: list[str], folder: Path) -> ctypes.CDLL:
    """The functions as one library. Each has its own file: their types may have the same names."""
    sources = []
    for number, text in enumerate(texts):
        source = folder / f"loop{number}.c"
        source.write_text(text)
        sources += ["-x", "c", str(source)]  # of g++ each source needs its own
    library = folder / "loops.so"
    command = [COMPILER, *FLAGS, "-shared", "-fPIC", "-o", str(library), *sources]
    ended = subprocess.run(command, capture_output=True, timeout=100, text=True)
    if ended.returncode:
        raise RuntimeError(ended.stderr[:2000])
    return ctypes.CDLL(str(library))


def run_compiled(
    library: ctypes.CDLL, name: str, loop: Recorded, memory: Memory, origins: Mapping[str, int] | None = None
) -> Memory:
    """The memory after the function ``name``, whose pointers lead to the words ``origins``; ``memory`` is left as it
    is."""
    after = {key: words.copy() for key, words in memory.items()}
    order = [*(key for key in loop.arrays if key not in loop.outputs), *loop.outputs]
    spare = np.zeros(8, np.int64)
    pointers = (ctypes.c_void_p * max(1, len(order)))()
    for at, key in enumerate(order):
        words = after.get(key, spare)
        pointers[at] = words.ctypes.data + (origins or {}).get(key, 0) * words.itemsize
    getattr(library, name)(pointers)
    return after
