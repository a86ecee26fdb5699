"""The header of a for loop: its variable, where it starts, its step, its bound, and how often it runs."""

from __future__ import annotations

from dataclasses import dataclass

from pycparser import c_ast

from mapper.workloads.c.expression import Expressions
from mapper.workloads.c.name import names_in
from mapper.workloads.document import InputError
from mapper.workloads.loop.affine import Form, plus
from mapper.workloads.loop.body import Value
from mapper.workloads.loop.kind import FLOATING, UNSIGNED, bits_of
from mapper.workloads.loop.trips import trips

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@dataclass(frozen=True)
class LoopHeader:
    """``for (variable = start; variable symbol bound; variable += step)``."""

    variable: str
    start: Value
    step: int
    symbol: str
    bound: Value

    @property
    def known(self) -> bool:
        """Whether the text says how often the loop runs."""
        return self.start.literal is not None and self.bound.literal is not None

    @property
    def runs(self) -> int | None:
        """How often it runs with the numbers that its live-ins stand at; None if it never ends, or data decide it."""
        if self.start.node is not None or self.bound.node is not None:
            return None
        first, last = self._number(self.start), self._number(self.bound)
        return trips(self.symbol, first, last, self.step)

    @property
    def leaves_its_type(self) -> bool:
        """Whether the variable goes beyond the numbers of its type."""
        bits, first, count = bits_of(self.start.kind), self._number(self.start), self.runs or 0
        low, high = (0, 1 << bits) if self.unsigned else (-(1 << (bits - 1)), 1 << (bits - 1))
        return not low <= first + count * self.step < high

    @property
    def unsigned(self) -> bool:
        return bool({self.start.kind, self.bound.kind} & UNSIGNED)

    def _number(self, value: Value) -> int:
        number = int(value.number)
        return number % (1 << bits_of(value.kind)) if self.unsigned else number

    @property
    def ends(self) -> tuple[Form | None, Form | None]:
        """The least and the greatest value of the variable, as far as they are forms."""
        first = self.start.form
        last = self.bound.form
        if last is not None and self.symbol in ("<", ">"):
            last = plus(last, {(): 1}, -1 if self.symbol == "<" else 1)
        if self.symbol == "!=" and last is not None:
            last = plus(last, {(): self.step}, -1)
        return (first, last) if self.step > 0 else (last, first)

    @property
    def last(self) -> Form | None:
        """The number of the last iteration, if it is a form."""
        low, high = self.ends
        if self.known and self.runs:
            return {(): self.runs - 1}
        return plus(high, low, -1) if low is not None and high is not None and abs(self.step) == 1 else None


def header_of(loop: c_ast.For, expressions: Expressions, assigned: frozenset[str]) -> LoopHeader | None:
    """The header of ``loop`` if it counts a variable that nothing in ``assigned`` changes up to a bound that stays;
    what else its start says has then been done, too."""
    name = _variable(loop)
    if name is None or name in assigned or loop.cond is None:
        return None
    if not isinstance(loop.cond, c_ast.BinaryOp) or loop.cond.op not in MIRRORED:
        return None
    symbol, bound = str(loop.cond.op), loop.cond.right
    if _is_name(bound, name):
        symbol, bound = MIRRORED[symbol], loop.cond.left
    elif not _is_name(loop.cond.left, name):
        return None
    if names_in(bound) & (assigned | {name}):
        return None
    try:
        step = _step(loop, name, expressions)
        start, limit = expressions.scalars.get(name), expressions.value(bound, None)
    except InputError:
        return None
    steps = step != 0 and start is not None and start.base is None and start.kind not in FLOATING
    if not steps or start is None or step is None or limit.kind in FLOATING or limit.base is not None:
        return None
    if limit.node is not None and start.kind != limit.kind:
        return None
    return LoopHeader(name, start, step, symbol, limit)


def followers(loop: c_ast.For) -> list[c_ast.Node]:
    """What the header does after an iteration."""
    if loop.next is None:
        return []
    return list(loop.next.exprs) if isinstance(loop.next, c_ast.ExprList) else [loop.next]


def _variable(loop: c_ast.For) -> str | None:
    """The scalar that the condition tests and the header steps."""
    stepped = [target for node in followers(loop) if (target := _stepped(node)) is not None]
    tested = names_in(loop.cond) if loop.cond is not None else frozenset[str]()
    found = [name for name in stepped if name in tested]
    return found[0] if len(found) == 1 and stepped.count(found[0]) == 1 else None


def _stepped(node: c_ast.Node) -> str | None:
    target = node.expr if isinstance(node, c_ast.UnaryOp) else getattr(node, "lvalue", None)
    return str(target.name) if isinstance(target, c_ast.ID) else None


def _step(loop: c_ast.For, name: str, expressions: Expressions) -> int | None:
    following = next(node for node in followers(loop) if _stepped(node) == name)
    if isinstance(following, c_ast.UnaryOp):
        return {"p++": 1, "++": 1, "p--": -1, "--": -1}.get(str(following.op))
    value = following.rvalue
    if following.op in ("+=", "-="):
        step = expressions.value(value, None).literal
        return -step if step is not None and following.op == "-=" else step
    if following.op == "=" and isinstance(value, c_ast.BinaryOp) and value.op in ("+", "-"):
        if _is_name(value.left, name):
            step = expressions.value(value.right, None).literal
            return -step if step is not None and value.op == "-" else step
        if _is_name(value.right, name) and value.op == "+":
            return expressions.value(value.left, None).literal
    return None


def _is_name(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name
