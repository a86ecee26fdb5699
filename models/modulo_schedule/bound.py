"""Minimal initiation intervals: MII = max(ResMII, RecMII), each with the operations that cause it [Bae2018, V-C].

ResMII holds the operations against the PEs that can execute them: of every set of PEs that is the union of what
some operations can use, those operations that can use no other must fit in its II slots per PE. RecMII is the
maximum cycle ratio, latency over distance, rounded up. Both are exact, and no schedule has a smaller II.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import ceil

from mapper.arch.cgra import OPERATION_CLASS, CgraMachine, Pe
from mapper.models.modulo_schedule.latency import edge_latency
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph

NAMED_OPERATIONS = 8
"""Operations of a recurrence that its cause spells out."""


@dataclass(frozen=True)
class Interval:
    """A lower bound on II in cycles, what causes it in words, and the operations (by position) that do."""

    value: int
    cause: str
    operations: tuple[int, ...]


def res_mii(graph: DataflowGraph, machine: CgraMachine) -> Interval:
    """The least II at which the operations fit on the PEs and the memory ports; 1 for no operations.

    Raises: InputError if no PE can execute an operation.
    """
    users = _users(graph, machine)
    fullest, pes = fullest_pes({able: len(using) for able, using in users.items()})
    bound = Interval(1, "no operations", ())
    if fullest:
        confined = tuple(sorted(chain(*(using for able, using in users.items() if able <= pes))))
        bound = Interval(ceil(fullest), f"{_kinds(graph, confined)} on {len(pes)} PEs", confined)
    memory = tuple(
        position for position, operation in enumerate(graph.operations)
        if OPERATION_CLASS.get(operation.opcode) == "memory"
    )  # fmt: skip
    if machine.memory_ports is not None and Fraction(len(memory), machine.memory_ports) > fullest:
        cause = f"{len(memory)} memory operations on {machine.memory_ports} memory ports"
        bound = Interval(-(-len(memory) // machine.memory_ports), cause, memory)
    return bound


def fullest_pes(users: Mapping[frozenset[Pe], int]) -> tuple[Fraction, frozenset[Pe]]:
    """The PEs with most operations each that can use no others, and how many that is; ``users``: per set of
    PEs the number of operations that exactly these can execute."""
    # Abilities come in four classes, so that the unions of able sets are few.
    unions = {
        frozenset().union(*chosen)
        for size in range(1, len(users) + 1)
        for chosen in combinations(users, size)
    }
    fullest, found = Fraction(0), frozenset[Pe]()
    for pes in sorted(unions, key=lambda union: (len(union), sorted(union))):
        load = Fraction(sum(count for able, count in users.items() if able <= pes), len(pes))
        if load > fullest:
            fullest, found = load, pes
    return fullest, found


def rec_mii(graph: DataflowGraph, machine: CgraMachine) -> Interval:
    """The least II at which every recurrence (cycle of edges) keeps its latencies: the maximum over cycles of
    latency over distance, rounded up, with a cycle of that ratio; 1 for a graph without cycles.

    Raises: InputError if a cycle has distance 0.
    """
    order = _order_within_iteration(graph)
    links = _recurrent_links(graph, machine)

    # Starting below every ratio names a recurrence even where it does not bind.
    latency, distance, binding = -1, 1, tuple[int, ...]()
    for number in sorted(links, key=lambda number: min(link.source for link in links[number])):
        within = sorted(links[number], key=lambda link: order[link.source])
        while (longer := _longer_cycle(within, latency, distance)) is not None:
            latency, distance = sum(link.latency for link in longer), sum(link.distance for link in longer)
            binding = tuple(link.source for link in longer)
    if not binding:
        return Interval(1, "no recurrence", ())
    first = binding.index(min(binding, key=order.__getitem__))
    binding = (*binding[first:], *binding[:first])
    return Interval(max(1, -(-latency // distance)), _recurrence(graph, binding, latency, distance), binding)


def recurrence_of(graph: DataflowGraph, machine: CgraMachine, least: int) -> tuple[int, ...] | None:
    """A recurrence below whose bound no II of less than ``least`` has a schedule: its edges, by position; None if
    there is none.

    Raises: InputError if a cycle has distance 0.
    """
    order = _order_within_iteration(graph)
    for links in _recurrent_links(graph, machine).values():
        within = sorted(links, key=lambda link: order[link.source])
        longer = _longer_cycle(within, least - 1, 1)
        if longer is not None:
            return tuple(link.edge for link in longer)
    return None


def mii(graph: DataflowGraph, machine: CgraMachine) -> Interval:
    """The larger of both bounds; the resources where they are equal.

    Raises: InputError if no PE can execute an operation, or a cycle has distance 0.
    """
    return max(res_mii(graph, machine), rec_mii(graph, machine), key=lambda bound: bound.value)


@dataclass(frozen=True)
class _Link:
    """An edge, by its position."""

    edge: int
    source: int
    destination: int
    latency: int
    distance: int


def _recurrent_links(graph: DataflowGraph, machine: CgraMachine) -> dict[int, list[_Link]]:
    """The edges within each strongly connected component."""
    import networkx

    digraph = networkx.DiGraph()
    for edge in graph.edges:
        digraph.add_edge(edge.source, edge.destination)
    component = {
        operation: number
        for number, members in enumerate(networkx.strongly_connected_components(digraph))
        for operation in members
    }
    links: dict[int, list[_Link]] = {}
    for position, edge in enumerate(graph.edges):
        if component[edge.source] == component[edge.destination]:
            latency = edge_latency(graph, machine, edge)
            link = _Link(position, edge.source, edge.destination, latency, edge.distance)
            links.setdefault(component[edge.source], []).append(link)
    return links


def _users(graph: DataflowGraph, machine: CgraMachine) -> dict[frozenset[Pe], list[int]]:
    """Per set of PEs the operations that exactly these can execute."""
    able: dict[str, frozenset[Pe]] = {}
    users: dict[frozenset[Pe], list[int]] = {}
    for position, operation in enumerate(graph.operations):
        if operation.opcode not in able:
            able[operation.opcode] = frozenset(
                pe for pe in machine.all_pes if machine.can_execute(pe, operation.opcode)
            )
        if not able[operation.opcode]:
            remedy = f"no PE of {machine.name} executes {operation.opcode}; take a machine with such a unit"
            raise InputError(graph.name, operation.name, remedy)
        users.setdefault(able[operation.opcode], []).append(position)
    return users


def _kinds(graph: DataflowGraph, operations: tuple[int, ...]) -> str:
    """How many operations of which classes, most first."""
    counted: dict[str, int] = {}
    for operation in operations:
        kind = OPERATION_CLASS.get(graph.operations[operation].opcode, "integer")
        counted[kind] = counted.get(kind, 0) + 1
    if len(counted) == 1:
        return f"{len(operations)} {next(iter(counted))} operations"
    shares = sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))
    return f"{len(operations)} operations ({', '.join(f'{count} {kind}' for kind, count in shares)})"


def _order_within_iteration(graph: DataflowGraph) -> list[int]:
    """Places of the operations in an order in which edges of distance 0 go forward.

    Raises: InputError if there is none.
    """
    waiting = [0] * len(graph.operations)
    for edge in graph.edges:
        waiting[edge.destination] += edge.distance == 0
    ready = [operation for operation, count in enumerate(waiting) if count == 0]
    for operation in ready:
        for position in graph.outgoing[operation]:
            edge = graph.edges[position]
            if edge.distance == 0:
                waiting[edge.destination] -= 1
                if waiting[edge.destination] == 0:
                    ready.append(edge.destination)
    if len(ready) < len(waiting):
        stuck = next(operation for operation, count in enumerate(waiting) if count > 0)
        remedy = "depends on itself within one iteration; give an edge of the cycle a distance"
        raise InputError(graph.name, graph.operations[stuck].name, remedy)
    place = [0] * len(ready)
    for position, operation in enumerate(ready):
        place[operation] = position
    return place


def _longer_cycle(links: list[_Link], latency: int, distance: int) -> tuple[_Link, ...] | None:
    """A cycle whose latency over distance exceeds ``latency / distance``, or None if there is none.

    Longest paths by rounds of relaxation; as soon as the links by which operations were last reached close a
    cycle, that cycle is one of positive length. Links sorted in iteration order settle in a few rounds.
    """
    reached = {link.source: 0 for link in links}
    last: dict[int, _Link] = {}
    weights = [link.latency * distance - link.distance * latency for link in links]
    changed = True
    while changed:
        changed = False
        for link, weight in zip(links, weights, strict=True):
            length = reached[link.source] + weight
            if length > reached[link.destination]:
                reached[link.destination] = length
                last[link.destination] = link
                changed = True
        if changed and (cycle := _closed(last)) is not None:
            return cycle
    return None


def _closed(last: dict[int, _Link]) -> tuple[_Link, ...] | None:
    """A cycle of the links by which operations were last reached, in its direction."""
    seen: dict[int, int] = {}
    for start in last:
        at = start
        while at in last and at not in seen:
            seen[at] = start
            at = last[at].source
        if seen.get(at) == start and at in last:
            backward = [last[at]]
            while backward[-1].source != at:
                backward.append(last[backward[-1].source])
            return tuple(reversed(backward))
    return None


def _recurrence(graph: DataflowGraph, operations: Iterable[int], latency: int, distance: int) -> str:
    names = [graph.operations[operation].name for operation in operations]
    shown = names if len(names) <= NAMED_OPERATIONS else [*names[: NAMED_OPERATIONS - 1], "..."]
    return f"recurrence {' -> '.join([*shown, names[0]])}: latency {latency} over distance {distance}"
