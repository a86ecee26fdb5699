"""What a claim on a partition rests on, for `checkers/check_trace_partition.py` [Chang2018, sec. 4].

Partitions are chains: each layer takes a residency, neighbours agree on what stays between them, and in a residency the
best option is enough. The document holds the table of residencies with what options cost, as the solver found them, and
potentials, which show that no chain of the table is better. The costs are not restated by the checker, which therefore
certifies nothing of this kind; it refutes chains that are wrong.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option_cost import in_unit
from mapper.formulations.trace_partition.program.option_table import OptionTable, option_table
from mapper.formulations.trace_partition.program.residency import Residency
from mapper.models.trace_partition.cost import evaluate
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, Proof

HOST = {"name": "host", "residencies": ["nothing stays"]}
"""What the host adds to every partition stands at the end of the chain, as a layer of one option."""
UNITS = {"latency": "cycles", "traffic": "bytes", "energy": "pJ"}


def prove(problem: PartitionProblem, claim: Claim[Partition], effort: Effort) -> Proof:
    """The chain that shows ``claim``. Options are searched again, since claims do not hold what was left out.

    Raises: NotCertifiedError if the effort ended before the options were known, or the table says otherwise.
    """
    table = option_table(problem, lambda: effort.stopped() is not None)
    potentials = chain_potentials(table)
    ends = [one for one in potentials[-1] if one is not None]
    document = table_document(table)
    evidence: dict[str, Any]
    if claim.mapping is None:
        if claim.status != "infeasible" or ends:
            raise NotCertifiedError("no partition is claimed, and the table of options has one")
        evidence = {"rule": "chain", "path": None, "potentials": potentials}
        return Proof(document, "infeasible", None, None, evidence)
    path = [_place(table, at, mapping) for at, mapping in enumerate(claim.mapping.layers)]
    if problem.host_part:
        path.append(0)
    costs = [layer["costs"][place] for layer, place in zip(document["layers"], path, strict=True)]
    model = evaluate(problem.network, problem.machine, problem.configuration, claim.mapping)
    if None in costs or in_unit(problem, sum(costs) - problem.host_part) != problem.value(model):
        raise NotCertifiedError("the partition takes options that are not the best of their residencies")
    value, bound = sum(costs), min(ends)
    if claim.status == "optimal" and bound != value:
        raise NotCertifiedError("the options were not searched to the end")
    parts = document["parts"]
    evidence = {"rule": "chain", "path": path, "potentials": potentials}
    return Proof(document, claim.status, Fraction(value, parts), Fraction(bound, parts), evidence)


def table_document(table: OptionTable) -> dict[str, Any]:
    """The table of options, as the document gives it."""
    problem = table.problem
    numbered = [{one: number for number, one in enumerate(layer)} for layer in table.layers]
    host = problem.host_part
    return {
        "objective": problem.objective,
        "sense": "least",
        "unit": UNITS[problem.objective],
        "parts": problem.machine.energy_pj.parts if problem.objective == "energy" else 1,
        "layers": [
            {
                "name": layer.name,
                "residencies": [_said(one) for one in found],
                "costs": [None if one.best is None else one.best.rank[0] for one in found.values()],
                "floors": [None if one.floor is None else one.floor[0] for one in found.values()],
            }
            for layer, found in zip(problem.network.traced, table.layers, strict=True)
        ]
        + [HOST | {"costs": [host], "floors": [host]}] * bool(host),
        "agreed": [
            sorted([numbered[at][one], numbered[at + 1][other]] for one, other in pairs)
            for at, pairs in enumerate(table.residencies.agreed)
        ]
        + [[[one, 0] for one in numbered[-1].values()]] * bool(host),
    }


def chain_potentials(table: OptionTable) -> list[list[int | None]]:
    """For each layer and residency the least that a chain costs up to it; None if there is none."""
    found: list[list[int | None]] = []
    before: dict[Residency, int] = {}
    for at, layer in enumerate(table.layers):
        now: dict[Residency, int] = {}
        for residency, searched in layer.items():
            ways = [0]
            if at:
                agreed = table.residencies.agreed[at - 1]
                ways = [paid for one, paid in before.items() if (one, residency) in agreed]
            if searched.floor is not None and ways:
                now[residency] = min(ways) + searched.floor[0]
        found.append([now.get(residency) for residency in layer])
        before = now
    if table.problem.host_part:
        found.append([min(before.values()) + table.problem.host_part if before else None])
    return found


def _place(table: OptionTable, at: int, mapping: LayerMapping) -> int:
    stays = mapping.input_resident, mapping.output_resident
    lies = (mapping.mode, mapping.unit_split, mapping.cluster_split) if any(stays) else None
    return list(table.layers[at]).index(Residency(*stays, lies))


def _said(residency: Residency) -> str:
    stays = [
        name
        for name, stay in zip(
            ("input", "output"), (residency.input_resident, residency.output_resident), strict=True
        )
        if stay
    ]
    if residency.distribution is None:
        return "nothing stays"
    mode, units, clusters = residency.distribution
    return f"{' and '.join(stays)} stay, {mode}, units by {units}, clusters by {clusters}"
