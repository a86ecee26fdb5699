"""Stores of one iteration to one word, under conditions or none, as one store; loads between them take its value.

Conditions are told apart by their truth tables over what they are made of, so that of ``if`` and ``else`` no word from
before is needed, and what both sides overwrite is not computed.
"""

from __future__ import annotations

from mapper.workloads.loop.affine import as_number, plus
from mapper.workloads.loop.body import LoopBody, Node, Value
from mapper.workloads.loop.kind import may_overlap
from mapper.workloads.loop.lowered import LoweredLoop

MOST_LEAVES = 8


def merge(loop: LoweredLoop) -> int:
    """Returns how many accesses are left out."""
    nodes = loop.body.nodes
    count = 0
    for at in range(len(nodes)):
        if nodes[at].opcode == "store" and not nodes[at].replaced:
            group = _group(loop, at)
            if group is not None and len(group) > 1:
                count += _merged(loop, group)
    return count


def _group(loop: LoweredLoop, first: int) -> list[int] | None:
    """The accesses to the word of the store ``first`` in the same iteration, as far as the last store; None if it is
    not the first store, or something else may touch the word meanwhile."""
    nodes = loop.body.nodes
    own = nodes[first]
    found: list[int] = []
    doubt = len(nodes)
    for at, node in enumerate(nodes):
        if node.array is None or node.entry or node.replaced:
            continue
        same = _same_word(node, own)
        if same and (node.opcode == "store" or at > first):
            if at < first:
                return None
            found.append(at)
        elif at > first and (
            same is None
            or (node.array != own.array and may_overlap(node.array, str(own.array), loop.aliases))
        ):
            doubt = at
            break
    return [at for at in found if at < doubt]


def _same_word(node: Node, other: Node) -> bool | None:
    """Whether two accesses touch one word in the same iteration; None if that cannot be told."""
    if node.array != other.array:
        return False
    if node.operands[0].key == other.operands[0].key:
        return True
    if node.index_form is None or other.index_form is None:
        return None
    apart = as_number(plus(node.index_form, other.index_form, -1))
    return None if apart is None else apart == 0


def _merged(loop: LoweredLoop, group: list[int]) -> int:
    nodes = loop.body.nodes
    conditions = _Conditions(loop.body, [nodes[at] for at in group])
    if conditions.too_many:
        return 0
    taken: dict[int, Value] = {}
    stored: list[tuple[int, Value | None, Value]] = []
    for at in group:
        node = nodes[at]
        if node.opcode == "store":
            predicate = node.operands[2] if len(node.operands) > 2 else None
            stored.append((conditions.table(predicate), predicate, node.operands[1]))
            last = at
            continue
        where = conditions.table(node.operands[1] if len(node.operands) > 1 else None)
        value, rest = _value(conditions, stored, where, Value(node.kind, at))
        if value.node != at and not (rest and loop.arrays[node.array or ""].type.narrow):
            taken[at] = value
    if loop.arrays[nodes[group[0]].array or ""].type.narrow and taken:
        return 0
    stores = [at for at in group if nodes[at].opcode == "store"]
    _store_once(loop.body, nodes[last], stored, conditions)
    for at in stores[:-1]:
        nodes[at].replaced = True
    _take(loop.body, taken)
    return len(stores) - 1 + len(taken)


def _take(body: LoopBody, taken: dict[int, Value]) -> None:
    """Uses of a load take its value; where that value needs the word from before, the load itself stays for it."""
    made: dict[int, list[int]] = {at: [] for at in taken}
    for at, value in taken.items():
        waiting = [value.node]
        while waiting:
            index = waiting.pop()
            if index is None or index == at or index in made[at]:
                continue
            made[at].append(index)
            if body.nodes[index].opcode == "select":
                waiting += [one.node for one in body.nodes[index].operands[1:]]
    for at, value in taken.items():
        keep = {
            index: body.nodes[index].operands for index in made[at] if body.nodes[index].opcode == "select"
        }
        needed = any(one.node == at for operands in keep.values() for one in operands)
        body.replace_uses({at: value})
        if needed:
            body.nodes[at].replaced = False
            for index, operands in keep.items():
                body.nodes[index].operands = operands


def _value(
    conditions: _Conditions, stored: list[tuple[int, Value | None, Value]], where: int, before: Value
) -> tuple[Value, int]:
    """What the word holds where ``where`` is true after the stores: of the last one whose condition holds, else
    ``before``; and where that is needed."""
    parts: list[tuple[int, Value]] = []
    rest = where
    for table, _, value in reversed(stored):
        if rest & table:
            parts.append((rest & table, value))
            rest &= ~table
    return conditions.chosen([*parts, *([(rest, before)] if rest else [])], 0), rest


def _store_once(
    body: LoopBody, last: Node, stored: list[tuple[int, Value | None, Value]], conditions: _Conditions
) -> None:
    """Makes ``last`` store what all of them do."""
    union = 0
    for table, _, _ in stored:
        union |= table
    value, _ = _value(conditions, stored, union, stored[-1][2])
    if union == conditions.always:
        last.operands = (last.operands[0], value)
        return
    alone = [predicate for table, predicate, _ in stored if table == union]
    predicate = alone[0] if alone else None
    if predicate is None:
        for _, one, _ in stored:
            assert one is not None
            predicate = one if predicate is None else body.operation("or", (predicate, one), "int")
    assert predicate is not None
    last.operands = (last.operands[0], value, predicate)


class _Conditions:
    """Predicates of accesses as truth tables: bit k says whether it holds in case k of what they are made of."""

    def __init__(self, body: LoopBody, accesses: list[Node]) -> None:
        self.body = body
        self.leaves: list[int] = []
        self.too_many = False
        least = {"load": 1, "store": 2}
        predicates = [node.operands[-1] for node in accesses if len(node.operands) > least[node.opcode]]
        for predicate in reversed(predicates):
            self._collect(predicate)
        self.too_many |= len(self.leaves) > MOST_LEAVES
        self.cases = 1 << min(len(self.leaves), MOST_LEAVES)
        self.always = (1 << self.cases) - 1

    def chosen(self, parts: list[tuple[int, Value]], leaf: int) -> Value:
        """The value whose cases hold, by selects on the leaves from ``leaf`` on; what holds in no case matters not."""
        if len({value.key for _, value in parts}) == 1:
            return parts[0][1]
        holds = sum(1 << case for case in range(self.cases) if case >> leaf & 1)
        taken = [(table & holds, value) for table, value in parts if table & holds]
        other = [(table & ~holds, value) for table, value in parts if table & ~holds]
        if not taken or not other:
            return self.chosen(taken or other, leaf + 1)
        condition = Value("int", self.leaves[leaf], boolean=True)
        return self.body.select(condition, self.chosen(taken, leaf + 1), self.chosen(other, leaf + 1))

    def _parts(self, value: Value) -> tuple[str, tuple[Value, ...]] | None:
        node = None if value.node is None else self.body.nodes[value.node]
        if node is None or node.opcode not in ("and", "or", "eq"):
            return None
        if node.opcode == "eq":
            negated = node.operands[0].boolean and node.operands[1].literal == 0
            return ("not", node.operands[:1]) if negated else None
        return (node.opcode, node.operands) if all(one.boolean for one in node.operands) else None

    def _collect(self, value: Value) -> None:
        parts = self._parts(value)
        if parts is not None:
            for one in parts[1]:
                self._collect(one)
        elif value.origin is not None:
            self.too_many = True  # it holds in some starts of the loop, and in others not
        elif value.node is not None and value.node not in self.leaves:  # the outer conditions come first
            self.leaves.append(value.node)

    def table(self, value: Value | None) -> int:
        """Where ``value`` (None: always) holds."""
        if value is None:
            return self.always
        parts = self._parts(value)
        if parts is not None:
            tables = [self.table(one) for one in parts[1]]
            if parts[0] == "not":
                return self.always & ~tables[0]
            return tables[0] & tables[1] if parts[0] == "and" else tables[0] | tables[1]
        if value.node is None:
            return self.always if value.number else 0
        place = self.leaves.index(value.node)
        return sum(1 << case for case in range(self.cases) if case >> place & 1)
