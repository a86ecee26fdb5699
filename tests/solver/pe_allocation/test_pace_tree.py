"""The tree of paces proves what trying everything finds, and what it shows of a node holds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.goal import Limits
from mapper.formulations.pe_allocation.program.instance import AllocationInstance, instance_of
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.solver.method import Effort, Method
from mapper.solver.pe_allocation.catalogue import AUTOMATIC
from mapper.solver.pe_allocation.pace.relaxation import Relaxed
from mapper.solver.pe_allocation.pace.search import pace_tree
from mapper.solver.pe_allocation.pace.tree import PaceTree
from mapper.solver.pe_allocation.pace.weight import weights_of
from mapper.solver.pe_allocation.parallel.brute_force import BRUTE_FORCE
from mapper.workloads.source import load_layers
from tests.solver.pe_allocation.random_allocation import problems
from tests.solver.pe_allocation.test_agreement import proven_rank

PACE_TREE = Method("pace tree", True, "", pace_tree)
thorough = settings(
    derandomize=True, deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
RESNET18_LEAST = 8_481_332
"""Least latency of ResNet-18 on 16x16 PEs, as two solvers of integer programs have it as well."""


def posed(workload: str, array: str, objective: str = "latency") -> AllocationProblem:
    document = tcpa_preset(array)
    assert document is not None
    network = stream_network(load_layers(workload, None))
    return AllocationProblem(network, tcpa_from_document(document, array), objective, "streaming")  # type: ignore[arg-type]


def instance(problem: AllocationProblem) -> AllocationInstance:
    return instance_of(problem, "cycles", Limits(problem.most_pes))


@thorough
@given(problems("streaming", 3, pins=True))
def test_it_proves_what_trying_everything_finds(problem: AllocationProblem) -> None:
    best, found = proven_rank(problem, BRUTE_FORCE), proven_rank(problem, PACE_TREE)
    # Of ties only the first is proven.
    assert (best and best[0]) == (found and found[0])


@pytest.mark.parametrize(
    ("objective", "workload"),
    [("latency", "vgg19"), ("throughput", "vgg19"), ("pes", "vgg19"), ("latency", "resnet18")],
)
def test_large_networks_are_proven(objective: str, workload: str) -> None:
    found = AUTOMATIC.search(posed(workload, "tcpa-16x16", objective), Effort())
    assert found.proven and found.method == "pace tree" and found.value == found.bound
    assert workload != "resnet18" or found.value == RESNET18_LEAST


@pytest.mark.parametrize("nodes", [1, 60])
def test_a_tree_that_is_cut_short_bounds_the_least_latency(nodes: int) -> None:
    of = instance(posed("resnet18", "tcpa-16x16"))
    tree = PaceTree(of, of.cycles[1] + 1)
    assert not tree.search(Effort(), nodes)
    assert of.cycles[0] < tree.bound <= RESNET18_LEAST <= tree.below


def test_nothing_below_the_least_latency_is_found() -> None:
    tree = PaceTree(instance(posed("resnet18", "tcpa-16x16")), RESNET18_LEAST)
    assert tree.search(Effort()) and tree.best is None and tree.bound == RESNET18_LEAST


def test_multipliers_that_bound_nothing_are_still_valid() -> None:
    """Any multipliers show something true: here those of the last layer's end alone, one path, and a price for PEs."""
    of = instance(posed("mnist-tcpa", "tcpa-4x4"))
    tree = PaceTree(of, of.cycles[1] + 1)
    count, rows = len(of.choices), len(tree.starts)
    relaxed = Relaxed([1.0] * count, [1.0] * count, [0.0] * (count - 1) + [0.75], [0.4] * rows, 17.0)
    weights = weights_of(relaxed, tree.relaxation, [high for _, high in of.pace], of.limits.pes)
    assert tree.search(Effort()) and tree.best is not None
    pes = sum(int(one.pes[at]) for one, at in zip(tree.steps, tree.best.steps, strict=True))
    paces = zip(weights.layers, tree.best.paces, strict=True)
    shown = sum(weight * pace for weight, pace in paces) + weights.pes * (pes - of.limits.pes)
    shown += weights.fixed
    assert 0 < shown <= weights.total * tree.best.latency
