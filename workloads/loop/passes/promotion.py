"""Scalar promotion: a word that iterations read and write, and that none moves away from, is a scalar."""

from __future__ import annotations

from mapper.workloads.loop.affine import Form, as_number, plus, split
from mapper.workloads.loop.body import Node, Value
from mapper.workloads.loop.lowered import LoweredLoop
from mapper.workloads.loop.passes.memory import at_entry, never_meet, stores


def promote(loop: LoweredLoop) -> int:
    """Loads of such words take the scalar; the stores stay, so that memory is as before. Returns how many loads."""
    body = loop.body
    done = 0
    for index in range(len(body.nodes)):
        node = body.nodes[index]
        form = node.index_form
        if node.opcode == "store" and form is not None and (parts := split(form)) and parts[0] == 0:
            done += _promoted(loop, node.array or "", form)
    return done


def _promoted(loop: LoweredLoop, array: str, word: Form) -> int:
    body = loop.body
    writers = stores(loop, array)
    if writers is None or loop.arrays[array].type.narrow:
        return 0
    same = [one for one in writers if _is(body.nodes[one].index_form, word)]
    if any(not never_meet(loop, body.nodes[one].index_form, word) for one in writers if one not in same):
        return 0
    readers = [
        index
        for index, node in enumerate(body.nodes)
        if node.opcode == "load" and not node.entry and node.array == array and _is(node.index_form, word)
        and not node.replaced
    ]  # fmt: skip
    if not readers:
        return 0
    kind = loop.arrays[array].type.kind
    body.nodes.append(Node("phi", (), kind, label=array, initial=at_entry(loop, array, kind, word, 0)))
    scalar = len(body.nodes) - 1
    now = Value(kind, scalar)
    taken: dict[int, Value] = {}
    for index in sorted([*same, *readers]):
        node = body.nodes[index]
        if node.opcode == "load":
            taken[index] = now
        elif len(node.operands) == 2:
            now = node.operands[1]
        else:
            now = body.select(node.operands[2], node.operands[1], now)
    body.nodes[scalar].final = now
    body.replace_uses(taken)
    return len(taken)


def _is(form: Form | None, word: Form) -> bool:
    return form is not None and as_number(plus(form, word, -1)) == 0
