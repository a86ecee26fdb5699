"""Why mixed mode has no allocation: a run that the buffers or the PEs are too small for, or too little throughput."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import choices
from mapper.formulations.pe_allocation.program.delay import least_line_buffers
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.storage import fused_words
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.mixed.exact import search_mixed
from mapper.solver.pe_allocation.mixed.streamed_runs import run_network
from mapper.solver.pe_allocation.mixed.streaming import search_streamed


def why_mixed_infeasible(problem: AllocationProblem) -> str | None:
    """The reason in a sentence with its numbers; None if nothing here speaks against an allocation.

    Layers share no PEs here, which says nothing of those that do.
    """
    if problem.sharing:
        return None
    network, most = problem.network, problem.most_bytes
    for run in _least_runs(problem):
        named = " to ".join(
            dict.fromkeys((network.layers[run.start].name, network.layers[run.stop - 1].name))
        )
        weights, between = fused_words(network, run)
        if problem.model == "streaming":
            between = least_line_buffers(run_network(network, run.start, run.stop))
        needs = (weights + between) * problem.machine.word_bytes
        if most is not None and needs > most:
            return f"{named} alone needs {needs:,} bytes of buffers, and there are {most:,}"
        pes = sum(
            min((choice.pes for choice in choices(problem, network.layers[at])), default=1) for at in run
        )
        if pes > problem.most_pes:
            return f"{named} alone needs {pes:,} PEs, and there are {problem.most_pes:,}"
    if problem.longest_interval is None:
        return None
    search = search_streamed if problem.model == "streaming" else search_mixed
    fastest = search(replace(problem, objective="throughput", longest_interval=None), Effort()).mapping
    if fastest is None:
        return None
    cost = evaluate(network, problem.machine, fastest, problem.model)
    if cost.interval <= problem.longest_interval:
        return None
    asked = problem.machine.clock_hz / max(1, problem.longest_interval)
    return (
        f"on {problem.most_pes:,} PEs the most possible in mixed mode is {float(cost.throughput):,.3f} frames per "
        f"second ({cost.interval:,} cycles a frame), and at least {asked:,.3f} is asked for"
    )


def _least_runs(problem: AllocationProblem) -> Iterator[range]:
    """The runs that are given, or the shortest there can be."""
    count = len(problem.network.layers)
    starts = (*(problem.segments or range(count)), count)
    for first, end in itertools.pairwise(starts):
        yield range(first, end)
