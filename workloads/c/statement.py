"""Statements of C as operations, by predication: both sides of an ``if`` are computed, scalars are merged by selects,
loads and stores carry the condition. ``break`` and ``continue`` skip the rest of the iteration in the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce

from pycparser import c_ast

from mapper.workloads.c.expression import OPERATION_CALLS, Expressions
from mapper.workloads.c.file import LOOPS
from mapper.workloads.c.name import parameters_of
from mapper.workloads.c.type import type_of, underlying
from mapper.workloads.graph.opcode import wrapped
from mapper.workloads.loop.body import Value, integer, zero
from mapper.workloads.loop.kind import FLOATING, INT, ValueType, bits_of

SKIP, EXIT, RESULT, LEFT = "#skip", "#exit", "#result", "#left"
"""Stand for scalars: whether the rest of the iteration is skipped, whether the loop has ended, what a call gives, and
whether the rest is skipped of a switch alone."""
COPIES = ("memcpy", "memmove", "memset")
MOST_COPIED = 64
"""Words that one call copies or sets."""
DEEPEST_CALL = 8
MOST_SCALARS = 1000


class Statements(Expressions):
    """Lowers statements inside the loop. ``depth``: of calls that are put in their place, ``switches``: of switches."""

    depth = 0
    switches = 0

    def statement(self, node: c_ast.Node | None, predicate: Value | None) -> None:
        """Lowers one statement under ``predicate``.

        Raises: InputError if it is outside the subset.
        """
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma():
                return
            case c_ast.Compound():
                self._block(list(node.block_items or []), predicate)
            case c_ast.DeclList():
                for declaration in node.decls:
                    self.declare(declaration, predicate)
            case c_ast.Decl():
                self.declare(node, predicate)
            case c_ast.If():
                self._if(node, predicate)
            case c_ast.Continue() if self.depth == 0:
                self.scalars[SKIP] = integer(1)
            case c_ast.Switch():
                self._switch(node, predicate)
            case c_ast.Break() if self.switches:
                self.scalars[SKIP] = self.scalars[LEFT] = integer(1)
            case c_ast.Break() if self.depth == 0:
                self.scalars[SKIP] = self.scalars[EXIT] = integer(1)
            case c_ast.Return():
                self._return(node, predicate)
            case c_ast.Assignment() | c_ast.UnaryOp() | c_ast.FuncCall() | c_ast.ExprList():
                self.value(node, predicate)
            case c_ast.Cast():  # of a call, say, to void: what it does is done
                self.statement(node.expr, predicate)
            case c_ast.BinaryOp() | c_ast.TernaryOp() | c_ast.ArrayRef() | c_ast.StructRef():
                self.value(node, predicate)
            case c_ast.Constant() | c_ast.ID():
                return
            case _:
                what = type(node).__name__
                raise self.fault(node, f"{what} in the loop is outside the subset; use assignments and if")

    def declare(self, declaration: c_ast.Decl, predicate: Value | None) -> None:
        """A scalar that the loop declares."""
        name = str(declaration.name)
        wanted = underlying(declaration.type, self.place_of_loop.types)
        if isinstance(wanted, c_ast.PtrDecl):
            self.set_type(name, INT, declaration)
        elif not isinstance(wanted, c_ast.TypeDecl):
            raise self.fault(declaration, "only scalars are declared inside a loop; move it to the function")
        else:
            self.set_type(name, self.type_named(wanted), declaration)
        self.scalars[name] = None
        if declaration.init is not None:
            self.assign(name, self.value(declaration.init, predicate), declaration)

    def set_type(self, name: str, wanted: ValueType, node: c_ast.Node) -> None:
        """Notes the type of a scalar."""
        self.types[name] = wanted
        if len(self.types) > MOST_SCALARS:
            raise self.fault(node, f"more than {MOST_SCALARS} scalars; split the function")

    def guarded(self, condition: Value, predicate: Value | None, taken: Callable[[Value | None], None],
                other: Callable[[Value | None], None] | None = None) -> None:  # fmt: skip
        """Does ``taken`` where ``condition`` holds, else ``other``, and merges what they leave in scalars."""
        if condition.literal is not None:
            chosen = taken if condition.literal else other
            if chosen is not None:
                chosen(predicate)
            return
        before = dict(self.scalars)
        taken(self.both(predicate, condition))
        after, self.scalars = self.scalars, dict(before)
        if other is not None:
            other(self.both(predicate, self.inverse(condition)))
        place = self.place_of_loop.loop
        for name, value in after.items():
            left = self.scalars.get(name)
            if value is None or left is None:
                # A scalar that only one side gives a value has none after the if.
                self.scalars[name] = None
            elif value.key != left.key or value.base != left.base:
                self.scalars[name] = self.merged(condition, value, left, place)

    def _if(self, node: c_ast.If, predicate: Value | None) -> None:
        condition = self.truth(self.value(node.cond, predicate))
        self.guarded(
            condition,
            predicate,
            partial(self.statement, node.iftrue),
            partial(self.statement, node.iffalse),
        )

    def _switch(self, node: c_ast.Switch, predicate: Value | None) -> None:
        """Each case runs where its number, or that of a case before it, is met, and nothing has left the switch."""
        chosen = self.value(node.cond, predicate)
        cases = list(node.stmt.block_items or []) if isinstance(node.stmt, c_ast.Compound) else []
        if not cases or not all(isinstance(one, c_ast.Case | c_ast.Default) for one in cases):
            raise self.fault(node, "a switch whose cases stand not in its braces alone; write if")
        met = [
            self.arithmetic("==", chosen, self.value(one.expr, predicate), one)
            if isinstance(one, c_ast.Case)
            else None
            for one in cases
        ]
        # The default, wherever it stands, is for numbers that no case has.
        none = self.inverse(reduce(self._either, [one for one in met if one is not None], integer(0)))
        before, left = self.scalars.get(SKIP), self.scalars.get(LEFT)
        self.scalars[SKIP], self.scalars[LEFT] = integer(0), integer(0)
        self.switches += 1
        reached = integer(0)
        for one, own in zip(cases, met, strict=True):
            reached = self._either(reached, none if own is None else own)
            going = self.both(reached, self.inverse(self.scalars[SKIP] or integer(0)))
            self.guarded(going, predicate, partial(self._block, list(one.stmts or [])))
        self.switches -= 1
        stays = self.inverse(self.scalars[LEFT] or integer(0))
        skipped = self.both(stays, self.scalars[SKIP] or integer(0))
        for name, value in ((SKIP, skipped if before is not None else None), (LEFT, left)):
            self.scalars.pop(name)
            if value is not None:
                self.scalars[name] = value

    def _either(self, left: Value, right: Value) -> Value:
        for one, other in ((left, right), (right, left)):
            if one.literal is not None:
                return one if one.literal else other
        return self.body.operation("or", (left, right), "int")

    def _block(self, statements: list[c_ast.Node], predicate: Value | None) -> None:
        """Statements one after another in a scope of their own."""
        hidden: dict[str, tuple[ValueType | None, Value | None]] = {}
        self._sequence(statements, hidden, predicate)
        for name, (old_type, old_value) in hidden.items():
            self.types.pop(name, None)
            self.scalars.pop(name, None)
            if old_type is not None:
                self.types[name], self.scalars[name] = old_type, old_value

    def _sequence(
        self,
        statements: list[c_ast.Node],
        hidden: dict[str, tuple[ValueType | None, Value | None]],
        predicate: Value | None,
    ) -> None:
        """Statements until one says that the rest is skipped; ``hidden``: what their declarations hide."""
        for position, statement in enumerate(statements):
            for one in statement.decls if isinstance(statement, c_ast.DeclList) else [statement]:
                if isinstance(one, c_ast.Decl) and one.name not in hidden:
                    name = str(one.name)
                    hidden[name] = (self.types.get(name), self.scalars.get(name))
            self.statement(statement, predicate)
            skipped = self.scalars.get(SKIP)
            if skipped is not None and skipped.literal != 0:
                rest = statements[position + 1 :]
                if rest:
                    self.guarded(self.inverse(skipped), predicate, partial(self._sequence, rest, hidden))
                return

    def _return(self, node: c_ast.Return, predicate: Value | None) -> None:
        if self.depth == 0:
            self.note("a return inside the loop ends it; the value that is returned is left out")
            self.scalars[EXIT] = integer(1)
        elif node.expr is not None:
            self.assign(RESULT, self.value(node.expr, predicate), node)
        self.scalars[SKIP] = integer(1)

    def call(self, node: c_ast.FuncCall, predicate: Value | None) -> Value:
        """The value of a call: one operation, or the function's text in its place."""
        name = str(getattr(node.name, "name", ""))
        callee = self.place_of_loop.callees.get(name)
        if callee is None and name.removeprefix("__builtin_") in COPIES:
            return self._copied(name.removeprefix("__builtin_"), node, predicate)
        if callee is None or name.removeprefix("__builtin_") in OPERATION_CALLS:
            return super().call(node, predicate)
        if self.depth >= DEEPEST_CALL:
            raise self.fault(
                node, f"calls of {name[:40]} are nested too deeply, or without end; write it out"
            )
        if any(isinstance(one, LOOPS) for _, one in _below(callee.body)):
            raise self.fault(node, f"{name[:40]} has a loop of its own; write it out, or map that loop")
        named = parameters_of(callee)
        given = [] if node.args is None else [self.value(one, predicate) for one in node.args.exprs]
        if len(given) != len(named):
            raise self.fault(node, f"{name[:40]} takes {len(named)} values; give that many")
        return self._inlined(callee, named, given, predicate)

    def _copied(self, name: str, node: c_ast.FuncCall, predicate: Value | None) -> Value:
        """``memcpy``, ``memmove`` or ``memset`` of a number of bytes that is known, word by word: all are read before
        one is written."""
        given = [] if node.args is None else list(node.args.exprs)
        if len(given) != 3:
            raise self.fault(node, f"{name} takes 3 values; give that many")
        # What the pointers are cast to changes no byte.
        plain = [one.expr if isinstance(one, c_ast.Cast) else one for one in given]
        target, source = (self.value(one, predicate) for one in plain[:2])
        size = self.value(given[2], predicate).literal
        if target.base is None or target.base in self.structures:
            raise self.fault(node, f"{name} to what is no array of numbers; write it out")
        wanted = self.arrays[target.base].type
        width = int("".join(filter(str.isdigit, wanted.word))) // 8
        if size is None or size < 0 or size % width or size // width > MOST_COPIED:
            remedy = f"{name} of what is no known number of whole words, at most {MOST_COPIED}; write a loop"
            raise self.fault(node, remedy)
        at = [
            self.arithmetic("+", replace(target, base=None), integer(word), node)
            for word in range(size // width)
        ]
        if name == "memset":
            value = self._byte(source, width, wanted, node)
            words = [value for _ in at]
        else:
            if source.base is None or self.arrays[source.base].type.word != wanted.word:
                raise self.fault(node, f"{name} between words of two types; use one type")
            start = replace(source, base=None)
            froms = [self.arithmetic("+", start, integer(word), node) for word in range(len(at))]
            words = [self.load(source.base, one, predicate, node) for one in froms]
        for index, word in zip(at, words, strict=True):
            self.body.store(target.base, wanted.kind, index, word, predicate)
        return target

    def _byte(self, value: Value, width: int, wanted: ValueType, node: c_ast.Node) -> Value:
        """A word of bytes that are all ``value``."""
        if width == 1:
            return self.to_kind(value, wanted.kind, node)
        if value.literal is None or (value.literal % 256 and wanted.kind in FLOATING):
            raise self.fault(
                node, "memset of words to what is no constant, or of floats to other than 0; write a loop"
            )
        if wanted.kind in FLOATING:
            return zero(wanted.kind)
        bits = bits_of(wanted.kind)
        number = int.from_bytes(bytes([value.literal % 256]) * width, "little")
        return integer(wrapped(number, min(bits, 8 * width)), wanted.kind)

    def _inlined(
        self, callee: c_ast.FuncDef, parameters: list[c_ast.Decl], given: list[Value], predicate: Value | None
    ) -> Value:
        types, scalars, switches = dict(self.types), dict(self.scalars), self.switches
        self.switches = 0
        own = {str(one.name) for one in parameters}
        self.depth += 1
        self.scalars[SKIP] = integer(0)
        for one, value in zip(parameters, given, strict=True):
            wanted = type_of(one.type, self.place_of_loop.types)
            self.set_type(str(one.name), INT if wanted is None or value.base is not None else wanted, one)
            self.assign(str(one.name), value, one)
        result = type_of(callee.decl.type.type, self.place_of_loop.types)
        self.types[RESULT] = result or INT
        self.scalars[RESULT] = zero((result or INT).kind)
        self.statement(callee.body, predicate)
        found = self.scalars[RESULT] or integer(0)
        self.depth, self.switches = self.depth - 1, switches
        outside = {str(one.name) for one in self.place_of_loop.declarations} - own
        kept = {name: value for name, value in self.scalars.items() if name in outside and name in scalars}
        self.types, self.scalars = types, scalars | kept
        return found


def _below(node: c_ast.Node) -> list[tuple[str, c_ast.Node]]:
    found: list[tuple[str, c_ast.Node]] = []
    for name, child in node.children():
        found += [(name, child), *_below(child)]
    return found
