"""Proofs of modulo schedules as documents, the checker as a module, and back from documents to problems."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from mapper.arch.cgra import cgra_from_document
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.proof import prove
from mapper.solver.outcome import Outcome
from mapper.solver.proof import Claim, digest
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

PATH = Path(__file__).parents[3] / "checkers" / "check_modulo_schedule.py"
Document = dict[str, Any]


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_modulo_schedule", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECKER = _loaded()


def claim_of(outcome: Outcome[ModuloSchedule]) -> Claim[ModuloSchedule]:
    if outcome.proven:
        status = "infeasible" if outcome.mapping is None else "optimal"
        return Claim(status, outcome.mapping, outcome.value, outcome.bound)  # type: ignore[arg-type]
    return Claim("bounded", outcome.mapping, outcome.value, outcome.bound)


def proof_of(problem: ModuloProblem, claim: Claim[ModuloSchedule]) -> Document:
    """The proof as a reader of its file sees it.

    Raises: NotCertifiedError if there is none.
    """
    proof = prove(problem, claim, Effort())
    document: Document = json.loads(json.dumps(proof.to_json("modulo_schedule", "part")))
    return document


def bound_again(document: Document) -> Document:
    """The document with the hash of the problem that it has now."""
    document["problem_sha256"] = digest(document["problem"])
    return document


def status(document: Any) -> str:
    return str(CHECKER.verdict(document)[1])


def reason(document: Any) -> str:
    return str(CHECKER.verdict(document)[2])


def problem_of(document: Document) -> ModuloProblem:
    """The problem of a proof. Raises: InputError if there is no such machine."""
    said = document["problem"]
    machine = cgra_from_document({"schema": "mapper.cgra/1", "name": "array", **said["machine"]}, "proof")
    graph = DataflowGraph(
        "graph",
        tuple(Operation(name, opcode) for name, opcode in said["operations"]),
        tuple(Edge(*edge) for edge in said["edges"]),
    )
    return ModuloProblem(Kernel("graph", graph), machine, said["fixed_ii"])


def schedule_of(document: Document) -> ModuloSchedule:
    """The schedule of a proof as the referee reads it."""
    problem, said = problem_of(document), document["evidence"]["mapping"]
    columns = problem.machine.columns
    own = [problem.machine.latency(operation.opcode) for operation in problem.kernel.graph.operations]
    ready = []
    for v, (_, time) in enumerate(said["placements"]):
        carried = [
            own[v] if edge.latency is None else edge.latency
            for edge in problem.kernel.graph.edges
            if edge.source == v and edge.operand is not None
        ]
        ready.append(time + min(carried, default=own[v]))
    places = [divmod(pe, columns) for pe, _ in said["placements"]]
    routes = []
    for position, (edge, route) in enumerate(zip(problem.kernel.graph.edges, said["routes"], strict=True)):
        u = edge.source
        hops = [
            Hop(places[u], ready[u], "output" if first is None else "register", first) for first in route[:1]
        ]
        hops += [Hop(divmod(pe, columns), time, "move", register) for pe, time, register in route[1:]]
        routes.append(Route(position, tuple(hops)))
    times = [time for _, time in said["placements"]]
    return ModuloSchedule(
        said["ii"], tuple(Placement(pe, t) for pe, t in zip(places, times, strict=True)), tuple(routes)
    )
