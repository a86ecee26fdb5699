"""Options of traced layers, their bounds, and the joint program."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import ndindex

from mapper.formulations.trace_partition.floor.option_floor import family_floor
from mapper.formulations.trace_partition.problem import OBJECTIVES, Objective, PartitionProblem, Pin
from mapper.formulations.trace_partition.program.cp_sat import PartitionProgram
from mapper.formulations.trace_partition.program.first_option import first_options
from mapper.formulations.trace_partition.program.option import families, usual_sizes, usual_sums
from mapper.formulations.trace_partition.program.option_cost import costed, nameless, words_needed
from mapper.formulations.trace_partition.program.option_search import Searched
from mapper.formulations.trace_partition.program.option_table import OptionTable, option_table
from mapper.formulations.trace_partition.program.residency import residencies_of
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.cost import layer_cost
from mapper.models.trace_partition.lowering.layer import TraceLayer, TraceNetwork
from mapper.models.trace_partition.steps.plan import plan_layer
from tests.models.trace_partition.example import layers
from tests.solver.trace_partition.random_partition import chains, layer, machine, network, problems, view

ONE = Configuration(1, 1, 1)


@given(st.integers(1, 300), st.sampled_from((1, 4, 16, 64)), st.data())
@settings(derandomize=True, deadline=None, max_examples=60)
def test_every_number_of_tiles_has_its_least_size(extent: int, grain: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, extent))
    count = -(-extent // size)
    alike = [one for one in usual_sizes(extent, grain) if -(-extent // one) == count]
    assert min(alike) == next(one for one in range(1, extent + 1) if -(-extent // one) == count)


def test_sums_are_cut_into_whole_lines_or_fractions_of_one() -> None:
    assert usual_sums(40) == (1, 2, 4, 8, 16, 32, 40)
    assert usual_sums(3) == (1, 2, 3)


@given(chains(1), st.sampled_from((1, 2, 4)), st.sampled_from((2048, 16384)), st.data())
@settings(derandomize=True, deadline=None, max_examples=60)
def test_bounds_rule_out_no_option_that_fits_and_never_exceed_its_cost(
    chain: TraceNetwork, sharing: int, size: int, data: st.DataObject
) -> None:
    one = chain.traced[0]
    configuration = Configuration(1, data.draw(st.sampled_from((1, sharing))), sharing)
    small = machine(sharing, size, size, bandwidth=data.draw(st.sampled_from((0.5, 4.5))))
    problem = PartitionProblem(chain, small, configuration)
    for family in families(problem, one):
        floor = family_floor(problem, one, family)
        at = tuple(data.draw(st.integers(0, count - 1)) for count in family.shape)
        mapping = family.mapping(*at)
        plan = plan_layer(one, mapping, small, configuration.sharing)
        if plan.unit_words <= small.unit_words and plan.vmac_words <= small.vmac_words:
            cost = layer_cost(one, mapping, small, configuration)
            assert floor.fits[at]
            assert floor.cycles[at] <= cost.cycles
            assert floor.dram_bytes[at] <= cost.dram_bytes
            assert floor.buffer_words[at] <= cost.buffer_words


@given(layers(), st.sampled_from((1, 2, 4)), st.data())
@settings(derandomize=True, deadline=None, max_examples=60)
def test_bounds_of_layers_of_every_work_hold_for_clusters_in_turns(
    one: TraceLayer, clusters: int, data: st.DataObject
) -> None:
    configuration = Configuration(1, data.draw(st.sampled_from((1, clusters))), clusters)
    slow = machine(clusters, 1 << 18, 1 << 19, bandwidth=data.draw(st.sampled_from((0.1, 0.5, 4.5))))
    problem = PartitionProblem(network(one), slow, configuration)
    for family in families(problem, one):
        floor = family_floor(problem, one, family)
        at = tuple(data.draw(st.integers(0, count - 1)) for count in family.shape)
        option = costed(problem, one, family.mapping(*at))
        if option is not None:
            assert floor.fits[at]
            assert floor.cycles[at] <= option.rank[1]
            assert floor.dram_bytes[at] <= option.rank[2]


@pytest.mark.parametrize("stays", [False, True])
def test_bounds_of_pools_that_wait_for_the_memory_or_for_nothing(stays: bool) -> None:
    pool = layer("pool1", view("image", 32, 32, 192), 192, 2, 2, "max")
    pool = replace(pool, output=view("result", 16, 16, 192), pads=((0, 0), (0, 0)))
    problem = PartitionProblem(network(pool), machine(1, 1 << 18, 1 << 19), ONE)
    for family in families(problem, pool, input_resident=stays):
        floor = family_floor(problem, pool, family)
        fitting = [at for at in ndindex(family.shape) if floor.fits[at]]
        for at in sorted(fitting, key=lambda at: int(floor.cycles[at]))[:30]:
            option = costed(problem, pool, family.mapping(*at))
            assert option is None or floor.cycles[at] <= option.rank[0]


@given(chains(1), st.sampled_from(OBJECTIVES))
@settings(derandomize=True, deadline=None, max_examples=12)
def test_the_best_option_is_that_of_costing_all(chain: TraceNetwork, objective: Objective) -> None:
    one = chain.traced[0]
    problem = PartitionProblem(chain, machine(), ONE, objective, {one.name: Pin(columns=1, in_channels=1)})
    table = option_table(problem)
    options = (
        costed(problem, one, mapping) for family in families(problem, one) for mapping in family.mappings()
    )
    best = min((option.rank for option in options if option is not None), default=None)
    found = [searched.best.rank for searched in table.layers[0].values() if searched.best]
    assert found == ([] if best is None else [best])


def test_no_option_is_ruled_out_whose_output_stays_and_just_fits() -> None:
    """The output is held whole, in fewer words than two of its tiles: ten channels, cut into eight and two."""
    first = layer("first", view("image", 16, 16, 1), 10)
    chain = network(first, layer("second", first.output, 16))
    problem = PartitionProblem(chain, machine(1, maps=5888), ONE)
    held = 0
    for family in families(problem, first, output_resident=True):
        floor = family_floor(problem, first, family)
        for at in ndindex(*family.shape):
            if words_needed(problem, first, family.mapping(*at)) is not None:
                held += 1
                assert floor.fits[at]
    assert held


def test_pinned_decisions_are_the_only_ones_left() -> None:
    one = layer("conv1", view("image", 6, 6, 16), 32, 3)
    pin = Pin(mode="indp", order="weights_stationary", rows=5, out_channels=7)
    problem = PartitionProblem(network(one), machine(), ONE, pins={"conv1": pin})
    mappings = [mapping for family in families(problem, one) for mapping in family.mappings()]
    assert mappings
    assert not any(pin.broken(mapping) for mapping in mappings)


def test_layers_that_differ_in_names_alone_are_costed_once() -> None:
    first = layer("conv1", view("image", 4, 4, 8), 8, 3)
    second = layer("conv2", first.output, 8, 3)
    assert nameless(first) == nameless(second)
    table = option_table(PartitionProblem(network(first, second), machine(), ONE))
    assert table.first == (0, 0)
    assert table.layers[0] is table.layers[1]


def test_maps_stay_only_where_units_hold_what_the_next_layer_needs() -> None:
    first = layer("conv1", view("image", 4, 4, 8), 8, 3)
    pointwise, window = layer("conv2", first.output, 8, 1), layer("conv2", first.output, 8, 3)
    kept = residencies_of(PartitionProblem(network(first, pointwise), machine(), ONE))
    assert {one.distribution[1] for one in kept.layers[0] if one.distribution} == {"rows"}
    assert any(one.output_resident and other.input_resident for one, other in kept.agreed[0])
    left = residencies_of(PartitionProblem(network(first, window), machine(), ONE))
    assert all(one.distribution is None for groups in left.layers for one in groups)


def test_the_program_explains_the_instance_that_it_solves() -> None:
    first = layer("conv1", view("image", 4, 4, 8), 8, 3)
    second = layer("conv2", first.output, 8, 1)
    table = option_table(PartitionProblem(network(first, second), machine(), ONE))
    program = PartitionProgram(table)
    built = {part.part.name: part for part in program.build()}
    options = sum(map(len, program.options))
    assert built["layers"].members == 2
    assert built["decisions"].members == table.size
    assert built["best_options"].members == built["chosen"].variables == options
    assert built["one_option"].constraints == 2
    assert built["residency"].constraints == options
    assert program.export("cpsat")


@given(problems(3))
@settings(derandomize=True, deadline=None, max_examples=25)
def test_the_program_is_counted_without_a_search(problem: PartitionProblem) -> None:
    searched, counted = option_table(problem), first_options(problem)
    assert PartitionProgram(counted).build() == PartitionProgram(searched).build()
    assert counted.costed == sum(len(options) for options in _options(counted)) <= searched.costed


def _options(table: OptionTable) -> list[list[Searched]]:
    found = [table.layers[at] for at in sorted(set(table.first))]
    return [[one for one in layer.values() if one.best is not None] for layer in found]


def test_a_layer_without_an_option_makes_the_program_infeasible() -> None:
    from ortools.sat.python import cp_model

    wide = layer("conv1", view("image", 30, 30, 1), 4, 29)
    table = option_table(PartitionProblem(network(wide), machine(maps=1024, weights=1024), ONE))
    program = PartitionProgram(table)
    program.build()
    assert cp_model.CpSolver().solve(program.model) == cp_model.INFEASIBLE


@pytest.mark.parametrize("stays", [False, True])
def test_resident_options_hold_their_map_whole(stays: bool) -> None:
    first = layer("conv1", view("image", 8, 8, 8), 8, 1)
    problem = PartitionProblem(network(first, layer("conv2", first.output, 8, 1)), machine(maps=1 << 14), ONE)
    for family in families(problem, first, output_resident=stays):
        for mapping in islice(family.mappings(), 40):
            whole = mapping.tile.rows == 8 if mapping.unit_split == "rows" else mapping.tile.out_channels == 8
            assert whole or not stays
