"""Expressions of C as operations: what is read, computed and, in passing, assigned."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from mapper.workloads.c.place import Places
from mapper.workloads.c.type import type_of, underlying
from mapper.workloads.c.unit import ASSEMBLY
from mapper.workloads.graph.opcode import rounded, wrapped
from mapper.workloads.loop.body import Value, floating, integer
from mapper.workloads.loop.kind import FLOATING, Kind, ValueType, opcode

LONGEST_NUMBER = 60
STEPS = ("++", "p++", "--", "p--")
OPERATION_CALLS: dict[str, tuple[str, Kind, int]] = {
    "fmaxf": ("fmax", "float", 2), "fminf": ("fmin", "float", 2), "fabsf": ("fabs", "float", 1),
    "sqrtf": ("sqrt", "float", 1), "fmax": ("fmax", "double", 2), "fmin": ("fmin", "double", 2),
    "fabs": ("fabs", "double", 1), "sqrt": ("sqrt", "double", 1), "abs": ("abs", "int", 1),
    "labs": ("abs", "long", 1), "llabs": ("abs", "long", 1),
}  # fmt: skip
"""Functions of C's library that are one operation: its name, on what, and how many operands it has."""
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34}


class Expressions(Places):
    """Lowers expressions; ``conditional`` counts the conditions inside the expression at hand."""

    conditional = 0

    def type_named(self, node: c_ast.Node) -> ValueType:
        """The type that a declaration or a cast names.

        Raises: InputError if kernels have no such type.
        """
        found = type_of(node, self.place_of_loop.types)
        if found is None:
            inner = node.type if isinstance(node, c_ast.TypeDecl) else node
            name = " ".join(getattr(inner, "names", [type(inner).__name__]))
            raise self.fault(node, f"type {name[:40]} is outside the subset; use integers, float or double")
        return found

    def value(self, node: c_ast.Node, predicate: Value | None) -> Value:
        """The value of an expression; loads under ``predicate`` touch memory only where it is not 0.

        Raises: InputError if the expression is outside the subset.
        """
        match node:
            case c_ast.Constant():
                return self._constant(node)
            case c_ast.ID():
                return self._scalar(node)
            case c_ast.ArrayRef() | c_ast.StructRef():
                return self._read(node, predicate)
            case c_ast.BinaryOp():
                return self._binary(node, predicate)
            case c_ast.UnaryOp():
                return self._unary(node, predicate)
            case c_ast.TernaryOp():
                return self._ternary(node, predicate)
            case c_ast.Cast():
                return self._cast(node, predicate)
            case c_ast.FuncCall():
                return self.call(node, predicate)
            case c_ast.ExprList():
                return [self.value(one, predicate) for one in node.exprs][-1]
            case c_ast.Assignment():
                return self._assigned(node, predicate)
        raise self.fault(node, f"{type(node).__name__} is outside the subset; use arithmetic and subscripts")

    def call(self, node: c_ast.FuncCall, predicate: Value | None) -> Value:
        """The value of a call: one operation."""
        name = str(getattr(node.name, "name", "?")).removeprefix("__builtin_")
        found = OPERATION_CALLS.get(name)
        if found is None:
            if name == ASSEMBLY:
                raise self.fault(node, "assembly is outside the subset; write it in C")
            known = ", ".join(OPERATION_CALLS)
            remedy = f"calls of {name[:40]} are outside the subset, but for {known}; write it out"
            raise self.fault(node, remedy)
        stem, kind, count = found
        given = [] if node.args is None else [self.value(one, predicate) for one in node.args.exprs]
        if len(given) != count:
            raise self.fault(node, f"{name} takes {count} numbers; give that many")
        if kind == "double":
            # Of floats it is the same operation on floats: none of these rounds, or the root rounds once more.
            singles = [self._single(one) for one in given]
            if stem != "sqrt" and None not in singles:
                known_singles = tuple(one for one in singles if one is not None)
                found_value = self.body.operation(stem, known_singles, "float")
                return self.to_kind(found_value, "double", node)
        operands = tuple(self.to_kind(one, kind, node) for one in given)
        return self.body.operation(opcode(stem, kind), operands, kind)

    def _read(self, node: c_ast.ArrayRef | c_ast.StructRef, predicate: Value | None) -> Value:
        array, index = self.place(node, predicate)
        if self.rows_left(node, array):
            return replace(index, base=array)
        return self.load(array, index, predicate, node)

    def load(self, array: str, index: Value, predicate: Value | None, node: c_ast.Node) -> Value:
        """The word of ``array`` at ``index``."""
        self._one_word(array, node)
        return self.body.load(array, self.arrays[array].type.kind, index, predicate)

    def _one_word(self, array: str, node: c_ast.Node) -> None:
        if array in self.structures:
            raise self.fault(node, f"{array[:40]} is read or written as a whole; name its members")

    def write(self, target: c_ast.Node, value: Value, predicate: Value | None, symbol: str = "") -> Value:
        """``target = value``, or ``target symbol= value``; what the target holds then."""
        if symbol:
            return self._updated(target, value, predicate, symbol)[1]
        if isinstance(target, c_ast.ID) and target.name in self.types:
            self._refuse_conditional(target)
            return self.assign(str(target.name), value, target)
        array, index = self._written_place(target, predicate)
        return self._store(array, index, value, predicate, target)

    def _updated(
        self, target: c_ast.Node, value: Value, predicate: Value | None, symbol: str
    ) -> tuple[Value, Value]:
        """``target symbol= value``: what the target held, and what it holds then. Its place is found once, since that
        may step a pointer."""
        if isinstance(target, c_ast.ID) and target.name in self.types:
            self._refuse_conditional(target)
            old = self.value(target, predicate)
            return old, self.assign(str(target.name), self.arithmetic(symbol, old, value, target), target)
        array, index = self._written_place(target, predicate)
        old = self.load(array, index, predicate, target)
        return old, self._store(array, index, self.arithmetic(symbol, old, value, target), predicate, target)

    def _refuse_conditional(self, target: c_ast.Node) -> None:
        if self.conditional:
            raise self.fault(target, "an assignment under a condition inside an expression; write an if")

    def _written_place(self, target: c_ast.Node, predicate: Value | None) -> tuple[str, Value]:
        """The array and the index of the word that is assigned."""
        memory = isinstance(target, c_ast.ArrayRef | c_ast.StructRef) or (
            isinstance(target, c_ast.UnaryOp) and target.op == "*"
        )
        if not memory:
            raise self.fault(target, "only declared scalars and words of arrays are assigned; declare it")
        array, index = self.place(target, predicate)
        self._one_word(array, target)
        return array, index

    def _store(
        self, array: str, index: Value, value: Value, predicate: Value | None, target: c_ast.Node
    ) -> Value:
        shape = self.arrays[array]
        kept = self.to_kind(value, shape.type.kind, target)
        self.body.store(array, shape.type.kind, index, kept, predicate)
        return kept

    def assign(self, name: str, value: Value, node: c_ast.Node) -> Value:
        """Gives the scalar ``name`` a value."""
        value = self.to_type(value, self.types[name], node)
        self.scalars[name] = value
        if value.node is not None and not self.body.nodes[value.node].label:
            self.body.nodes[value.node].label = name
        return value

    def _assigned(self, node: c_ast.Assignment, predicate: Value | None) -> Value:
        value = self.value(node.rvalue, predicate)
        return self.write(node.lvalue, value, predicate, str(node.op).removesuffix("="))

    def _cast(self, node: c_ast.Cast, predicate: Value | None) -> Value:
        value = self.value(node.expr, predicate)
        wanted = underlying(node.to_type.type, self.place_of_loop.types)
        if not isinstance(wanted, c_ast.PtrDecl):
            named = type_of(wanted, self.place_of_loop.types)
            if named is None and getattr(getattr(wanted, "type", None), "names", None) == ["void"]:
                return value
            return self.to_type(value, self.type_named(wanted), node)
        word = type_of(wanted.type, self.place_of_loop.types)
        if value.base is None or (word is not None and word.word != self.arrays[value.base].type.word):
            raise self.fault(node, "a pointer is cast to words of another size; use an array of that type")
        return value

    def _constant(self, node: c_ast.Constant) -> Value:
        text = str(node.value).lower()
        if len(text) > LONGEST_NUMBER:
            raise self.fault(node, f"a constant has more than {LONGEST_NUMBER} digits; give a shorter one")
        if node.type in ("float", "double", "long double"):
            hexadecimal = text.startswith("0x")
            digits = text.rstrip("l" if hexadecimal else "fl")
            if hexadecimal and "p" in digits:
                digits = digits.rstrip("f")
            number = float.fromhex(digits) if hexadecimal else float(digits)
            single = text.endswith("f") and (not hexadecimal or "p" in text)
            return floating(rounded(number)) if single else Value("double", number=number)
        if node.type == "char":
            return integer(self._character(node))
        if "int" not in node.type:
            raise self.fault(node, f"a constant of type {node.type} is outside the subset; use numbers")
        digits = text.rstrip("ul")
        octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
        number = int(digits, 8) if octal else int(digits, 0)
        decimal = digits == str(number)
        suffix = text[len(digits) :]
        wide = "l" in suffix or number >= 1 << (31 if decimal and "u" not in suffix else 32)
        bits = 64 if wide else 32
        if number >= 1 << bits:
            raise self.fault(node, f"{text[:20]} does not fit 64 bits; give a smaller number")
        unsigned = "u" in suffix or number >= 1 << (bits - 1)
        kind: Kind = ("ulong" if unsigned else "long") if wide else ("unsigned" if unsigned else "int")
        return integer(wrapped(number, bits), kind)

    def _character(self, node: c_ast.Constant) -> int:
        inner = str(node.value)[1:-1]
        if len(inner) == 1 and ord(inner) < 128:
            return ord(inner)
        if len(inner) == 2 and inner[0] == "\\" and inner[1] in _ESCAPES:
            return _ESCAPES[inner[1]]
        raise self.fault(node, "a character that is no plain one; write its number")

    def _scalar(self, node: c_ast.ID) -> Value:
        name = str(node.name)
        if name in self.arrays and name not in self.scalars:
            return replace(integer(0), base=name)
        if name not in self.scalars:
            raise self.without_value(node, name)
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
        right = self.truth(self._under(node.right, predicate, needed))
        if needed.literal is not None:
            return right
        return self.body.operation("and" if node.op == "&&" else "or", (left, right), "int")

    def _under(self, node: c_ast.Node, predicate: Value | None, condition: Value) -> Value:
        """The value of an expression that is computed only where ``condition`` holds."""
        self.conditional += condition.literal is None
        found = self.value(node, self.both(predicate, condition))
        self.conditional -= condition.literal is None
        return found

    def _unary(self, node: c_ast.UnaryOp, predicate: Value | None) -> Value:
        symbol = str(node.op)
        if symbol in STEPS:
            old, new = self._updated(node.expr, integer(1), predicate, symbol.lstrip("p")[0])
            return old if symbol.startswith("p") else new
        if symbol == "*":
            array, index = self.place(node, predicate)
            return self.load(array, index, predicate, node)
        if symbol == "&":
            array, index = self._address(node, predicate)
            return replace(index, base=array)
        if symbol == "sizeof":
            return self._size(node)
        value = self.value(node.expr, predicate)
        if symbol == "!":
            return self.inverse(self.truth(value))
        if symbol == "+":
            return value
        if symbol not in ("-", "~"):
            raise self.fault(
                node, f"{symbol[:10]} inside an expression is outside the subset; write a statement"
            )
        if symbol == "-" and value.kind in FLOATING:
            # 0 - x would lose the sign of a zero.
            one = floating(-1.0) if value.kind == "float" else Value("double", number=-1.0)
            return self.body.operation(opcode("fmul", value.kind), (value, one), value.kind)
        if value.kind in FLOATING or value.base is not None:
            raise self.fault(node, f"{symbol} needs an integer; cast it")
        return self.body.operation(
            opcode("neg" if symbol == "-" else "not", value.kind), (value,), value.kind
        )

    def _address(self, node: c_ast.UnaryOp, predicate: Value | None) -> tuple[str, Value]:
        target = node.expr
        memory = isinstance(target, c_ast.ArrayRef | c_ast.StructRef)
        structure = isinstance(target, c_ast.ID) and target.name in self.structures
        if memory or structure or (isinstance(target, c_ast.UnaryOp) and target.op == "*"):
            return self.place(target, predicate)
        raise self.fault(node, "& of a scalar is outside the subset; use an array of one word")

    def _size(self, node: c_ast.UnaryOp) -> Value:
        found, words = None, 1
        if isinstance(node.expr, c_ast.Typename):
            found = type_of(node.expr.type, self.place_of_loop.types)
        elif isinstance(node.expr, c_ast.ID) and str(node.expr.name) not in self.scalars:
            shape = self.arrays.get(str(node.expr.name))
            if shape is not None and shape.words is not None:
                found, words = shape.type, shape.words
        elif isinstance(node.expr, c_ast.ID):
            found = self.types.get(str(node.expr.name))
        if found is None:
            raise self.fault(node, "sizeof of this is outside the subset; write the number")
        return integer(words * int("".join(filter(str.isdigit, found.word))) // 8, "ulong")

    def _ternary(self, node: c_ast.TernaryOp, predicate: Value | None) -> Value:
        condition = self.truth(self.value(node.cond, predicate))
        if condition.literal is not None:
            return self.value(node.iftrue if condition.literal else node.iffalse, predicate)
        taken = self._under(node.iftrue, predicate, condition)
        other = self._under(node.iffalse, predicate, self.inverse(condition))
        return self.merged(condition, taken, other, node)
