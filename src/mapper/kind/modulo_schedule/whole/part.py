"""Whole kernels as parts of the kind ``modulo_schedule``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.codegen.modulo_schedule import generate
from mapper.formulations.modulo_schedule.whole.mixed import with_mixed
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.formulations.modulo_schedule.whole.referee.verify import verify_whole
from mapper.kind.modulo_schedule.kernel_part import NamedSchedule, certified, check_units
from mapper.kind.part import ProblemPart, ShownVerdict
from mapper.models.modulo_schedule.mapping_file import schedule_from_json
from mapper.models.modulo_schedule.whole.mapping import WholeMapping
from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant
from mapper.workloads.whole.program import WholeKernel

OF_A_SCHEDULE = ("ii", "stages", "schedule", "routes")
OF_A_LOOP = {*OF_A_SCHEDULE, "loop", "starts", "iterations", "cost", "certificate"}


@dataclass(frozen=True)
class NamedWhole:
    """The mapping of a whole kernel that knows its loops, as documents need it."""

    problem: WholeProblem
    mapping: WholeMapping

    def to_json(self) -> dict[str, Any]:
        chosen = self.problem.choice(self.mapping.nest)
        whole, machine, tally = chosen.whole, chosen.machine, chosen.tally
        least = self.mapping.least or (None,) * len(whole.kernels)
        loops = []
        for number, (kernel, schedule) in enumerate(zip(whole.kernels, self.mapping.loops, strict=True)):
            counts = {"starts": tally.starts(number), "iterations": tally.iterations(number)}
            own = NamedSchedule(kernel, schedule).to_json() | certified(
                kernel, machine, schedule, least[number]
            )
            loops.append({"loop": kernel.name} | counts | own)
        return {"nest": whole.nest, "loops": loops}


def pose_whole(
    value: WholeKernel, machine: CgraMachine, fix: Mapping[str, str]
) -> tuple[ProblemPart[WholeKernel, WholeProblem], ...]:
    """The one part of a whole kernel.

    Raises: InputError for an unknown decision, an operation that no PE can execute, or loops that run as often as data
    say.
    """
    unknown = sorted(set(fix) - {"nest"})
    if unknown:
        remedy = (
            f"unknown decision; {meant(unknown[0], ('nest',))}a whole function has nest, its loops have ii"
        )
        raise InputError("--fix", unknown[0], remedy)
    problem = WholeProblem(with_mixed(value, machine), machine)
    for choice in problem.choices:
        for kernel in choice.whole.kernels:
            check_units(kernel, machine)
    return (ProblemPart(value.name, value.function, problem, (value.text, value.nest), value),)


def verify_whole_kernel(problem: WholeProblem, mapping: WholeMapping) -> ShownVerdict:
    """The referee's verdict and the model's cost."""
    verdict = verify_whole(problem, mapping)
    if verdict.cost is None:
        return ShownVerdict(verdict.broken, None, None, None)
    cost = verdict.cost
    return ShownVerdict(verdict.broken, cost.cost_json(), cost.breakdown_json(), cost.cycles)


def whole_mapping(fields: Mapping[str, Any], problem: WholeProblem, source: str) -> WholeMapping:
    """The mapping that a document says.

    Raises: InputError naming the field that is wrong.
    """
    if set(fields) != {"nest", "loops"}:
        raise InputError(source, "mapping", "must hold nest and loops; solve it again")
    whole = problem.choice(str(fields["nest"])).whole
    loops = fields["loops"]
    if not isinstance(loops, list) or len(loops) != len(whole.kernels):
        raise InputError(source, "loops", f"must list the {len(whole.kernels)} loops of {whole.name}")
    schedules = []
    for number, (entry, kernel) in enumerate(zip(loops, whole.kernels, strict=True)):
        where = f"{source}: loops.{number}"
        if not isinstance(entry, Mapping) or set(entry) - OF_A_LOOP:
            raise InputError(where, "", f"must hold {', '.join(OF_A_SCHEDULE)}")
        own = {key: value for key, value in entry.items() if key in OF_A_SCHEDULE}
        schedules.append(schedule_from_json(own, kernel, where))
    return WholeMapping(whole.nest, tuple(schedules))


def with_least(mapping: WholeMapping, pieces: Any) -> WholeMapping:
    """The mapping with the least II of each loop that a search has left.

    Raises: TypeError or ValueError if that does not belong to this mapping.
    """
    if not isinstance(pieces, list) or any(one is not None and type(one) is not int for one in pieces):
        raise TypeError("no initiation intervals")
    if len(pieces) not in (0, len(mapping.loops)):
        raise ValueError("intervals of other loops")
    return replace(mapping, least=tuple(pieces))


def generated_whole(problem: WholeProblem, mapping: WholeMapping) -> dict[str, str]:
    """Files of every loop, in a folder each, and the function that starts them."""
    files = {f"{problem.whole.function}.c": problem.whole.text}
    for number, (loop, schedule) in enumerate(
        zip(problem.choice(mapping.nest).loops, mapping.loops, strict=True)
    ):
        own = generate(loop.kernel, problem.machine, schedule)
        files |= {f"loop{number}/{name}": content for name, content in own.items()}
    return files
