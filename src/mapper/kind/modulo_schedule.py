"""The kind ``modulo_schedule``: kernels on CGRAs (000)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee import verify
from mapper.kind.kind import Judged, Kind, Part, PosedPart, Workload
from mapper.models.modulo_schedule.interval import rec_mii, res_mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.mapping_file import schedule_from_json
from mapper.solver.method import Method
from mapper.workloads.document import InputError
from mapper.workloads.graph_document import kernel_document, kernel_from_document
from mapper.workloads.kernel import Kernel
from mapper.workloads.kernel_source import is_kernel, load_kernel

WIDEST_GRID = 16
"""Columns of a schedule grid that still fit a terminal."""


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


class ModuloScheduling(Kind):
    """One part, the kernel: the least initiation interval."""

    name: ClassVar[str] = "modulo_schedule"
    objectives: ClassVar[tuple[str, ...]] = ("ii",)
    options: ClassVar[frozenset[str]] = frozenset({"fix"})

    def read(self, text: str, batch: int | None) -> Workload:
        if batch is not None:
            raise InputError("--batch", str(batch), "a kernel has no batch; leave it out")
        if not is_kernel(text):
            remedy = "is no kernel or dataflow graph, which is what a CGRA takes; try gemm or --arch dmazerunner-256"
            raise InputError(text, "", remedy)
        kernel, inputs = load_kernel(text)
        return Workload(kernel, inputs)

    def pose(
        self, value: Kernel, machine: CgraMachine, objective: str, fix: Mapping[str, str]
    ) -> tuple[PosedPart, ...]:
        unknown = sorted(set(fix) - {"ii"})
        if unknown:
            raise InputError("--fix", unknown[0], "unknown decision; a kernel has ii")
        pinned = fix.get("ii")
        if pinned is not None and (not pinned.isdecimal() or int(pinned) < 1):
            raise InputError("--fix", "ii", f"{pinned!r} is no positive integer")
        for operation in value.graph.operations:
            if not any(machine.can_execute(pe, operation.opcode) for pe in machine.all_pes):
                remedy = f"no PE of {machine.name} executes {operation.opcode}; take another machine"
                raise InputError(value.name, operation.name, remedy)
        problem = ModuloProblem(value, machine, None if pinned is None else int(pinned))
        return (PosedPart(value.name, value.name, problem, (value, problem.fixed_ii)),)

    def methods(self) -> dict[str, Method[Any, Any]]:
        from mapper.solver.modulo_schedule.catalogue import METHODS

        return {method.name: method for method in METHODS}

    def judge(self, problem: ModuloProblem, mapping: ModuloSchedule) -> Judged:
        verdict = verify(problem, mapping)
        if verdict.cost is None:
            return Judged(verdict.broken, None, None, None)
        return Judged(verdict.broken, verdict.cost.cost_json(), verdict.cost.breakdown_json(), mapping.ii)

    def read_mapping(self, fields: Mapping[str, Any], problem: ModuloProblem, source: str) -> ModuloSchedule:
        return schedule_from_json(fields, problem.kernel, source)

    def shown(self, problem: ModuloProblem, mapping: ModuloSchedule) -> NamedSchedule:
        return NamedSchedule(problem.kernel, mapping)

    def describe(self, problem: ModuloProblem, part: Part) -> list[str]:
        assert isinstance(part.mapping, NamedSchedule)
        kernel, schedule = part.mapping.kernel, part.mapping.schedule
        slots: dict[tuple[tuple[int, int], int], str] = {}
        for operation, placement in zip(kernel.graph.operations, schedule.placements, strict=True):
            slots[placement.pe, placement.time % schedule.ii] = operation.name
        for pe, time in schedule.moves:
            slots[pe, time % schedule.ii] = "(move)"
        used = sorted({pe for pe, _ in slots})
        shown = used[:WIDEST_GRID]
        width = max(5, *(len(text) for text in slots.values()))
        lines = ["  cycle  " + " ".join(f"{f'PE{r},{c}':{width}}" for r, c in shown)]
        for cycle in range(schedule.ii):
            lines.append(
                f"  {cycle:5}  " + " ".join(f"{slots.get((pe, cycle), '·'):{width}}" for pe in shown)
            )
        if len(used) > len(shown):
            lines.append(f"  {len(used) - len(shown)} more PEs are in use")
        lines += self._reasons(problem) + [f"  note     {note}" for note in kernel.notes]
        return [line.rstrip() for line in lines]

    def _reasons(self, problem: ModuloProblem) -> list[str]:
        """Why the initiation interval cannot be smaller: the resource and the recurrence that bind."""
        graph, machine = problem.kernel.graph, problem.machine
        lines = []
        for name, interval in (("ResMII", res_mii(graph, machine)), ("RecMII", rec_mii(graph, machine))):
            members = [graph.operations[position].name for position in interval.operations[:8]]
            named = (
                f" ({', '.join(members)}{', …' if len(interval.operations) > 8 else ''})" if members else ""
            )
            lines.append(f"  {name} {interval.value}: {interval.cause}{named}")
        return lines

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

    def structure(self, value: Kernel) -> dict[str, Any]:
        return {"kernel": kernel_document(value)}

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> Kernel:
        fields = structure.get("kernel")
        if not isinstance(fields, dict):
            raise InputError(source, "problem.structure.kernel", "must hold the kernel's graph")
        return kernel_from_document(fields, f"{source}: problem.structure.kernel")

    def formulation(self, problem: ModuloProblem) -> Any:
        from mapper.formulations.modulo_schedule.program import build

        return build(problem)

    def simulate(self, part: PosedPart, mapping: ModuloSchedule, seed: int) -> dict[str, Any]:
        from mapper.sim.modulo_schedule import report

        problem: ModuloProblem = part.problem
        return report(problem.kernel, problem.machine, mapping, seed)

    def generate(self, part: PosedPart, mapping: ModuloSchedule, seed: int) -> dict[str, str]:
        from mapper.codegen.modulo_schedule import generate

        problem: ModuloProblem = part.problem
        return generate(problem.kernel, problem.machine, mapping)


MODULO_SCHEDULING = ModuloScheduling()
