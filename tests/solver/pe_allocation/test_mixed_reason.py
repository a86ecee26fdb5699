"""Mixed mode of the paper's example: its best runs, the program that is explained, and why there may be none."""

from __future__ import annotations

from typing import Any

import pytest

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.mixed.ilp import build
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.mixed.catalogue import MIXED
from mapper.solver.pe_allocation.mixed.exact import search_mixed
from mapper.solver.pe_allocation.mixed.reason import why_mixed_infeasible
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers

EXACT = ("auto", "ilp", "cp-sat")


def example(**fields: Any) -> AllocationProblem:
    document = tcpa_preset("tcpa-4x4")
    assert document is not None
    network = stream_network(load_layers("mnist-tcpa", None))
    return AllocationProblem(network, tcpa_from_document(document, "tcpa-4x4"), mode="mixed", **fields)


def cycles(problem: AllocationProblem, name: str) -> int:
    found = MIXED[name](problem, Effort())
    assert found.proven and found.mapping is not None
    verdict = verify(problem, found.mapping)
    assert verdict.valid and verdict.cost is not None
    return verdict.cost.interval


@pytest.mark.parametrize("name", EXACT)
def test_two_runs_beat_the_layer_parallel_mode_on_sixteen_pes(name: str) -> None:
    assert cycles(example(), name) == 58_224 < cycles(example(segments=(0,)), name) == 63_504


@pytest.mark.parametrize("name", EXACT)
def test_single_layers_as_runs_take_what_eq_4_says(name: str) -> None:
    assert cycles(example(segments=(0, 1, 2, 3, 4)), name) == 73_500


@pytest.mark.parametrize("room", [5_856, 6_400, 8_000, 12_000, 17_000, 23_544])
def test_the_program_keeps_the_maps_that_save_most(room: int) -> None:
    problem = example(segments=(0, 1, 2, 3, 4), max_bytes=room)
    words = []
    for name in EXACT:
        found = MIXED[name](problem, Effort()).mapping
        assert found is not None
        verdict = verify(problem, found)
        assert verdict.valid and verdict.cost is not None
        words.append(verdict.cost.traffic_words)
    assert len(set(words)) == 1


def test_buffers_decide_what_is_fused() -> None:
    segments = {}
    for room in (5_856, 8_000, 30_192):
        found = search_mixed(example(max_bytes=room), Effort())
        assert found.mapping is not None
        segments[room] = found.mapping.segments
    assert segments == {5_856: (0, 2, 3, 4), 8_000: (0, 1, 4), 30_192: (0, 1)}


def test_buffers_too_small_for_a_layer_are_the_reason() -> None:
    said = why_mixed_infeasible(example(max_bytes=5_855))
    assert said == "conv2 alone needs 5,856 bytes of buffers, and there are 5,855"


def test_too_few_pes_for_a_given_run_are_the_reason() -> None:
    said = why_mixed_infeasible(example(segments=(0, 1), max_pes=3))
    assert said == "pool1 to conv4 alone needs 4 PEs, and there are 3"


def test_throughput_beyond_reach_says_the_most_possible() -> None:
    said = why_mixed_infeasible(example(longest_interval=58_223))
    assert said is not None and "858.752 frames per second (58,224 cycles a frame)" in said
    assert why_mixed_infeasible(example(longest_interval=58_224)) is None


def test_the_program_counts_runs_and_layers() -> None:
    counts = {
        built.part.name: (built.members, built.variables, built.constraints)
        for built in build(example()).built
    }
    assert counts["network_layers"] == (5, 0, 0)
    assert counts["intervals"] == (15, 0, 0)
    assert counts["cover"] == (0, 0, 5)


def test_other_models_are_refused() -> None:
    with pytest.raises(InputError, match="calculus"):
        search_mixed(example(model="streaming"), Effort())
