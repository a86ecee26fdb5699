"""What PEs and memory allow at most: counted by hand, and above whatever a search reaches."""

from __future__ import annotations

from fractions import Fraction

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.limit import limit, limits
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.network.cost import evaluate_layer
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.tuning import unoptimised
from mapper.workloads.source import load_layers
from tests.codegen.modulo_schedule.small_layer import pool_layer, window_of


def machine_named(name: str) -> CgraMachine:
    found = load_machine(name)[0]
    assert isinstance(found, CgraMachine)
    return found


def problem_of(layer: str, machine: str = "srp-4x4") -> LayerProblem:
    return LayerProblem(load_layers(layer).layers[0], machine_named(machine))


def test_a_product_has_two_operations_on_eight_float_pes_for_each_mac() -> None:
    known = {one.algorithm: one for one in limits(problem_of("lenet5/conv2"))}
    # 1.6 million products and sums, 3,200 biases: 400,000 cycles on 8 PEs, which loads do not reach.
    assert known["im2col+gemm"].pes == Fraction(2 * 1_600_000, 8) + Fraction(3200, 16)
    assert known["im2col+gemm"].by_pes < 4.0 < known["im2col+gemm"].by_ports


def test_transformed_tiles_go_beyond_four_macs_a_cycle() -> None:
    known = {one.algorithm: one for one in limits(problem_of("cifar10/conv3"))}
    assert known["winograd-4x4"].by_pes > known["winograd"].by_pes > 2 * known["im2col+gemm"].by_pes


def test_the_loosest_limit_comes_first_and_pools_have_none() -> None:
    found = limits(problem_of("cifar10/conv3"))
    assert [one.cycles for one in found] == sorted(one.cycles for one in found)
    pool = pool_layer("MaxPool", (1, 2, 6, 6), window_of(2, 2))
    assert limits(LayerProblem(pool, machine_named("srp-4x4"))) == ()


def test_what_is_reached_is_a_share_of_the_limit() -> None:
    problem = problem_of("cifar10/conv8", "srp-2x2")
    mapping = unoptimised(problem, Effort()).mapping
    assert mapping is not None
    algorithm = problem.choice(mapping.algorithm)
    cycles = evaluate_layer(algorithm, "Conv", problem.machine, mapping).cycles
    own = limit(problem, algorithm)
    assert own is not None and 0.0 < own.share(cycles) <= 1.0
    assert 0.0 < limits(problem)[0].share(cycles) <= own.share(cycles)
