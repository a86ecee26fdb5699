"""The fixed dataflows of earlier accelerators against what the paper says of them."""

from __future__ import annotations

import pytest

from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.cost import evaluate, quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.heuristic.prior_dataflow import PRIOR_DATAFLOWS, Roles, roles_of
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, square_convolution
from mapper.workloads.nest.loop_nest import LoopNest
from tests.solver.tiling.small import matrix_product, problem, small_machine

DATAFLOWS = {method.name: method for method in PRIOR_DATAFLOWS}
MACHINE, _ = load_machine("dmazerunner-256")

every_dataflow = pytest.mark.parametrize("method", PRIOR_DATAFLOWS, ids=lambda method: method.name)


def layer(name: str) -> LoopNest:
    shapes = {
        "conv1": (4, 64, 3, 112, 7, 2, 224, 3),
        "conv4_2": (4, 256, 256, 14, 3, 1, 14, 1),
        "conv5_1": (4, 512, 256, 7, 3, 2, 14, 1),
        "conv5_2": (4, 512, 512, 7, 3, 1, 7, 1),
    }
    return convolution_nest(name, square_convolution(*shapes[name]))


def run(dataflow: str, nest: LoopNest) -> Outcome[TilingMapping]:
    return DATAFLOWS[dataflow].search(problem(nest, MACHINE), Effort())


def mapped(dataflow: str, nest: LoopNest) -> TilingMapping:
    mapping = run(dataflow, nest).mapping
    assert mapping is not None
    return mapping


def in_space(mapping: TilingMapping) -> dict[str, int]:
    return {loop: count for loop, count in mapping.trip_counts("spatial").items() if count > 1}


@every_dataflow
@pytest.mark.parametrize("name", ["conv1", "conv5_2"])
def test_dataflow_gives_a_valid_mapping_and_claims_no_proof(
    method: Method[TilingProblem, TilingMapping], name: str
) -> None:
    posed = problem(layer(name), MACHINE)
    outcome = method.search(posed, Effort())
    assert outcome.mapping is not None and verify(posed, outcome.mapping).valid
    assert not outcome.proven
    assert len(outcome.restrictions) == 3


def test_soc_moves_what_the_paper_says_on_conv5_1() -> None:
    nest = layer("conv5_1")
    mapping = mapped("soc", nest)
    tiles = quantities(nest, MACHINE, mapping)
    assert tiles.spm_words == (784, 14400, 9216)  # 1.5, 28 and 18 kB
    passes = [tiles.spm_passes // reuse for reuse in tiles.dram_reuse]
    assert passes == [128, 512, 512]
    words = evaluate(nest, MACHINE, mapping).words
    megabytes = [round(words[operand]["dram"] * 2 / 1e6, 2) for operand in ("I", "W", "O")]
    assert megabytes == [14.75, 9.44, 0.2]  # the paper cuts 14.7456 to 14.74


def test_soc_takes_the_436_bytes_of_register_file_that_the_paper_mentions() -> None:
    nest = layer("conv5_1")
    assert sum(quantities(nest, MACHINE, mapped("soc", nest)).rf_words) * MACHINE.word_bytes == 436


def test_soc_processes_one_output_channel_on_14x14_pes() -> None:
    assert in_space(mapped("soc", layer("conv4_2"))) == {"Ox": 14, "Oy": 14}


@pytest.mark.parametrize("name, channels", [("conv5_2", 4), ("conv4_2", 2)])
def test_moc_uses_196_pes_for_several_output_channels(name: str, channels: int) -> None:
    spatial = in_space(mapped("moc", layer(name)))
    assert spatial["M"] == channels
    assert spatial["Ox"] * spatial["Oy"] * spatial["M"] == 196


def test_ws1_keeps_one_window_of_weights_in_space() -> None:
    mapping = mapped("ws1", layer("conv1"))
    assert in_space(mapping) == {"Fx": 7, "Fy": 7}
    assert set(mapping.dram_order[-3:]) == {"N", "Ox", "Oy"}


def test_rs_puts_filter_rows_against_output_rows() -> None:
    mapping = mapped("rs", layer("conv4_2"))
    assert in_space(mapping) == {"Fy": 3, "Oy": 14, "M": 4}
    assert mapping.trip_counts("rf")["Ox"] == 14
    assert mapping.trip_counts("rf")["Fx"] == 3


def test_ws2_sends_psums_of_conv5_2_to_dram_16_times() -> None:
    nest = layer("conv5_2")
    mapping = mapped("ws2", nest)
    assert in_space(mapping) == {"M": 16, "C": 16}
    tiles = quantities(nest, MACHINE, mapping)
    assert tiles.spm_passes // tiles.dram_reuse[0] == 16 * tiles.spm_tiles[0]


@every_dataflow
def test_dataflow_is_not_defined_without_window_loops(method: Method[TilingProblem, TilingMapping]) -> None:
    outcome = method.search(problem(matrix_product()), Effort())
    assert outcome.mapping is None and not outcome.proven
    assert outcome.restrictions == ("not defined for nests without window loops",)


@every_dataflow
def test_dataflow_that_contradicts_a_pin_has_no_mapping(method: Method[TilingProblem, TilingMapping]) -> None:
    outcome = method.search(problem(layer("conv5_2"), MACHINE, spatial="N"), Effort())
    assert outcome.mapping is None and not outcome.proven


@every_dataflow
def test_dataflow_maps_convolutions_of_any_rank(method: Method[TilingProblem, TilingMapping]) -> None:
    line = Convolution(1, 4, 4, (8,), (3,), (1,), (1,), ((1, 1),))
    cube = Convolution(1, 4, 4, (6, 6, 6), (3, 3, 3), (1,) * 3, (1,) * 3, ((1, 1),) * 3)
    for shape in (line, cube):
        posed = problem(convolution_nest("any rank", shape), MACHINE)
        assert method.search(posed, Effort()).mapping is not None


@every_dataflow
def test_dataflow_shrinks_to_a_small_machine(method: Method[TilingProblem, TilingMapping]) -> None:
    posed = problem(layer("conv5_2"), small_machine(2, 2, 16))
    assert method.search(posed, Effort()).mapping is not None


def test_roles_come_from_index_expressions() -> None:
    shape = Convolution(2, 8, 8, (9, 9), (3, 3), (1, 1), (1, 1), ((0, 0), (0, 0)), groups=4)
    roles = roles_of(convolution_nest("grouped", shape))
    assert roles == Roles(("Ox", "Oy"), ("Fx", "Fy"), ("C",), ("M",), ("N", "G"))
