"""Expressions of C as operations, with C's conversions between int, unsigned and float."""

from __future__ import annotations

from dataclasses import dataclass, field

from pycparser import c_ast

from mapper.workloads.c.body import Kind, LoopBody, Value, floating, integer
from mapper.workloads.c.file import OPERATION_CALLS, fault, is_operation
from mapper.workloads.document import InputError
from mapper.workloads.graph.opcode import rounded, wrapped

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
KINDS: dict[tuple[str, ...], Kind] = {
    ("int",): "int",
    ("signed",): "int",
    ("int", "signed"): "int",
    ("unsigned",): "unsigned",
    ("int", "unsigned"): "unsigned",
    ("float",): "float",
}
LONGEST_NUMBER = 60
SIGN_BIT = -(1 << 31)


@dataclass(frozen=True)
class ArrayShape:
    """An array as declared: the kind of its words, and its sizes, the first of which may be left open."""

    kind: Kind
    sizes: tuple[int | None, ...]

    @property
    def words(self) -> int | None:
        """How many words it has, None if its first size is open."""
        total = 1
        for size in self.sizes:
            if size is None:
                return None
            total *= size
        return total


@dataclass
class Expressions:
    """Lowers expressions of one function into ``body``; ``scalars`` holds what each scalar is now (None: no
    value yet), ``kinds`` its type."""

    source: str
    function: str
    body: LoopBody = field(default_factory=LoopBody)
    arrays: dict[str, ArrayShape] = field(default_factory=dict)
    scalars: dict[str, Value | None] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def fault(self, node: c_ast.Node, remedy: str) -> InputError:
        """What is wrong at ``node``."""
        return fault(self.source, node, self.function, remedy)

    def note(self, line: str) -> None:
        """Says, once, what was assumed."""
        if line not in self.notes:
            self.notes.append(line)

    def kind_of(self, node: c_ast.Node) -> Kind:
        """The type that a declaration or a cast names.

        Raises: InputError if kernels have no such type.
        """
        names = tuple(sorted(getattr(node.type, "names", ["?"])))
        if names not in KINDS:
            raise self.fault(
                node, f"type {' '.join(names)[:40]} is outside the subset; use int, unsigned or float"
            )
        return KINDS[names]

    def value(self, node: c_ast.Node, predicate: Value | None) -> Value:
        """The value of an expression; loads under ``predicate`` touch memory only where it is not 0.

        Raises: InputError if the expression is outside the subset.
        """
        if isinstance(node, c_ast.Constant):
            return self._constant(node)
        if isinstance(node, c_ast.ID):
            return self._scalar(node)
        if isinstance(node, c_ast.ArrayRef):
            array, index = self.place(node, predicate)
            return self.body.load(array, self.arrays[array].kind, index, predicate)
        if isinstance(node, c_ast.BinaryOp):
            return self._binary(node, predicate)
        if isinstance(node, c_ast.UnaryOp):
            return self._unary(node, predicate)
        if isinstance(node, c_ast.TernaryOp):
            return self._ternary(node, predicate)
        if isinstance(node, c_ast.Cast):
            return self.converted(self.value(node.expr, predicate), self.kind_of(node.to_type.type), node)
        if is_operation(node):
            return self._call(node, predicate)
        what = "an assignment" if isinstance(node, c_ast.Assignment) else type(node).__name__
        raise self.fault(node, f"{what} inside an expression is outside the subset; write it as a statement")

    def place(self, node: c_ast.ArrayRef, predicate: Value | None) -> tuple[str, Value]:
        """The array that a subscript touches, and the index of the word, row after row."""
        subscripts: list[c_ast.Node] = []
        base: c_ast.Node = node
        while isinstance(base, c_ast.ArrayRef):
            subscripts.insert(0, base.subscript)
            base = base.name
        if not isinstance(base, c_ast.ID) or base.name not in self.arrays:
            raise self.fault(node, "only arrays of this file have subscripts; declare it as an array")
        sizes = self.arrays[base.name].sizes
        if len(subscripts) != len(sizes):
            raise self.fault(node, f"{base.name[:40]} has {len(sizes)} subscripts; give that many")
        index: Value | None = None
        for subscript, size in zip(subscripts, sizes, strict=True):
            term = self.value(subscript, predicate)
            if term.kind == "float":
                raise self.fault(node, "a subscript is an integer; cast it")
            if index is not None and size is not None:
                term = self.arithmetic("+", self.arithmetic("*", index, integer(size), node), term, node)
            index = term
        assert index is not None
        return base.name, index

    def arithmetic(self, symbol: str, left: Value, right: Value, node: c_ast.Node) -> Value:
        """``left symbol right`` after C's usual conversions (shifts keep the type of their left operand)."""
        kind: Kind = "unsigned" if "unsigned" in (left.kind, right.kind) else "int"
        if symbol in ("<<", ">>"):
            if "float" in (left.kind, right.kind):
                raise self.fault(node, f"{symbol} needs integers; cast them")
            right_shift = "shr" if left.kind == "unsigned" else "sar"
            return self.body.operation("shl" if symbol == "<<" else right_shift, (left, right), left.kind)
        if "float" in (left.kind, right.kind):
            operands = (self.converted(left, "float", node), self.converted(right, "float", node))
            if symbol in COMPARISON:
                return self.body.operation(f"fcmp_{COMPARISON[symbol]}", operands, "int")
            if symbol not in FLOAT_OPCODE:
                raise self.fault(node, f"{symbol} needs integers; cast them")
            return self.body.operation(FLOAT_OPCODE[symbol], operands, "float")
        if symbol in COMPARISON:
            if kind == "unsigned" and symbol not in ("==", "!="):
                # Signed comparison orders unsigned numbers once their highest bits are turned round.
                turned = Value("int", number=SIGN_BIT)
                left, right = (self.body.operation("xor", (side, turned), "int") for side in (left, right))
            return self.body.operation(COMPARISON[symbol], (left, right), "int")
        if kind == "unsigned" and symbol in ("/", "%"):
            raise self.fault(node, f"unsigned {symbol} is outside the subset; use int, or >> and &")
        if symbol not in INTEGER_OPCODE:
            raise self.fault(node, f"{symbol[:10]} is outside the subset; use arithmetic and comparisons")
        return self.body.operation(INTEGER_OPCODE[symbol], (left, right), kind)

    def converted(self, value: Value, kind: Kind, node: c_ast.Node) -> Value:
        """``value`` as C converts it to ``kind``."""
        if value.kind == kind:
            return value
        if "float" not in (value.kind, kind):
            return Value(kind, value.node, value.number, value.form, value.boolean)
        if "unsigned" in (value.kind, kind):
            raise self.fault(node, "between unsigned and float there is no operation; go through int")
        return self.body.operation("itof" if kind == "float" else "ftoi", (value,), kind)

    def truth(self, value: Value) -> Value:
        """1 where ``value`` is not 0, else 0."""
        if value.boolean:
            return value
        if value.kind == "float":
            return self.body.operation("fcmp_ne", (value, floating(0.0)), "int")
        return self.body.operation("ne", (value, integer(0)), "int")

    def both(self, outer: Value | None, inner: Value) -> Value:
        """Where ``outer`` (None: always) and ``inner`` hold."""
        if outer is None or inner.literal == 0:
            return inner
        return outer if inner.literal is not None else self.body.operation("and", (outer, inner), "int")

    def inverse(self, truth: Value) -> Value:
        """1 where ``truth`` is 0."""
        return self.body.operation("eq", (truth, integer(0)), "int")

    def _constant(self, node: c_ast.Constant) -> Value:
        text = str(node.value).lower()
        if len(text) > LONGEST_NUMBER:
            raise self.fault(node, f"a constant has more than {LONGEST_NUMBER} digits; give a shorter one")
        if node.type in ("float", "double", "long double"):
            if node.type != "float":
                self.note("double constants are taken in single precision")
            digits = text.rstrip("fl")
            return floating(rounded(float.fromhex(digits) if "x" in digits else float(digits)))
        if "int" not in node.type:
            raise self.fault(node, f"a constant of type {node.type} is outside the subset; use numbers")
        digits = text.rstrip("ul")
        octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
        number = int(digits, 8) if octal else int(digits, 0)
        if number >= 1 << 32 or (number >= 1 << 31 and digits == str(number) and "u" not in text):
            raise self.fault(node, f"{text[:20]} does not fit 32 bits; give a smaller number")
        return integer(wrapped(number), "unsigned" if "u" in text or number >= 1 << 31 else "int")

    def _scalar(self, node: c_ast.ID) -> Value:
        name = str(node.name)
        if name in self.arrays:
            raise self.fault(
                node, f"{name[:40]} is used as a pointer, which is outside the subset; add a subscript"
            )
        if name not in self.scalars:
            raise self.fault(node, f"{name[:40]} is not declared; declare or #define it")
        found = self.scalars[name]
        if found is None:
            raise self.fault(node, f"{name[:40]} has no value that is known here; assign one before the loop")
        return found

    def _binary(self, node: c_ast.BinaryOp, predicate: Value | None) -> Value:
        if node.op not in ("&&", "||"):
            left, right = self.value(node.left, predicate), self.value(node.right, predicate)
            return self.arithmetic(str(node.op), left, right, node)
        left = self.truth(self.value(node.left, predicate))
        needed = left if node.op == "&&" else self.inverse(left)
        if needed.literal == 0:
            return left
        right = self.truth(self.value(node.right, self.both(predicate, needed)))
        if needed.literal is not None:
            return right
        return self.body.operation("and" if node.op == "&&" else "or", (left, right), "int")

    def _unary(self, node: c_ast.UnaryOp, predicate: Value | None) -> Value:
        if node.op not in ("+", "-", "!", "~"):
            raise self.fault(
                node, f"{str(node.op)[:10]} inside an expression is outside the subset; write a statement"
            )
        value = self.value(node.expr, predicate)
        if node.op == "!":
            return self.inverse(self.truth(value))
        if node.op == "+":
            return value
        if node.op == "-" and value.kind == "float":
            # 0 - x would lose the sign of a zero.
            return self.body.operation("fmul", (value, floating(-1.0)), "float")
        if value.kind == "float":
            raise self.fault(node, "~ needs an integer; cast it")
        return self.body.operation("neg" if node.op == "-" else "not", (value,), value.kind)

    def _call(self, node: c_ast.FuncCall, predicate: Value | None) -> Value:
        values = [self.converted(self.value(one, predicate), "float", node) for one in node.args.exprs]
        if len(values) != 2:
            raise self.fault(node, f"{node.name.name} takes two numbers; give two")
        return self.body.operation(OPERATION_CALLS[str(node.name.name)], (values[0], values[1]), "float")

    def _ternary(self, node: c_ast.TernaryOp, predicate: Value | None) -> Value:
        condition = self.truth(self.value(node.cond, predicate))
        if condition.literal is not None:
            return self.value(node.iftrue if condition.literal else node.iffalse, predicate)
        taken = self.value(node.iftrue, self.both(predicate, condition))
        other = self.value(node.iffalse, self.both(predicate, self.inverse(condition)))
        kinds = {taken.kind, other.kind}
        kind: Kind = "float" if "float" in kinds else "unsigned" if "unsigned" in kinds else "int"
        return self.body.select(
            condition, self.converted(taken, kind, node), self.converted(other, kind, node)
        )
