"""Why a loop nest has no mapping to a TCPA, in a sentence."""

from __future__ import annotations

from mapper.formulations.pe_allocation.nest.problem import NestProblem


def why_nest_infeasible(problem: NestProblem) -> str | None:
    """Why ``problem`` has no mapping; None if nothing here speaks against one."""
    room = problem.most_bytes
    if room is not None and problem.bytes_needed > room:
        return f"the tensors need {problem.bytes_needed:,} bytes of buffers, and there are {room:,}"
    generators, count = problem.machine.border.address_generators, least_streams(problem)
    if generators is not None and count > generators:
        return f"the operands need {count:,} address generators at the least, and there are {generators:,}"
    if problem.pins.tile and not any(_fits(problem, rows, columns) for rows, columns in problem.axes()):
        return "the tiles that are pinned are more than the array has rows and columns for"
    return None


def least_streams(problem: NestProblem) -> int:
    """Streams that enter and leave a single PE, which no mapping has fewer of."""
    return sum(
        2 if operand.is_updated and not operand.zero_initialised else 1 for operand in problem.nest.operands
    )


def _fits(problem: NestProblem, rows: str | None, columns: str | None) -> bool:
    most = {rows: problem.machine.rows, columns: problem.machine.columns}
    tiles = {loop: -(-problem.nest.trip_counts[loop] // size) for loop, size in problem.pins.tile.items()}
    pes = tiles.get(rows or "", 1) * tiles.get(columns or "", 1)
    return pes <= problem.most_pes and all(count <= most.get(loop, 1) for loop, count in tiles.items())
