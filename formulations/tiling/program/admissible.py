"""Factors that a loop may have at a level, whatever the others are: pins and dependences."""

from __future__ import annotations

from mapper.formulations.tiling.problem import TilingProblem

BACKWARD = "loops along which a dependence runs backwards are kept whole in the register files"
TIMELINE = (
    "it adds up passes and knows no timeline, as --model physical has it; use --method branch-and-bound"
)

STREAMS = "it knows whole tiles, not streams (the machine's rules.filling); use --method branch-and-bound"


def refusal(problem: TilingProblem) -> str | None:
    """Why the programs do not take a problem, if they do not."""
    if problem.machine.rules.timing == "timeline":
        return TIMELINE
    return STREAMS if problem.machine.streams else None


def backward_loops(problem: TilingProblem) -> frozenset[str]:
    """Loops along which a dependence runs backwards: tiling them may run a sink before its source."""
    nest = problem.nest
    return frozenset(
        loop for vector in nest.dependences for loop, step in zip(nest.loops, vector, strict=True) if step < 0
    )


def may_be(problem: TilingProblem, loop: str, level: str, factor: int) -> bool:
    """Whether ``factor`` may be that of ``loop`` at ``level``: pins hold, loops that carry a dependence stay out of
    space, and loops with a negative distance whole in the register files."""
    nest = problem.nest
    if level == "spatial" and loop in nest.sequential_loops and factor > 1:
        return False
    if loop in backward_loops(problem) and factor != (nest.trip_counts[loop] if level == "rf" else 1):
        return False
    return problem.pins.allows(loop, level, factor)
