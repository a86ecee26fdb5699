"""Symmetries of modulo scheduling: of the array's PEs, and of operations that could change places."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from mapper.arch.cgra import Pe
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance

Image = dict[Pe, Pe]

MOST_PES = 100
"""Symmetries of larger arrays are not looked for: programs of them seldom decide anything."""
MOST_OPERATIONS = 40
"""In larger graphs no operations that could change places are looked for: it takes too long."""


def array_symmetries(of: ModuloInstance) -> list[Image]:
    """Those reflections, transposition and translations of the grid, and what they compose to, that keep the
    part of the array, its links, what every PE can do and which share registers; the identity is one of them."""
    if len(of.pes) > MOST_PES:
        return [{pe: pe for pe in of.pes}]
    rows, columns = (1 + max(pe[axis] for pe in of.pes) for axis in (0, 1))
    shifts_down = _valid(of, {pe: ((pe[0] + 1) % rows, pe[1]) for pe in of.pes})
    shifts_right = _valid(of, {pe: (pe[0], (pe[1] + 1) % columns) for pe in of.pes})
    found = []
    turns = [
        {pe: (rows - 1 - pe[0], pe[1]) for pe in of.pes},
        {pe: (pe[0], columns - 1 - pe[1]) for pe in of.pes},
        {pe: (pe[1], pe[0]) for pe in of.pes},
    ]
    valid = [turn for turn in turns if _valid(of, turn)]
    turned = _closed(of, valid)
    for image in turned:
        for down, right in product(range(rows if shifts_down else 1), range(columns if shifts_right else 1)):
            found.append({pe: ((to[0] + down) % rows, (to[1] + right) % columns) for pe, to in image.items()})
    return found


def _closed(of: ModuloInstance, generators: list[Image]) -> list[Image]:
    """Everything that the generators compose to."""
    found = [{pe: pe for pe in of.pes}]
    for image in found:
        for generator in generators:
            composed = {pe: generator[to] for pe, to in image.items()}
            if composed not in found:
                found.append(composed)
    return found


def _valid(of: ModuloInstance, image: Image) -> bool:
    """Whether a map of the PEs keeps the part, the links, the abilities and who shares registers."""
    if set(image.values()) != set(of.pes):
        return False
    return all(
        of.machine.abilities[pe] == of.machine.abilities[image[pe]]
        and (pe in of.machine.sharing) == (image[pe] in of.machine.sharing)
        and {image[reader] for reader in of.readers[pe]} == set(of.readers[image[pe]])
        for pe in of.pes
    )


def orbit_leaders(symmetries: Iterable[Image], pes: Iterable[Pe]) -> frozenset[Pe]:
    """The PEs that are the least of their orbit."""
    images = tuple(symmetries)
    return frozenset(pe for pe in pes if pe == min(image[pe] for image in images))


def interchangeable(of: ModuloInstance) -> tuple[tuple[int, int], ...]:
    """Pairs (a, b) of operations, a < b, such that some automorphism of the graph takes a to b and keeps every
    operation before a: of the schedules that automorphisms make of one, that with the lexicographically least
    issue times issues a no later than b, for all pairs at once (Liberti 2012, orbital constraints; Sims)."""
    import networkx
    from networkx.algorithms.isomorphism import DiGraphMatcher

    count = len(of.graph.operations)
    if count > MOST_OPERATIONS:
        return ()
    labels: dict[tuple[int, int], set[tuple[bool, int, int]]] = {}
    for edge in of.graph.edges:
        label = (edge.operand is None, edge.distance, of.edge_latency(edge))
        labels.setdefault((edge.source, edge.destination), set()).add(label)
    colour = _refined(of, labels)

    def coloured(fixed: int, marked: int) -> networkx.DiGraph[int]:
        graph: networkx.DiGraph[int] = networkx.DiGraph()
        for v in range(count):
            graph.add_node(v, colour=(colour[v], v if v < fixed else -1, v == marked))
        for (v, w), label in labels.items():
            graph.add_edge(v, w, label=label)
        return graph

    def exchanged(a: int, b: int) -> bool:
        matcher = DiGraphMatcher(
            coloured(a, a),
            coloured(a, b),
            node_match=lambda one, other: one["colour"] == other["colour"],
            edge_match=lambda one, other: one["label"] == other["label"],
        )
        return bool(matcher.is_isomorphic())

    twins: dict[int, list[int]] = {}
    for v in range(count):
        twins.setdefault(colour[v], []).append(v)
    return tuple(
        (a, b)
        for group in twins.values()
        for position, a in enumerate(group)
        for b in group[position + 1 :]
        if exchanged(a, b)
    )


def _refined(of: ModuloInstance, labels: dict[tuple[int, int], set[tuple[bool, int, int]]]) -> list[int]:
    """Colours that every automorphism keeps: by what an operation needs, refined by those of its neighbours."""
    memory = of.machine.memory_ports is not None
    kinds = [
        repr((of.able[v], memory and operation.opcode in ("load", "store"), of.latency[v]))
        for v, operation in enumerate(of.graph.operations)
    ]
    colour = _numbered(kinds)
    around: list[list[tuple[int, str]]] = [[] for _ in kinds]
    for (v, w), label in labels.items():
        around[v].append((w, f"to {sorted(label)}"))
        around[w].append((v, f"from {sorted(label)}"))
    while True:
        seen = [
            repr((colour[v], sorted((label, colour[w]) for w, label in around[v]))) for v in range(len(kinds))
        ]
        finer = _numbered(seen)
        if len(set(finer)) == len(set(colour)):
            return finer
        colour = finer


def _numbered(names: list[str]) -> list[int]:
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    return [numbers[name] for name in names]
