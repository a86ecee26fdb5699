"""Schedules of the kernels that tuning makes, and what is proven of them, remembered by the shape of the graph.

Layers differ in numbers, not in structure: two kernels of one unroll vector have the same operations and edges,
and so the same schedule, whatever their constants, displacements and trip counts are.
"""

from __future__ import annotations

from dataclasses import replace

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.mapping_file import schedule_from_json
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.constraint_program import improved, tightened
from mapper.solver.modulo_schedule.heuristic.iterative import search_briefly, search_lightly
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph
from mapper.workloads.graph.kernel import Kernel

_known: dict[tuple[DataflowGraph, str, int, int, bool], Outcome[ModuloSchedule]] = {}
_decided: dict[tuple[DataflowGraph, str, int, int], Outcome[ModuloSchedule]] = {}
_tightened: dict[tuple[DataflowGraph, str, int, int], Outcome[ModuloSchedule]] = {}
MOST_KNOWN = 20_000


def loop_schedule(
    kernel: Kernel, machine: CgraMachine, effort: Effort, enough: int = 0, light: bool = False
) -> Outcome[ModuloSchedule]:
    """A schedule of ``kernel``, a brief search's best down to an II that is ``enough``, or (``light``) the first one
    that there is; the same for the same structure, machine and seed. What a brief search finds is kept among the pieces
    of the effort, and not searched for again where it is there."""
    structure = shape(kernel.graph)
    key = (structure, machine.model_dump_json(by_alias=True), effort.seed, enough, light)
    if key not in _known:
        problem, quiet = ModuloProblem(Kernel("loop", structure), machine), replace(effort, report=_silent)
        if light:
            outcome = search_lightly(problem, quiet)
        else:
            content = repr(key)
            outcome = _kept(problem, effort, content) or search_briefly(problem, quiet, enough)
            _keep(problem, effort, content, outcome)
        if effort.stopped() is not None:
            return outcome
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[key] = outcome
    return _known[key]


def _kept(problem: ModuloProblem, effort: Effort, content: str) -> Outcome[ModuloSchedule] | None:
    """The schedule that is kept among the pieces, judged anew; None where there is none that holds."""
    fields = None if effort.pieces is None else effort.pieces.get(content)
    if fields is None:
        return None
    try:
        schedule = schedule_from_json(fields, problem.kernel, "store")
    except InputError:
        return None
    if verify(problem, schedule).broken:
        return None
    return Outcome.bounded(schedule, schedule.ii, None, "heuristic")


def _keep(problem: ModuloProblem, effort: Effort, content: str, outcome: Outcome[ModuloSchedule]) -> None:
    if effort.pieces is None or outcome.mapping is None or effort.stopped() is not None:
        return
    graph = problem.kernel.graph
    names = tuple(operation.name for operation in graph.operations)
    edges = tuple((edge.source, edge.destination, edge.distance) for edge in graph.edges)
    name = f"loop of {len(names)} operations"
    effort.pieces.put(content, name, outcome.mapping.to_json(names, edges), outcome.mapping.ii)


def _silent(_: object) -> None:
    """A loop's progress is not the layer's."""


def decided_loop(
    kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule, effort: Effort
) -> Outcome[ModuloSchedule]:
    """What CP-SAT makes of a kernel that has ``schedule``: a smaller II, or a proof that there is none, or how far it
    got within ``effort``. Numbers and names enter no rule of schedules, so that a proof holds for the shape."""
    structure = shape(kernel.graph)
    key = (structure, machine.model_dump_json(by_alias=True), effort.seed, schedule.ii)
    if key not in _decided:
        problem = ModuloProblem(Kernel("loop", structure), machine)
        outcome = improved(problem, schedule, replace(effort, report=_silent))
        if effort.stopped() is not None:
            return outcome
        if len(_decided) >= MOST_KNOWN:
            _decided.clear()
        _decided[key] = outcome
    return _decided[key]


def tightened_loop(
    kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule, effort: Effort
) -> Outcome[ModuloSchedule]:
    """What little work of CP-SAT makes of a kernel that has ``schedule``: a smaller II, perhaps."""
    structure = shape(kernel.graph)
    key = (structure, machine.model_dump_json(by_alias=True), effort.seed, schedule.ii)
    if key not in _tightened:
        problem = ModuloProblem(Kernel("loop", structure), machine)
        found = tightened(problem, schedule, replace(effort, report=_silent))
        outcome = Outcome.bounded(found, found.ii, None, "heuristic")
        if effort.stopped() is not None:
            return outcome
        if len(_tightened) >= MOST_KNOWN:
            _tightened.clear()
        _tightened[key] = outcome
    return _tightened[key]


def shape(graph: DataflowGraph) -> DataflowGraph:
    """``graph`` without its numbers and names."""
    operations = tuple(
        replace(
            operation,
            name=f"v{position}",
            immediates=tuple((operand, 0) for operand, _ in operation.immediates),
            array=None if operation.array is None else "m",
            offset=0,
        )
        for position, operation in enumerate(graph.operations)
    )
    edges = tuple(replace(edge, initial=(0,) * edge.distance) for edge in graph.edges)
    return DataflowGraph("loop", operations, edges)


def forget() -> None:
    """Schedule every kernel again from here on, so that a search can be timed by itself."""
    _known.clear()
    _decided.clear()
    _tightened.clear()
