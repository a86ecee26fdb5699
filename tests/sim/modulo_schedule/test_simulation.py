"""Schedules run as configuration words: right numbers, right cycles, and every conflict found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.models.modulo_schedule.configuration.word import Configuration, read_configuration
from mapper.models.modulo_schedule.mapping import ModuloSchedule, Placement, Route
from mapper.sim.modulo_schedule import Run, report, simulate
from mapper.sim.modulo_schedule.report import largest_error
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Edge, Operation
from tests.sim.modulo_schedule.example import (
    LEFT,
    Example,
    accumulate,
    array_of,
    kernel_of,
    late_load,
    predicated_store,
    recurrence_of_two,
    result,
    routed_over_a_neighbour,
    through_a_shared_file,
)

EXAMPLES = [
    accumulate,
    recurrence_of_two,
    late_load,
    predicated_store,
    routed_over_a_neighbour,
    through_a_shared_file,
]


def words_of(example: Example, **changes: dict[str, Any]) -> Configuration:
    """The words of an example with fields of named operations changed."""
    document = assemble(*example).to_json()
    for word in document["words"]:
        word.update(changes.get(word["operation"] or "move", {}))
    return read_configuration(document, "test")


def memory() -> dict[str, np.ndarray[Any, Any]]:
    return {"x": np.arange(64, dtype=np.int32), "y": np.zeros(64, np.int32)}


def run(example: Example, trips: int = 5, **changes: dict[str, Any]) -> Run:
    return simulate(words_of(example, **changes), example[1], memory(), trips)


def rules(ran: Run) -> set[str]:
    return {violation.rule for violation in ran.violations}


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_schedule_that_the_referee_accepts_runs_as_the_model_says(example: Callable[[], Example]) -> None:
    kernel, machine, schedule = example()
    assert verify(ModuloProblem(kernel, machine), schedule).broken == ()
    found = report(kernel, machine, schedule)
    assert found["outputs_equal"] and found["agrees"] and found["violations"] == []


def test_a_sum_is_carried_from_iteration_to_iteration() -> None:
    assert run(accumulate()).memory["y"][:6].tolist() == [7, 8, 10, 13, 17, 0]


def test_the_memory_image_is_left_as_it_is() -> None:
    image = memory()
    simulate(words_of(accumulate()), accumulate()[1], image, 5)
    assert not image["y"].any()


def test_a_store_whose_predicate_is_zero_does_nothing() -> None:
    assert run(predicated_store()).memory["y"][:6].tolist() == [0, 99, 0, 99, 0, 0]


@pytest.mark.parametrize("trips", [0, 1, 2, 5, 20])
def test_cycles_are_those_of_kernel_only_code(trips: int) -> None:
    ran = run(late_load(), trips)
    assert ran.cycles == trips * 2 + (9 - 1) * 2
    assert ran.memory["y"][0] == max(trips - 1, 0)


def test_what_becomes_ready_after_the_last_stage_is_reported_as_drain() -> None:
    kernel = kernel_of((Operation("x_0", "load", ((0, 0),), "x"),), ())
    machine = array_of(1, 1, latency_cycles={"load": 16})
    found = report(kernel, machine, ModuloSchedule(2, (Placement(LEFT, 1),), ()))
    assert (found["cycles"], found["drain_cycles"], found["agrees"]) == (10, 15, True)


def test_a_loop_of_unknown_length_runs_on_symbols() -> None:
    found = report(*recurrence_of_two())
    assert found["values"] == "symbols" and found["cost_simulated"]["cycles"] is None


def test_a_value_of_another_iteration_is_found_by_its_symbol() -> None:
    kernel, machine, schedule = recurrence_of_two()
    # Two iterations later the first register holds the result of one iteration later.
    routes = (schedule.routes[0], Route(1, (result(LEFT, 1, 0),)))
    late = ModuloSchedule(schedule.ii, schedule.placements, routes)
    assert not report(kernel, machine, late)["outputs_equal"]
    assert not verify(ModuloProblem(kernel, machine), late).valid


def test_a_register_overwritten_before_it_is_read_gives_wrong_numbers() -> None:
    # The move now writes over the index that the counter needs in the next iteration.
    assert run(accumulate(), move={"registers": [0]}).memory["y"][:5].tolist() != [7, 8, 10, 13, 17]


def test_a_value_is_not_there_before_its_latency_has_passed() -> None:
    assert run(late_load(), x_i={"latency": 18}).memory["y"][0] != 4


def test_two_words_in_one_slot_are_found() -> None:
    assert "one word per PE and cycle" in rules(run(accumulate(), y_i={"slot": 0}))


def test_two_results_that_reach_an_output_register_together_are_found() -> None:
    assert "one result per output register and cycle" in rules(run(accumulate(), x_i={"latency": 2}))


def test_two_values_written_to_a_register_together_are_found() -> None:
    changes: dict[str, Any] = {"latency": 2, "output": False, "registers": [1]}
    assert "one value per register and cycle" in rules(run(accumulate(), x_i=changes))


def test_a_read_over_a_link_that_does_not_exist_is_found() -> None:
    example = routed_over_a_neighbour()
    far = {"operands": [{"from": "output", "position": 0, "pe": [0, 0], "initial": []}]}
    ran = simulate(words_of(example, b=far), example[1], {}, 3, "symbols")
    assert rules(ran) == {"link exists"}


def test_a_read_of_what_was_never_written_is_found() -> None:
    never = {"operands": [{"from": "register", "position": 0, "register": 3, "initial": []}]}
    assert "only what was written is read" in rules(run(accumulate(), move=never))


def test_a_register_that_does_not_exist_is_found() -> None:
    assert rules(run(accumulate(registers=2))) == {"register exists"}


def test_more_memory_accesses_than_ports_are_found() -> None:
    # Load and store of the accumulation issue in cycles 1 and 4: together at II 3.
    assert rules(run(accumulate(memory_ports=1))) == {"memory ports"}
    assert rules(run(accumulate(memory_ports=2))) == set()


def test_more_register_reads_than_ports_are_found() -> None:
    example = accumulate(register_file={"registers": 4, "read_ports": 1})
    assert rules(run(example)) == set()
    both = [
        {"from": "register", "position": 0, "register": 2, "initial": []},
        {"from": "register", "position": 1, "register": 0, "initial": []},
    ]
    assert rules(run(example, y_i={"operands": both})) == {"read ports"}


def test_more_register_writes_than_ports_are_found() -> None:
    example = accumulate(register_file={"registers": 4, "write_ports": 1})
    assert rules(run(example)) == set()
    assert rules(run(example, i={"registers": [0, 3]})) == {"write ports"}


def test_a_value_goes_from_pe_to_pe_by_a_shared_register() -> None:
    assert run(through_a_shared_file()).memory["y"][:6].tolist() == [0, 2, 4, 6, 8, 0]


def test_pes_that_are_not_connected_to_the_shared_registers_are_found() -> None:
    example = through_a_shared_file(at=[[0, 0], [0, 1]])
    assert rules(run(example)) == {"PE is connected to the shared registers"}


def test_a_shared_register_that_does_not_exist_is_found() -> None:
    assert rules(run(through_a_shared_file(registers=1))) == {"register exists"}


def test_a_shared_register_overwritten_by_another_pe_gives_wrong_numbers() -> None:
    wrong = run(through_a_shared_file(), x_i={"registers": [4]}).memory["y"][:5].tolist()
    assert wrong != [0, 2, 4, 6, 8]


def test_two_pes_that_write_a_shared_register_together_are_found() -> None:
    changes: dict[str, Any] = {"registers": [4], "latency": 4}
    assert "one value per register and cycle" in rules(run(through_a_shared_file(), x_i=changes))


def test_reads_and_writes_of_shared_registers_by_all_pes_need_ports_together() -> None:
    assert rules(run(through_a_shared_file(read_ports=2, write_ports=1))) == set()
    # The sum reads both registers in one cycle.
    assert rules(run(through_a_shared_file(read_ports=1))) == {"read ports"}
    late = {"latency": 4}
    assert "write ports" in rules(run(through_a_shared_file(write_ports=1), x_i=late))


def test_an_operation_on_a_pe_without_its_unit_is_found() -> None:
    example = accumulate(pes=[{"at": "all", "classes": ["integer"]}])
    assert rules(run(example)) == {"PE has the unit"}


def test_an_access_outside_its_array_is_found() -> None:
    assert rules(run(accumulate(), trips=65)) == {"accesses lie inside their arrays"}


def test_two_stores_to_one_word_in_one_cycle_are_found() -> None:
    stores = tuple(Operation(f"y{n}", "store", ((0, 0), (1, n)), "y") for n in range(2))
    schedule = ModuloSchedule(1, (Placement((0, 0), 0), Placement((0, 1), 0)), ())
    example = kernel_of(stores, ()), array_of(1, 2), schedule
    assert rules(run(example)) == {"one store per memory word and cycle"}


def test_a_load_reads_what_was_stored_before_its_own_cycle() -> None:
    kernel = kernel_of(
        (
            Operation("old", "load", ((0, 3),), "x"),
            Operation("new", "store", ((0, 3), (1, 99)), "x"),
            Operation("copy", "store", ((0, 0),), "y"),
        ),
        (Edge(0, 2, 1),),
    )
    for at, value in ((1, 99), (0, 3)):
        # The store to x[3] in the cycle before the load, and in the load's own.
        schedule = ModuloSchedule(
            3,
            (Placement((0, 0), 1), Placement((0, 1), 1 - at), Placement((0, 0), 2)),
            (Route(0, (result((0, 0), 2),)),),
        )
        assert run((kernel, array_of(1, 2), schedule), trips=1).memory["y"][0] == value


def test_errors_are_the_largest_difference_of_words() -> None:
    one = {"y": np.array([1.0, np.nan, 2.0], np.float32)}
    assert largest_error(one, {"y": np.array([1.0, np.nan, 2.5], np.float32)}) == 0.5
    assert largest_error(one, {"y": np.array([np.inf, np.nan, 2.0], np.float32)}) == np.inf
    assert largest_error(one, one) == 0


def test_the_report_tells_wrong_numbers_and_how_far_they_are() -> None:
    kernel, machine, schedule = accumulate()
    late = ModuloSchedule(
        schedule.ii,
        schedule.placements,
        (*schedule.routes[:4], Route(4, (result(LEFT, 1, 0),)), schedule.routes[5]),
    )
    found = report(kernel, machine, late)
    assert not found["outputs_equal"] and found["max_error"] > 0


def test_an_opcode_without_a_meaning_has_no_numbers() -> None:
    with pytest.raises(InputError, match="no numeric meaning"):
        run(routed_over_a_neighbour())


def test_a_result_of_no_latency_is_read_in_its_own_cycle() -> None:
    kernel = kernel_of(
        (Operation("late", "beta"), Operation("early", "alpha")), (Edge(1, 0, 0, latency=0),), trips=None
    )
    schedule = ModuloSchedule(
        1, (Placement((0, 0), 0), Placement((0, 1), 0)), (Route(0, (result((0, 1), 0),)),)
    )
    assert report(kernel, array_of(1, 2), schedule)["outputs_equal"]


@st.composite
def serial_schedules(draw: st.DrawFn) -> Example:
    """Operations one after another on one PE, every result kept in a register, any operands they can reach."""
    count = draw(st.integers(1, 6))
    edges: list[Edge] = []
    routes: list[Route] = []
    registers = [draw(st.integers(0, 5)) for _ in range(count)]
    for reader in range(count):
        for operand, source in enumerate(draw(st.lists(st.integers(0, count - 1), max_size=3))):
            edges.append(Edge(source, reader, operand, int(source >= reader)))
            routes.append(Route(len(routes), (result(LEFT, source + 1, registers[source]),)))
    operations = tuple(Operation(f"v{n}", f"op{n}") for n in range(count))
    schedule = ModuloSchedule(count, tuple(Placement(LEFT, n) for n in range(count)), tuple(routes))
    return kernel_of(operations, tuple(edges), trips=None), array_of(1, 1, 6), schedule


@settings(derandomize=True, deadline=None, max_examples=150)
@given(serial_schedules())
def test_the_referee_accepts_exactly_the_serial_schedules_that_run_right(example: Example) -> None:
    kernel, machine, schedule = example
    found = report(kernel, machine, schedule)
    runs = found["outputs_equal"] and found["agrees"]
    assert runs == verify(ModuloProblem(kernel, machine), schedule).valid
