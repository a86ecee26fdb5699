"""A loop body while it is lowered: operations that share common subexpressions, and values carried over."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.opcode import DOUBLE_COMPARISONS, FLOAT_COMPARISONS, evaluate
from mapper.workloads.loop.affine import ITERATION, Form, as_number, bounded, constant, plus, symbol, times
from mapper.workloads.loop.kind import FLOATING, Kind
from mapper.workloads.loop.kind import opcode as typed

ORDERS = ("lt", "le", "gt", "ge", "eq", "ne")
COMPARISONS = frozenset({*ORDERS, *(f"{one}.i64" for one in ORDERS), *FLOAT_COMPARISONS, *DOUBLE_COMPARISONS})
GIVEN, FORM = "#given", "#form"
"""Origins of numbers: a scalar that the loop is given at its start (``GIVEN`` and its name), or the value's form."""
NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "shl": 0, "shr": 0, "sar": 0}
"""Per integer operation the right operand that changes nothing."""
NEUTRAL |= {f"{name}.i64": number for name, number in NEUTRAL.items()}


@dataclass(frozen=True)
class Value:
    """What an expression is: the result of node ``node``, or the number ``number`` where that is None.
    ``form``: it as an affine expression, if it is one. ``boolean``: it is 0 or 1. ``base``: the array that it points
    into, if it is a pointer: its value is an index then. ``origin``: where another start of the loop may bring another
    number, what makes it, an opcode and its operands, or ``GIVEN``, or ``FORM``."""

    kind: Kind
    node: int | None = None
    number: Number = 0
    form: Form | None = field(default=None, compare=False)
    boolean: bool = field(default=False, compare=False)
    base: str | None = field(default=None, compare=False)
    origin: tuple[str, tuple[Value, ...]] | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from other values, zeros of either sign included; numbers that differ in other starts, too."""
        own = self.kind, self.node, repr(self.number)
        if self.origin is None:
            return own
        if self.form is not None:
            return *own, tuple(sorted(self.form.items()))
        opcode, operands = self.origin
        return *own, opcode, *(operand.key for operand in operands)

    @property
    def literal(self) -> int | None:
        """Its value if that is an integer which follows from the text alone (no live-in)."""
        return as_number(self.form) if self.node is None else None


@dataclass
class Node:
    """One operation, or (opcode ``phi``) a scalar as the iteration finds it: ``initial`` in the first one,
    ``final`` of the iteration before in all others. ``offset``: words from the index to what a load or store
    accesses, ``moved`` in its place where each start of the loop has its own; ``is_pointer``: counts the index of
    accesses; ``entry``: runs once, before the loop; ``replaced``: nothing uses it any more. An ``initial`` that is no
    number is a result of the entry."""

    opcode: str
    operands: tuple[Value, ...]
    kind: Kind
    array: str | None = None
    label: str = ""
    index_form: Form | None = None
    offset: int = 0
    moved: Value | None = None
    is_pointer: bool = False
    initial: Value | None = None
    final: Value | None = None
    entry: bool = False
    replaced: bool = False


def integer(value: int, kind: Kind = "int") -> Value:
    """An integer known from the text."""
    return Value(kind, number=value, form=constant(value), boolean=value in (0, 1))


def floating(value: float) -> Value:
    """A single-precision number known from the text."""
    return Value("float", number=value)


def zero(kind: Kind) -> Value:
    """0 of ``kind``."""
    return Value(kind, number=0.0) if kind in FLOATING else integer(0, kind)


def live_in(name: str, kind: Kind, number: Number) -> Value:
    """A scalar that the loop finds; ``name`` stands for it in index expressions."""
    return Value(kind, number=number, form=None if kind in FLOATING else symbol(name))


class LoopBody:
    """Operations in the order in which they were first needed, each only once for the same operands.

    ``entry``: whether values that are computed before the loop are, or are computed in it again."""

    def __init__(self, entry: bool = False) -> None:
        self.entry = entry
        self.nodes: list[Node] = []
        self.versions: dict[str, int] = {}
        self._shared: dict[tuple[object, ...], Value] = {}
        self._first: Value | None = None

    def operation(self, opcode: str, operands: tuple[Value, ...], kind: Kind) -> Value:
        """The result of ``opcode``: a number if all operands are, else of a node, an old one if there is."""
        form = bounded(_form(opcode, operands))
        if all(operand.node is None for operand in operands):
            number = evaluate(opcode, tuple(operand.number for operand in operands))
            if kind not in FLOATING and all(operand.literal is not None for operand in operands):
                # Constants wrap to 32 bits, as the machine computes them.
                form = constant(int(number))
            varies = any(operand.origin is not None for operand in operands)
            origin = (opcode, operands) if varies else None
            return Value(kind, number=number, form=form, boolean=opcode in COMPARISONS, origin=origin)
        if opcode in NEUTRAL and operands[1].literal == NEUTRAL[opcode]:
            return Value(kind, operands[0].node, form=form)
        if opcode in ("add", "mul", "add.i64", "mul.i64") and operands[0].literal == NEUTRAL[opcode]:
            return Value(kind, operands[1].node, form=form)
        logical = opcode.removesuffix(".i64") in ("and", "or", "xor") and all(
            operand.boolean for operand in operands
        )
        key = (opcode, kind, *(operand.key for operand in operands))
        if key not in self._shared:
            self.nodes.append(Node(opcode, operands, kind))
            boolean = opcode in COMPARISONS or logical
            self._shared[key] = Value(kind, len(self.nodes) - 1, form=form, boolean=boolean)
        return self._shared[key]

    def select(self, condition: Value, taken: Value, other: Value) -> Value:
        """``taken`` where ``condition`` is not 0, else ``other``; an integer minimum or maximum if it is one."""
        if taken.key == other.key:
            return taken
        if condition.literal is not None:
            return taken if condition.literal else other
        base = taken.base if taken.base == other.base else None
        if condition.boolean and (taken.literal, other.literal) in ((1, 0), (0, 1)) and taken.kind == "int":
            return condition if taken.literal else self.operation("eq", (condition, integer(0)), "int")
        node = self.nodes[condition.node] if condition.node is not None else None
        if (
            node is not None
            and node.opcode in ("lt", "le", "gt", "ge")
            and taken.kind == "int"
            and base is None
        ):
            smaller = node.opcode in ("lt", "le")
            if node.operands == (taken, other):
                return self.operation("min" if smaller else "max", (taken, other), taken.kind)
            if node.operands == (other, taken):
                return self.operation("max" if smaller else "min", (other, taken), taken.kind)
        return replace(self.operation("select", (condition, taken, other), taken.kind), base=base)

    def load(self, array: str, kind: Kind, index: Value, predicate: Value | None) -> Value:
        """A word of ``array``, 0 where ``predicate`` is 0; the same word is read once between two stores."""
        version = self.versions.get(array, 0)
        key: tuple[object, ...] = ("load", array, version, index.key)
        operands: tuple[Value, ...] = (index,)
        if predicate is not None and key not in self._shared:
            key, operands = (*key, predicate.key), (index, predicate)
        if key not in self._shared:
            self.nodes.append(Node("load", operands, kind, array, index_form=index.form))
            self._shared[key] = Value(kind, len(self.nodes) - 1)
        return self._shared[key]

    def store(self, array: str, kind: Kind, index: Value, value: Value, predicate: Value | None) -> None:
        """Writes a word of ``array`` unless ``predicate`` is 0."""
        operands = (index, value) if predicate is None else (index, value, predicate)
        self.nodes.append(Node("store", operands, kind, array, index_form=index.form))
        self.versions[array] = self.versions.get(array, 0) + 1

    def carried(self, name: str, kind: Kind, initial: Value | None) -> tuple[int, Value]:
        """A scalar that iterations change: its phi, and what an iteration finds in it.

        ``initial``: its value before the loop, None if it has none. One that is not a number is brought in by the
        entry; without one it is chosen in the first iteration by a select.
        """
        computed = initial is not None and initial.node is not None and not self.entry
        start = zero(kind) if computed else initial
        self.nodes.append(Node("phi", (), kind, label=name, initial=start))
        phi = len(self.nodes) - 1
        found = Value(kind, phi, base=None if initial is None else initial.base)
        if initial is not None and computed:
            found = self.operation("select", (self._is_first(), initial, found), kind)
        return phi, found

    def induction(self, name: str, kind: Kind, start: Value, step: int) -> Value:
        """The loop's variable: ``start`` in iteration 0, ``step`` more in each."""
        form = plus(start.form, {(ITERATION,): step}) if start.form is not None else None
        return replace(
            self.counter(
                name, kind, self.operation(typed("sub", kind), (start, integer(step, kind)), kind), step
            ),
            form=form,
        )

    def counter(self, name: str, kind: Kind, before: Value, step: int) -> Value:
        """A scalar that is ``step`` more in every iteration, ``before`` ahead of the first."""
        phi, found = self.carried(name, kind, before)
        self.nodes.append(Node(typed("add", kind), (found, integer(step, kind)), kind, label=name))
        value = Value(kind, len(self.nodes) - 1)
        self.nodes[phi].final = value
        return value

    def replace_uses(self, taken: dict[int, Value]) -> None:
        """Gives whoever uses a node of ``taken`` the value there instead."""

        def now(value: Value) -> Value:
            seen: set[int] = set()
            while value.node in taken and value.node not in seen:
                seen.add(value.node)
                value = replace(taken[value.node], base=value.base)
            return value

        for node in self.nodes:
            node.operands = tuple(map(now, node.operands))
            node.final = None if node.final is None else now(node.final)
        for index in taken:
            self.nodes[index].replaced = True

    def _is_first(self) -> Value:
        if self._first is None:
            self.nodes.append(Node("phi", (), "int", label="first", initial=integer(1), final=integer(0)))
            self._first = Value("int", len(self.nodes) - 1, boolean=True)
        return self._first


def _form(opcode: str, operands: tuple[Value, ...]) -> Form | None:
    forms = [operand.form for operand in operands]
    left, right = forms[0], forms[1] if len(forms) > 1 else {}
    if left is None or right is None:
        return None
    opcode = opcode.removesuffix(".i64")
    if opcode == "i32_to_i64":
        return left
    if opcode in ("add", "sub"):
        return plus(left, right, 1 if opcode == "add" else -1)
    if opcode == "mul":
        return times(left, right)
    if opcode == "neg":
        return plus({}, left, -1)
    amount = as_number(right)
    if opcode == "shl" and amount is not None and 0 <= amount < 31:
        return times(left, constant(1 << amount))
    return None
