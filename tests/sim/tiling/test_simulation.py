"""The simulator's own count against the model, and its result against numpy, on small nests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling import report, simulate
from mapper.sim.tiling.dataflow import Dataflow
from mapper.sim.tiling.walk import Level
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from tests.sim.tiling.small_nest import SMALL_NESTS, machine_of, machines, mapping_of, mappings, nest_of


@pytest.mark.parametrize("name", SMALL_NESTS)
def test_every_mapping_computes_the_reference_and_costs_what_the_model_says(name: str) -> None:
    nest = nest_of(name)

    @settings(max_examples=10, deadline=None, derandomize=True)
    @given(machines(), mappings(nest), st.integers(0, 3))
    def holds(machine: DataflowMachine, mapping: TilingMapping, seed: int) -> None:
        run, model = simulate(nest, machine, mapping, seed), evaluate(nest, machine, mapping)
        assert (run.outputs_equal, run.max_error) == (True, 0)
        assert run.words == model.words
        assert (run.energy_pj, run.cycles) == (model.energy_pj, model.cycles)
        assert run.stall_cycles == model.stall_cycles
        assert run.energy_by_resource == pytest.approx(model.energy_by_resource)

    holds()


def test_a_convolution_moves_as_many_words_as_counted_by_hand() -> None:
    # Two tiles of M at DRAM outside two of C: O stays over C, I comes for every pair, W too.
    nest = nest_of("strided-convolution")
    mapping = mapping_of(
        nest,
        dram="M C",
        M={"rf": 2},
        N={"rf": 2},
        Ox={"spatial": 4},
        Oy={"rf": 2},
        Fx={"rf": 3},
        Fy={"rf": 2},
    )
    run = simulate(nest, machine_of(rules={"partial_sums": "first_visit_free"}), mapping)
    assert run.spm_passes == 2 * 3
    assert run.words["O"]["dram"] == 2 * 4 * 4 * 2
    assert run.words["I"]["dram"] == 6 * (2 * 1 * 9 * 4)
    assert run.words["W"]["dram"] == 6 * (2 * 1 * 3 * 2)
    # The input is stored 12 x 6, of which 9 x 4 is taken: one burst for each of 9 rows of 2 images.
    assert run.bursts == {"O": 2 * 2, "I": 6 * 18, "W": 6 * 2}


def test_a_tile_that_is_kept_too_long_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    nest = nest_of("matmul")
    mapping = mapping_of(nest, dram="I J K", I={"rf": 2}, J={"spatial": 3}, K={"rf": 2})
    assert simulate(nest, machine_of(), mapping).outputs_equal
    bring = Dataflow.bring_to_spm

    def forget_once(self: Dataflow, k: int, s: int) -> None:
        if (k, s) != (1, 3):
            bring(self, k, s)

    monkeypatch.setattr(Dataflow, "bring_to_spm", forget_once)
    run = simulate(nest, machine_of(), mapping)
    assert not run.outputs_equal
    assert run.max_error > 0


def test_a_partial_sum_that_is_not_brought_back_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    nest = nest_of("matmul")
    mapping = mapping_of(nest, dram="K I J", I={"rf": 2}, J={"spatial": 3}, K={"rf": 2})
    bring = Dataflow.bring_to_rf

    def not_again(self: Dataflow, k: int, t: int) -> None:
        if k > 0 or self.traffic[0].rf_loads == 0:
            bring(self, k, t)

    monkeypatch.setattr(Dataflow, "bring_to_rf", not_again)
    assert not simulate(nest, machine_of(), mapping).outputs_equal


def test_a_wrong_idea_of_which_tiles_stay_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    nest = nest_of("attention-scores")
    mapping = mapping_of(nest, dram="B H I J K", spm="I J K", I={"spm": 2}, J={"spm": 3}, K={"rf": 2})
    arrives = Level.arrives

    def first_operand_stays(self: Level, k: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        flags = arrives(self, k).copy()
        flags[1:] &= k != 1
        return flags

    monkeypatch.setattr(Level, "arrives", first_operand_stays)
    assert not simulate(nest, machine_of(), mapping).outputs_equal


def test_a_recurrence_run_in_space_is_noticed() -> None:
    nest = nest_of("recurrence")
    assert not simulate(nest, machine_of(), mapping_of(nest, I={"spatial": 3})).outputs_equal


def test_the_same_seed_gives_the_same_run_and_another_seed_other_data() -> None:
    nest, machine = nest_of("mttkrp"), machine_of()
    mapping = mapping_of(nest, I={"spatial": 4}, K={"rf": 3})
    first, again, other = (simulate(nest, machine, mapping, seed) for seed in (1, 1, 2))
    assert first == again
    assert first.checksum != other.checksum


def test_the_report_names_what_agrees_and_puts_the_physical_run_beside_it() -> None:
    nest = nest_of("matmul")
    result = report(nest, machine_of(), mapping_of(nest, K={"rf": 4}, J={"spatial": 6}))
    assert (result["outputs_equal"], result["agrees"], result["disagreements"]) == (True, True, [])
    assert set(result["cost_simulated"]) == {"energy_pj", "cycles", "edp_pj_cycles", "latency_ms"}
    assert result["physical"]["cycles_over_model"] > 0


def test_factors_that_do_not_multiply_to_the_bound_cannot_be_run() -> None:
    nest = nest_of("matmul")
    broken = TilingMapping(nest.loops, ((1, 1, 2, 1), (6, 1, 1, 1), (8, 1, 1, 1)), nest.loops, nest.loops)
    with pytest.raises(InputError, match=r"tiling\.I: factors must multiply to the bound 4"):
        simulate(nest, machine_of(), broken)


def test_too_many_passes_are_refused_in_one_line() -> None:
    nest = matrix_product_nest("large", (), 512, 512, 512)
    with pytest.raises(InputError, match="register-file passes, more than 5000000"):
        simulate(nest, machine_of(), mapping_of(nest))


def test_a_nest_too_large_to_hold_is_refused_in_one_line() -> None:
    nest = matrix_product_nest("large", (), 1 << 16, 1 << 16, 1)
    everything = {"rf": 1 << 16}
    with pytest.raises(InputError, match="MiB of data"):
        simulate(nest, machine_of(), mapping_of(nest, I=everything, J=everything))
