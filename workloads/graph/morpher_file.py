"""Dataflow graphs of the Morpher compiler: nodes with an opcode, and edges by the operand that they bring.

Morpher's files look like XML and are none: they have several roots and lack blanks between attributes, so that the
elements that say something are read one by one. Nothing in them is expanded or followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mapper.workloads.document import InputError
from mapper.workloads.graph.building import DrawnEdge, kernel_of
from mapper.workloads.graph.kernel import Kernel

_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z_]\w*)([^<>]*)>([^<]*)")
_ATTRIBUTE = re.compile(r'([A-Za-z_]\w*)\s*=\s*"([^"]*)"')
_LOADS, _STORES = re.compile(r"O?LOAD[HB]?"), re.compile(r"O?STORE[HB]?")
_POSITION = {
    "load": {"I1": "0", "I2": "0", "I3": "0", "P": "1"},
    "store": {"I1": "1", "I2": "0", "I3": "1", "P": "2"},
    "": {"I1": "0", "I2": "1", "I3": "0", "P": "2"},
}
"""The operand that a type of edge brings: P a predicate, I2 the address of a load or store, I3 either."""
ASSUMED = (
    "accesses are ordered as the file's pseudo edges and recurrence parents say",
    "blocks that exclude each other share nothing",
)


@dataclass
class _Node:
    """A node as the file has it: children by index, type and distance, and where its recurrences begin."""

    key: str
    opcode: str = ""
    children: list[tuple[str, str, str]] = field(default_factory=list)
    recurs_to: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return "load" if _LOADS.fullmatch(self.opcode) else "store" if _STORES.fullmatch(self.opcode) else ""


def kernel_from_morpher(text: str, source: str, name: str) -> Kernel:
    """The graph of a file of Morpher. Edges of type PS only order, and a recurrence parent is accessed again no earlier
    than the cycle after its node, an iteration later.

    Raises: InputError if it is no such file, declares entities, or its graph is none that can be scheduled.
    """
    if re.search(r"<!\s*(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise InputError(source, "", "declares entities, which are not read; remove them")
    nodes = {node.key: node for node in _nodes(text, source)}
    if not nodes:
        raise InputError(source, "", "has no <Node> of a graph of Morpher; give its DFG as it was written")
    shown = {key: f"{node.opcode.lower()}{key}" for key, node in nodes.items()}
    edges, taken = [], set[tuple[str, str]]()
    for node in nodes.values():
        for child, kind, distance in node.children:
            if child not in nodes:
                raise InputError(source, f"node {node.key}", f"there is no node {child[:20]!r}; add it")
            ends = (shown[node.key], shown[child])
            if kind == "PS":
                edges.append(DrawnEdge(*ends, None, distance, "1", orders=True))
                continue
            operand = _POSITION[nodes[child].kind].get(kind)
            if operand is None:
                raise InputError(
                    source, f"node {node.key}", f"{kind[:20]!r} is no type; give I1, I2, P or PS"
                )
            given = None if (child, operand) in taken else operand
            taken.add((child, operand))
            edges.append(DrawnEdge(*ends, given, distance))
        for parent in node.recurs_to:
            if parent not in nodes:
                raise InputError(source, f"node {node.key}", f"there is no node {parent[:20]!r}; add it")
            edges.append(DrawnEdge(shown[node.key], shown[parent], None, "1", "1", orders=True))
    opcodes = [(shown[key], node.kind or f"morpher.{node.opcode.lower()}") for key, node in nodes.items()]
    return kernel_of(name, opcodes, edges, source, ASSUMED)


def _nodes(text: str, source: str) -> list[_Node]:
    """The nodes in the order of the file."""
    found: list[_Node] = []
    for closing, tag, inside, after in _TAG.findall(text):
        if closing:
            continue
        said = dict(_ATTRIBUTE.findall(inside))
        if tag == "Node":
            key = said.get("idx", "")
            if not re.fullmatch(r"\w{1,20}", key):
                raise InputError(source, f"node {key[:20]!r}", "has no number of its own; give idx")
            found.append(_Node(key))
        elif not found:
            continue
        elif tag == "OP":
            found[-1].opcode = after.strip()[:40]
        elif tag == "Output":
            found[-1].children.append((said.get("idx", ""), said.get("type", ""), said.get("nextiter", "0")))
        elif tag == "RecParent":
            found[-1].recurs_to.append(said.get("idx", ""))
    if len({node.key for node in found}) < len(found):
        raise InputError(source, "idx", "is given to more than one node; number them")
    for node in found:
        if not re.fullmatch(r"\w+", node.opcode):
            raise InputError(source, f"node {node.key}", "has no <OP>; give its operation")
    return found
