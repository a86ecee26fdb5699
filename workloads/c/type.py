"""Types as C names them."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from mapper.workloads.loop.kind import (
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    SHORT_INT,
    UCHAR,
    ULONG,
    UNSIGNED_INT,
    USHORT,
    ValueType,
)

NAMED: dict[str, ValueType] = {
    "int8_t": CHAR, "uint8_t": UCHAR, "int16_t": SHORT_INT, "uint16_t": USHORT, "int32_t": INT,
    "uint32_t": UNSIGNED_INT, "int64_t": LONG, "uint64_t": ULONG, "size_t": ULONG, "ssize_t": LONG,
    "ptrdiff_t": LONG, "intptr_t": LONG, "uintptr_t": ULONG,
}  # fmt: skip
"""What these names stand for where the text does not say."""
MOST_NAMES = 64


def type_of(node: c_ast.Node, types: Mapping[str, c_ast.Node]) -> ValueType | None:
    """The type of a scalar that ``node`` (of a declaration or cast) names, None if it names none that there is."""
    for _ in range(MOST_NAMES):
        if isinstance(node, c_ast.TypeDecl):
            node = node.type
        elif isinstance(node, c_ast.Enum):
            return INT
        elif isinstance(node, c_ast.IdentifierType) and len(node.names) == 1 and node.names[0] in types:
            node = types[node.names[0]]
        else:
            break
    return _basic(list(node.names)) if isinstance(node, c_ast.IdentifierType) else None


def underlying(node: c_ast.Node, types: Mapping[str, c_ast.Node]) -> c_ast.Node:
    """``node`` with a name of a pointer or array type replaced by what it stands for."""
    for _ in range(MOST_NAMES):
        inner = node.type if isinstance(node, c_ast.TypeDecl) else node
        if not (
            isinstance(inner, c_ast.IdentifierType) and len(inner.names) == 1 and inner.names[0] in types
        ):
            break
        node = types[inner.names[0]]
    return node


def _basic(names: list[str]) -> ValueType | None:
    if len(names) == 1 and names[0] in NAMED:
        return NAMED[names[0]]
    if not set(names) <= {"char", "short", "int", "long", "signed", "unsigned", "float", "double"}:
        return None
    unsigned = "unsigned" in names
    if "float" in names:
        return FLOAT
    if "double" in names:
        return None if "long" in names else DOUBLE
    if "char" in names:
        return UCHAR if unsigned else CHAR
    if "short" in names:
        return USHORT if unsigned else SHORT_INT
    if "long" in names:
        return ULONG if unsigned else LONG
    return UNSIGNED_INT if unsigned else INT
