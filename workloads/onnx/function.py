"""Local functions of ONNX models, unfolded where they are called."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import onnx
import onnx.inliner

from mapper.workloads.document import InputError

MOST_OPERATORS = 100_000
DEEPEST_CALL = 100
UNFOLDED_ALLOWANCE_BYTES = 4 << 20

_Identifier = tuple[str, str, str]


@dataclass(frozen=True)
class _Unfolded:
    """What nodes become once all they call is unfolded."""

    operators: int
    size: int
    depth: int


def inline_functions(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The model without local functions.

    Calls within calls can multiply without end in a small file; their sum is counted before any is unfolded.

    Raises: InputError if functions call themselves, or unfold to more than ``MOST_OPERATORS`` operators.
    """
    functions = {_identifier(function): function for function in proto.functions}
    measured: dict[_Identifier, _Unfolded] = {}
    for identifier in functions:
        _measure(identifier, functions, measured, source)
    whole = _unfolded(proto.graph.node, measured)
    if whole.operators > MOST_OPERATORS:
        raise InputError(source, "graph", f"more than {MOST_OPERATORS} operators; give a part of the model")
    if not functions:
        return proto
    if whole.size > 8 * proto.ByteSize() + UNFOLDED_ALLOWANCE_BYTES or whole.depth > DEEPEST_CALL:
        raise InputError(source, "functions", "unfold to far more than the file; export without functions")
    try:
        return onnx.inliner.inline_local_functions(proto)
    except Exception as error:  # the C++ inliner throws what it likes on a broken function
        reason = str(error)[:200]
        raise InputError(
            source, "functions", f"cannot be unfolded ({reason}); export without functions"
        ) from None


def _identifier(function: onnx.FunctionProto) -> _Identifier:
    return str(function.domain), str(function.name), str(function.overload)


def _measure(
    start: _Identifier,
    functions: dict[_Identifier, onnx.FunctionProto],
    measured: dict[_Identifier, _Unfolded],
    source: str,
) -> None:
    """Measure a function after all it calls: depth first, without recursion."""
    path: set[_Identifier] = set()
    stack = [start]
    while stack:
        current = stack[-1]
        if current in measured:
            stack.pop()
            continue
        called = {
            call for call in _calls(functions[current].node) if call in functions and call not in measured
        }
        if current in called or called & path:
            raise InputError(
                source, f"function {current[1][:60]!r}", "calls itself; export without functions"
            )
        if called:
            path.add(current)
            stack.extend(sorted(called))
            continue
        body = _unfolded(functions[current].node, measured)
        size = body.size + functions[current].ByteSize()
        measured[current] = _Unfolded(body.operators, size, body.depth + 1)
        path.discard(current)
        stack.pop()


def _unfolded(nodes: Iterable[onnx.NodeProto], measured: dict[_Identifier, _Unfolded]) -> _Unfolded:
    nothing = _Unfolded(0, 0, 0)
    inner = [measured.get(call, nothing) for call in _calls(nodes)]
    return _Unfolded(
        len(inner) + sum(part.operators for part in inner),
        sum(part.size for part in inner),
        max((part.depth for part in inner), default=0),
    )


def _calls(nodes: Iterable[onnx.NodeProto]) -> list[_Identifier]:
    """What the nodes call, those in subgraphs included."""
    found: list[_Identifier] = []
    for node in nodes:
        found.append((str(node.domain), str(node.op_type), str(node.overload)))
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found.extend(_calls(attribute.g.node))
            for graph in attribute.graphs:
                found.extend(_calls(graph.node))
    return found
