"""The referee judges random schedules as a machine does that carries tokens from register to register."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.arch.cgra_preset import cgra_preset
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.rule import LATENCY, STAGE
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Pe, Placement, Route
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

OWN = 2
"""Registers of a PE."""
SHARED = {"registers": 2, "at": [[0, 0], [0, 1], [1, 1]]}
MACHINES = tuple(
    cgra_from_document({
        **(cgra_preset(name) or {}), "latency_cycles": {"mul": 2}, "register_file": {"registers": OWN},
        "shared_register_file": shared,
    }, name)
    for name, shared in (("mesh-1x3", None), ("mesh-2x2", None), ("mesh-2x2", SHARED))
)  # fmt: skip
ITERATIONS = 12
Token = tuple[int, int, int]
"""An operation, an iteration, and the cycle in which this copy of its result became readable."""


def is_shared(number: int) -> bool:
    return number >= OWN


def readers(machine: CgraMachine, hop: Hop) -> list[Pe]:
    """PEs that can read what a hop writes, while it lasts."""
    shared = machine.sharing if hop.register is not None and is_shared(hop.register) else frozenset[Pe]()
    return sorted(machine.readers[hop.pe] | shared)


def walk(random: Random, machine: CgraMachine, pe: Pe, time: int) -> list[Hop]:
    """From a result along a few links, now and then where there is none, waiting a little."""
    registers = (None, None, 0, 1, 2, 3) if machine.sharing else (None, None, 0, 1)
    register = random.choice(registers)
    hops = [Hop(pe, time, "output" if register is None else "register", register)]
    for _ in range(random.choice((0, 0, 1, 2))):
        linked = random.random() < 0.95
        reached = random.choice(readers(machine, hops[-1]) if linked else sorted(machine.all_pes))
        hops.append(Hop(reached, hops[-1].time + random.randint(1, 3), "move", random.choice(registers)))
    return hops


def instance(random: Random) -> tuple[ModuloProblem, ModuloSchedule]:
    """A tree of operations, each placed where the walk of its operand ends."""
    machine, ii = random.choice(MACHINES), random.randint(2, 6)
    operations = tuple(
        Operation(f"o{place}", random.choice(("add", "add", "mul"))) for place in range(random.randint(2, 4))
    )
    placements = [Placement(random.choice(machine.all_pes), 0)]
    edges, routes = list[Edge](), list[Route]()
    for place in range(1, len(operations)):
        parent = random.randrange(place)
        ready = placements[parent].time + machine.latency(operations[parent].opcode)
        hops = walk(random, machine, placements[parent].pe, ready)
        distance = random.choice((0, 0, 0, 1))
        read = hops[-1].time + random.randint(0, 3)
        pe = random.choice(readers(machine, hops[-1]))
        placements.append(Placement(pe, read - distance * ii))
        routes.append(Route(len(edges), tuple(hops)))
        edges.append(Edge(parent, place, 0, distance))
    graph = DataflowGraph("body", operations, tuple(edges))
    return ModuloProblem(Kernel("body", graph), machine), ModuloSchedule(ii, tuple(placements), tuple(routes))


def runs(problem: ModuloProblem, schedule: ModuloSchedule) -> bool:
    """Whether every read finds its token over a dozen iterations, and nothing is used or written twice."""
    machine, ii = problem.machine, schedule.ii
    issues: Counter[tuple[Pe, int]] = Counter()
    writes: dict[int, list[tuple[Pe, Token, frozenset[int]]]] = defaultdict(list)
    reads: dict[int, list[tuple[Pe, Pe, Token, int | None]]] = defaultdict(list)
    copies: dict[tuple[int, Pe, int, Pe, int], set[int]] = defaultdict(set)
    results: dict[int, set[int]] = defaultdict(set)
    for route in schedule.routes:
        edge = problem.kernel.graph.edges[route.edge]
        ends = [(hop.pe, hop.time - 1) for hop in route.hops[1:]]
        consumer = schedule.placements[edge.destination]
        ends.append((consumer.pe, consumer.time + edge.distance * ii))
        for held, (pe, cycle) in zip(route.hops, ends, strict=True):
            for n in range(ITERATIONS):
                reads[cycle + n * ii].append((pe, held.pe, (edge.source, n, held.time), held.register))
        results[edge.source] |= {route.hops[0].register} - {None}  # type: ignore[arg-type]
        for held, hop in zip(route.hops, route.hops[1:], strict=False):
            copy = copies[edge.source, hop.pe, hop.time, held.pe, held.time]
            copy |= {hop.register} - {None}  # type: ignore[arg-type]
    for place, (operation, at) in enumerate(
        zip(problem.kernel.graph.operations, schedule.placements, strict=True)
    ):
        for n in range(ITERATIONS):
            issues[at.pe, at.time + n * ii] += 1
            ready = at.time + n * ii + machine.latency(operation.opcode)
            writes[ready].append((at.pe, (place, n, ready - n * ii), frozenset(results[place])))
    for (source, pe, time, _, _), registers in copies.items():
        for n in range(ITERATIONS):
            issues[pe, time - 1 + n * ii] += 1
            writes[time + n * ii].append((pe, (source, n, time), frozenset(registers)))
    if max(issues.values()) > 1:
        return False
    output: dict[Pe, Token] = {}
    register: dict[tuple[Pe | None, int], Token] = {}
    for cycle in range(min([*writes, *reads]), max([*writes, *reads]) + 1):
        written = [pe for pe, _, _ in writes[cycle]]
        if len(written) > len(set(written)):
            return False
        shared = [number for _, _, numbers in writes[cycle] for number in numbers if is_shared(number)]
        if len(shared) > len(set(shared)):
            return False
        for pe, token, numbers in writes[cycle]:
            common = sum(map(is_shared, numbers))
            if common > 1 or len(numbers) - common > 1 or (common and pe not in machine.sharing):
                return False
            output[pe] = token
            register.update({(None if is_shared(number) else pe, number): token for number in numbers})
        for reader, pe, token, number in reads[cycle]:
            from_output = reader in machine.readers[pe] and output.get(pe) == token
            shares = number is not None and is_shared(number)
            file = None if shares else pe
            in_reach = reader in machine.sharing if shares else reader == pe
            kept = number is not None and in_reach and register.get((file, number)) == token
            if not from_output and not kept:
                return False
    return True


def test_a_schedule_is_valid_if_and_only_if_every_token_arrives() -> None:
    random = Random(1)
    judged: Counter[bool] = Counter()
    for number in range(4000):
        problem, schedule = instance(random)
        rules = {broken.rule for broken in verify(problem, schedule).broken} - {STAGE, LATENCY}
        valid = runs(problem, schedule)
        assert valid == (not rules), (number, rules, schedule)
        judged[valid] += 1
    assert min(judged[True], judged[False]) > 400
