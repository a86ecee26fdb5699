"""Arithmetic with C's conversions between integers and floats of all widths."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pycparser import c_ast, c_generator

from mapper.workloads.c.file import LoopPlace
from mapper.workloads.document import InputError
from mapper.workloads.graph.opcode import rounded
from mapper.workloads.loop.body import LoopBody, Node, Value, floating, integer, zero
from mapper.workloads.loop.kind import (
    FLOATING,
    RANK,
    UNSIGNED,
    WIDE,
    ArrayShape,
    Kind,
    ValueType,
    bits_of,
    conversion,
    opcode,
)

INTEGER_OPCODE = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "rem",
    "&": "and",
    "|": "or",
    "^": "xor",
}
FLOAT_OPCODE = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
COMPARISON = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
EXACT_IN_SINGLE = (
    "fadd.f64",
    "fsub.f64",
    "fmul.f64",
    "fdiv.f64",
    "sqrt.f64",
    "fabs.f64",
    "fmax.f64",
    "fmin.f64",
)
"""One of these on floats, rounded to a float at once, is the operation on floats: a double has more than twice the
bits of a float, so that rounding twice changes nothing."""


@dataclass
class Conversions:
    """Lowers arithmetic of one function into ``body``; ``scalars`` holds what each scalar is now (None: no value
    yet), ``types`` its type."""

    place_of_loop: LoopPlace
    body: LoopBody = field(default_factory=LoopBody)
    arrays: dict[str, ArrayShape] = field(default_factory=dict)
    scalars: dict[str, Value | None] = field(default_factory=dict)
    types: dict[str, ValueType] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def fault(self, node: c_ast.Node, remedy: str) -> InputError:
        """What is wrong at ``node``."""
        return self.place_of_loop.fault(node, remedy)

    def without_value(self, node: c_ast.Node, name: str) -> InputError:
        """What is wrong with a name that is neither a scalar nor an array here."""
        place = self.place_of_loop
        waiting: list[c_ast.Node] = [*place.declarations, place.function]
        while waiting:
            one = waiting.pop()
            if isinstance(one, c_ast.Decl) and one.name == name:
                shown = " ".join(c_generator.CGenerator().visit_Decl(one).split())[:60]
                known = "numbers of up to 64 bits, arrays, structures and pointers to them"
                remedy = f"{shown} is outside the subset; use {known}"
                return self.fault(node, remedy)
            waiting += [child for _, child in one.children()]
        return self.fault(node, f"{name[:40]} is not declared; declare or #define it")

    def note(self, line: str) -> None:
        """Says, once, what was assumed."""
        if line not in self.notes:
            self.notes.append(line)

    def arithmetic(self, symbol: str, left: Value, right: Value, node: c_ast.Node) -> Value:
        """``left symbol right`` after C's usual conversions (shifts keep the type of their left operand)."""
        if left.base is not None or right.base is not None:
            return self._pointed(symbol, left, right, node)
        floats = {left.kind, right.kind} & FLOATING
        if symbol in ("<<", ">>"):
            if floats:
                raise self.fault(node, f"{symbol} needs integers; cast them")
            name = "shl" if symbol == "<<" else "shr" if left.kind in UNSIGNED else "sar"
            amount = (
                self.to_kind(right, left.kind, node) if (left.kind in WIDE) != (right.kind in WIDE) else right
            )
            return self.body.operation(opcode(name, left.kind), (left, amount), left.kind)
        kind = max(left.kind, right.kind, key=RANK.index)
        if symbol in COMPARISON:
            return self._comparison(COMPARISON[symbol], left, right, kind, node)
        operands = (self.to_kind(left, kind, node), self.to_kind(right, kind, node))
        if kind in FLOATING:
            if symbol not in FLOAT_OPCODE:
                raise self.fault(node, f"{symbol} needs integers; cast them")
            return self.body.operation(opcode(FLOAT_OPCODE[symbol], kind), operands, kind)
        if symbol not in INTEGER_OPCODE:
            raise self.fault(node, f"{symbol[:10]} is outside the subset; use arithmetic and comparisons")
        name = INTEGER_OPCODE[symbol]
        if kind in UNSIGNED and symbol in ("/", "%"):
            return self._unsigned_division(name, operands, kind)
        return self.body.operation(opcode(name, kind), operands, kind)

    def _unsigned_division(self, name: str, operands: tuple[Value, Value], kind: Kind) -> Value:
        """A divisor that is a power of two needs no division."""
        divisor = operands[1].literal
        if divisor is not None and divisor > 0 and divisor & (divisor - 1) == 0:
            if name == "div":
                amount = integer(divisor.bit_length() - 1, kind)
                return self.body.operation(opcode("shr", kind), (operands[0], amount), kind)
            return self.body.operation(opcode("and", kind), (operands[0], integer(divisor - 1, kind)), kind)
        return self.body.operation(opcode(f"u{name}", kind), operands, kind)

    def _comparison(self, name: str, left: Value, right: Value, kind: Kind, node: c_ast.Node) -> Value:
        if kind in FLOATING:
            single = None if kind == "float" else (self._single(left), self._single(right))
            if single is not None and single[0] is not None and single[1] is not None:
                return self.body.operation(f"fcmp_{name}", (single[0], single[1]), "int")
            operands = (self.to_kind(left, kind, node), self.to_kind(right, kind, node))
            return self.body.operation(opcode(f"fcmp_{name}", kind), operands, "int")
        operands = (self.to_kind(left, kind, node), self.to_kind(right, kind, node))
        if kind in UNSIGNED and name not in ("eq", "ne"):
            # Signed comparison orders unsigned numbers once their highest bits are turned round.
            signed: Kind = "long" if kind in WIDE else "int"
            turned = Value(signed, number=-(1 << (bits_of(kind) - 1)))
            operands = (
                self.body.operation(opcode("xor", kind), (operands[0], turned), signed),
                self.body.operation(opcode("xor", kind), (operands[1], turned), signed),
            )
        return self.body.operation(opcode(name, kind), operands, "int")

    def _pointed(self, symbol: str, left: Value, right: Value, node: c_ast.Node) -> Value:
        """Arithmetic on pointers is that of their indices."""
        base = left.base or right.base
        both = left.base is not None and right.base is not None
        if both and left.base != right.base:
            raise self.fault(node, "pointers into different arrays are set against each other; use one array")
        if symbol not in ("+", "-", *COMPARISON) or (both and symbol == "+"):
            raise self.fault(node, f"{symbol[:10]} on a pointer is outside the subset; use subscripts")
        plain = self.arithmetic(symbol, replace(left, base=None), replace(right, base=None), node)
        return plain if both or symbol in COMPARISON else replace(plain, base=base)

    def _single(self, value: Value) -> Value | None:
        """The float of which ``value`` is the double, if it is one."""
        if value.kind == "float":
            return value
        if value.node is None:
            if value.origin is not None:
                return None
            number = float(value.number)
            exact = value.kind in FLOATING and (rounded(number) == number or number != number)
            return floating(rounded(number)) if exact else None
        node = self.body.nodes[value.node]
        return node.operands[0] if node.opcode == "f32_to_f64" else None

    def to_kind(self, value: Value, kind: Kind, node: c_ast.Node) -> Value:
        """``value`` as C converts it to ``kind``."""
        if value.kind == kind:
            return value
        if value.base is not None:
            if kind in FLOATING:
                raise self.fault(node, "a pointer is used as a number; use subscripts")
            return replace(self.to_kind(replace(value, base=None), kind, node), base=value.base)
        if value.kind not in FLOATING and kind not in FLOATING and (value.kind in WIDE) == (kind in WIDE):
            return replace(value, kind=kind)
        if (value.kind, kind) == ("double", "float"):
            narrowed = self._narrowed(value)
            if narrowed is not None:
                return narrowed
        name = conversion(value.kind, kind)
        found = self.body.operation(name, (value,), kind)
        if value.node is None and value.literal is not None and kind not in FLOATING:
            return integer(int(found.number), kind)
        return replace(found, form=value.form, boolean=value.boolean) if name == "i32_to_i64" else found

    def _narrowed(self, value: Value) -> Value | None:
        """The float that ``value``, a double, rounds to, if operations on floats give it."""
        single = self._single(value)
        if single is not None or value.node is None:
            return single
        made: Node = self.body.nodes[value.node]
        operands = [self._single(one) for one in made.operands]
        if made.opcode in EXACT_IN_SINGLE and None not in operands:
            known = tuple(one for one in operands if one is not None)
            return self.body.operation(made.opcode.removesuffix(".f64"), known, "float")
        return None

    def to_type(self, value: Value, wanted: ValueType, node: c_ast.Node) -> Value:
        """``value`` as a scalar of type ``wanted`` holds it."""
        value = self.to_kind(value, wanted.kind, node)
        bits = wanted.narrow
        if bits is None or self._fits(value, wanted):
            return value
        if wanted.word.startswith("u"):
            return self.body.operation("and", (value, integer((1 << bits) - 1)), "int")
        up = self.body.operation("shl", (value, integer(32 - bits)), "int")
        return self.body.operation("sar", (up, integer(32 - bits)), "int")

    def _fits(self, value: Value, wanted: ValueType) -> bool:
        made = None if value.node is None else self.body.nodes[value.node]
        known = made is not None and made.array is not None and self.arrays[made.array].type == wanted
        return value.boolean or known

    def truth(self, value: Value) -> Value:
        """1 where ``value`` is not 0, else 0."""
        if value.boolean:
            return value
        if value.base is not None:
            return integer(1)
        name = "fcmp_ne" if value.kind in FLOATING else "ne"
        return self.body.operation(opcode(name, value.kind), (value, zero(value.kind)), "int")

    def both(self, outer: Value | None, inner: Value) -> Value:
        """Where ``outer`` (None: always) and ``inner`` hold."""
        if outer is None or inner.literal == 0:
            return inner
        return outer if inner.literal is not None else self.body.operation("and", (outer, inner), "int")

    def inverse(self, truth: Value) -> Value:
        """1 where ``truth`` is 0."""
        return self.body.operation("eq", (truth, integer(0)), "int")

    def merged(self, condition: Value, taken: Value, other: Value, node: c_ast.Node) -> Value:
        """``taken`` where ``condition`` is not 0, else ``other``, of the type that both have after conversions."""
        if taken.base != other.base:
            raise self.fault(node, "a pointer leads to one array or another; use one array")
        kind = max(taken.kind, other.kind, key=RANK.index)
        return self.body.select(condition, self.to_kind(taken, kind, node), self.to_kind(other, kind, node))
