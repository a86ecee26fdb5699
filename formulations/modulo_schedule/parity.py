"""Why II 1 can have no schedule on arrays whose links join two colours of PEs, as on a chess board [Bae2018, V-C].

At II 1 nothing waits: every PE repeats one operation or move, and each step of a value leads to a PE of the other
colour and takes a cycle. So the number of cycles that a value travels says whether its ends have the same colour.
"""

from __future__ import annotations

from dataclasses import dataclass

from mapper.arch.cgra import CgraMachine, Pe
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.latency import result_latency


def least_bound(problem: ModuloProblem) -> int:
    """MII, or 2 where that is 1 and `is_odd` holds.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    least = mii(problem.kernel.graph, problem.machine).value
    return 2 if least == 1 and is_odd(problem) else least


@dataclass(frozen=True)
class OddWalk:
    """A closed walk of an odd number of steps: edges by position, and whether each is walked against its direction;
    and a colour, 0 or 1, for every PE, row by row."""

    walk: tuple[tuple[int, int], ...]
    colours: tuple[int, ...]


@dataclass(frozen=True)
class _Joint:
    """What joins a node to another one: its number, whether from behind, and what it adds to the parity."""

    other: int
    parity: int
    number: int = 0
    back: int = 0


def is_odd(problem: ModuloProblem) -> bool:
    """Whether the values ask for a closed walk of an odd number of steps at II 1, on an array that has none
    (docs/formulation/modulo-schedule.md, Parity)."""
    return odd_walk(problem) is not None


def odd_walk(problem: ModuloProblem) -> OddWalk | None:
    """The walk that the values ask for, and why the array has none; None if `is_odd` does not hold."""
    graph, machine = problem.kernel.graph, problem.machine
    colours = None if machine.shared_register_file is not None else _two_colours(machine)
    if colours is None:
        return None
    joined: list[list[_Joint]] = [[] for _ in graph.operations]
    for position, edge in enumerate(graph.edges):
        if edge.operand is None:
            continue
        latency = result_latency(graph, machine, edge.source)
        steps = edge.distance - latency + 1
        if edge.source != edge.destination:
            joined[edge.source].append(_Joint(edge.destination, steps % 2, position))
            joined[edge.destination].append(_Joint(edge.source, steps % 2, position, 1))
        elif steps % 2 == 1 and steps != 1:
            return OddWalk(((position, 0),), colours)
    walk = _colours_or_walk(joined)[1]
    return None if walk is None else OddWalk(walk, colours)


def _two_colours(machine: CgraMachine) -> tuple[int, ...] | None:
    number = {pe: position for position, pe in enumerate(machine.all_pes)}
    joined: list[list[_Joint]] = [[] for _ in number]

    def join(pe: Pe, reader: Pe) -> None:
        joined[number[pe]].append(_Joint(number[reader], 1))
        joined[number[reader]].append(_Joint(number[pe], 1))

    for pe, readers in machine.readers.items():
        for reader in readers - {pe}:
            join(pe, reader)
    colours, walk = _colours_or_walk(joined)
    return colours if walk is None else None


def _colours_or_walk(
    joined: list[list[_Joint]],
) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...] | None]:
    """Colours of the nodes that agree with all parities, or a closed walk that has an odd sum, as what joins the
    nodes and from which side."""
    colour: dict[int, int] = {}
    came: dict[int, tuple[int, _Joint]] = {}
    for root in range(len(joined)):
        if root in colour:
            continue
        colour[root] = 0
        waiting = [root]
        while waiting:
            node = waiting.pop()
            for joint in joined[node]:
                seen = colour.get(joint.other)
                if seen is None:
                    colour[joint.other] = (colour[node] + joint.parity) % 2
                    came[joint.other] = node, joint
                    waiting.append(joint.other)
                elif seen != (colour[node] + joint.parity) % 2:
                    here = [*_way(came, node), (joint.number, joint.back)]
                    home = [(number, 1 - back) for number, back in reversed(_way(came, joint.other))]
                    return (), (*here, *home)
    return tuple(colour[node] for node in range(len(joined))), None


def _way(came: dict[int, tuple[int, _Joint]], node: int) -> list[tuple[int, int]]:
    """What joins the nodes from the root to ``node``."""
    found = []
    while node in came:
        node, joint = came[node]
        found.append((joint.number, joint.back))
    return found[::-1]
