"""Numbers of trace partitioning are exact: tables of 64 bits hold all that is posed, energies are whole numbers."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.formulations.trace_partition.floor.option_floor import family_floor
from mapper.formulations.trace_partition.magnitude import LARGEST, largest_number, refuse_large
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option import families
from mapper.models.trace_partition.cost import layer_cost
from mapper.models.trace_partition.timing.share_cost import byte_fraction
from mapper.solver.method import Effort
from mapper.solver.trace_partition.catalogue import METHODS
from mapper.workloads.document import InputError
from tests.arch import snowflake_machine
from tests.codegen.trace_partition.random_layer import network_of, random_layer
from tests.solver.trace_partition.random_partition import ONE, SHARED, layer, machines, network, view

SLOWEST: dict[str, Any] = {"clock_mhz": 999999.999, "bandwidth_gb_s": 0.001}
"""A byte takes 10^9 parts of a cycle."""


def pair(size: int = 8, channels: int = 16, **fields: Any) -> PartitionProblem:
    first = layer("conv1", view("image", size, size, channels), channels, 3)
    last = layer("conv2", first.output, 32, 1)
    return PartitionProblem(network(first, last), snowflake_machine.machine(1, **fields), ONE, "energy")


def test_a_layer_whose_times_would_leave_64_bits_is_refused() -> None:
    refuse_large(pair(**SLOWEST))
    refuse_large(pair(224, 64))
    with pytest.raises(InputError, match="parts of a cycle"):
        refuse_large(pair(224, 256, **SLOWEST))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(0, 1 << 32), st.data())
def test_no_table_holds_more_than_what_is_derived(seed: int, data: st.DataObject) -> None:
    """The times by which the largest number is derived: floors of all tiles, and the model's in parts of a cycle."""
    one = random_layer(random.Random(seed))
    configuration = data.draw(st.sampled_from((ONE, SHARED)))
    board = data.draw(machines(configuration.clusters))
    problem = PartitionProblem(network_of(one), board, configuration)
    most = largest_number(problem, one)
    assert most < LARGEST
    for family in families(problem, one):
        floor = family_floor(problem, one, family)
        cycles, moved = floor.cycles[floor.fits], floor.dram_bytes[floor.fits]
        assert cycles.min(initial=0) >= 0 and int(cycles.max(initial=0)) <= most
        assert int(moved.max(initial=0)) * board.cycles_per_byte[0] <= most
        cost = layer_cost(one, family.largest, board, configuration)
        assert 0 <= cost.cycles * byte_fraction(board)[1] <= most


@pytest.mark.parametrize("method", ["auto", "cp-sat", "dynamic-programming"])
def test_energies_too_large_for_64_bits_are_no_proof_that_there_is_nothing(method: str) -> None:
    dear = {"mac": 1e9, "buffer_word": 0.000001, "dram_byte": 1.0, "cluster_cycle": 1e-7}
    problem = pair(energy_pj=dear)
    known = METHODS["greedy"].search(problem, Effort())
    found = METHODS[method].search(problem, Effort())
    assert found.proven and found.value is not None and known.value is not None and known.bound is not None
    assert known.bound <= found.value <= known.value


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(st.floats(0, 1e9).filter(lambda price: not 0 < price < 1e-12), min_size=4, max_size=4))
def test_an_energy_is_rounded_once(prices: list[float]) -> None:
    names = ("mac", "buffer_word", "dram_byte", "cluster_cycle")
    board = snowflake_machine.machine(1, energy_pj=dict(zip(names, prices, strict=True)))
    one = layer("conv1", view("image", 3, 3, 5), 7, 3)
    family = families(PartitionProblem(network(one), board, ONE), one)[0]
    cost = layer_cost(one, family.largest, board, ONE)
    counts = (cost.macs, cost.buffer_words, cost.dram_bytes, cost.cycles)
    exact = sum(Fraction(repr(price)) * count for price, count in zip(prices, counts, strict=True))
    assert Fraction(cost.energy_parts, board.energy_pj.parts) == exact
    assert cost.energy_pj == float(exact)


def test_a_constant_finer_than_can_be_counted_is_refused() -> None:
    for value in (0.0, 1e-12, 1e9):
        snowflake_machine.machine(1, energy_pj={"mac": value})
    with pytest.raises(InputError, match=r"energy_pj.*mac: must be 0 or at least 1e-12 pJ"):
        snowflake_machine.machine(1, energy_pj={"mac": 9e-13})


def test_a_tensor_beyond_all_addresses_is_refused() -> None:
    refuse_large(pair(4096, 128))
    with pytest.raises(InputError, match=r"tensor 'image'.*4,295,491,600 bytes, and addresses reach"):
        refuse_large(pair(16384 + 1, 8))


def test_the_largest_number_of_a_machine_file_is_found_by_its_slowest_memory() -> None:
    """The refused pair would have wrapped: the floor of a tile of it is beyond 64 bits."""
    problem = pair(224, 256, **SLOWEST)
    one = problem.network.traced[0]
    words = one.input.height * one.input.width * one.input.channels * 9 * one.filters // 4
    assert words * 2 * problem.machine.cycles_per_byte[0] > np.iinfo(np.int64).max
