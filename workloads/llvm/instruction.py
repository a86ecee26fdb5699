"""Instructions of LLVM IR as operations."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from mapper.workloads.graph.opcode import wrapped
from mapper.workloads.llvm.alias import Said, said
from mapper.workloads.llvm.copy import COPIES, copy
from mapper.workloads.llvm.module import Instruction, IrLoop
from mapper.workloads.llvm.type import SCALARS, element, pointed_type, size_of
from mapper.workloads.loop.body import LoopBody, Value, floating, integer, live_in, zero
from mapper.workloads.loop.kind import (
    FLOATING,
    WIDE,
    ArrayShape,
    Kind,
    ValueType,
    bits_of,
    conversion,
    opcode,
)

INTEGER = {
    "add": "add", "sub": "sub", "mul": "mul", "sdiv": "div", "srem": "rem", "udiv": "udiv", "urem": "urem",
    "and": "and", "or": "or", "xor": "xor", "shl": "shl", "lshr": "shr", "ashr": "sar",
}  # fmt: skip
ZEROS_ABOVE = frozenset({"udiv", "urem", "lshr"})
"""Operations that take their operands as unsigned."""
FLOATS = {"fadd": "fadd", "fsub": "fsub", "fmul": "fmul", "fdiv": "fdiv"}
ORDERED = {"olt": "lt", "ole": "le", "ogt": "gt", "oge": "ge", "oeq": "eq", "une": "ne"}
OPPOSITE = {"ult": "oge", "ule": "ogt", "ugt": "ole", "uge": "olt"}
CALLS = {"fabs": "fabs", "fabsf": "fabs", "sqrt": "sqrt", "sqrtf": "sqrt", "maxnum": "fmax", "minnum": "fmin",
         "fmax": "fmax", "fmaxf": "fmax", "fmin": "fmin", "fminf": "fmin", "smax": "max", "smin": "min",
         "abs": "abs"}  # fmt: skip
SILENT = ("lifetime", "dbg", "assume", "experimental.noalias")
KEPT = re.compile(r"\s*(?:%\S+ = )?(?:load|store) (?:volatile|atomic)\b")
"""Accesses that no pass may touch."""
ASSUMED_INTEGER, ASSUMED_FLOAT = 8, 0.5


class Instructions:
    """Lowers instructions of one loop into ``body``. ``values``: what each name is; a pointer is an index in units of
    ``units[name]`` bytes into its base. ``arrays``: by the name of their base; ``symbols``: numbers of live-ins."""

    def __init__(self, loop: IrLoop, body: LoopBody) -> None:
        self.loop, self.body = loop, body
        self.values: dict[str, Value] = {}
        self.units: dict[str, int] = {}
        self.arrays: dict[str, ArrayShape] = {}
        self.said: dict[str, list[Said]] = {}
        self.symbols: dict[str, int] = {}
        self.assumed: dict[str, str] = {}
        self.notes: list[str] = []

    def type_of(self, value: Any, at: Instruction) -> ValueType:
        found = SCALARS.get(str(value.type))
        if found is None:
            raise self.loop.fault(
                at, f"type {str(value.type)[:40]} cannot be mapped; use i8 to i64, float or double"
            )
        return found

    def operand(self, value: Any, at: Instruction) -> Value:
        """What an operand is: a constant, a value of the loop, or a live-in."""
        kind_name = value.value_kind.name
        if value.is_constant and "function" not in kind_name and "global" not in kind_name:
            return self._constant(value, at)
        if value.name in self.values:
            return self.values[value.name]
        if str(value.type) == "ptr":
            self.units[value.name] = 1
            return replace(integer(0), base=value.name)
        if value.name in self.loop.inside:
            raise self.loop.fault(at, f"takes %{value.name[:40]} before it is computed; simplify the loop")
        return self._live_in(value.name, self.type_of(value, at), str(value.type))

    def _live_in(self, name: str, wanted: ValueType, written: str) -> Value:
        floats = wanted.kind in FLOATING
        before = sum(one in ("float", "double") for one in self.assumed.values())
        count = before if floats else len(self.assumed) - before
        number: int | float = ASSUMED_FLOAT * (1 + count) if floats else ASSUMED_INTEGER + count
        number = 1 if written == "i1" else number
        self.assumed[name] = written
        if not floats:
            self.symbols[name] = int(number)
        self.notes.append(f"live-in %{name} stands at {number}")
        value = replace(live_in(name, wanted.kind, number), boolean=written == "i1")
        self.values[name] = value
        return value

    def _constant(self, value: Any, at: Instruction) -> Value:
        found = SCALARS.get(str(value.type))
        text = str(value).split()[-1]
        if found is None or "expr" in value.value_kind.name:
            raise self.loop.fault(at, "takes a constant that cannot be mapped; use numbers")
        if text in ("undef", "poison", "zeroinitializer"):
            return zero(found.kind)
        if text in ("true", "false"):
            return integer(int(text == "true"))
        number = value.get_constant_value(signed_int=True, round_fp=True)
        if found.kind in FLOATING:
            return floating(float(number)) if found.kind == "float" else Value("double", number=float(number))
        return integer(wrapped(int(number), found.narrow or bits_of(found.kind)), found.kind)

    def narrowed(self, value: Value, written: str) -> Value:
        """A result of a narrow type, with its sign above it; an i1 stays 0 or 1."""
        bits = 1 if written == "i1" else SCALARS[written].narrow
        if bits is None or value.boolean:
            return value
        if bits == 1:
            return replace(self.body.operation("and", (value, integer(1)), "int"), boolean=True)
        up = self.body.operation("shl", (value, integer(32 - bits)), "int")
        return self.body.operation("sar", (up, integer(32 - bits)), "int")

    def unsigned(self, value: Value, written: str) -> Value:
        """A narrow value with zeros above it."""
        bits = SCALARS[written].narrow
        return value if bits is None else self.body.operation("and", (value, integer((1 << bits) - 1)), "int")

    def lower(self, at: Instruction, predicate: Value | None) -> None:
        """Lowers one instruction that is neither a phi nor the end of a block.

        Raises: InputError if it cannot be mapped.
        """
        operands = list(at.operands)
        name = at.opcode
        if name == "getelementptr":
            self._pointer(at, operands)
        elif KEPT.match(str(at)):
            raise self.loop.fault(at, "volatile and atomic accesses cannot be mapped; use plain ones")
        elif name == "load":
            array, index, wanted = self.access(operands[0], at, str(at.type))
            self.values[at.name] = self.body.load(array, wanted.kind, index, predicate)
        elif name == "store":
            array, index, wanted = self.access(operands[1], at, str(operands[0].type))
            self.body.store(array, wanted.kind, index, self.operand(operands[0], at), predicate)
        elif name == "call":
            self._call(at, operands, predicate)
        else:
            self.values[at.name] = self._result(at, operands)

    def _result(self, at: Instruction, operands: list[Any]) -> Value:
        name = at.opcode
        if name == "freeze":
            return self.operand(operands[0], at)
        if str(at.type) == "ptr" or any(str(one.type) == "ptr" for one in operands):
            raise self.loop.fault(at, f"{name} of a pointer cannot be mapped; use getelementptr")
        values = [self.operand(one, at) for one in operands]
        written = str(operands[0].type)
        if name == "icmp":
            return self._ordered(at, values, written)
        if name == "fcmp":
            return self._floats_ordered(at, values)
        kind = self.type_of(at, at).kind
        if name in INTEGER:
            if name in ZEROS_ABOVE:
                values = [self.unsigned(one, written) for one in values]
            found = self.body.operation(opcode(INTEGER[name], kind), tuple(values), kind)
            return self.narrowed(found, str(at.type))
        if name in FLOATS:
            return self.body.operation(opcode(FLOATS[name], kind), tuple(values), kind)
        if name == "fneg":
            minus = floating(-1.0) if kind == "float" else Value("double", number=-1.0)
            return self.body.operation(opcode("fmul", kind), (values[0], minus), kind)
        if name == "select":
            return self.body.select(values[0], values[1], values[2])
        return self._converted(at, values[0], written, kind)

    def _converted(self, at: Instruction, value: Value, written: str, kind: Kind) -> Value:
        name = at.opcode
        if name == "zext" and " nneg " in str(at):
            name = "sext"
        if name in ("zext", "uitofp"):
            source: Kind = "ulong" if value.kind in WIDE else "unsigned"
            value = replace(self.unsigned(value, written), kind="int" if value.boolean else source)
        elif name == "sext" and written == "i1":
            value = self.body.operation("neg", (replace(value, boolean=False),), "int")
        elif name not in ("sext", "trunc", "sitofp", "fpext", "fptrunc", "fptosi", "fptoui"):
            raise self.loop.fault(
                at, f"{name} cannot be mapped; use arithmetic, comparisons, selects, loads and stores"
            )
        target: Kind = kind
        if name == "fptoui" and kind in ("int", "long"):
            target = "ulong" if kind == "long" else "unsigned"
        same = value.kind not in FLOATING and kind not in FLOATING and (value.kind in WIDE) == (kind in WIDE)
        if same or value.kind == target:
            found = replace(value, kind=kind)
        else:
            made = self.body.operation(conversion(value.kind, target), (value,), target)
            # A form is exact where the machine wraps.
            keep = conversion(value.kind, target) in ("i32_to_i64", "i64_to_i32")
            found = replace(made, kind=kind, form=value.form if keep else made.form)
        return self.narrowed(found, str(at.type)) if name in ("trunc", "fptosi", "fptoui") else found

    def _ordered(self, at: Instruction, values: list[Value], written: str) -> Value:
        order = str(at).split(" icmp ")[1].removeprefix("samesign ").split()[0]
        kind = values[0].kind
        if order[0] == "u":
            values = [self.unsigned(one, written) for one in values]
            if SCALARS[written].narrow is None and written != "i1":
                turned = Value(kind, number=-(1 << (bits_of(kind) - 1)))
                values = [self.body.operation(opcode("xor", kind), (one, turned), kind) for one in values]
        return self.body.operation(
            opcode(order if len(order) == 2 else order[1:], kind), tuple(values), "int"
        )

    def _floats_ordered(self, at: Instruction, values: list[Value]) -> Value:
        rest = re.sub(
            r"^((nnan|ninf|nsz|arcp|contract|afn|reassoc|fast)\s+)*", "", str(at).split(" fcmp ")[1]
        )
        order, kind = rest.split()[0], values[0].kind

        def compared(which: str, *pair: Value) -> Value:
            return self.body.operation(opcode(f"fcmp_{which}", kind), pair, "int")

        if order in ORDERED:
            return compared(ORDERED[order], *values)
        if order in OPPOSITE:
            return self.body.operation("eq", (compared(ORDERED[OPPOSITE[order]], *values), integer(0)), "int")
        known = [compared("eq", one, one) for one in values]
        both = self.body.operation("and", (known[0], known[1]), "int")
        if order == "ord":
            return both
        if order == "uno":
            return self.body.operation("eq", (both, integer(0)), "int")
        unequal = self.body.operation(
            "or", (compared("lt", *values), compared("gt", *values)), "int"
        )  # neither is a NaN
        return unequal if order == "one" else self.body.operation("eq", (unequal, integer(0)), "int")

    def _call(self, at: Instruction, operands: list[Any], predicate: Value | None) -> None:
        called = operands[-1].name
        plain = called.removeprefix("llvm.")
        if any(plain.startswith(one) for one in SILENT):
            return
        if called.startswith("llvm.") and plain.split(".")[0] in COPIES:
            copy(self, at, plain.split(".")[0], operands, predicate)
            return
        stem = re.sub(r"\.[if]\d+$", "", plain)
        given = [self.operand(one, at) for one in operands[:-1] if str(one.type) != "metadata"]
        if stem == "fmuladd" and given:
            kind = given[0].kind
            product = self.body.operation(opcode("fmul", kind), (given[0], given[1]), kind)
            self.values[at.name] = self.body.operation(opcode("fadd", kind), (product, given[2]), kind)
            return
        if stem not in CALLS or not self.loop.module.get_function(called).is_declaration:
            known = ", ".join(sorted(set(CALLS)))
            raise self.loop.fault(at, f"calls of {called[:40]} cannot be mapped; inline it, or use {known}")
        kind = given[0].kind
        count = 1 if CALLS[stem] in ("fabs", "sqrt", "abs") else 2
        self.values[at.name] = self.body.operation(opcode(CALLS[stem], kind), tuple(given[:count]), kind)

    def _pointer(self, at: Instruction, operands: list[Any]) -> None:
        """A pointer is an index into its base: what the steps add, in the largest unit that divides them all."""
        start = self.operand(operands[0], at)
        step: str | None = pointed_type(str(at))
        parts: list[tuple[Value, int]] = [] if start.literal == 0 else [(start, self.units[operands[0].name])]
        for place, one in enumerate(operands[1:]):
            if place:
                step = element(step or "")
            size = None if step is None else size_of(step)
            if size is None:
                raise self.loop.fault(
                    at,
                    "steps by what cannot be mapped; use arrays of i8 to i64, float or double",
                )
            index = self.operand(one, at)
            if index.literal != 0:
                parts.append((index, size))
        unit = math.gcd(*(size for _, size in parts)) if parts else 1
        short = [self._short(index) for index, _ in parts]
        # Words lie within 31 bits, so that indices of 32 bits are added as such.
        kind: Kind = "long" if None in short else "int"
        total = integer(0, kind)
        for (index, size), own in zip(parts, short, strict=True):
            wide = own if kind == "int" and own is not None else self.widened(index)
            pair = (replace(wide, base=None), integer(size // unit, kind))
            scaled = self.body.operation(opcode("mul", kind), pair, kind)
            total = self.body.operation(opcode("add", kind), (total, scaled), kind)
        self.values[at.name], self.units[at.name] = replace(total, base=start.base), unit

    def _short(self, value: Value) -> Value | None:
        """``value`` in 32 bits, if it was made of such."""
        if value.kind == "int":
            return value
        if value.literal is not None and abs(value.literal) < 1 << 31:
            return integer(value.literal)
        made = None if value.node is None else self.body.nodes[value.node]
        return (
            None
            if made is None or made.opcode != "i32_to_i64"
            else replace(made.operands[0], form=value.form)
        )

    def widened(self, value: Value) -> Value:
        """``value`` in 64 bits."""
        if value.kind == "long":
            return value
        return replace(self.body.operation("i32_to_i64", (value,), "long"), form=value.form)

    def access(self, pointer: Any, at: Instruction, written: str) -> tuple[str, Value, ValueType]:
        """The array, the index of the word, and its type."""
        wanted = SCALARS.get(written)
        value = self.operand(pointer, at)
        if wanted is None or value.base is None:
            raise self.loop.fault(
                at, f"an access of type {written[:40]} cannot be mapped; use i8 to i64, float or double"
            )
        size, unit = size_of(written) or 1, self.units.get(pointer.name, 1)
        index = replace(value, base=None)
        if index.literal != 0 and unit != size:
            index = self._in_words(index, unit, size, at)
        known = self.arrays.get(value.base)
        if known is not None and known.type != wanted:
            raise self.loop.fault(at, f"%{value.base[:40]} holds words of two types; use one type an array")
        if known is None:
            self.arrays[value.base] = ArrayShape(
                wanted, (self._words(value.base, size),), self._aliases(value.base)
            )
        self.said.setdefault(value.base, []).append(said(at))
        return value.base, index, wanted

    def _in_words(self, index: Value, unit: int, size: int, at: Instruction) -> Value:
        """An index in ``unit`` bytes as one in words of ``size`` bytes."""
        common = math.gcd(unit, size)
        times, parts = unit // common, size // common
        operands = (index, integer(times, index.kind))
        scaled = self.body.operation(opcode("mul", index.kind), operands, index.kind)
        if parts == 1:
            return scaled
        form = scaled.form
        if form is None or any(factor % parts for factor in form.values()):
            raise self.loop.fault(
                at, "words lie at no whole number of words from their base; use one type an array"
            )
        shift = integer(parts.bit_length() - 1, index.kind)
        found = self.body.operation(opcode("sar", index.kind), (scaled, shift), index.kind)
        return replace(found, form={term: factor // parts for term, factor in form.items()})

    def _words(self, base: str, size: int) -> int | None:
        """How many words a global has."""
        for one in self.loop.module.global_variables:
            if one.name == base:
                return (size_of(str(one.global_value_type)) or 0) // size or None
        return None

    def _aliases(self, base: str) -> bool:
        """Whether other pointers may lead where ``base`` does: arguments with noalias and globals are apart."""
        if any(one.name == base for one in self.loop.module.global_variables):
            return False
        for argument in self.loop.module.get_function(self.loop.function).arguments:
            if argument.name == base:
                return not any(b"noalias" in attribute for attribute in argument.attributes)
        return True
