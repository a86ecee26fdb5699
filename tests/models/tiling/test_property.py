"""What holds of the cost of every mapping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import transfer as cost
from mapper.models.tiling.bound import ideal_cycles, least_cycles
from mapper.models.tiling.cost import evaluate, fits, quantities, rereads
from mapper.models.tiling.mapping import ORDERED_LEVELS, TilingMapping
from mapper.models.tiling.mapping_file import tiling_from_json
from mapper.models.tiling.order import reuse_factors, unique_orders
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest, Operand

MachineOf = Callable[..., DataflowMachine]

# Machines that differ in every switch of the model: (rules, rf, noc reduction).
MACHINES = [
    ("doubled", True, "bus"),
    ("doubled", False, "bus"),
    ("first_visit_free", True, "mesh"),
    ("first_visit_free", False, "mesh"),
]


@dataclass(frozen=True)
class Case:
    """A nest, a mapping of it, and which machine runs it."""

    nest: LoopNest
    mapping: TilingMapping
    machine: int


def plain(name: str, loops: str, bounds: dict[str, int], updated: bool = False) -> Operand:
    index = tuple(AffineIndex(((loop, 1),)) for loop in loops)
    return Operand(name, index, "read_write" if updated else "read", tuple(bounds[loop] for loop in loops))


def mttkrp(rows: int, rank: int, depth: int, length: int) -> LoopNest:
    bounds = {"i": rows, "j": rank, "k": depth, "l": length}
    accesses = (("O", "ij"), ("A", "ikl"), ("B", "kj"), ("C", "lj"))
    operands = tuple(plain(name, loops, bounds, name == "O") for name, loops in accesses)
    return LoopNest("mttkrp", tuple(bounds.items()), operands)


@st.composite
def nests(draw: st.DrawFn) -> LoopNest:
    size = st.sampled_from([1, 2, 3, 4, 6, 8])
    kind = draw(st.sampled_from(["convolution", "depthwise", "product", "mttkrp"]))
    if kind == "product":
        return matrix_product_nest("product", (), draw(size), draw(size), draw(size))
    if kind == "mttkrp":
        return mttkrp(draw(size), draw(size), draw(size), draw(size))
    output, kernel, stride = draw(size), draw(st.sampled_from([1, 3])), draw(st.sampled_from([1, 2]))
    channels = draw(size)
    groups = channels if kind == "depthwise" else 1
    axes = (((output - 1) * stride + 1,) * 2, (kernel,) * 2, (stride,) * 2, (1, 1), ((kernel // 2,) * 2,) * 2)
    return convolution_nest(kind, Convolution(draw(size), channels, channels, *axes, groups=groups))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    nest = draw(nests())
    factors = []
    for _, bound in nest.bounds:
        levels = [1, 1, 1, 1]
        for prime in (2, 2, 2, 3):
            if bound % prime == 0:
                bound //= prime
                levels[draw(st.integers(0, 3))] *= prime
        factors.append((levels[0], levels[1], levels[2], levels[3]))
    orders = [tuple(draw(st.permutations(nest.loops))) for _ in ORDERED_LEVELS]
    return Case(
        nest,
        TilingMapping(nest.loops, tuple(factors), orders[0], orders[1]),
        draw(st.integers(0, len(MACHINES) - 1)),
    )


@pytest.fixture(scope="module")
def machines(machine_of: MachineOf) -> list[DataflowMachine]:
    """The variants, with exact energies and bursts that cost about as much as the work of small nests."""
    return [
        machine_of(
            rules={"partial_sums": partial_sums, "energy": "exact"},
            rf={"double_buffered": double_buffered},
            noc={"reduction": reduction},
            dma={"initiation_cycles": 8},
        )
        for partial_sums, double_buffered, reduction in MACHINES
    ]


quickly = settings(derandomize=True, deadline=None, max_examples=150)


@quickly
@given(case=cases())
def test_the_parts_of_the_energy_sum_to_it(case: Case, machines: list[DataflowMachine]) -> None:
    found = evaluate(case.nest, machines[case.machine], case.mapping)
    assert sum(found.energy_by_resource.values()) == pytest.approx(found.energy_pj, rel=1e-12)
    assert min(found.energy_by_resource.values()) >= 0


@quickly
@given(case=cases())
def test_rounding_changes_the_energy_by_half_a_picojoule_at_most(
    case: Case, machines: list[DataflowMachine]
) -> None:
    exact = machines[case.machine]
    rounded = exact.model_copy(update={"rules": exact.rules.model_copy(update={"energy": "rounded"})})
    whole = evaluate(case.nest, rounded, case.mapping).energy_pj
    assert isinstance(whole, int)
    assert abs(whole - evaluate(case.nest, exact, case.mapping).energy_pj) <= 0.5


@quickly
@given(case=cases())
def test_traffic_times_energy_per_word_is_the_energy_of_memories(
    case: Case, machines: list[DataflowMachine]
) -> None:
    machine = machines[case.machine]
    found = evaluate(case.nest, machine, case.mapping)
    for resource, per_word in (("spm", machine.spm_energy_pj), ("dram", machine.energy_pj.dram)):
        moved = sum(row[resource] for row in found.words.values())
        assert found.energy_by_resource[resource] == pytest.approx(moved * per_word)


@quickly
@given(case=cases())
def test_stalls_are_never_negative_and_sum_to_the_cycles_beyond_the_work(
    case: Case, machines: list[DataflowMachine]
) -> None:
    machine = machines[case.machine]
    found = evaluate(case.nest, machine, case.mapping)
    q = quantities(case.nest, machine, case.mapping)
    assert min(found.stall_cycles.values()) >= 0
    assert sum(found.stall_cycles.values()) == found.cycles - q.compute_cycles * q.rf_passes * q.spm_passes


@quickly
@given(case=cases())
def test_orders_with_the_same_reuse_cost_the_same(case: Case, machines: list[DataflowMachine]) -> None:
    """The order that stands for a reuse in Algorithm 2 costs what any order of that reuse costs."""
    mapping, machine = case.mapping, machines[case.machine]
    standing_for = {}
    for level in ORDERED_LEVELS:
        counts = mapping.trip_counts(level)
        reuse = reuse_factors(case.nest, mapping.order(level), counts)
        active = [loop for loop in case.nest.loops if counts[loop] > 1]
        orders = unique_orders(case.nest, active).values()
        matching = [order for order in orders if reuse_factors(case.nest, order, counts) == reuse]
        assert matching
        standing_for[level] = matching[0]
    other = TilingMapping(mapping.loops, mapping.factors, standing_for["dram"], standing_for["spm"])
    assert evaluate(case.nest, machine, other) == evaluate(case.nest, machine, mapping)


@quickly
@given(case=cases())
def test_every_word_that_is_touched_comes_from_dram_at_least_once(
    case: Case, machines: list[DataflowMachine]
) -> None:
    found = evaluate(case.nest, machines[case.machine], case.mapping)
    for operand in case.nest.operands:
        assert found.words[operand.name]["dram"] >= operand.words(case.nest.trip_counts)


@quickly
@given(case=cases())
def test_a_mapping_survives_json(case: Case) -> None:
    assert tiling_from_json(case.mapping.to_json(), case.nest, "test") == case.mapping


@settings(derandomize=True, deadline=None, max_examples=60)
@given(case=cases(), index=st.integers(0, 3))
def test_dma_cycles_are_those_of_a_walk_over_scratch_pad_passes(
    case: Case, index: int, machines: list[DataflowMachine]
) -> None:
    """With all else free, each pass takes what its DMA takes (sum over passes of section 4.3.3), and partial
    sums that stayed take their time once more when they leave."""
    machine = machines[index]
    q = quantities(case.nest, machine, case.mapping)
    operands = range(len(case.nest.operands))
    updated = tuple(operand.is_updated for operand in case.nest.operands)
    nothing = (0,) * len(updated)
    networks = (nothing, nothing, 1)
    found = cost.layer_cycles(
        0, cost.Passes(q.rf_passes, q.spm_passes, q.spm_reuse, q.dram_reuse), nothing, nothing, q.dma_cycles, updated,
        nothing, *networks, cost.Buffers(rf=True, spm=True, exposed=True),
    )  # fmt: skip
    usual = sum(q.dma_cycles[k] for k in operands if q.dram_reuse[k] == 1)
    walked = 0
    for number in range(1, q.spm_passes + 1):
        due = [k for k in operands if number % q.dram_reuse[k] == 0]
        walked += sum(q.dma_cycles[k] for k in due)
        returned = usual + sum(q.dma_cycles[k] for k in due if updated[k] and q.dram_reuse[k] > 1)
        walked += returned - usual
    assert found == walked


def with_buffers(machine: DataflowMachine, rf: bool, spm: bool) -> DataflowMachine:
    """``machine`` without the original's rule, and with a second buffer or none; what is visible stays as it is."""
    rules = machine.rules.model_copy(update={"leaving_sums": "buffered"})
    files = machine.rf.model_copy(update={"double_buffered": rf})
    size = machine.spm.visible_banks * machine.spm.bank_bytes * (2 if spm else 1)
    pad = machine.spm.model_copy(update={"double_buffered": spm, "bytes": size})
    return machine.model_copy(update={"rules": rules, "rf": files, "spm": pad})


@quickly
@given(case=cases(), rf=st.booleans(), spm=st.booleans())
def test_no_mapping_that_fits_beats_pes_that_wait_for_single_buffers_alone(
    case: Case, rf: bool, spm: bool, machines: list[DataflowMachine]
) -> None:
    machine = machines[case.machine]
    if fits(case.nest, machine, case.mapping):
        assert evaluate(case.nest, machine, case.mapping).cycles >= ideal_cycles(case.nest, machine)
        varied = with_buffers(machine, rf, spm)
        assert evaluate(case.nest, varied, case.mapping).cycles >= least_cycles(case.nest, varied)


@quickly
@given(case=cases(), level=st.sampled_from(["rf", "spm"]), other=st.booleans())
def test_a_second_buffer_never_costs_a_cycle(
    case: Case, level: str, other: bool, machines: list[DataflowMachine]
) -> None:
    beside = {"rf": "spm", "spm": "rf"}[level]
    single, double = (
        evaluate(
            case.nest, with_buffers(machines[case.machine], **{level: has, beside: other}), case.mapping
        ).cycles
        for has in (False, True)
    )
    assert double <= single


@quickly
@given(case=cases(), rf=st.booleans())
def test_with_one_scratch_pad_buffer_dma_and_processing_take_turns(
    case: Case, rf: bool, machines: list[DataflowMachine]
) -> None:
    machine = with_buffers(machines[case.machine], rf, spm=False)
    idle_dma = machine.dma.model_copy(update={"initiation_cycles": 0, "cycles_per_byte": 0})
    without_dma = machine.model_copy(update={"dma": idle_dma})
    found, processing = (evaluate(case.nest, one, case.mapping) for one in (machine, without_dma))
    q = quantities(case.nest, machine, case.mapping)
    crossings = [sum(1 for number in range(q.spm_passes) if number % stay == 0) for stay in q.dram_reuse]
    again = [
        2 if updated and (stay > 1 or back) else 1
        for updated, stay, back in zip(
            [operand.is_updated for operand in case.nest.operands],
            q.dram_reuse,
            rereads(case.nest, machine, q.spm_passes, q.spm_tiles),
            strict=True,
        )
    ]
    dma = sum(a * b * c for a, b, c in zip(crossings, again, q.dma_cycles, strict=True))
    assert found.cycles == processing.cycles + dma
