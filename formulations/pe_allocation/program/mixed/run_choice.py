"""What the integer linear program of mixed mode chooses from: the trade-offs of every run of fused layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.mixed.fused_run import RunPoint, fused_front
from mapper.formulations.pe_allocation.program.mixed.run_table import run_table
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.segment import leaving
from mapper.models.pe_allocation.storage import entering_words, fused_words, leaving_words, output_words


@dataclass(frozen=True)
class RunChoice:
    """A run of layers ``first`` to ``last`` with the least ``cycles`` that ``pes`` PEs allow. ``interval`` between
    frames: that of overlapping frames if the run has all layers, else its cycles. ``words`` that it needs by itself
    (Eq. 15); ``traffic``: words that cross the chip's border in any case, weights, frame and results."""

    first: int
    last: int
    pes: int
    interval: int
    cycles: int
    words: int
    traffic: int


def run_choices(
    problem: AllocationProblem,
    stopped: Callable[[], bool] = lambda: False,
    known: Allocation | None = None,
) -> list[tuple[RunChoice, RunPoint]]:
    """Every trade-off of every run, for the program and in full: those found until ``stopped`` says so, of which what
    is no better than the allocation ``known`` may be left out."""
    network = problem.network
    found: list[tuple[RunChoice, RunPoint]] = []
    table = run_table(problem, stopped, known)
    for begun in table.runs:
        for run in begun:
            members = range(run.first, run.last + 1)
            maps = sum(output_words(network.layers[at]) for at in leaving(network, members))
            read = {feed for at in members for feed in network.layers[at].feeds if feed < run.first}
            fixed = run.traffic - maps - sum(output_words(network.layers[feed]) for feed in read)
            found += [
                (
                    RunChoice(run.first, run.last, point.pes, point.cycles, point.cycles, run.words, fixed),
                    point,
                )
                for point in run.front.points()
            ]
    fused = fused_front(problem, stopped, known)
    every = range(len(network.layers))
    for point in () if fused is None else fused.points():
        words, traffic = (
            sum(fused_words(network, every)),
            entering_words(network, every) + leaving_words(network, every),
        )
        choice = RunChoice(0, every[-1], point.pes, point.interval, point.cycles, words, traffic)
        found.append((choice, point))
    return found
