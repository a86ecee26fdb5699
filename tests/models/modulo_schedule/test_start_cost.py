"""What a start of a kernel costs: its set-up, addresses and live-ins, and the loading of its words."""

from __future__ import annotations

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.network.cost import (
    LiveIns,
    evaluate_layer,
    live_ins,
    load_cycles,
    most_contexts,
    set_up_cycles,
)
from mapper.models.modulo_schedule.network.mapping import kernel_of
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.tuning import unoptimised
from tests.codegen.modulo_schedule.small_layer import product_layer


def machine() -> CgraMachine:
    found = load_machine("srp-4x4")[0]
    assert isinstance(found, CgraMachine)
    return found


def test_live_ins_wait_for_the_first_one_and_then_follow_one_by_one() -> None:
    assert set_up_cycles(machine(), LiveIns(0, 2)) == 10 + 2
    assert set_up_cycles(machine(), LiveIns(5, 2)) == 10 + 2 + 16 + 5


def test_a_kernel_is_loaded_a_word_per_cycle() -> None:
    assert load_cycles(machine(), 3) == 3 * 16
    assert most_contexts(machine()) == 128


def test_a_machine_file_without_these_costs_nothing_for_them() -> None:
    whole = machine().model_dump(mode="json", by_alias=True)
    del whole["configuration_memory"], whole["vliw"]["address_cycles"], whole["vliw"]["fetch_cycles"]
    old = CgraMachine.model_validate(whole)
    assert set_up_cycles(old, LiveIns(5, 2)) == 10 + 5
    assert load_cycles(old, 3) == 0 and most_contexts(old) == float("inf")


def test_every_start_and_one_load_of_each_kernel_are_counted() -> None:
    problem = LayerProblem(product_layer(2, 9, 5), machine())
    mapping = unoptimised(problem, Effort()).mapping
    assert mapping is not None
    algorithm = problem.choice(mapping.algorithm)
    cost = evaluate_layer(algorithm, "Gemm", machine(), mapping)
    given = [
        live_ins(kernel_of(algorithm.nests[loop.nest], loop.box, loop.pointer_uses)) for loop in mapping.loops
    ]
    # The fill of the bias takes it and one address; a sum takes its start, and the addresses of three arrays.
    assert given == [LiveIns(1, 1), LiveIns(1, 3)]
    assert cost.set_up == 5 * (10 + 1 + 17) + 10 * (10 + 3 + 17)
    assert cost.load == 16 * sum(loop.schedule.ii for loop in mapping.loops)
    assert cost.breakdown_json()["cycles"]["load"] == cost.load
