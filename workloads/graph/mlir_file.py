"""Dataflow graphs of the neura compiler in MLIR, with its mapping where the file has one.

Such a file is what the compiler prints, or one of its tests, where the same lines stand behind ``// PREFIX-NEXT:``.
``neura.data_mov`` is how a value travels and no operation; ``neura.reserve`` names what ``neura.ctrl_mov`` brings from
the iteration before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mapper.workloads.document import InputError
from mapper.workloads.graph.building import DrawnEdge, kernel_of
from mapper.workloads.graph.kernel import Kernel

MEMORY = {"load": "load", "load_indexed": "load", "store": "store", "store_indexed": "store"}
"""Operations of neura that only tiles with memory execute, by their opcodes here."""
_CHECK = re.compile(r"\s*//\s*([A-Z][A-Z0-9_]*)(?:-NEXT|-SAME)?:\s?(.*)")
_OPERATION = re.compile(r'\s*(?:(%\w+)(?::\d+)?\s*=\s*)?"?neura\.([A-Za-z_][\w.]*)"?(.*)')
_FUNCTION = re.compile(r"\s*func\.func\s+(?:private\s+|public\s+)?@([\w$.-]+)")
_OPERANDS = re.compile(r"%\w+")
_TILE = re.compile(r'\{[^{}]*resource = "tile"[^{}]*\}')
_II = re.compile(r"compiled_ii = (\d{1,6})\b")
MEMORY_ORDER = "the file orders no loads and stores among themselves, and neither does this graph"


@dataclass(frozen=True)
class NeuraOperation:
    """An operation: what it is called, its operands by value names, at which position they begin (1 where the first
    one is a constant), and where the file's mapping has it: column, row and cycle."""

    name: str
    kind: str
    operands: tuple[str, ...]
    first: int
    placed: tuple[int, int, int] | None


@dataclass
class NeuraFunction:
    """A function: its name, the II of its mapping if it has one, its operations in order; the operation that makes a
    value, values that only rename another, and what comes back to a reserved value."""

    name: str
    ii: int | None
    operations: list[NeuraOperation] = field(default_factory=list)
    maker: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    back: dict[str, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)


def kernel_from_mlir(text: str, source: str) -> Kernel:
    """The graph of the one function of neura in a file.

    Raises: InputError if there is none or there are several, or if it is not a dataflow graph yet.
    """
    function = read_function(text, source)
    nodes = [(one.name, MEMORY.get(one.kind, f"neura.{one.kind}")) for one in function.operations]
    edges = []
    for one in function.operations:
        for at, value in enumerate(one.operands, start=one.first):
            maker, distance = _made(function, value)
            if maker is not None:
                edges.append(DrawnEdge(maker, one.name, _position(one, at), distance))
    return kernel_of(function.name, nodes, edges, source, (MEMORY_ORDER,))


def read_function(text: str, source: str) -> NeuraFunction:
    """The function of neura in a file, with its mapping.

    Raises: InputError as ``kernel_from_mlir``.
    """
    found: list[NeuraFunction] = []
    for number, line in enumerate(_printed(text), start=1):
        head = _FUNCTION.match(line)
        if head is not None:
            ii = _II.search(line)
            found.append(NeuraFunction(head[1], None if ii is None else int(ii[1])))
        elif found and re.match(r"\s*\^\w+", line):
            raise InputError(
                source, found[-1].name, "has branches; run neura's transform-ctrl-to-data-flow first"
            )
        elif found:
            _operation(found[-1], line, source, number)
    found = [function for function in found if function.operations]
    if len(found) != 1:
        has = "no function" if not found else f"{len(found)} functions"
        raise InputError(source, "", f"has {has} with operations of neura; give a file with one")
    for value in sorted(found[0].reserved - set(found[0].back)):
        remedy = f"nothing comes back to the reserved {value}: the file stops early; give the whole function"
        raise InputError(source, found[0].name, remedy)
    return found[0]


def _printed(text: str) -> list[str]:
    """What the compiler printed: the file's own lines, or those that a test expects of the mapped program, or else of
    the last stage that it checks."""
    own = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    if any(_OPERATION.match(line) for line in own):
        return own
    stages: dict[str, list[str]] = {}
    for line in text.splitlines():
        check = _CHECK.match(line)
        if check is not None:
            stages.setdefault(check[1], []).append(check[2])
    graphs = [lines for lines in stages.values() if any(_OPERATION.match(line) for line in lines)]
    mapped = [lines for lines in graphs if any("mapping_locs" in line for line in lines)]
    return (mapped or graphs or [own])[-1]


def _operation(function: NeuraFunction, line: str, source: str, number: int) -> None:
    """Take one line into ``function``."""
    found = _OPERATION.match(line)
    if found is None:
        own = _II.search(line)
        function.ii = int(own[1]) if own is not None and function.ii is None else function.ii
        return
    result, kind, rest = found.groups()
    operands = tuple(_OPERANDS.findall(re.split(r" [{:]| <\{", rest, maxsplit=1)[0]))
    if rest.rstrip().endswith("({"):
        raise InputError(source, f"line {number}", f"neura.{kind} has a region; give its graph flattened")
    if kind in ("br", "cond_br"):
        raise InputError(source, function.name, "has branches; run neura's transform-ctrl-to-data-flow first")
    if kind == "reserve" and result is not None:
        function.reserved.add(result)
    elif kind == "data_mov" and result is not None and len(operands) == 1:
        function.renamed[result] = operands[0]
    elif kind == "ctrl_mov" and len(operands) == 2:
        function.back[operands[1]] = operands[0]
    elif kind != "yield":
        name = f"{kind}{len(function.operations)}"
        if result is not None:
            function.maker[result] = name
        first = int("lhs_value =" in rest)
        function.operations.append(NeuraOperation(name, kind, operands, first, _placed(rest)))


def _placed(rest: str) -> tuple[int, int, int] | None:
    """Column, row and cycle of an operation, if it is mapped."""
    tile = _TILE.search(rest)
    said = {} if tile is None else dict(re.findall(r"\b(x|y|time_step) = (\d{1,9})\b", tile[0]))
    return (int(said["x"]), int(said["y"]), int(said["time_step"])) if len(said) == 3 else None


def _made(function: NeuraFunction, value: str) -> tuple[str | None, str]:
    """The operation that makes ``value`` and how many iterations before; None for arguments of the function."""
    distance, steps = 0, 0
    while value not in function.maker:
        steps += 1
        if value in function.renamed:
            value = function.renamed[value]
        elif value in function.reserved and value in function.back:
            value = function.back[value]
            distance += 1
        else:
            return None, "0"
        if steps > len(function.renamed) + len(function.back):
            return None, "0"
    return function.maker[value], str(distance)


def _position(one: NeuraOperation, at: int) -> str:
    """The operand that position ``at`` of neura is here: a store gives its value first there, its index here."""
    return str(1 - at) if one.kind == "store" and at < 2 else str(at)
