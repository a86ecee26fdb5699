"""What passes ask about accesses: whether they meet, and over how many iterations."""

from __future__ import annotations

from mapper.workloads.loop.affine import Form, as_number, plus, split
from mapper.workloads.loop.body import Node, Value
from mapper.workloads.loop.kind import Kind, may_overlap
from mapper.workloads.loop.lowered import LoweredLoop


def stores(loop: LoweredLoop, array: str) -> list[int] | None:
    """Stores to ``array``, in the order of the text; None if others may write the same memory."""
    found = [
        index for index, node in enumerate(loop.body.nodes) if node.opcode == "store" and not node.replaced
    ]
    own = [index for index in found if loop.body.nodes[index].array == array]
    if any(
        may_overlap(array, str(loop.body.nodes[index].array), loop.aliases)
        for index in found
        if index not in own
    ):
        return None
    return own


def never_meet(loop: LoweredLoop, first: Form | None, second: Form | None) -> bool:
    """Whether two accesses of one array touch no word in common, in whichever iterations."""
    if first is None or second is None:
        return False
    one, other = split(first), split(second)
    if one is not None and other is not None and one[0] == other[0]:
        difference = as_number(plus(one[1], other[1], -1))
        if difference is not None:
            return difference != 0 if one[0] == 0 else difference % one[0] != 0
    return loop.reach.apart(first, second)


def iterations_between(first: Form | None, second: Form | None) -> int | None:
    """How many iterations after ``first`` touches a word ``second`` does, negative if it does so before; None if the
    words do not move alike, or not by a whole number of iterations."""
    if first is None or second is None:
        return None
    one, other = split(first), split(second)
    if one is None or other is None or one[0] != other[0] or one[0] == 0:
        return None
    apart = as_number(plus(one[1], other[1], -1))
    return None if apart is None or apart % one[0] else apart // one[0]


def at_entry(loop: LoweredLoop, array: str, kind: Kind, form: Form, iteration: int) -> Value:
    """The word that ``form`` leads to in ``iteration``, as the loop finds it."""
    index = loop.at(form, iteration)
    for position, node in enumerate(loop.body.nodes):
        if (
            node.entry
            and node.opcode == "load"
            and node.array == array
            and [one.key for one in node.operands] == [index.key]
        ):
            return Value(kind, position)
    loop.body.nodes.append(Node("load", (index,), kind, array, entry=True))
    return Value(kind, len(loop.body.nodes) - 1)


class History:
    """Values of earlier iterations, each carried on once however many use it."""

    def __init__(self, loop: LoweredLoop) -> None:
        self.loop = loop
        self.chains: dict[int, list[Value]] = {}

    def before(self, access: int, value: Value, iterations: int) -> Value:
        """What ``value``, which ``access`` reads or writes, was ``iterations`` ago; ahead of the first iteration, the
        word that the access would have met."""
        node = self.loop.body.nodes[access]
        assert node.array is not None and node.index_form is not None
        chain = self.chains.setdefault(access, [value])
        while len(chain) <= iterations:
            start = at_entry(self.loop, node.array, value.kind, node.index_form, -len(chain))
            self.loop.body.nodes.append(
                Node("phi", (), value.kind, label=f"{node.array}_before", initial=start, final=chain[-1])
            )
            chain.append(Value(value.kind, len(self.loop.body.nodes) - 1))
        return chain[iterations]
