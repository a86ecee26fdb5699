"""Statements of recurrences as text: ``A[t, i] = A[t - 1, i] + 2 * x[i] if t > 0 and i < t``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import AffineIndex
from mapper.workloads.recurrence.recurrence import Access, Operation, Operator, Statement, Term
from mapper.workloads.recurrence.region import Limit

LONGEST = 512
LARGEST = 1 << 31
OPERATORS: dict[type[ast.operator], Operator] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
FORM = "write A[t, i] = A[t - 1, i] + 2 * x[i] if t > 0, with +, -, *, min and max"


def parse_statement(text: str, loops: Sequence[str], source: str, field: str) -> Statement:
    """The statement that ``text`` says.

    Raises: InputError if it says none.
    """
    if len(text) > LONGEST:
        raise InputError(source, field, f"longer than {LONGEST} characters; shorten it")
    left, equals, rest = text.partition("=")
    value, condition, limits = rest.partition(" if ")
    try:
        if not equals:
            raise ValueError("has no =")
        target = _term(_parsed(left), loops, source, field)
        if not isinstance(target, Access):
            raise ValueError("does not begin with a word that is written")
        term = _term(_parsed(value), loops, source, field)
        kept = tuple(_limits(_parsed(limits), loops, source, field)) if condition else ()
        return Statement(target, term, kept)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.args[0] if type(error) is ValueError else "is no statement"
        raise InputError(source, field, f"{text[:60]!r} {reason}; {FORM}") from None


def _parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _term(node: ast.expr, loops: Sequence[str], source: str, field: str) -> Term:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool) and value <= LARGEST:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))) if value <= LARGEST:
            return -value
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            if name in loops:
                raise ValueError(f"uses the loop {name} as a tensor")
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            return Access(
                name, tuple(AffineIndex.parse(ast.unparse(part), loops, source, field) for part in parts)
            )
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            first, second = _term(left, loops, source, field), _term(right, loops, source, field)
            return Operation(OPERATORS[type(operator)], first, second)
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[left, right], keywords=[]):
            first, second = _term(left, loops, source, field), _term(right, loops, source, field)
            return Operation("min" if name == "min" else "max", first, second)
    raise ValueError("has a term that no PE computes")


def _limits(node: ast.expr, loops: Sequence[str], source: str, field: str) -> Iterator[Limit]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _limits(value, loops, source, field)
        return
    if not isinstance(node, ast.Compare):
        raise ValueError("has a condition that is no comparison")
    sides = [
        AffineIndex.parse(ast.unparse(one), loops, source, field) for one in (node.left, *node.comparators)
    ]
    for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
        match operator:
            case ast.Lt():
                yield _limit(left, right, -1)
            case ast.LtE():
                yield _limit(left, right, 0)
            case ast.Gt():
                yield _limit(right, left, -1)
            case ast.GtE():
                yield _limit(right, left, 0)
            case ast.Eq():
                yield _limit(left, right, 0)
                yield _limit(right, left, 0)
            case _:
                raise ValueError("compares other than by <, <=, ==, >= and >")


def _limit(low: AffineIndex, high: AffineIndex, slack: int) -> Limit:
    """``low <= high + slack`` as a limit."""
    terms = dict(low.coefficients)
    for loop, factor in high.coefficients:
        terms[loop] = terms.get(loop, 0) - factor
    plus = [loop for loop, factor in terms.items() if factor == 1]
    minus = [loop for loop, factor in terms.items() if factor == -1]
    if len(plus) > 1 or len(minus) > 1 or len(plus) + len(minus) != sum(map(bool, terms.values())):
        raise ValueError("compares more than two loops, or multiples of them")
    if not plus and not minus:
        raise ValueError("compares no loops")
    return Limit(plus[0] if plus else "", minus[0] if minus else "", high.constant - low.constant + slack)
