"""From an innermost loop in C to a kernel: what is needed of the lowered body, with its dependences."""

from __future__ import annotations

from mapper.workloads.c.address import reduce_addresses
from mapper.workloads.c.affine import ITERATION, Form, at
from mapper.workloads.c.body import LoopBody, Node, Value
from mapper.workloads.c.dependence import Access, order_edges
from mapper.workloads.c.file import LoopPlace, fault, find_loop
from mapper.workloads.c.lowering import LARGEST_ARRAY_WORDS, Lowering
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Number, Operation
from mapper.workloads.graph.kernel import Array, Kernel

MOST_OPERATIONS = 20000
MOST_ACCESSES = 1000
ASSUMED_WORDS = 1024


def kernel_from_c(
    text: str,
    source: str,
    name: str,
    function: str | None = None,
    number: int | None = None,
    pointer_uses: int | None = None,
) -> Kernel:
    """Innermost loop ``number`` (None: the first) of ``function`` (None: the only one with loops) in ``text``.

    The loop's counting is the machine's (stage predicates); its variable is an addition to itself. Addresses
    are strength-reduced, with at most ``pointer_uses`` accesses to a pointer (None: no limit). Memory
    dependences are order edges of latency 1. ``notes`` say what was assumed.
    Raises: InputError naming file, line and function for anything outside the subset.
    """
    try:
        place = find_loop(text, source, function, number)
        lowered = Lowering(place)
        if number is None and place.others:
            lowered.note(f"the function has {place.others} more innermost loops; this is number 0")
        return _kernel(place, lowered, name, text, pointer_uses)
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None


def _kernel(place: LoopPlace, lowered: Lowering, name: str, text: str, pointer_uses: int | None) -> Kernel:
    body = lowered.body
    variable = lowered.scalars[lowered.header.variable]
    assert variable is not None
    reduce_addresses(body, variable, lowered.header.step, lowered.symbols, pointer_uses)
    _settle(body)
    live = _live(body)
    if not live:
        raise fault(place.source, place.loop, place.name, "the loop leaves no result; store one to an array")
    if len(live) > MOST_OPERATIONS:
        raise fault(
            place.source, place.loop, place.name, f"more than {MOST_OPERATIONS} operations; split the loop"
        )
    position = {node: at_ for at_, node in enumerate(live)}
    names = _names(body, live)
    operations: list[Operation] = []
    edges: list[Edge] = []
    for index, identity in enumerate(live):
        node = body.nodes[identity]
        immediates: list[tuple[int, Number]] = []
        for operand, value in enumerate(node.operands):
            origin, distance, initial = _origin(body, value, place, lowered)
            if origin.node is None:
                immediates.append((operand, origin.number))
            else:
                edges.append(Edge(position[origin.node], index, operand, distance, initial=initial))
        operations.append(Operation(names[index], node.opcode, tuple(immediates), node.array, node.offset))
    accesses = tuple(
        Access(position[identity], node.array, node.index_form, node.opcode == "store")
        for identity in live
        if (node := body.nodes[identity]).array is not None
    )
    if len(accesses) > MOST_ACCESSES:
        raise fault(
            place.source, place.loop, place.name, f"more than {MOST_ACCESSES} accesses; split the loop"
        )
    ordered, assumed = order_edges(accesses, lowered.header.trip_count)
    for first, second in assumed:
        pair = f"{names[first.operation]} and {names[second.operation]}"
        lowered.note(f"{pair} may touch the same word of {first.array} in any iteration: their order is kept")
    edges += _not_implied(len(live), edges, ordered)
    for parameter in sorted(lowered.assumed):
        found = lowered.scalars.get(parameter)
        if found is not None and found.node is None:
            lowered.note(f"parameter {parameter} stands at {found.number}; #define it to choose")
    arrays = _arrays(body, live, place, lowered)
    graph = DataflowGraph(name, tuple(operations), tuple(edges))
    return Kernel(name, graph, arrays, lowered.header.trip_count, text, tuple(lowered.notes))


def _settle(body: LoopBody) -> None:
    """Gives a ``mov`` to every scalar whose next value no operation of the loop makes: constants, and scalars
    that change places with each other."""
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
        if final is not None and not itself and (final.node is None or final.node in seen):
            body.nodes.append(Node("mov", (node.final,), node.kind, label=node.label))
            node.final = Value(node.kind, len(body.nodes) - 1)


def _live(body: LoopBody) -> list[int]:
    """The operations that stores need, themselves included: pointers, then the others in the order of the text."""
    waiting = [index for index, node in enumerate(body.nodes) if node.opcode == "store"]
    found: set[int] = set()
    while waiting:
        index = waiting.pop()
        if index in found:
            continue
        found.add(index)
        node = body.nodes[index]
        operands = (*node.operands, *((node.final,) if node.final is not None else ()))
        waiting += [operand.node for operand in operands if operand.node is not None]
    operations = (index for index in found if body.nodes[index].opcode != "phi")
    return sorted(operations, key=lambda index: (not body.nodes[index].is_pointer, index))


def _origin(
    body: LoopBody, value: Value, place: LoopPlace, lowered: Lowering
) -> tuple[Value, int, tuple[Number, ...]]:
    """The operation or number that ``value`` stands for, the iterations since, and what is read before it exists."""
    initial: list[Number] = []
    while value.node is not None and (node := body.nodes[value.node]).opcode == "phi":
        if node.initial is None:
            raise fault(
                place.source, place.loop, place.name, f"{node.label[:40]} is read before it is given a value"
            )
        if node.final is None or node.final.node == value.node:
            return node.initial, 0, ()
        initial.append(node.initial.number)
        value = node.final
    return value, len(initial), tuple(initial)


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


def _arrays(body: LoopBody, live: list[int], place: LoopPlace, lowered: Lowering) -> tuple[Array, ...]:
    """The arrays that the loop touches, in the order of their declarations.

    Raises: InputError if an access surely leaves its array.
    """
    accesses = [body.nodes[identity] for identity in live if body.nodes[identity].array is not None]
    arrays: list[Array] = []
    for name, shape in lowered.arrays.items():
        own = [node for node in accesses if node.array == name]
        if not own:
            continue
        ranges = [_range(node.index_form, lowered) for node in own]
        known = [found for found in ranges if found is not None]
        words = shape.words
        if words is None:
            words = max((high + 1 for _, high in known), default=0)
            if len(known) < len(ranges) or not 0 < words <= LARGEST_ARRAY_WORDS:
                words = max(words, ASSUMED_WORDS) if words <= LARGEST_ARRAY_WORDS else ASSUMED_WORDS
                lowered.note(f"{name} has {words} words; declare its size to choose")
        for node, found in zip(own, ranges, strict=True):
            always = len(node.operands) == (1 if node.opcode == "load" else 2)
            if always and found is not None and not 0 <= found[0] <= found[1] < words:
                raise fault(
                    place.source, place.loop, place.name,
                    f"{name[:40]} of {words} words is touched at {found[0]} to {found[1]}; make it larger",
                )  # fmt: skip
        written = any(node.opcode == "store" for node in own)
        arrays.append(Array(name, words, "float32" if shape.kind == "float" else "int32", written))
    return tuple(arrays)


def _range(form: Form | None, lowered: Lowering) -> tuple[int, int] | None:
    """The least and the largest index of an access, or None where parameters or data decide it."""
    count = lowered.header.trip_count
    if form is None or count is None:
        return None
    symbols = {name for term in form for name in term}
    if symbols & lowered.assumed or any(term.count(ITERATION) > 1 for term in form):
        return None
    ends = (at(form, 0, lowered.symbols), at(form, count - 1, lowered.symbols))
    return min(ends), max(ends)
