"""Proofs of whole kernels: how often everything runs, the evidence for every loop, and their sum."""

from __future__ import annotations

from typing import Any

from mapper.formulations.modulo_schedule.parity import least_bound
from mapper.formulations.modulo_schedule.whole.bound import least_loop_cycles, outside_cycles
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.models.modulo_schedule.whole.cost import entry_operations
from mapper.models.modulo_schedule.whole.mapping import WholeMapping
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.evidence import (
    Evidence,
    at_least,
    graph_document,
    machine_document,
    schedule_document,
)
from mapper.solver.proof import Claim, NotCertifiedError, Proof

OBJECTIVE = "least cycles of a whole kernel"


def prove_whole(problem: WholeProblem, claim: Claim[WholeMapping], effort: Effort) -> Proof:
    """The proof of ``claim``: a bound for every loop of every choice, and schedules for the chosen one's.

    Raises: NotCertifiedError if what can be shown of the loops does not add up to what is claimed.
    """
    if claim.bound is None or claim.status == "infeasible":
        raise NotCertifiedError("that a whole kernel has no mapping has no checker; certify its loops alone")
    claimed, mapping = int(claim.bound), claim.mapping
    bounds = [_shown(choice, claimed, mapping, effort) for choice in problem.choices]
    chosen = schedules = None
    if mapping is not None:
        choice = problem.choice(mapping.nest)
        chosen = problem.choices.index(choice)
        pairs = zip(choice.loops, mapping.loops, strict=True)
        schedules = [schedule_document(loop, schedule) for loop, schedule in pairs]
    evidence = {"rule": "sum", "choice": chosen, "mapping": schedules, "bound": bounds}
    value = None if claim.value is None else int(claim.value)
    return Proof(whole_document(problem), claim.status, value, claimed, evidence)


def _shown(
    choice: WholeProblem, claimed: int, mapping: WholeMapping | None, effort: Effort
) -> list[Evidence]:
    """Why no schedules of ``choice`` take fewer cycles than ``claimed``: arguments, and where those are too weak,
    refutations of the intervals below that of the schedule that was found."""
    least = [least_bound(loop) for loop in choice.loops]
    shown = [at_least(loop, ii, effort) for loop, ii in zip(choice.loops, least, strict=True)]
    for number, loop in enumerate(choice.loops):
        if _sum(choice, least) >= claimed:
            break
        if mapping is None or mapping.nest != choice.whole.nest or mapping.loops[number].ii == least[number]:
            continue
        try:
            shown[number] = at_least(loop, mapping.loops[number].ii, effort)
            least[number] = mapping.loops[number].ii
        except NotCertifiedError:
            continue  # a smaller II may have a schedule
    if _sum(choice, least) < claimed:
        raise NotCertifiedError(
            f"of nest {choice.whole.nest} only {_sum(choice, least):,} cycles can be shown, not {claimed:,}"
        )
    return shown


def _sum(choice: WholeProblem, least: list[int]) -> int:
    return outside_cycles(choice) + sum(
        least_loop_cycles(choice, number, ii) for number, ii in enumerate(least)
    )


def whole_document(problem: WholeProblem) -> dict[str, Any]:
    """The problem as plain numbers: for every choice what the host does, how often each loop runs, and its graph."""
    machine = problem.machine
    mode, memory = machine.vliw, machine.configuration_memory
    prices = ("set_up_cycles", "live_in_cycles", "address_cycles")
    return {
        "objective": OBJECTIVE,
        "machine": machine_document(machine),
        "vliw": None if mode is None else {name: getattr(mode, name) for name in prices},
        "configuration_memory": None
        if memory is None
        else {"contexts": memory.contexts, "context_cycles": memory.context_cycles},
        "choices": [_choice(choice) for choice in problem.choices],
    }


def _choice(choice: WholeProblem) -> dict[str, Any]:
    tally = choice.tally
    loops = []
    for number, (kernel, start) in enumerate(zip(choice.whole.kernels, choice.whole.starts, strict=True)):
        loops.append(
            {
                **graph_document(kernel.graph),
                "starts": tally.starts(number),
                "iterations": tally.iterations(number),
                "changes": tally.changes[number],
                "entry": dict(sorted(entry_operations(kernel).items())),
                "addresses": sum(bool(one.offsets) for one in kernel.live_ins),
                "values": sum(bool(one.operands or one.initial) for one in kernel.live_ins),
                "results": len(start.results),
            }
        )
    return {"nest": choice.whole.nest, "host": dict(sorted((+tally.operations).items())), "loops": loops}
