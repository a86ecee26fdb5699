"""The referee of whole kernels: a valid schedule for every loop, and words that fit into the configuration memory."""

from __future__ import annotations

from collections.abc import Iterator

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.modulo_schedule.whole.cost import WholeCost, evaluate_whole
from mapper.models.modulo_schedule.whole.mapping import WholeMapping

FITS = "words fit into the configuration memory"
SCHEDULED = "a schedule for every loop"


def verify_whole(problem: WholeProblem, mapping: WholeMapping) -> Verdict[WholeCost]:
    """Check ``mapping`` rule by rule."""
    problem = problem.choice(mapping.nest)
    kernels = problem.whole.kernels
    if len(mapping.loops) != len(kernels):
        return Verdict((BrokenRule(SCHEDULED, problem.whole.name, len(kernels) - len(mapping.loops)),), None)
    broken = tuple(_broken(problem, mapping))
    return Verdict(broken, evaluate_whole(problem.whole, problem.machine, problem.tally, mapping.loops))


def _broken(problem: WholeProblem, mapping: WholeMapping) -> Iterator[BrokenRule]:
    memory = problem.machine.configuration_memory
    for kernel, schedule in zip(problem.whole.kernels, mapping.loops, strict=True):
        if memory is not None and schedule.ii > memory.contexts:
            yield BrokenRule(FITS, kernel.name, schedule.ii - memory.contexts)
        for rule in verify(ModuloProblem(kernel, problem.machine), schedule).broken:
            yield BrokenRule(rule.rule, f"{kernel.name}: {rule.place}", rule.size)
