"""From a lowered loop to a kernel: passes, then what stores need of the body, with its dependences."""

from __future__ import annotations

from collections.abc import Callable

from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Number, Operation
from mapper.workloads.graph.kernel import EntryOperation, Kernel, LiveIn
from mapper.workloads.loop.address import reduce_addresses
from mapper.workloads.loop.array import arrays_of
from mapper.workloads.loop.body import LoopBody, Node, Value
from mapper.workloads.loop.dependence import Access, order_edges
from mapper.workloads.loop.flat import flat_edges
from mapper.workloads.loop.lowered import LoweredLoop
from mapper.workloads.loop.passes.forwarding import forward, share
from mapper.workloads.loop.passes.hoisting import hoist
from mapper.workloads.loop.passes.merging import merge
from mapper.workloads.loop.passes.promotion import promote
from mapper.workloads.loop.start import Start

MOST_OPERATIONS = 20000
MOST_ACCESSES = 1000

ON_THE_BODY: dict[str, Callable[[LoweredLoop], int]] = {
    "merging": merge,
    "promotion": promote,
    "forwarding": forward,
    "sharing": share,
    "hoisting": hoist,
}
"""Passes that bring values in by the entry, and so need it."""


def kernel_of(
    loop: LoweredLoop, name: str, text: str, passes: frozenset[str], pointer_uses: int | None = None
) -> Kernel:
    """The kernel of ``loop`` after ``passes``.

    Raises: InputError if it leaves no result, is too large, or leaves an array.
    """
    for key, change in ON_THE_BODY.items():
        if {key, "entry"} <= passes:
            change(loop)
    if "addresses" in passes:
        reduce_addresses(loop, pointer_uses)
    _settle(loop.body)
    live = _live(loop.body)
    if not live:
        raise loop.fault("the loop leaves no result; store one to an array")
    if len(live) > MOST_OPERATIONS:
        raise loop.fault(f"more than {MOST_OPERATIONS} operations; split the loop")
    return _Building(loop, live).kernel(name, text)


class _Building:
    """The live operations of a loop on their way to a graph."""

    def __init__(self, loop: LoweredLoop, live: list[int]) -> None:
        self.loop, self.body, self.live = loop, loop.body, live
        self.position = {node: at for at, node in enumerate(live)}
        self.names = _names(loop.body, live)
        self.edges: list[Edge] = []
        self.operations: list[Operation] = []
        self.operands: dict[int, list[tuple[int, int]]] = {}
        self.initial: dict[int, list[tuple[int, int]]] = {}
        self.start = Start(loop.symbols)
        self.started: dict[str, LiveIn] = {}

    def kernel(self, name: str, text: str) -> Kernel:
        for index, identity in enumerate(self.live):
            self._operation(index, self.body.nodes[identity])
        self._order()
        loop = self.loop
        entry, live_ins, needed = self._entry()
        accesses = [
            self.body.nodes[one] for one in (*self.live, *needed) if self.body.nodes[one].array is not None
        ]
        graph = DataflowGraph(name, tuple(self.operations), tuple(self.edges))
        assumed = None if loop.trip_count is not None else loop.assumed_trips
        return Kernel(
            name, graph, arrays_of(loop, accesses), loop.trip_count, text, tuple(loop.notes), entry, live_ins, assumed
        )  # fmt: skip

    def _operation(self, index: int, node: Node) -> None:
        immediates: list[tuple[int, Number]] = []
        for operand, value in enumerate(node.operands):
            origin, initial = self._origin(value)
            if origin.node is None:
                immediates.append((operand, origin.number))
                self._started(origin, operands=((index, operand),))
            elif self.body.nodes[origin.node].entry:
                immediates.append((operand, 0))
                self.operands.setdefault(origin.node, []).append((index, operand))
            else:
                for place, first in enumerate(initial):
                    if first.node is not None:
                        self.initial.setdefault(first.node, []).append((len(self.edges), place))
                    self._started(first, initial=((len(self.edges), place),))
                numbers = tuple(0 if first.node is not None else first.number for first in initial)
                edge = Edge(self.position[origin.node], index, operand, len(initial), initial=numbers)
                self.edges.append(edge)
        if node.moved is not None:
            self._started(node.moved, offsets=(index,))
        name = self.names[index]
        self.operations.append(Operation(name, node.opcode, tuple(immediates), node.array, node.offset))

    def _started(
        self,
        value: Value,
        operands: tuple[tuple[int, int], ...] = (),
        initial: tuple[tuple[int, int], ...] = (),
        offsets: tuple[int, ...] = (),
    ) -> None:
        """Notes where a number goes that each start of the loop has its own of."""
        name = self.start.operand(value)
        if isinstance(name, str):
            had = self.started.get(name, LiveIn(name))
            self.started[name] = LiveIn(
                name, had.operands + operands, had.initial + initial, had.offsets + offsets
            )

    def _origin(self, value: Value) -> tuple[Value, list[Value]]:
        """What ``value`` stands for, and what is read in the iterations before that exists."""
        initial: list[Value] = []
        while value.node is not None and (node := self.body.nodes[value.node]).opcode == "phi":
            if node.initial is None:
                raise self.loop.fault(f"{node.label[:40]} is read before it is given a value")
            if node.final is None or node.final.node == value.node:
                return node.initial, []
            initial.append(node.initial)
            value = node.final
        return value, initial

    def _order(self) -> None:
        nodes, loop, names = self.body.nodes, self.loop, self.names
        accesses = tuple(
            Access(self.position[one], node.array, node.index_form, node.opcode == "store")
            for one in self.live
            if (node := nodes[one]).array is not None
        )
        if len(accesses) > MOST_ACCESSES:
            raise loop.fault(f"more than {MOST_ACCESSES} accesses; split the loop")
        accesses = tuple(sorted(accesses, key=lambda access: self.live[access.operation]))
        if loop.flat is not None:
            ordered, assumed = flat_edges(accesses, loop.flat, loop.aliases)
        else:
            ordered, assumed = order_edges(accesses, loop.trip_count, loop.reach, loop.aliases)
        for first, second in assumed:
            pair = f"{names[first.operation]} and {names[second.operation]}"
            if first.array == second.array:
                loop.note(
                    f"{pair} may touch the same word of {first.array} in any iteration: their order is kept"
                )
            else:
                apart = f"pointers {first.array} and {second.array} may lead to the same memory"
                loop.note(f"{apart}: the order of accesses is kept; declare them restrict if they do not")
        self.edges += _not_implied(len(self.live), self.edges, ordered)

    def _entry(self) -> tuple[tuple[EntryOperation, ...], tuple[LiveIn, ...], list[int]]:
        """The entry's operations in an order in which each comes after what it needs, and what the loop takes."""
        order: list[int] = []
        for wanted in sorted({*self.operands, *self.initial}):
            waiting = [wanted]
            while waiting:
                node = waiting[-1]
                missing = [
                    one.node
                    for one in self.body.nodes[node].operands
                    if one.node is not None and one.node not in order
                ]
                if node in order or not missing:
                    waiting.pop()
                    if node not in order:
                        order.append(node)
                else:
                    waiting += missing
        names = dict(zip(order, _names(self.body, order), strict=True))
        entry = tuple(
            EntryOperation(
                names[index],
                self.body.nodes[index].opcode,
                tuple(
                    self.start.operand(one) if one.node is None else names[one.node]
                    for one in self.body.nodes[index].operands
                ),
                self.body.nodes[index].array,
            )
            for index in order
        )
        live_ins = tuple(
            LiveIn(names[one], tuple(self.operands.get(one, ())), tuple(self.initial.get(one, ())))
            for one in sorted({*self.operands, *self.initial})
        )
        return (*self.start.operations, *entry), (*self.started.values(), *live_ins), order


def _settle(body: LoopBody) -> None:
    """Gives a ``mov`` to every scalar whose next value no operation of the loop makes: constants, values of the entry,
    and scalars that change places with each other."""
    for index, node in enumerate(list(body.nodes)):
        if node.opcode != "phi" or node.final is None:
            continue
        seen = {index}
        final: Value | None = node.final
        while final is not None and final.node is not None and body.nodes[final.node].opcode == "phi":
            if final.node in seen:
                break
            seen.add(final.node)
            final = body.nodes[final.node].final
        itself = node.final.node == index
        outside = final is not None and (
            final.node is None or final.node in seen or body.nodes[final.node].entry
        )
        if outside and not itself:
            body.nodes.append(Node("mov", (node.final,), node.kind, label=node.label))
            node.final = Value(node.kind, len(body.nodes) - 1)


def _live(body: LoopBody) -> list[int]:
    """The operations that stores need, themselves included: pointers, then the others in the order of the text."""
    waiting = [index for index, node in enumerate(body.nodes) if node.opcode == "store" and not node.replaced]
    found: set[int] = set()
    while waiting:
        index = waiting.pop()
        if index in found or body.nodes[index].entry:
            continue
        found.add(index)
        node = body.nodes[index]
        operands = (*node.operands, *((node.final,) if node.final is not None else ()))
        waiting += [operand.node for operand in operands if operand.node is not None]
    operations = (index for index in found if body.nodes[index].opcode != "phi")
    return sorted(operations, key=lambda index: (not body.nodes[index].is_pointer, index))


def _names(body: LoopBody, live: list[int]) -> list[str]:
    """A name per operation: the scalar it was first assigned to, or what it does, numbered where needed."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    names: list[str] = []
    for identity in live:
        node = body.nodes[identity]
        stem = node.label or (f"{node.opcode}_{node.array}" if node.array else node.opcode)
        name = stem
        while name in taken:
            counts[stem] = counts.get(stem, 1) + 1
            name = f"{stem}_{counts[stem]}"
        taken.add(name)
        names.append(name)
    return names


def _not_implied(count: int, data: list[Edge], ordered: tuple[Edge, ...]) -> list[Edge]:
    """Of the order edges those that no path of operands within the iteration implies already."""
    after: list[list[int]] = [[] for _ in range(count)]
    for edge in data:
        if edge.distance == 0:
            after[edge.source].append(edge.destination)
    reached: dict[int, set[int]] = {}
    for source in {edge.source for edge in ordered if edge.distance == 0}:
        waiting, found = [source], {source}
        while waiting:
            for position in after[waiting.pop()]:
                if position not in found:
                    found.add(position)
                    waiting.append(position)
        reached[source] = found
    return [edge for edge in ordered if edge.distance or edge.destination not in reached[edge.source]]
