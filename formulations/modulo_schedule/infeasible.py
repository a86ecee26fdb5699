"""Why a kernel has no modulo schedule on a machine at any II: arguments that hold at every interval [Bae2018, V-C].

All of them are relaxations: what they rule out has no schedule; what they leave may still have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product

from mapper.arch.cgra import CgraMachine, Pe, RegisterFile, SharedRegisterFile
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.latency import result_latency
from mapper.workloads.graph.dataflow_graph import DataflowGraph

MOST_PLACES = 6
"""Output registers and registers of the largest machine whose executions are followed; larger ones hold more
values than graphs of that size keep."""
MOST_STEPS = 24
"""Operations of the longest stretch of iterations that is followed."""
MOST_STATES = 30_000
"""States, however often reached, after which nothing is claimed."""

SHARED: Pe = (-1, -1)
"""Stands for the shared register file among PEs, which count from 0."""


def why_infeasible(problem: ModuloProblem) -> str | None:
    """Why no II has a schedule, or None if no argument says so."""
    graph, machine = problem.kernel.graph, problem.machine
    able, _ = _able(graph, machine)
    lacking = next((v for v, pes in enumerate(able) if not pes), None)
    if lacking is not None:
        name = graph.operations[lacking].name
        return f"{name}: no PE that executes it can hold or reach all of its operands"
    if executed_iterations(problem) is not None:
        return (
            "registers too few: in no order of operations and moves do all values survive until they are read"
        )
    return None


def roomless(graph: DataflowGraph, machine: CgraMachine) -> tuple[int, ...] | None:
    """Why some operation has no PE that can hold or reach all of its operands: edges, by position, whose ends lose PEs
    one after another until one end has none; None if all have some."""
    able, steps = _able(graph, machine)
    return None if all(able) else steps


def executed_iterations(problem: ModuloProblem) -> int | None:
    """How many iterations no execution gets to the end of; None if some does, or there are too many to follow."""
    graph, machine = problem.kernel.graph, problem.machine
    if not _is_small(graph, machine):
        return None
    longest = max((edge.distance for edge in graph.edges), default=0)
    iterations = max(1, min(1 + longest, MOST_STEPS // len(graph.operations)))
    return iterations if _runs_nowhere(graph, machine, iterations) else None


def _able(graph: DataflowGraph, machine: CgraMachine) -> tuple[list[frozenset[Pe]], tuple[int, ...]]:
    """PEs that could execute each operation: an operand is in an output register in reach, in a register of the
    PE or in a shared one, two never in one, and comes along links or through shared registers from a PE that
    could execute its producer. Also the edges at whose ends that took PEs away, in turn."""
    own, shared = _readable(machine.register_file), _readable(machine.shared_register_file)
    givers = Counter(reader for readers in machine.readers.values() for reader in readers)
    operands: list[set[tuple[int, int]]] = [set() for _ in graph.operations]
    for edge in graph.edges:
        if edge.operand is not None:
            operands[edge.destination].add((edge.source, edge.distance))
    needs = [(operation.opcode, len(operands[v])) for v, operation in enumerate(graph.operations)]
    with_room = {
        (opcode, count): frozenset(
            pe
            for pe in machine.all_pes
            if machine.can_execute(pe, opcode)
            and count <= givers[pe] + own + (shared if pe in machine.sharing else 0)
        )
        for opcode, count in set(needs)
    }
    able = [with_room[need] for need in needs]
    reached = _reached(machine)
    if len(set(reached.values())) == 1:
        return able, ()
    steps: list[int] = []
    changed = True
    while changed:
        changed = False
        for position, edge in enumerate(graph.edges):
            if edge.operand is None:
                continue
            u, w = edge.source, edge.destination
            giving = frozenset(pe for pe in able[u] if reached[pe] & able[w])
            reading = frozenset(pe for pe in able[w] if any(pe in reached[giver] for giver in giving))
            if giving != able[u] or reading != able[w]:
                changed = True
                steps.append(position)
            able[u], able[w] = (giving & reading, giving & reading) if u == w else (giving, reading)
    return able, tuple(steps)


def _readable(file: RegisterFile | SharedRegisterFile | None) -> int:
    """How many registers of a file an operation can read."""
    if file is None:
        return 0
    return file.registers if file.read_ports is None else min(file.registers, file.read_ports)


def _reached(machine: CgraMachine) -> dict[Pe, frozenset[Pe]]:
    """For every PE those to which moves and shared registers can bring a value; PEs that reach each other share
    the set."""
    import networkx

    links = networkx.DiGraph(
        (giver, reader) for giver, readers in machine.readers.items() for reader in readers
    )
    links.add_edges_from((pe, SHARED) for pe in machine.sharing)
    links.add_edges_from((SHARED, pe) for pe in machine.sharing)
    found: dict[Pe, frozenset[Pe]] = {}
    # Components come before those that lead to them.
    for component in networkx.strongly_connected_components(links):
        beyond = {reader for pe in component for reader in links[pe]} - component
        reached = frozenset(component - {SHARED}).union(*(found[pe] for pe in beyond))
        found.update(dict.fromkeys(component, reached))
    return found


def _is_small(graph: DataflowGraph, machine: CgraMachine) -> bool:
    """Whether executions are followed; never if a result can be read in the cycle in which it is issued."""
    if any(result_latency(graph, machine, v) == 0 for v in range(len(graph.operations))):
        return False
    shared = machine.shared_register_file
    places = len(machine.all_pes) * (1 + machine.register_file.registers)
    places += 0 if shared is None else shared.registers
    return places <= MOST_PLACES and 0 < len(graph.operations) <= MOST_STEPS


Value = tuple[int, int]
"""An operation and an iteration."""


@dataclass(frozen=True)
class _State:
    """What the output register and the registers of every PE hold, what is under way to it, what shared
    registers hold, and what has issued. Values that nothing will read any more are not held."""

    output: tuple[Value | None, ...]
    kept: tuple[frozenset[Value], ...]
    pending: tuple[frozenset[Value], ...]
    shared: frozenset[Value]
    issued: frozenset[Value]


@dataclass(frozen=True)
class _Stretch:
    """Some iterations of the loop executed cycle by cycle, whatever the II: of a schedule everything is left out
    that belongs to other iterations, which overwrites less. Latencies of several cycles become any number."""

    graph: DataflowGraph
    machine: CgraMachine
    iterations: int

    @cached_property
    def reads(self) -> dict[Value, frozenset[Value]]:
        """What every operation of the stretch reads of it; what comes from earlier iterations is for free."""
        found: dict[Value, set[Value]] = {
            (v, i): set() for v in range(len(self.graph.operations)) for i in range(self.iterations)
        }
        for edge in self.graph.edges:
            for i in range(edge.distance, self.iterations):
                if edge.operand is not None:
                    found[edge.destination, i].add((edge.source, i - edge.distance))
        return {value: frozenset(read) for value, read in found.items()}

    @cached_property
    def is_immediate(self) -> tuple[bool, ...]:
        """Operations whose result is ready in the next cycle."""
        operations = range(len(self.graph.operations))
        return tuple(result_latency(self.graph, self.machine, v) == 1 for v in operations)

    def start(self) -> _State:
        pes = len(self.machine.all_pes)
        return _State((None,) * pes, (frozenset(),) * pes, (frozenset(),) * pes, frozenset(), frozenset())

    def following(self, state: _State) -> Iterator[_State]:
        """States a cycle later: every PE issues an operation, a move or nothing, and gets one result ready."""
        for issues in product(*(self._issues(state, at) for at in range(len(self.machine.all_pes)))):
            own = [value for value, moved in issues if value is not None and not moved]
            if len(set(own)) < len(own):
                continue
            issued = state.issued | set(own)
            unread = {value for reader, read in self.reads.items() if reader not in issued for value in read}
            arrivals = [self._arrivals(state, at, value, moved) for at, (value, moved) in enumerate(issues)]
            for chosen in product(*arrivals):
                yield from self._written(replace(state, issued=issued), issues, chosen, unread)

    def _issues(self, state: _State, at: int) -> list[tuple[Value | None, bool]]:
        """What the PE can issue: operations first, then moves, then nothing."""
        pe, shares = self.machine.all_pes[at], self.machine.all_pes[at] in self.machine.sharing
        givers = [g for g, other in enumerate(self.machine.all_pes) if pe in self.machine.readers[other]]
        near = {state.output[g] for g in givers} - {None}
        near |= state.shared if shares else frozenset()
        limit = self.machine.register_file.read_ports
        operations: list[tuple[Value | None, bool]] = [
            (value, False)
            for value, read in self.reads.items()
            if value not in state.issued
            and self.machine.can_execute(pe, self.graph.operations[value[0]].opcode)
            and read - near <= state.kept[at]
            and (limit is None or len(read - near) <= limit)
        ]
        held = sorted({value for value in near if value is not None} | state.kept[at])
        # What the output register already shows is moved only to get into a register.
        owns = self.machine.register_file.registers > 0
        moves: list[tuple[Value | None, bool]] = [
            (value, True)
            for value in held
            if value != state.output[at]
            or (owns and value not in state.kept[at])
            or (shares and value not in state.shared)
        ]
        return [*operations, *moves, (None, False)]

    def _arrivals(self, state: _State, at: int, value: Value | None, moved: bool) -> list[Value | None]:
        """What can get ready on the PE for the next cycle."""
        if value is not None and (moved or self.is_immediate[value[0]]):
            return [value]
        return [None, *sorted(state.pending[at])]

    def _written(
        self,
        state: _State,
        issues: tuple[tuple[Value | None, bool], ...],
        arrived: tuple[Value | None, ...],
        unread: set[Value],
    ) -> Iterator[_State]:
        registers, shared = self.machine.register_file.registers, self.machine.shared_register_file
        output, pending, keeping = [], [], []
        for at, ((value, moved), ready) in enumerate(zip(issues, arrived, strict=True)):
            under_way = state.pending[at] - {ready}
            if value is not None and not moved and not self.is_immediate[value[0]]:
                under_way |= {value}
            pending.append(frozenset(under_way))
            shown = state.output[at] if ready is None else ready
            output.append(shown if shown in unread else None)
            fresh = frozenset[Value]() if ready is None else frozenset({ready})
            live = (state.kept[at] | fresh) & unread
            keeping.append([live] if len(live) <= registers else [live - {value} for value in sorted(live)])
        written = {arrived[at] for at, pe in enumerate(self.machine.all_pes) if pe in self.machine.sharing}
        common = sorted((state.shared | {value for value in written if value is not None}) & unread)
        room = 0 if shared is None else min(shared.registers, len(common))
        for kept in product(*keeping):
            for chosen in combinations(common, room):
                yield _State(tuple(output), kept, tuple(pending), frozenset(chosen), state.issued)


def _runs_nowhere(graph: DataflowGraph, machine: CgraMachine, iterations: int) -> bool:
    """Whether no execution of a stretch of iterations gets to its end: all of them are tried, if they are not
    too many."""
    stretch = _Stretch(graph, machine, iterations)
    start = stretch.start()
    seen, waiting, count = {start}, [start], 0
    while waiting:
        state = waiting.pop()
        if len(state.issued) == len(stretch.reads):
            return False
        # States after operations come first and are followed first: an execution is soon found if there is one.
        fresh = []
        for later in stretch.following(state):
            count += 1
            if count > MOST_STATES:
                return False
            if later not in seen:
                seen.add(later)
                fresh.append(later)
        waiting += reversed(fresh)
    return True
