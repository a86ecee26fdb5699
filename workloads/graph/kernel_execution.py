"""What a kernel computes: its graph run iteration by iteration, the oracle that simulators are held against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Edge, Number, Operation
from mapper.workloads.graph.entry import entered, fitting
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.opcode import ARITY, evaluate, is_known
from mapper.workloads.graph.order import iteration_order

Memory = dict[str, npt.NDArray[Any]]


def execute(kernel: Kernel, memory: Mapping[str, npt.NDArray[Any]]) -> Memory:
    """The memory after ``kernel.trip_count`` iterations, one after another; ``memory`` is left as it is.

    ``memory`` has one array of one dimension per array of the kernel, of its kind. A loop-carried operand
    is ``edge.initial`` in the first ``distance`` iterations (0 where the edge does not say). A load whose
    predicate is 0 gives 0 and touches nothing, a store whose predicate is 0 does nothing.
    Raises: InputError if the trip count or an opcode's meaning is unknown, an array is missing, or an access
    lies outside its array.
    """
    kernel = entered(kernel, memory)
    graph, name = kernel.graph, kernel.name
    if kernel.trip_count is None:
        raise InputError(name, "trip_count", "is not known, so it cannot run; state how often the loop runs")
    unknown = [operation for operation in graph.operations if not is_known(operation.opcode)]
    if unknown:
        fault = (
            f"{unknown[0].opcode!r} of {unknown[0].name} has no numeric meaning; use an opcode that has one"
        )
        raise InputError(name, "opcode", fault)
    for operation, edges in zip(graph.operations, graph.incoming, strict=True):
        brought = [graph.edges[edge].operand for edge in edges]
        positions = sorted([*dict(operation.immediates), *(one for one in brought if one is not None)])
        least, most = ARITY[operation.opcode]
        if positions != list(range(len(positions))) or not least <= len(positions) <= most:
            raise InputError(
                name, operation.name, f"{operation.opcode} does not take operands {positions}; correct them"
            )
    missing = [
        op.array for op in graph.operations if op.opcode in ("load", "store") and op.array not in memory
    ]
    if missing:
        raise InputError(name, "memory", f"there is no array {missing[0]!r}; give its words")
    after: Memory = {array: words.copy() for array, words in memory.items()}
    order = iteration_order(graph, name)
    operands = [
        [edge for edge in (graph.edges[at] for at in incoming) if edge.operand is not None]
        for incoming in graph.incoming
    ]
    reach = 1 + max((edge.distance for edges in operands for edge in edges), default=0)
    history: list[list[Number]] = [[0] * len(graph.operations) for _ in range(reach)]
    for iteration in range(kernel.trip_count):
        now = history[iteration % reach]
        for position in order:
            operation = graph.operations[position]
            given = dict(operation.immediates)
            for edge in operands[position]:
                given[edge.operand or 0] = _carried(edge, iteration, history)
            values = tuple(given[operand] for operand in sorted(given))
            if operation.array is None:
                now[position] = evaluate(operation.opcode, values)
            else:
                words = after[operation.array]
                now[position] = _access(operation, values, words, f"{name}: {operation.name}")
    return after


def _carried(edge: Edge, iteration: int, history: list[list[Number]]) -> Number:
    """The operand that ``edge`` brings in ``iteration``."""
    if iteration >= edge.distance:
        return history[(iteration - edge.distance) % len(history)][edge.source]
    return edge.initial[iteration] if edge.initial else 0


def _access(operation: Operation, values: tuple[Number, ...], words: npt.NDArray[Any], place: str) -> Number:
    predicated = len(values) > (1 if operation.opcode == "load" else 2)
    if predicated and values[-1] == 0:
        return 0
    index = int(values[0]) + operation.offset
    if not 0 <= index < len(words):
        raise InputError(
            place, "index", f"{index} lies outside the array of {len(words)} words; make it larger"
        )
    if operation.opcode == "store":
        words[index] = fitting(values[1], words.dtype)
        return 0
    word = words[index]
    return float(word) if words.dtype.kind == "f" else int(word)
