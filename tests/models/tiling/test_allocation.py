"""Data allocation, traffic and DMA bursts: sections 4.3.1 to 4.3.3 of [Dave2019] and its worked numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.models.tiling.cost import evaluate, fits, quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest

NestOf = Callable[..., LoopNest]
MachineOf = Callable[..., DataflowMachine]
Tiled = Callable[..., TilingMapping]


def words(nest: LoopNest, **trip_counts: int) -> dict[str, int]:
    counts = dict.fromkeys(nest.loops, 1) | trip_counts
    return {operand.name: int(tile.words(operand, counts)) for operand in nest.operands}


def dma(nest: LoopNest, machine: DataflowMachine, operand: str, **trip_counts: int) -> tuple[int, int]:
    counts = dict.fromkeys(nest.loops, 1) | trip_counts
    accessed = next(op for op in nest.operands if op.name == operand)
    moved, cycles = tile.dma_words_and_cycles(accessed, machine, counts, nest.trip_counts)
    return int(moved), int(cycles)


def burst_cycles(words_in_burst: int) -> int:
    """The DMA model of the paper at 3.2 GHz, in cycles of the accelerator's 500 MHz."""
    return math.ceil((291 + 0.24 * 2 * words_in_burst) * 500 / 3200)


def test_three_weights_stand_in_a_register_file_where_only_fx_runs_three_times(conv5_1: LoopNest) -> None:
    assert words(conv5_1, Fx=3)["W"] == 3


def test_weights_are_the_product_of_the_factors_of_their_loops(conv5_1: LoopNest) -> None:
    assert words(conv5_1, M=4, C=8, Fy=3, Fx=3, N=2, Ox=7)["W"] == 4 * 8 * 3 * 3


def test_inputs_span_what_output_and_filter_touch_together(conv5_1: LoopNest) -> None:
    assert words(conv5_1, N=2, C=8, Ox=7, Oy=1, Fx=3, Fy=2)["I"] == 2 * 8 * (2 * 6 + 3) * (0 + 2)


def test_an_index_with_negative_coefficients_and_a_constant_spans_as_many_words(nest_of: NestOf) -> None:
    index = AffineIndex.parse("7 - 2*a + 3*b", ("a", "b"), "test", "A")
    assert index.span({"a": 4, "b": 5}) == 1 + 2 * 3 + 3 * 4
    mirrored = nest_of({"a": 4, "b": 5}, O=("a", "update"), A=("7-2*a+3*b", "read"))
    assert words(mirrored, a=4, b=5)["A"] == 19


def test_pe_array_and_scratch_pad_hold_what_the_inner_levels_multiply_to(
    conv5_1: LoopNest, machine: DataflowMachine, tiled: Tiled
) -> None:
    mapping = tiled(conv5_1, M={"rf": 2, "spatial": 4, "spm": 8}, C={"rf": 2, "spm": 4}, Fx={"rf": 3})
    q = quantities(conv5_1, machine, mapping)
    weights = [operand.name for operand in conv5_1.operands].index("W")
    assert q.rf_words[weights] == 2 * 2 * 3
    assert q.array_words[weights] == (2 * 4) * 2 * 3
    assert q.spm_words[weights] == (2 * 4 * 8) * (2 * 4) * 3


def test_every_iteration_costs_four_register_accesses_and_one_operation(
    conv5_1: LoopNest, machine: DataflowMachine, tiled: Tiled
) -> None:
    cost = evaluate(conv5_1, machine, tiled(conv5_1))
    assert cost.energy_by_resource["rf"] == pytest.approx(4 * 0.96 * conv5_1.iterations)
    assert cost.energy_by_resource["mac"] == pytest.approx(0.075 * conv5_1.iterations)
    assert sum(row["rf"] for row in cost.words.values()) == 4 * conv5_1.iterations


def test_observation_ii_traffic_of_soc(conv5_1: LoopNest, machine: DataflowMachine, tiled: Tiled) -> None:
    """SOC moves 14.74, 9.44 and 0.2 MB: 512, 512 and 128 tiles of 28 kB, 18 kB and 1.5 kB."""
    whole, window = {"spatial": 7}, {"rf": 3}
    soc = tiled(conv5_1, dram="N M C", M={"spm": 16}, C={"spm": 64}, Ox=whole, Oy=whole, Fx=window, Fy=window)
    assert fits(conv5_1, machine, soc)
    moved = {name: 2 * row["dram"] for name, row in evaluate(conv5_1, machine, soc).words.items()}
    assert moved == {"I": 512 * 28_800, "W": 512 * 18_432, "O": 128 * 1_568}


def test_observation_ii_traffic_of_the_better_mapping(
    conv5_1: LoopNest, machine: DataflowMachine, tiled: Tiled
) -> None:
    """3.68, 4.7 and 0.2 MB: 256, 256 and 16 tiles of 14.06 kB, 18 kB and 12.25 kB."""
    whole, window = {"spatial": 7}, {"rf": 3}
    inner = {"N": {"spm": 2}, "M": {"spm": 64}, "C": {"spm": 16}}
    better = tiled(conv5_1, dram="N M C", **inner, Ox=whole, Oy=whole, Fx=window, Fy=window)
    assert fits(conv5_1, machine, better)
    moved = {name: 2 * row["dram"] for name, row in evaluate(conv5_1, machine, better).words.items()}
    assert moved == {"I": 256 * 14_400, "W": 256 * 18_432, "O": 16 * 12_544}


def test_all_pes_receive_an_operand_they_read_and_only_those_with_a_result_send_one(
    conv5_1: LoopNest, machine: DataflowMachine, tiled: Tiled
) -> None:
    mapping = tiled(conv5_1, M={"spatial": 8}, C={"spatial": 4}, Ox={"rf": 7}, Fx={"rf": 3})
    q = quantities(conv5_1, machine, mapping)
    assert dict(zip("OIW", q.noc_words, strict=True)) == {"O": 7 * 8, "I": (2 * 6 + 3) * 32, "W": 3 * 32}


@pytest.mark.parametrize(
    ("trip_counts", "bursts", "burst"),
    [
        ({"Oy": 3}, 1, 3),
        ({"Oy": 3, "Ox": 7, "M": 2}, 2 * 7, 3),
        ({"Oy": 7, "Ox": 2, "M": 2}, 2, 7 * 2),
        ({"Oy": 7, "Ox": 7, "M": 2}, 1, 7 * 7 * 2),
        ({"Oy": 7, "Ox": 7, "M": 2, "N": 3}, 3, 7 * 7 * 2),
        ({"Oy": 7, "Ox": 7, "M": 512, "N": 3}, 1, 7 * 7 * 512 * 3),
    ],
)
def test_a_burst_covers_dimensions_up_to_the_first_that_is_not_whole(
    conv5_1: LoopNest, machine: DataflowMachine, trip_counts: dict[str, int], bursts: int, burst: int
) -> None:
    assert dma(conv5_1, machine, "O", **trip_counts) == (bursts * burst, bursts * burst_cycles(burst))


def test_a_burst_ends_at_padding_that_a_strided_layer_never_touches(
    conv5_1: LoopNest, machine_of: MachineOf
) -> None:
    whole = {"Ox": 7, "Oy": 7, "Fx": 3, "Fy": 3, "C": 2}
    declared, touched = (machine_of(rules={"stored_extent": rule}) for rule in ("declared", "touched"))
    assert dma(conv5_1, declared, "I", **whole) == (450, 30 * burst_cycles(15))
    assert dma(conv5_1, touched, "I", **whole) == (450, burst_cycles(450))


def test_the_dma_clock_scales_its_cycles_and_a_free_dma_takes_none(
    conv5_1: LoopNest, machine_of: MachineOf
) -> None:
    slow = machine_of(dma={"clock_mhz": 250.0})
    free = machine_of(dma={"initiation_cycles": 0, "cycles_per_byte": 0})
    assert dma(conv5_1, slow, "O", Oy=3)[1] == math.ceil((291 + 0.24 * 6) * 2)
    assert dma(conv5_1, free, "O", Oy=3)[1] == 0


def test_the_scratch_pad_is_given_away_in_whole_banks(nest_of: NestOf, machine: DataflowMachine) -> None:
    nest = nest_of({"I": 2048, "J": 4096, "K": 1}, O=("I J", "update"), A=("I K", "read"), B=("K J", "read"))
    counts = {"I": 1025, "J": 1, "K": 1}
    assert int(tile.banks(nest, machine, counts)) == 2 + 2 + 1
    assert int(tile.banks(nest, machine, counts | {"I": 1024})) == 1 + 1 + 1


def test_a_mapping_fits_up_to_the_last_word_bank_and_pe(
    nest_of: NestOf, machine: DataflowMachine, tiled: Tiled
) -> None:
    nest = nest_of({"I": 4096, "K": 4}, O=("I", "update"), A=("I K", "read"), B=("K", "read"))
    assert machine.rf_words == 256
    assert fits(nest, machine, tiled(nest, I={"rf": 64, "spatial": 64}))
    assert not fits(nest, machine, tiled(nest, I={"rf": 128}))
    assert not fits(nest, machine, tiled(nest, I={"spatial": 512}))
    pes = {"spatial": 256}
    assert fits(nest, machine, tiled(nest, I=pes | {"spm": 16}, K={"spm": 4}))
    small = machine.model_copy(update={"spm": machine.spm.model_copy(update={"bytes": 2 * 2048 * 20})})
    assert not fits(nest, small, tiled(nest, I=pes | {"spm": 16}, K={"spm": 4}))
