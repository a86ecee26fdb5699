"""What each start of a loop brings: operations of its entry that make the numbers of this start."""

from __future__ import annotations

from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.kernel import EntryOperation
from mapper.workloads.loop.affine import Form
from mapper.workloads.loop.body import GIVEN, Value
from mapper.workloads.loop.kind import Kind, opcode

GIVEN_NAME = "start:"
"""Begins the names of operations that stand for a scalar, followed by its symbol."""


class Start:
    """The operations, in an order in which each comes after what it needs. A scalar is a ``mov`` of the number that it
    stands at, which whoever starts the loop replaces."""

    def __init__(self, symbols: dict[str, int]) -> None:
        self.symbols = symbols
        self.operations: list[EntryOperation] = []
        self._known: dict[tuple[object, ...], str] = {}
        self._names: set[str] = set()

    def operand(self, value: Value) -> Number | str:
        """The number of ``value``, or the name of the operation that makes it."""
        if value.origin is None or value.literal is not None:
            return value.number
        if value.key not in self._known:
            self._known[value.key] = self._made(value)
        return self._known[value.key]

    def _made(self, value: Value) -> str:
        origin, operands = value.origin or ("", ())
        if value.form is not None:
            return self._formed(value.form, value.kind)
        if origin.startswith(GIVEN):
            return self._given(origin.removeprefix(GIVEN), value.number)
        return self._operation(origin, tuple(self.operand(one) for one in operands))

    def _formed(self, form: Form, kind: Kind) -> str:
        """The sum of the products of a form."""
        total: Number | str | None = None
        for term, factor in sorted(form.items(), key=lambda item: (not item[0], item[0])):
            product: Number | str | None = None
            for name in term:
                one = self._given(name, self.symbols[name])
                product = one if product is None else self._operation(opcode("mul", kind), (product, one))
            if product is None:
                product = factor
            elif factor != 1:
                product = self._operation(opcode("mul", kind), (product, factor))
            total = product if total is None else self._operation(opcode("add", kind), (total, product))
        assert isinstance(total, str)
        return total

    def _given(self, symbol: str, number: Number) -> str:
        name = GIVEN_NAME + symbol
        if name not in self._names:
            self._names.add(name)
            self.operations.append(EntryOperation(name, "mov", (number,)))
        return name

    def _operation(self, name: str, operands: tuple[Number | str, ...]) -> str:
        for one in self.operations:
            if (one.opcode, one.operands) == (name, operands) and one.name not in self._names:
                return one.name
        made = f"start:{name}#{len(self.operations)}"
        self.operations.append(EntryOperation(made, name, operands))
        return made
