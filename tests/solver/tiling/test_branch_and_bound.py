"""Branch and bound meets every known optimum, and leaves out only what cannot be better."""

from __future__ import annotations

import math
import random
import time

import pytest

from mapper.arch.source import load_machine
from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import OBJECTIVES, Objective, Pins, TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.order import unique_orders
from mapper.solver.method import Effort, Progress
from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound, count_tilings
from mapper.solver.tiling.exact.lattice import divisors_of
from mapper.solver.tiling.exact.pruning import NO_PRUNING, pruning_of
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.source import load_network

MACHINE, _ = load_machine("dmazerunner-256")
LAYERS = {layer.name: layer.nest for layer in load_network("resnet-dmazerunner").layers}

# Published: conv5_1 and conv5_2 by exhaustive search. The other four are this search's own proofs.
LEAST = {
    "conv5_2": {"edp": 6844957271165824, "energy": 2581195121, "latency": 2457488},
    "conv5_1": {"edp": 7907995514759424, "energy": 1469657784, "latency": 4198784},
    "conv4_2": {"edp": 4907837632251168, "energy": 2421110129, "latency": 2017056},
    "conv3_2": {"edp": 5600311053218816, "energy": 2441194865, "latency": 2244320},
    "conv2_2": {"edp": 7041210790216064, "energy": 2502735729, "latency": 2727424},
    "conv1": {"edp": 19282128596308480, "energy": 2882547669, "latency": 6121472},
}
TILINGS = {
    "conv5_2": (17_545_176, 14_980, 5_090, 753),
    "conv5_1": (14_295_643, 14_683, 5_097, 877),
    "conv4_2": (180_283_650, 184_737, 75_529, 10_938),
    "conv3_2": (624_640_793, 753_341, 340_397, 53_690),
    "conv2_2": (1_160_980_152, 1_390_063, 721_767, 122_092),
    "conv1": (124_179_787, 194_182, 137_102, 46_812),
}
MECHANISMS = (
    "Oy,Ox", "Fy,Fx", "M,C", "Oy,Fy", "N,M", "N,C", "N,Oy", "N,Ox", "M,Oy", "M,Ox", "M,Fy", "M,Fx", "C,Oy", "C,Ox",
    "C,Fy", "C,Fx", "Oy,Fx", "Ox,Fy", "Ox,Fx", "N,Fy", "N,Fx",
)  # fmt: skip


def problem(
    nest: LoopNest, objective: Objective = "edp", fixed: dict[str, str] | None = None
) -> TilingProblem:
    return TilingProblem(nest, MACHINE, objective, Pins.parse(fixed or {}, nest))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_is_proven_for_every_objective(layer: str, objective: Objective) -> None:
    outcome = branch_and_bound(problem(LAYERS[layer], objective), Effort())
    assert outcome.proven and outcome.stop == "complete" and not outcome.restrictions
    assert outcome.value == outcome.bound == LEAST[layer][objective]
    assert outcome.mapping is not None
    assert not verify(problem(LAYERS[layer], objective), outcome.mapping).broken


@pytest.mark.parametrize("layer", ["conv5_2", "conv5_1"])
def test_the_pruning_leaves_as_many_tilings_as_the_paper_says(layer: str) -> None:
    prunings = (
        NO_PRUNING,
        pruning_of(True, False, False),
        pruning_of(True, True, False),
        pruning_of(True, True, True),
    )
    assert tuple(count_tilings(problem(LAYERS[layer]), pruning) for pruning in prunings) == TILINGS[layer]


@pytest.mark.slow
def test_all_six_layers_together_have_the_papers_number_of_tilings() -> None:
    prunings = (NO_PRUNING, pruning_of(True, True, True))
    totals = [sum(count_tilings(problem(nest), pruning) for nest in LAYERS.values()) for pruning in prunings]
    assert totals == [2_121_925_201, 235_162]


def test_a_pruned_search_claims_no_proof_of_the_whole_problem() -> None:
    outcome = branch_and_bound(problem(LAYERS["conv5_1"]), Effort(), pruning_of(True, True, True))
    assert outcome.value is not None and outcome.value > LEAST["conv5_1"]["edp"]
    assert not outcome.proven and len(outcome.restrictions) == 3
    assert outcome.bound is not None and outcome.bound <= LEAST["conv5_1"]["edp"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_optimum_of_a_dataflow_mechanism_runs_its_loops_in_space(mechanism: str) -> None:
    pinned = problem(LAYERS["conv5_2"], fixed={"spatial": f"{mechanism},*"})
    outcome = branch_and_bound(pinned, Effort())
    assert outcome.proven and outcome.mapping is not None and outcome.value is not None
    assert outcome.value >= LEAST["conv5_2"]["edp"]
    spatial = outcome.mapping.trip_counts("spatial")
    assert all(spatial[loop] > 1 for loop in mechanism.split(","))


def test_the_free_optimum_is_met_again_when_all_of_it_is_pinned() -> None:
    free = branch_and_bound(problem(LAYERS["conv5_2"]), Effort()).mapping
    assert free is not None
    fixed = {f"{loop}.rf": str(count) for loop, count in free.trip_counts("rf").items()}
    fixed |= {f"{loop}.spatial": str(count) for loop, count in free.trip_counts("spatial").items()}
    fixed |= {"order.dram": ",".join(free.dram_order), "order.spm": ",".join(free.spm_order)}
    assert (
        branch_and_bound(problem(LAYERS["conv5_2"], fixed=fixed), Effort()).value == LEAST["conv5_2"]["edp"]
    )


def test_keeping_an_operand_longer_never_costs_more() -> None:
    """OPT 4 as a dominance rule: the three longest reuses of a level undercut the other orders."""
    draw = random.Random(4)
    nest = convolution_nest("small", Convolution(2, 4, 4, (6, 6), (3, 3), (1, 1), (1, 1), ((0, 0), (0, 0))))
    compared = 0
    for _ in range(400):
        factors = tuple(random_factors(draw, bound) for _, bound in nest.bounds)
        inner, outer = (
            unique_orders(
                nest, [loop for loop, row in zip(nest.loops, factors, strict=True) if row[level] > 1]
            )
            for level in (1, 0)
        )
        costs = {
            (kept, held): evaluate(nest, MACHINE, TilingMapping(nest.loops, factors, dram, spm))
            for held, dram in outer.items()
            for kept, spm in inner.items()
        }
        for (kept, held), cost in costs.items():
            for (more, longer), better in costs.items():
                if (more, longer) != (kept, held) and extends(more, kept) and extends(longer, held):
                    compared += 1
                    assert better.energy_pj <= cost.energy_pj
                    assert better.cycles <= cost.cycles
    assert compared > 1_000


def extends(more: tuple[frozenset[str], ...], less: tuple[frozenset[str], ...]) -> bool:
    """Whether the same operand is kept, over at least the same loops."""
    return all(bool(m) == bool(k) and m >= k for m, k in zip(more, less, strict=True))


def random_factors(draw: random.Random, bound: int) -> tuple[int, int, int, int]:
    first = draw.choice(divisors_of(bound))
    second = draw.choice(divisors_of(bound // first))
    third = draw.choice(divisors_of(bound // first // second))
    factors = [first, second, third, bound // first // second // third]
    draw.shuffle(factors)
    return (factors[0], factors[1], factors[2], factors[3])


@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 7, 1), (13, 17, 19), (97, 2, 1)])
def test_ones_and_primes_are_solved(sizes: tuple[int, int, int]) -> None:
    outcome = branch_and_bound(problem(matrix_product_nest("odd", (), *sizes)), Effort())
    assert outcome.proven and outcome.mapping is not None


def test_one_pe_is_enough() -> None:
    single = MACHINE.model_copy(
        update={"pe_array": MACHINE.pe_array.model_copy(update={"rows": 1, "columns": 1})}
    )
    outcome = branch_and_bound(TilingProblem(LAYERS["conv5_2"], single, "latency"), Effort())
    assert outcome.proven and outcome.value is not None
    assert outcome.value >= LAYERS["conv5_2"].iterations


def test_a_register_file_that_holds_no_tile_is_proven_infeasible() -> None:
    tiny = MACHINE.model_copy(update={"rf": MACHINE.rf.model_copy(update={"bytes": 4})})
    tiny = tiny.model_copy(update={"energy_pj": MACHINE.energy_pj.model_copy(update={"rf": 0.1})})
    outcome = branch_and_bound(TilingProblem(LAYERS["conv5_2"], tiny, "edp"), Effort())
    assert outcome.mapping is None and outcome.proven
    assert outcome.value is None and outcome.bound is None


def test_an_interrupted_search_keeps_a_bound_below_the_optimum() -> None:
    effort = Effort()
    effort.interrupt.set()
    outcome = branch_and_bound(problem(LAYERS["conv1"]), effort)
    assert outcome.stop == "interrupted" and not outcome.proven
    assert outcome.bound is not None and 0 < outcome.bound <= LEAST["conv1"]["edp"]


def test_a_deadline_ends_the_search_with_what_it_has() -> None:
    outcome = branch_and_bound(problem(LAYERS["conv1"]), Effort(deadline=time.monotonic()))
    assert outcome.stop == "time_limit" and not outcome.proven


def test_progress_closes_in_on_the_optimum() -> None:
    heard: list[Progress] = []
    branch_and_bound(problem(LAYERS["conv1"]), Effort(report=heard.append))
    assert heard
    bounds = [progress.bound for progress in heard if progress.bound is not None]
    assert bounds == sorted(bounds)
    assert all(bound <= LEAST["conv1"]["edp"] for bound in bounds)


def test_a_nest_with_too_many_tiles_is_left_open() -> None:
    wide = matrix_product_nest("wide", (720720,), 720, 720, 720)
    outcome = branch_and_bound(problem(wide), Effort())
    assert outcome.mapping is None and not outcome.proven and outcome.restrictions


@pytest.mark.parametrize("layer", LAYERS)
def test_the_bound_by_argument_alone_is_below_the_optimum(layer: str) -> None:
    for objective in OBJECTIVES:
        bound = bound_of(problem(LAYERS[layer], objective))
        assert 0 < bound <= LEAST[layer][objective]
        assert math.isfinite(bound)
