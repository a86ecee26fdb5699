"""Addresses by strength reduction: pointers that step once an iteration, and constant displacements.

An access whose index is affine in the iteration needs no index arithmetic: a pointer steps by the stride, and
the distance from it to the access is part of the access itself. Loads of one stride share a pointer, which is
the loop's variable where that is counted anyway and has the stride. Stores share another one: they issue long
after the loads, when the values they write are there, and the loads' pointer would have to wait for them.
"""

from __future__ import annotations

from mapper.workloads.loop.affine import Form, constant, plus, split
from mapper.workloads.loop.body import LoopBody, Node, Value
from mapper.workloads.loop.lowered import LoweredLoop


def reduce_addresses(loop: LoweredLoop, pointer_uses: int | None = None) -> None:
    """Gives every access with an affine index its pointer and ``offset``; one that stays at a word takes that
    word's number. After ``pointer_uses`` accesses (None: never) another pointer is begun. Where starts of the loop
    differ, a displacement may, too: the start writes it into the access.
    """
    body, variable, step = loop.body, loop.variable, loop.step
    counted = variable is not None and variable.form is not None and _is_needed(body, variable)
    shared: dict[tuple[str, int], tuple[Value, Form, int]] = {}
    for node in [node for node in body.nodes if not node.entry and not node.replaced]:
        parts = None if node.index_form is None else split(node.index_form)
        if parts is None or node.index_form is None:
            if node.array is not None:
                _displace(body, node)
            continue
        stride, first = parts[0], loop.at(node.index_form, 0)
        if stride == 0 or not -(1 << 31) <= first.number < 1 << 31:
            node.operands = (first, *node.operands[1:]) if stride == 0 else node.operands
            continue
        group = node.opcode, stride
        if group not in shared and counted and variable and variable.form and group == ("load", step):
            shared[group] = (variable, _first(variable.form), 0)
        if group not in shared or shared[group][2] == pointer_uses:
            shared[group] = (_pointer(loop, node, stride), _first(node.index_form), 0)
        pointer, start, uses = shared[group]
        shared[group] = (pointer, start, uses + 1)
        node.operands = (pointer, *node.operands[1:])
        apart = loop.at(plus(_first(node.index_form), start, -1), 0)
        if apart.origin is None:
            node.offset = int(apart.number)
        else:
            node.moved = apart


def _displace(body: LoopBody, node: Node) -> None:
    """Takes what is added to a computed index into the displacement."""
    index, seen = node.operands[0], set[int]()
    while (
        index.node is not None
        and body.nodes[index.node].opcode in ("add", "add.i64")
        and index.node not in seen
    ):
        seen.add(index.node)
        left, right = body.nodes[index.node].operands
        if right.literal is not None:
            index, node.offset = left, node.offset + right.literal
        elif left.literal is not None:
            index, node.offset = right, node.offset + left.literal
        else:
            break
    node.operands = (index, *node.operands[1:])


def _first(form: Form) -> Form:
    """What an affine form is in iteration 0."""
    parts = split(form)
    assert parts is not None
    return parts[1]


def _pointer(loop: LoweredLoop, node: Node, stride: int) -> Value:
    """A new value that is where ``node`` accesses in iteration 0, and grows by ``stride``."""
    body = loop.body
    before = loop.at(plus(_first(node.index_form or {}), constant(stride), -1), 0)
    pointer = body.counter(f"at_{node.array}", "int", before, stride)
    body.nodes[pointer.node or 0].is_pointer = True
    return pointer


def _is_needed(body: LoopBody, variable: Value) -> bool:
    """Whether anything but an affine index uses ``variable``."""
    waiting = [
        operand.node
        for node in body.nodes
        if node.opcode == "store" and not node.replaced
        for operand in node.operands[_own_index(node) :]
    ]
    found: set[int] = set()
    while waiting:
        index = waiting.pop()
        if index is None or index in found:
            continue
        if index == variable.node:
            return True
        found.add(index)
        node = body.nodes[index]
        waiting += [operand.node for operand in node.operands[_own_index(node) :]]
        if node.final is not None:
            waiting.append(node.final.node)
    return False


def _own_index(node: Node) -> int:
    """Operands in front that a pointer replaces."""
    return int(node.index_form is not None and split(node.index_form) is not None)
