"""Seconds to prove allocations of the catalogue's networks: the integer linear program, CP-SAT and brute force.

Placement is left out: it is a step of its own. Without ``--min-throughput`` the fewest PEs are sought for half of the
most throughput that the array has.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from functools import partial

from bench.measure import measure, show
from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.bound import least_interval
from mapper.formulations.pe_allocation.problem import OBJECTIVES, AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import MODELS
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.parallel.brute_force import BRUTE_FORCE
from mapper.solver.pe_allocation.parallel.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.pe_allocation.parallel.integer_program import INTEGER_PROGRAM
from mapper.workloads.source import load_layers

NETWORKS = (
    "mnist-tcpa",
    "lenet5",
    "cifar10",
    "alexnet",
    "zfnet512",
    "vgg19",
    "squeezenet",
    "googlenet",
    "resnet18",
    "resnet50",
    "shufflenet",
    "inception-v2",
    "inception-v4",
    "densenet121",
)
ARRAYS = ("tcpa-4x4", "tcpa-16x16", "tcpa-64x64")
METHODS = (INTEGER_PROGRAM, CONSTRAINT_PROGRAM, BRUTE_FORCE)
TARGET_SECONDS = 10.0


def main() -> None:
    """Print one line per network, array and objective."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--arrays", nargs="+", default=list(ARRAYS))
    parser.add_argument("--model", choices=MODELS[:2], default="calculus")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one method on one problem")
    given = parser.parse_args()
    lines, slowest = [], 0.0
    for name in given.networks:
        network = stream_network(load_layers(name, None))
        for array in given.arrays:
            document = tcpa_preset(array)
            assert document is not None
            posed = AllocationProblem(network, tcpa_from_document(document, array), model=given.model)
            least = least_interval(posed, posed.most_pes)
            if least is None:
                continue
            for objective in OBJECTIVES:
                longest = 2 * least if objective == "pes" else None
                line, seconds = _line(
                    replace(posed, objective=objective, longest_interval=longest), given.seconds
                )
                lines.append([f"{name} on {array}", str(len(network.layers)), objective, *line])
                slowest = max(slowest, seconds)
    heading = ["network", "layers", "objective", "value", "fps", "cycles", "PEs", "proven"]
    heading += [f"{method.name} s" for method in METHODS]
    show(f"Proven allocations, model {given.model}, {given.seconds:g} s at the most each:", heading, lines)
    print(f"slowest integer linear program: {slowest:.1f} s ({slowest / TARGET_SECONDS:.2f} of the target)")


def _line(problem: AllocationProblem, limit: float) -> tuple[list[str], float]:
    """What is found, whether all that prove agree, and every method's seconds; a dash where it proves nothing."""
    seconds, found = [], []
    for method in METHODS:
        run = measure(partial(method.search, problem, Effort(deadline=time.monotonic() + limit)))
        found.append(run.result)
        seconds.append(f"{run.wall:.2f}" if run.result.proven else "–")
        if method is INTEGER_PROGRAM:
            first = run.wall
    values = {outcome.value for outcome in found if outcome.proven}
    said = "no" if not values else "yes" if len(values) == 1 else "DISAGREE"
    best = found[0].mapping
    verdict = None if best is None else verify(problem, best)
    if verdict is None or verdict.cost is None:
        return ["–", "–", "–", "–", said, *seconds], first
    cost = verdict.cost
    shown = [f"{found[0].value:,.10g}", f"{float(cost.throughput):,.3f}", f"{cost.cycles:,}", str(cost.pes)]
    return [*shown, said if verdict.valid else "INVALID", *seconds], first


if __name__ == "__main__":
    main()
