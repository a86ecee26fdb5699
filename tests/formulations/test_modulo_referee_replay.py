"""The referee judges random schedules as a machine does that carries tokens from register to register."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.arch.cgra_preset import cgra_preset
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee import verify
from mapper.formulations.modulo_schedule.rule import LATENCY, STAGE
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Pe, Placement, Route
from mapper.workloads.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.kernel import Kernel

MACHINES = tuple(
    cgra_from_document({**(cgra_preset(name) or {}), "latency_cycles": {"mul": 2}}, name)
    for name in ("mesh-1x3", "mesh-2x2")
)
ITERATIONS = 12
Token = tuple[int, int, int]
"""An operation, an iteration, and the cycle in which this copy of its result became readable."""


def walk(random: Random, machine: CgraMachine, pe: Pe, time: int) -> list[Hop]:
    """From a result along a few links, now and then where there is none, waiting a little."""
    register = random.choice((None, None, 0, 1))
    hops = [Hop(pe, time, "output" if register is None else "register", register)]
    for _ in range(random.choice((0, 0, 1, 2))):
        linked = random.random() < 0.95
        reached = random.choice(sorted(machine.readers[hops[-1].pe] if linked else machine.all_pes))
        hops.append(
            Hop(reached, hops[-1].time + random.randint(1, 3), "move", random.choice((None, None, 0, 1)))
        )
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
        pe = random.choice(sorted(machine.readers[hops[-1].pe]))
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
    register: dict[tuple[Pe, int], Token] = {}
    for cycle in range(min([*writes, *reads]), max([*writes, *reads]) + 1):
        written = [pe for pe, _, _ in writes[cycle]]
        if len(written) > len(set(written)) or any(len(file) > 1 for _, _, file in writes[cycle]):
            return False
        for pe, token, file in writes[cycle]:
            output[pe] = token
            register.update({(pe, number): token for number in file})
        for reader, pe, token, number in reads[cycle]:
            from_output = reader in machine.readers[pe] and output.get(pe) == token
            own = number is not None and reader == pe and register.get((pe, number)) == token
            if not from_output and not own:
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
