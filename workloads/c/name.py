"""Which names a piece of C reads, assigns and stores to."""

from __future__ import annotations

from collections.abc import Iterable

from pycparser import c_ast

STEPS = ("++", "p++", "--", "p--")


def names_in(node: c_ast.Node) -> frozenset[str]:
    """Every name under ``node``."""
    found = frozenset({str(node.name)}) if isinstance(node, c_ast.ID) else frozenset()
    for _, child in node.children():
        found |= names_in(child)
    return found


def holds(node: c_ast.Node | None, wanted: c_ast.Node) -> bool:
    """Whether ``wanted`` stands under ``node``."""
    return node is not None and (node is wanted or any(holds(child, wanted) for _, child in node.children()))


def has(node: c_ast.Node | None, kinds: tuple[type, ...]) -> bool:
    """Whether a node of one of ``kinds`` stands under ``node``."""
    return node is not None and (
        isinstance(node, kinds) or any(has(child, kinds) for _, child in node.children())
    )


def ends(node: c_ast.Node | None) -> bool:
    """Whether something under ``node``, the body of a loop, may end that loop; a ``break`` in a switch leaves that."""
    if node is None or isinstance(node, c_ast.Break | c_ast.Return):
        return node is not None
    if isinstance(node, c_ast.Switch):
        return has(node, (c_ast.Return,))
    return any(ends(child) for _, child in node.children())


def targets(node: c_ast.Node) -> list[c_ast.Node]:
    """What the statements and expressions under ``node`` assign."""
    found: list[c_ast.Node] = []
    if isinstance(node, c_ast.Assignment):
        found.append(node.lvalue)
    elif isinstance(node, c_ast.UnaryOp) and node.op in STEPS:
        found.append(node.expr)
    return found + [target for _, child in node.children() for target in targets(child)]


def assigned(node: c_ast.Node) -> frozenset[str]:
    """Scalars that are assigned under ``node``."""
    return frozenset(str(target.name) for target in targets(node) if isinstance(target, c_ast.ID))


def stores(node: c_ast.Node) -> bool:
    """Whether anything under ``node`` may change memory: a call may, too."""
    return has(node, (c_ast.FuncCall,)) or any(not isinstance(target, c_ast.ID) for target in targets(node))


def calls(node: c_ast.Node) -> frozenset[str]:
    """Functions that are called by name under ``node``."""
    own = isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
    found = frozenset({str(node.name.name)}) if own else frozenset()
    for _, child in node.children():
        found |= calls(child)
    return found


def is_volatile(node: c_ast.Node, types: frozenset[str] = frozenset()) -> bool:
    """Whether something under ``node`` is declared volatile, or of one of ``types``."""
    named = isinstance(node, c_ast.IdentifierType) and not types.isdisjoint(node.names)
    own = "volatile" in (getattr(node, "quals", None) or ())
    return named or own or any(is_volatile(child, types) for _, child in node.children())


def volatile_names(nodes: Iterable[c_ast.Node], types: frozenset[str]) -> frozenset[str]:
    """Variables, parameters and members that are declared volatile, or of volatile ``types``, under ``nodes``."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, c_ast.Decl) and not isinstance(node.type, c_ast.FuncDecl | c_ast.Struct):
            found |= {str(node.name)} if is_volatile(node, types) else set()
        found |= volatile_names((child for _, child in node.children()), types)
    return frozenset(found)


def read_after(function: c_ast.Node, loop: c_ast.Node) -> frozenset[str]:
    """Scalars that the text reads after ``loop``."""
    return _read(function, loop, False)


def read_outside(function: c_ast.Node, loop: c_ast.Node) -> frozenset[str]:
    """Scalars that the text reads before ``loop`` or after it."""
    return _read(function, loop, True)


def read_in(node: c_ast.Node) -> frozenset[str]:
    """Scalars that ``node`` reads."""
    return _read(node, None, True)


def _read(function: c_ast.Node, loop: c_ast.Node | None, passed: bool) -> frozenset[str]:
    reads: list[str] = []
    written: set[int] = set()
    waiting = [function]
    while waiting:
        node = waiting.pop()
        if node is loop:
            passed = True
            continue
        if isinstance(node, c_ast.Assignment) and node.op == "=":
            written.add(id(node.lvalue))
        if passed and isinstance(node, c_ast.ID) and id(node) not in written:
            reads.append(str(node.name))
        waiting += [child for _, child in reversed(node.children())]
    return frozenset(reads)


def parameters_of(function: c_ast.FuncDef) -> list[c_ast.Decl]:
    """The declarations of a function's parameters, in order; where they stand after the parentheses, of those that
    have one."""
    given = function.decl.type.args
    listed = [] if given is None else list(given.params)
    apart = {str(one.name): one for one in function.param_decls or []}
    found = [apart.get(str(one.name)) if isinstance(one, c_ast.ID) else one for one in listed]
    return [one for one in found if isinstance(one, c_ast.Decl)]
