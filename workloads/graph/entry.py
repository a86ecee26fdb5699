"""What runs once before a loop: the values that it is started with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.kernel import EntryOperation, Kernel
from mapper.workloads.graph.opcode import evaluate, is_known, wrapped

Memory = Mapping[str, npt.NDArray[Any]]


def fitting(value: Number, kind: np.dtype[Any]) -> Any:
    """``value`` as a word of ``kind``: integers wrap, floats round."""
    if kind.kind == "f":
        with np.errstate(all="ignore"):
            return kind.type(value)
    bits = 8 * kind.itemsize
    return int(value) & ((1 << bits) - 1) if kind.kind == "u" else wrapped(int(value), bits)


def entered(kernel: Kernel, memory: Memory) -> Kernel:
    """The kernel as it starts on ``memory``: its live-ins are numbers.

    Raises: InputError if an operation of the entry has no numeric meaning, or an array is missing.
    """
    if not kernel.live_ins:
        return kernel
    known: dict[str, Number] = {}
    for operation in kernel.entry:
        values = tuple(known[one] if isinstance(one, str) else one for one in operation.operands)
        known[operation.name] = _result(operation, values, memory, kernel.name)
    operations, edges = list(kernel.graph.operations), list(kernel.graph.edges)
    for live_in in kernel.live_ins:
        number = known[live_in.value]
        for position, operand in live_in.operands:
            given = {**dict(operations[position].immediates), operand: number}
            operations[position] = replace(operations[position], immediates=tuple(sorted(given.items())))
        for at, place in live_in.initial:
            initial = list(edges[at].initial)
            initial[place] = number
            edges[at] = replace(edges[at], initial=tuple(initial))
        for position in live_in.offsets:
            operations[position] = replace(operations[position], offset=int(number))
    graph = replace(kernel.graph, operations=tuple(operations), edges=tuple(edges))
    return replace(kernel, graph=graph, entry=(), live_ins=())


def _result(operation: EntryOperation, values: tuple[Number, ...], memory: Memory, name: str) -> Number:
    if operation.opcode == "load":
        words = memory.get(operation.array or "")
        if words is None:
            raise InputError(name, operation.name, f"there is no array {operation.array!r}; give its words")
        index = int(values[0])
        if (len(values) > 1 and values[1] == 0) or not 0 <= index < len(words):
            return 0.0 if words.dtype.kind == "f" else 0
        return float(words[index]) if words.dtype.kind == "f" else int(words[index])
    if not is_known(operation.opcode):
        raise InputError(
            name, operation.name, f"{operation.opcode!r} has no numeric meaning; use one that has"
        )
    return evaluate(operation.opcode, values)
