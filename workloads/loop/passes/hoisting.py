"""Loop-invariant code: what every iteration computes alike is computed once, before the loop."""

from __future__ import annotations

from mapper.workloads.loop.affine import split
from mapper.workloads.loop.body import Node
from mapper.workloads.loop.lowered import LoweredLoop
from mapper.workloads.loop.passes.memory import never_meet, stores


def hoist(loop: LoweredLoop) -> int:
    """Moves such operations to the entry. Returns how many."""
    count = 0
    moved = True
    while moved:
        moved = False
        for node in loop.body.nodes:
            if not node.entry and not node.replaced and _is_invariant(loop, node):
                node.entry = moved = True
                count += 1
    return count


def _is_invariant(loop: LoweredLoop, node: Node) -> bool:
    if node.opcode in ("phi", "store"):
        return False
    if node.opcode == "load":
        parts = None if node.index_form is None else split(node.index_form)
        if len(node.operands) > 1 or parts is None or parts[0] != 0 or node.index_form is None:
            return False
        writers = stores(loop, node.array or "")
        nodes = loop.body.nodes
        if writers is None or any(
            not never_meet(loop, nodes[one].index_form, node.index_form) for one in writers
        ):
            return False
        node.operands = (loop.at(node.index_form, 0),)
        return True
    return all(operand.node is None or loop.body.nodes[operand.node].entry for operand in node.operands)
