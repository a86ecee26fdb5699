"""Every method for partitions: they agree, they prove what they say, and they end when they must."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings

from mapper.arch.snowflake import UNITS, VMACS, Energy
from mapper.formulations.trace_partition.infeasible import why_infeasible
from mapper.formulations.trace_partition.problem import MOST_STEPS, Objective, PartitionProblem, Pin
from mapper.formulations.trace_partition.referee.verify import verify
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.lowering.layer import HostLayer
from mapper.models.trace_partition.tile.share import unit_channels
from mapper.solver import cp_sat
from mapper.solver.cp_sat import Answer, CpSatResult
from mapper.solver.method import Effort
from mapper.solver.trace_partition.catalogue import METHODS
from mapper.solver.trace_partition.heuristic import greedy
from mapper.solver.trace_partition.outcome import value_of
from mapper.workloads.document import InputError
from tests.solver.trace_partition.random_partition import layer, machine, network, problems, view

ONE = Configuration(1, 1, 1)
EXACT = [name for name, method in METHODS.items() if method.exact]
HEURISTIC = [name for name, method in METHODS.items() if not method.exact]


def _pair(kernel: int = 1, first_kernel: int = 3) -> PartitionProblem:
    first = layer("conv1", view("image", 8, 8, 16), 16, first_kernel)
    return PartitionProblem(
        network(first, layer("conv2", first.output, 32, kernel)), machine(maps=1 << 15), ONE
    )


@given(problems(2))
@settings(derandomize=True, deadline=None, max_examples=6)
def test_exact_methods_agree_with_brute_force_and_no_heuristic_is_better(problem: PartitionProblem) -> None:
    truth = METHODS["brute-force"].search(problem, Effort())
    assert truth.proven
    for name in EXACT:
        found = METHODS[name].search(problem, Effort())
        assert (found.proven, found.value, found.bound) == (True, truth.value, truth.bound), name
        assert found.mapping is None or verify(problem, found.mapping).valid
    for name in HEURISTIC:
        found = METHODS[name].search(problem, Effort())
        assert found.proven == (why_infeasible(problem) is not None)
        if found.mapping is not None:
            assert truth.value is not None and found.value is not None
            assert found.value >= truth.value
            assert found.bound is not None and 0 < found.bound <= truth.value
            assert verify(problem, found.mapping).valid


@pytest.mark.parametrize(
    "objective",
    ["latency", *(pytest.param(one, marks=pytest.mark.slow) for one in ("traffic", "energy"))],
)
def test_values_and_bounds_hold_what_the_host_takes(objective: Objective) -> None:
    bare = replace(_pair(), objective=objective)
    last = bare.network.layers[-1].output
    host = HostLayer("softmax1", "", "Softmax", (last,), last, 3000, "has no exponential", 7000)
    hosted = replace(bare, network=replace(bare.network, layers=(*bare.network.layers, host)))
    for name in (*EXACT, *HEURISTIC):
        if name == "brute-force":  # takes longer
            continue
        one, two = (METHODS[name].search(problem, Effort()) for problem in (bare, hosted))
        assert one.value is not None and two.value is not None and two.bound is not None
        apart = hosted.host_part / (bare.machine.energy_pj.parts if objective == "energy" else 1)
        assert (apart > 0) == (objective != "traffic")
        assert two.value - one.value == pytest.approx(apart)
        assert two.proven == one.proven and two.bound <= two.value
        assert two.bound - apart == pytest.approx(one.bound)


@pytest.mark.parametrize("name", EXACT)
def test_a_layer_that_fits_no_buffer_is_proven_impossible(name: str) -> None:
    wide = layer("conv1", view("image", 30, 30, 1), 4, 29)
    pins = {"conv1": Pin(order="maps_stationary")}
    problem = PartitionProblem(network(wide), machine(maps=1024, weights=1024), ONE, pins=pins)
    found = METHODS[name].search(problem, Effort())
    assert (found.mapping, found.value, found.bound, found.stop, found.proven) == (
        None,
        None,
        None,
        "complete",
        True,
    )


def test_brute_force_refuses_what_it_cannot_try() -> None:
    with pytest.raises(InputError, match="are tried"):
        METHODS["brute-force"].search(_pair(3), Effort())


def test_maps_stay_in_the_buffer_where_that_saves_traffic() -> None:
    problem = replace(_pair(1, 1), objective="traffic")
    found = METHODS["auto"].search(problem, Effort())
    apart = METHODS["auto"].search(replace(problem, pins={"conv1": Pin(output_resident=False)}), Effort())
    assert found.mapping is not None and found.value is not None and apart.value is not None
    assert [mapping.input_resident for mapping in found.mapping.layers] == [False, True]
    words = 8 * 8 * 16
    assert found.value <= apart.value - 2 * 2 * words


def test_pinned_residency_is_kept() -> None:
    problem = replace(_pair(), pins={"conv2": Pin(input_resident=True)})
    found = METHODS["auto"].search(problem, Effort())
    assert found.mapping is not None and found.proven
    assert found.mapping.layers[0].output_resident and found.mapping.layers[1].input_resident


@pytest.mark.parametrize("name", ["auto", "dynamic-programming"])
def test_a_search_out_of_time_says_how_far_it_is_at_the_most_from_the_best(name: str) -> None:
    problem = _pair(3)
    best = METHODS["auto"].search(problem, Effort())
    cut = METHODS[name].search(problem, Effort(deadline=time.monotonic() - 1))
    assert (cut.stop, cut.proven) == ("time_limit", False)
    assert cut.value is not None and cut.bound is not None and best.value is not None
    assert cut.bound <= best.value <= cut.value


def test_an_interrupted_search_keeps_what_it_has() -> None:
    event = threading.Event()
    event.set()
    for name in ("auto", "annealing"):
        found = METHODS[name].search(_pair(), Effort(interrupt=event))
        assert found.mapping is not None
        assert (found.stop, found.proven) == ("interrupted", False)


def test_annealing_repeats_with_its_seed() -> None:
    problem = _pair()
    one, other = (METHODS["annealing"].search(problem, Effort(seed=3)) for _ in range(2))
    assert one.mapping == other.mapping


def test_the_greedy_rule_takes_as_many_weights_as_fit_twice() -> None:
    first = layer("conv1", view("image", 8, 8, 16), 256, 3)
    problem = PartitionProblem(network(first), machine(maps=1 << 15, weights=1 << 16), ONE)
    found = METHODS["greedy"].search(problem, Effort()).mapping
    assert found is not None
    (mapping,) = found.layers
    words = 9 * 16 * unit_channels(mapping, mapping.tile.out_channels) // VMACS
    assert mapping.tile.in_channels == 16
    assert words <= problem.machine.vmac_words // 2 < 2 * words


def test_the_greedy_rule_leaves_no_unit_without_rows_where_buf_holds_few_of_them() -> None:
    wide = layer("conv1", view("image", 32, 32, 32), 16, 3)
    pins = {"conv1": Pin(unit_split="rows")}
    problem = PartitionProblem(network(wide), machine(maps=1 << 15, weights=1 << 16), ONE, pins=pins)
    found = METHODS["greedy"].search(problem, Effort()).mapping
    assert found is not None
    tile = found.layers[0].tile
    assert tile.rows == UNITS and 1 < tile.columns < 32


@pytest.mark.parametrize(("rows", "split"), [(7, "out_channels"), (1, "out_channels"), (8, "rows")])
def test_the_greedy_rule_shares_what_comes_out_even(rows: int, split: str) -> None:
    """24 channels are three blocks for four units, 64 are sixteen."""
    channels = 24 if split == "rows" else 64
    problem = PartitionProblem(
        network(layer("conv1", view("image", rows, 8, 16), channels, 3)),
        machine(maps=1 << 17, weights=1 << 18),
        ONE,
    )
    found = METHODS["greedy"].search(problem, Effort()).mapping
    assert found is not None and found.layers[0].unit_split == split


def test_the_greedy_rule_loads_no_more_than_it_must_where_both_splits_come_out_even() -> None:
    deep = layer("conv1", view("image", 8, 8, 256), 64, 3)
    problem = replace(
        PartitionProblem(network(deep), machine(maps=1 << 17, weights=1 << 17), ONE), objective="traffic"
    )
    found = METHODS["greedy"].search(problem, Effort()).value
    pinned = [
        METHODS["greedy"].search(replace(problem, pins={"conv1": Pin(unit_split=split)}), Effort()).value
        for split in ("rows", "out_channels")
    ]
    assert None not in pinned and len(set(pinned)) == 2 and found == min(pinned, key=lambda one: one or 0)


def test_the_greedy_rule_finds_tiles_of_maps_with_more_pixels_than_a_layer_may_have_steps() -> None:
    wide = network(layer("conv1", view("image", 160, 160, 16), 16, 3))
    assert MOST_STEPS < 160 * 160
    found = METHODS["greedy"].search(
        PartitionProblem(wide, machine(maps=1 << 18, weights=1 << 19), ONE), Effort()
    )
    assert found.mapping is not None


def test_ties_go_to_fewer_cycles() -> None:
    problem = replace(_pair(), objective="traffic")
    by_program, by_path = (
        METHODS[name].search(problem, Effort()) for name in ("cp-sat", "dynamic-programming")
    )
    assert by_program.mapping is not None and by_path.mapping is not None
    latency = replace(problem, objective="latency")
    assert value_of(latency, by_program.mapping) == value_of(latency, by_path.mapping)


@pytest.mark.parametrize("answer", ["unknown", "feasible"])
def test_a_table_that_is_complete_has_the_best_partition_also_where_cp_sat_has_no_time(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = _pair()
    best = METHODS["dynamic-programming"].search(problem, Effort())
    cut = CpSatResult(answer, 0, "time_limit", lambda variable: 0)
    monkeypatch.setattr(cp_sat, "run_cp_sat", lambda model, effort, report: cut)
    for name in ("auto", "cp-sat"):
        found = METHODS[name].search(problem, Effort())
        assert (found.value, found.bound, found.proven, found.stop) == (
            best.value,
            best.value,
            True,
            "complete",
        )
        assert found.method == "dynamic-programming"


def test_a_rule_that_looks_long_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, over = _pair(), Effort(deadline=time.monotonic())
    assert METHODS["greedy"].search(problem, over).mapping is not None
    monkeypatch.setattr(greedy, "PATIENCE", 0)
    found = METHODS["greedy"].search(problem, over)
    assert (found.mapping, found.stop, found.proven) == (None, "time_limit", False)


def test_a_partition_that_meets_the_bound_by_argument_is_proven_complete() -> None:
    free = dict.fromkeys(("mac", "buffer_word", "dram_byte", "cluster_cycle"), 0.0)
    one = network(layer("conv1", view("image", 2, 2, 4), 4))
    problem = PartitionProblem(one, machine().model_copy(update={"energy_pj": Energy(**free)}), ONE, "energy")
    for name in METHODS:
        if name != "brute-force":
            found = METHODS[name].search(problem, Effort())
            assert (found.value, found.proven, found.stop) == (0, True, "complete"), name
