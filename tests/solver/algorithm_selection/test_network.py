"""Every network of the catalogue is posed and solved; the paper's flow is met where it can be."""

from __future__ import annotations

import numpy as np
import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.models.algorithm_selection.cost import evaluate
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.solver.algorithm_selection.exact.brute_force import brute_force
from mapper.solver.algorithm_selection.exact.fixed import solve_at
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.algorithm_selection.heuristic.algorithm_one import algorithm_one
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers


def posed(network: str, **changed: object) -> SelectionProblem:
    machine, _ = load_machine("dynamap-u200-model")
    assert isinstance(machine, OverlayMachine)
    fields = machine.model_dump(by_alias=True) | changed
    return SelectionProblem(overlay_network(load_layers(network), OverlayMachine.model_validate(fields)))


COMPUTE_ALONE = {"bandwidth_gb_s": None, "initialisation": {"factor": 1, "per": "product"}}


def test_algorithm_1_is_two_hundredths_of_a_percent_from_the_published_shape() -> None:
    problem = posed("googlenet-224", **COMPUTE_ALONE)
    assert algorithm_one(problem) == (90, 66)
    times = [sum(_sum_on_array(problem, shape)) for shape in ((90, 66), (92, 66))]
    assert times[1] / times[0] - 1 == pytest.approx(0.0002, abs=5e-5)


def test_without_initialisation_the_published_shape_is_second_for_algorithm_1() -> None:
    problem = posed("googlenet-224", bandwidth_gb_s=None)
    first = algorithm_one(problem)
    assert first is not None
    times = [sum(_sum_on_array(problem, shape)) for shape in (first, (92, 66))]
    assert times[1] / times[0] - 1 == pytest.approx(0.004, abs=5e-4)


def _sum_on_array(problem: SelectionProblem, shape: tuple[int, int]) -> list[int]:
    sides = np.array([shape[0]], np.int64), np.array([shape[1]], np.int64)
    return [int(costs.sum()) for costs in GraphBuilder(problem).on_array(*sides)]


@pytest.mark.parametrize(
    "network", ["inception-v2", "inception-v4", "resnet50", "squeezenet", "densenet121", "vgg19", "alexnet"]
)
def test_a_network_has_a_proven_selection_that_the_referee_accepts(network: str) -> None:
    problem = posed(network, layers={"average_pool": "convolution", "fully_connected": "product"})
    found = joint(problem, Effort())
    assert found.proven and found.mapping is not None
    verdict = verify(problem, found.mapping)
    assert verdict.valid and verdict.cost is not None and verdict.cost.cycles == found.value == found.bound
    breakdown = verdict.cost.breakdown_json(problem.network)
    assert sum(breakdown["cycles"].values()) == found.value
    assert all(0 < one["utilisation"] <= 9 / 4 for one in breakdown["layers"].values())


def test_the_overlay_of_inception_v4_is_62_x_98_by_the_equations() -> None:
    found = joint(posed("inception-v4"), Effort())
    assert found.mapping is not None and found.mapping.array == (62, 98)


def test_brute_force_tries_no_network_of_real_size() -> None:
    found = brute_force(posed("alexnet"), Effort())
    assert found.mapping is None and not found.proven and found.restrictions


def test_costs_that_would_leave_64_bits_are_refused() -> None:
    machine, _ = load_machine("dynamap-u200-model")
    assert isinstance(machine, OverlayMachine)
    problem = SelectionProblem(overlay_network(load_layers("vgg19", 4096), machine))
    with pytest.raises(InputError, match="64 bits"):
        joint(problem, Effort())


def test_maps_that_fit_stay_on_the_chip_and_save_their_traffic() -> None:
    kept = posed("alexnet", traffic={"onchip_bytes": 1 << 24})
    solved, plain = solve_at(kept, (64, 64)), solve_at(posed("alexnet"), (64, 64))
    assert solved is not None and plain is not None
    assert len(solved.selection.on_chip) == 4 and solved.units < plain.units
    assert evaluate(kept.network, solved.selection).words["output"] == 0
    small = SelectionProblem(posed("alexnet", traffic={"onchip_bytes": 1 << 10}).network)
    broken = verify(small, solved.selection).broken
    assert {rule.place for rule in broken} == {"conv1", "conv2", "conv3", "conv4"}
