"""The header of a for loop: its variable, where it starts, its step, and how often it runs."""

from __future__ import annotations

from dataclasses import dataclass

from pycparser import c_ast

from mapper.workloads.c.body import Value
from mapper.workloads.c.expression import Expressions

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@dataclass(frozen=True)
class LoopHeader:
    """``trip_count`` is None where the bound is a parameter."""

    variable: str
    start: Value
    step: int
    trip_count: int | None


def start_of(loop: c_ast.For, expressions: Expressions) -> tuple[str, Value]:
    """The variable of ``loop``, which is declared if the header does so, and its first value.

    Raises: InputError if the header does not start one integer variable.
    """
    init = loop.init
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].init is not None:
        name, first = str(init.decls[0].name), init.decls[0].init
        expressions.kinds[name] = expressions.kind_of(init.decls[0].type)
    elif isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        name, first = str(init.lvalue.name), init.rvalue
        if name not in expressions.kinds:
            raise expressions.fault(loop, f"{name[:40]} is not declared; declare the loop's variable")
    else:
        raise expressions.fault(loop, "the loop starts no single variable; write for (i = start; ...)")
    if expressions.kinds[name] == "float":
        raise expressions.fault(loop, f"{name[:40]} is a float; loops count in integers")
    return name, expressions.converted(expressions.value(first, None), expressions.kinds[name], loop)


def header_of(loop: c_ast.For, expressions: Expressions, assigned: frozenset[str]) -> LoopHeader:
    """The header of ``loop``; ``assigned``: scalars that its body changes.

    Raises: InputError if start, step or bound are not constant over the loop, or it never runs or never ends.
    """
    name, start = start_of(loop, expressions)
    if start.node is not None:
        raise expressions.fault(loop, f"{name[:40]} starts at a computed value; start it at a constant")
    if name in assigned:
        raise expressions.fault(
            loop, f"{name[:40]} is changed inside the loop; change it in the header alone"
        )
    step = _step(loop, name, expressions)
    condition = loop.cond
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in MIRRORED:
        raise expressions.fault(loop, "the loop has no bound; write for (i = start; i < bound; i++)")
    symbol, bound_node = str(condition.op), condition.right
    if _is_name(condition.right, name):
        symbol, bound_node = MIRRORED[symbol], condition.left
    elif not _is_name(condition.left, name):
        raise expressions.fault(loop, f"the bound does not compare {name[:40]}; write i < bound")
    if _names(bound_node) & (assigned | {name}):
        raise expressions.fault(
            loop, "the bound changes inside the loop, so the trip count is unknown; keep it fixed"
        )
    bound = expressions.value(bound_node, None)
    if bound.node is not None or bound.kind == "float":
        raise expressions.fault(loop, "the bound is computed, so the trip count is unknown; give a constant")
    if start.literal is None or bound.literal is None:
        return LoopHeader(name, start, step, None)
    unsigned = "unsigned" in (start.kind, bound.kind)
    first, last = (value % (1 << 32) if unsigned else value for value in (start.literal, bound.literal))
    count = _count(symbol, first, last, step)
    if count is None:
        raise expressions.fault(loop, "the loop never ends; let its step lead to the bound")
    if count < 1:
        raise expressions.fault(loop, "the loop never runs; give it at least one iteration")
    if not (0 if unsigned else -(1 << 31)) <= first + count * step < (1 << 32 if unsigned else 1 << 31):
        raise expressions.fault(loop, f"{name[:40]} leaves the 32 bits of its type; choose a nearer bound")
    return LoopHeader(name, start, step, count)


def _step(loop: c_ast.For, name: str, expressions: Expressions) -> int:
    step: int | None = None
    following = loop.next
    if isinstance(following, c_ast.UnaryOp) and _is_name(following.expr, name):
        step = {"p++": 1, "++": 1, "p--": -1, "--": -1}.get(str(following.op))
    elif isinstance(following, c_ast.Assignment) and _is_name(following.lvalue, name):
        value = following.rvalue
        if following.op in ("+=", "-="):
            step = expressions.value(value, None).literal
            step = -step if step is not None and following.op == "-=" else step
        elif following.op == "=" and isinstance(value, c_ast.BinaryOp) and value.op in ("+", "-"):
            if _is_name(value.left, name):
                step = expressions.value(value.right, None).literal
                step = -step if step is not None and value.op == "-" else step
            elif _is_name(value.right, name) and value.op == "+":
                step = expressions.value(value.left, None).literal
    if not step:
        raise expressions.fault(
            loop, f"the step of {name[:40]} is not a constant; write {name[:40]} += NUMBER"
        )
    return step


def _count(symbol: str, start: int, bound: int, step: int) -> int | None:
    """How often the loop runs, None if it never ends."""
    if symbol == "!=":
        distance = bound - start
        return distance // step if distance % step == 0 and distance // step >= 0 else None
    upwards = symbol in ("<", "<=")
    reach = (bound - start if upwards else start - bound) + (1 if symbol in ("<=", ">=") else 0)
    if reach <= 0:
        return 0
    if (step > 0) != upwards:
        return None
    return -(-reach // abs(step))


def _is_name(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _names(node: c_ast.Node) -> frozenset[str]:
    found = frozenset({str(node.name)}) if isinstance(node, c_ast.ID) else frozenset()
    for _, child in node.children():
        found |= _names(child)
    return found
