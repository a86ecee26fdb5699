"""What may stay in Buf around every layer, and which of these residencies neighbours can be in together.

Which data two layers may share depends on splits, mode and the tiles that residency prescribes, not on the sizes that
it leaves free: one mapping of a residency stands for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import NamedTuple

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option import Family, families
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import Mode, Split
from mapper.models.trace_partition.residency import linked, obstacle


class Residency(NamedTuple):
    """What stays in Buf before and after a layer, and how its maps then lie in the units (None: any way)."""

    input_resident: bool
    output_resident: bool
    distribution: tuple[Mode, Split, Split | None] | None


Groups = dict[Residency, tuple[Family, ...]]


@dataclass(frozen=True)
class Residencies:
    """For every layer its residencies with the families of decisions that each has, and for every layer but the last
    the pairs of residencies in which it and the next agree on what stays between them."""

    layers: tuple[Groups, ...]
    agreed: tuple[frozenset[tuple[Residency, Residency]], ...]


def residencies_of(problem: PartitionProblem) -> Residencies:
    """The residencies of all layers, without those for which a neighbour has no counterpart."""
    traced, links = problem.network.traced, linked(problem.network)
    befores = (False, *links[:-1])
    layers = [
        _groups(problem, layer, before, after)
        for layer, before, after in zip(traced, befores, links, strict=True)
    ]
    while True:
        agreed = [_agreed(problem, at, one, other) for at, (one, other) in enumerate(pairwise(layers))]
        kept = [_with_partners(at, groups, agreed) for at, groups in enumerate(layers)]
        if list(map(len, kept)) == list(map(len, layers)):
            return Residencies(tuple(kept), tuple(agreed))
        layers = kept


def _groups(problem: PartitionProblem, layer: TraceLayer, before: bool, after: bool) -> Groups:
    """The residencies that the layer's own work allows."""
    found: dict[Residency, list[Family]] = {}
    for stays in product((False, True) if before else (False,), (False, True) if after else (False,)):
        for family in families(problem, layer, *stays):
            residency = Residency(*stays, None)
            if any(stays):
                residency = Residency(*stays, (family.mode, family.unit_split, family.cluster_split))
            found.setdefault(residency, []).append(family)
    return {residency: tuple(group) for residency, group in found.items()}


def _agreed(
    problem: PartitionProblem, at: int, one: Groups, other: Groups
) -> frozenset[tuple[Residency, Residency]]:
    first, second = problem.network.traced[at : at + 2]
    sharing = problem.configuration.sharing
    found = set()
    for before, after in product(one, other):
        if before.output_resident == after.input_resident and (
            not before.output_resident
            or obstacle(first, one[before][0].largest, second, other[after][0].largest, sharing) is None
        ):
            found.add((before, after))
    return frozenset(found)


def _with_partners(at: int, groups: Groups, agreed: list[frozenset[tuple[Residency, Residency]]]) -> Groups:
    """The residencies that agree with one of each neighbour; those without residency stay in any case."""
    after = {one for one, _ in agreed[at]} if at < len(agreed) else set(groups)
    before = {other for _, other in agreed[at - 1]} if at > 0 else set(groups)
    return {
        residency: group
        for residency, group in groups.items()
        if residency.distribution is None or (residency in before and residency in after)
    }
