"""The paper's way to share out PEs: in proportion to the layers' MACs, one for a pool [Heidorn2019, sec. 6]."""

from __future__ import annotations

from fractions import Fraction

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import Choice, choices
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.parallel.outcome import outcome_of, paced


def proportional(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """All PEs shared out; with ``pes`` as the objective those of the smallest array on which that keeps the pace."""
    most = problem.most_pes
    first = min(len(problem.network.layers), most) if problem.objective == "pes" else most
    for total in range(first, most + 1):
        if effort.stopped() is not None:
            break
        chosen = _share(problem, total)
        found = None if chosen is None else paced(problem, chosen)
        if found is not None:
            return outcome_of(problem, found, effort)
    return outcome_of(problem, None, effort)


def _share(problem: AllocationProblem, total: int) -> tuple[Choice, ...] | None:
    """Shares of ``total`` PEs by largest remainder, at least one a layer; None if pins or PEs do not allow it.

    A layer keeps of its share what helps it.
    """
    layers = problem.network.layers
    offered = [choices(problem, layer) for layer in layers]
    if not all(offered):
        return None
    given = [problem.pin(layer).pes for layer in layers]
    heavy = [
        at
        for at, layer in enumerate(layers)
        if layer.macs and layer.operation == "convolution" and not given[at]
    ]
    pes = [count or 1 for count in given]
    left = total - (sum(pes) - len(heavy))
    if left < len(heavy):
        return None
    macs = sum(layers[at].macs for at in heavy)
    shares = {at: Fraction(left * layers[at].macs, macs) for at in heavy}
    for at in heavy:
        pes[at] = max(1, int(shares[at]))
    for at in sorted(heavy, key=lambda at: (int(shares[at]) - shares[at], at)):
        if sum(pes) < total:
            pes[at] += 1
    while sum(pes) > total:
        # Layers whose share is below one PE leave too few for the others.
        pes[max(heavy, key=lambda at: (pes[at] > 1, pes[at] - shares[at]))] -= 1
    return tuple(
        min((c for c in own if c.pes <= count), key=lambda c: (c.cycles, c.units), default=own[0])
        for own, count in zip(offered, pes, strict=True)
    )


PROPORTIONAL: Method[AllocationProblem, Allocation] = Method(
    "proportional", False, "PEs in proportion to the convolutions' MACs, one for any other layer (the paper's rule)",
    proportional,
)  # fmt: skip
