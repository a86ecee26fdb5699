"""Why II 1 can have no schedule on arrays whose links join two colours of PEs, as on a chess board [Bae2018, V-C].

At II 1 nothing waits: every PE repeats one operation or move, and each step of a value leads to a PE of the other
colour and takes a cycle. So the number of cycles that a value travels says whether its ends have the same colour.
"""

from __future__ import annotations

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


def is_odd(problem: ModuloProblem) -> bool:
    """Whether the values ask for a closed walk of an odd number of steps at II 1, on an array that has none
    (docs/formulation/modulo-schedule.md, Parity)."""
    graph, machine = problem.kernel.graph, problem.machine
    if machine.shared_register_file is not None or not _has_two_colours(machine):
        return False
    joined: list[list[tuple[int, int]]] = [[] for _ in graph.operations]
    for edge in graph.edges:
        if edge.operand is None:
            continue
        latency = result_latency(graph, machine, edge.source)
        steps = edge.distance - latency + 1
        if edge.source != edge.destination:
            joined[edge.source].append((edge.destination, steps % 2))
            joined[edge.destination].append((edge.source, steps % 2))
        elif steps % 2 == 1 and steps != 1:
            return True
    return _is_odd(joined)


def _has_two_colours(machine: CgraMachine) -> bool:
    number = {pe: position for position, pe in enumerate(machine.all_pes)}
    joined: list[list[tuple[int, int]]] = [[] for _ in number]

    def join(pe: Pe, reader: Pe) -> None:
        joined[number[pe]].append((number[reader], 1))
        joined[number[reader]].append((number[pe], 1))

    for pe, readers in machine.readers.items():
        for reader in readers - {pe}:
            join(pe, reader)
    return not _is_odd(joined)


def _is_odd(joined: list[list[tuple[int, int]]]) -> bool:
    """Whether some closed walk has an odd sum; neighbours and parities by node, both ways."""
    colour: dict[int, int] = {}
    for root in range(len(joined)):
        if root in colour:
            continue
        colour[root] = 0
        waiting = [root]
        while waiting:
            node = waiting.pop()
            for other, parity in joined[node]:
                seen = colour.setdefault(other, -1)
                if seen < 0:
                    colour[other] = (colour[node] + parity) % 2
                    waiting.append(other)
                elif seen != (colour[node] + parity) % 2:
                    return True
    return False
