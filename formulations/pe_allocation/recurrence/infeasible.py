"""Why a recurrence has no mapping to a TCPA, in a sentence."""

from __future__ import annotations

from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem


def why_recurrence_infeasible(problem: RecurrenceProblem) -> str | None:
    """Why ``problem`` has no mapping; None if nothing here speaks against one."""
    room = problem.most_bytes
    if room is not None and problem.bytes_needed > room:
        return f"the tensors need {problem.bytes_needed:,} bytes of buffers, and there are {room:,}"
    if not any(
        problem.keeps_tiles(axes) and problem.sizes(axes, 0) and problem.sizes(axes, 1)
        for axes in problem.axes()
    ):
        return "the tiles that are pinned are more than the array has room for, or shorter than a value goes"
    return None
