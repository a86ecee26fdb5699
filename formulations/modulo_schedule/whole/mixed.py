"""Of the nests that may be one loop each, those where that has the lower bound."""

from __future__ import annotations

from dataclasses import replace

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.whole.bound import bound
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.workloads.c.whole.kernel import whole_from_c
from mapper.workloads.whole.program import FLATTEN, MIXED, WholeKernel


def with_mixed(whole: WholeKernel, machine: CgraMachine) -> WholeKernel:
    """``whole``, which may be run by the host or flattened, with a third choice where that is neither of them: only
    those nests are one loop that take fewer cycles by it, as far as bounds tell.

    Raises: InputError if data decide how often loops run.
    """
    candidates = [start.kernel for one in whole.others for start in one.starts if start.inner is not None]
    if len(candidates) < 2:
        return whole
    least = bound(WholeProblem(replace(whole, others=()), machine))
    better = frozenset(
        one for one in candidates if bound(WholeProblem(_joined(whole, frozenset({one})), machine)) < least
    )
    if len(better) in (0, len(candidates)):
        return whole
    return replace(whole, others=(*whole.others, replace(_joined(whole, better), nest=MIXED)))


def _joined(whole: WholeKernel, kernels: frozenset[int]) -> WholeKernel:
    """The function of which only these kernels are one with the loop around them."""
    return whole_from_c(whole.text, whole.name, whole.name, whole.function, whole.reading, FLATTEN, kernels)[
        0
    ]
