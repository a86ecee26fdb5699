"""Kernels as parts of the kind ``modulo_schedule``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.kind.modulo_schedule.pins import pinned_interval
from mapper.kind.part import ProblemPart, ShownVerdict
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.certificate import Certificate
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel


@dataclass(frozen=True)
class NamedSchedule:
    """A schedule that knows its kernel's names, as documents need them."""

    kernel: Kernel
    schedule: ModuloSchedule

    def to_json(self) -> dict[str, Any]:
        graph = self.kernel.graph
        names = tuple(operation.name for operation in graph.operations)
        edges = tuple((edge.source, edge.destination, edge.distance) for edge in graph.edges)
        return self.schedule.to_json(names, edges)


def certified(
    kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule, least_ii: int | None
) -> dict[str, Any]:
    """Cost of one run of a loop, and what is known of its initiation interval: proven if the referee accepts the
    schedule and it meets MII, or ``least_ii``, the least II that a search has left."""
    verdict = verify(ModuloProblem(kernel, machine), schedule)
    cost = verdict.cost
    assert cost is not None
    sound = not verdict.broken
    bound = max(cost.mii, least_ii or 0)
    proven = sound and cost.ii == bound
    certificate = Certificate(
        "complete" if proven else "heuristic",
        True,
        cost.ii,
        bound if sound else None,
        proven,
        "MII" if bound == cost.mii else "cp-sat",
        verified=sound,
        broken=verdict.broken,
    )
    return {"cost": cost.cost_json(), "certificate": certificate.to_json()}


def check_units(value: Kernel, machine: CgraMachine) -> None:
    """Raises InputError for an operation that no PE can execute, or words that the machine does not hold."""
    for operation in value.graph.operations:
        if not any(machine.can_execute(pe, operation.opcode) for pe in machine.all_pes):
            remedy = f"no PE of {machine.name} executes {operation.opcode}; {_way_out(operation.opcode)}"
            raise InputError(value.name, operation.name, remedy)
    wide = [array for array in value.arrays if array.kind in ("int64", "float64")]
    if wide and not machine.holds_64_bits:
        remedy = f"{machine.name} holds no words of 64 bits; take a machine that does, as --arch wide-4x4"
        raise InputError(value.name, wide[0].name, remedy)


def pose_kernel(
    value: Kernel, machine: CgraMachine, fix: Mapping[str, str]
) -> tuple[ProblemPart[Kernel, ModuloProblem], ...]:
    """The one part of a kernel.

    Raises: InputError for an unknown decision, or an operation that no PE can execute.
    """
    check_units(value, machine)
    own = {key: one for key, one in fix.items() if (key, one) != ("nest", "loop")}
    problem = ModuloProblem(value, machine, pinned_interval(own, value, machine))
    return (ProblemPart(value.name, value.name, problem, (value, problem.fixed_ii), value),)


def _way_out(opcode: str) -> str:
    """What to do where a machine lacks an operation."""
    if "f64" in opcode:
        return "end constants in f (0.5f) and use float, or take a machine with double, as --arch wide-4x4"
    return "take another machine, as --arch wide-4x4"


def verify_kernel(problem: ModuloProblem, mapping: ModuloSchedule) -> ShownVerdict:
    """The referee's verdict and the model's cost."""
    verdict = verify(problem, mapping)
    if verdict.cost is None:
        return ShownVerdict(verdict.broken, None, None, None)
    return ShownVerdict(verdict.broken, verdict.cost.cost_json(), verdict.cost.breakdown_json(), mapping.ii)
