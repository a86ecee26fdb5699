"""Ways of streams under limits of links and border PEs: what is found holds, what is ruled out has none."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.infeasible import why_infeasible
from mapper.formulations.pe_allocation.problem import AllocationProblem, Pin
from mapper.formulations.pe_allocation.reach import least_interval_over_links
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.formulations.pe_allocation.referee.verify_ways import CARRIED, HELD
from mapper.models.pe_allocation.cost import Model
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.placement import links_json
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.sim.pe_allocation import report
from mapper.solver.method import Effort, Start
from mapper.solver.pe_allocation.catalogue import METHODS
from mapper.solver.pe_allocation.parallel.front import front
from mapper.solver.pe_allocation.placement.place import place
from mapper.workloads.source import load_layers
from tests.sim.pe_allocation.example import Net
from tests.solver.pe_allocation.placement_oracle import allocation_of, array_of, network_of
from tests.solver.pe_allocation.way_oracle import has_ways

ALL = ("north", "east", "south", "west")


def limited(machine: TcpaMachine, words: int | None, buffers: int | None = None) -> TcpaMachine:
    border = machine.border.model_copy(update={"buffers": buffers})
    return machine.model_copy(update={"link_words": words, "border": border})


def paced(paces: tuple[int, ...]) -> Allocation:
    """Layers on a PE each; without idle cycles one of these takes 8 cycles a position."""
    return allocation_of(*(1,) * len(paces), throttle=tuple(pace - 8 for pace in paces))


def test_an_allocation_is_placed_exactly_if_it_can_be() -> None:
    seen = Counter[str]()

    @settings(derandomize=True, deadline=None, max_examples=80, suppress_health_check=list(HealthCheck))
    @given(
        st.sampled_from([(1, 3), (2, 2), (2, 3), (1, 4)]),
        st.sampled_from([ALL, ("west",), ("north",), ("west", "south")]),
        st.sampled_from([(1, None), (1, 3), (2, 3), (None, 3), (None, 2), (1, 2)]),
        st.data(),
    )
    def holds(
        size: tuple[int, int],
        sides: tuple[str, ...],
        limits: tuple[int | None, int | None],
        data: st.DataObject,
    ) -> None:
        machine = limited(array_of(*size, ("mesh",), sides), *limits)
        count = data.draw(st.integers(1, 2 if size == (2, 3) else 3))
        feeds = [
            data.draw(st.lists(st.integers(0, at - 1), max_size=2, unique=True)) for at in range(1, count)
        ]
        network = network_of([], *feeds)
        paces = tuple(data.draw(st.sampled_from((8, 8, 12, 20))) for _ in range(count))
        problem = AllocationProblem(network, machine, model="streaming")
        found = place(problem, paced(paces))
        possible = has_ways(network, machine, paces)
        seen[str(possible)] += 1
        assert (found.placement is not None) == possible == (not found.unplaceable)
        assert not possible or verify(problem, found).valid

    holds()
    assert min(seen["True"], seen["False"]) >= 10


def test_seven_streams_that_one_link_cannot_carry_take_other_ways() -> None:
    # Seven layers read one, whose results have to leave over its few links.
    network, machine = network_of([], *[[0]] * 7), array_of(3, 3)
    given_one = paced((16,) * 8)
    for words, most in ((4, 4), (2, 2)):
        problem = AllocationProblem(network, limited(machine, words), model="streaming")
        found = place(problem, given_one)
        assert verify(problem, found).valid
        said = links_json(network, machine, found, (16,) * 8)
        assert said is not None and said["busiest"]["words"] <= most


def test_line_buffers_are_shared_out_over_the_border_pes() -> None:
    network = network_of([], [0], [0], [0], [1, 2, 3], [4], [5])
    machine = limited(array_of(3, 3), 4, 2)
    problem = AllocationProblem(network, machine, model="streaming")
    found = place(problem, paced((8,) * 7))
    said = links_json(network, machine, found, (8,) * 7)
    # 7 buffers of weights, 6 layers' line buffers, the frame and the result: 15 of 16.
    assert said is not None and said["buffers"]["most"] == 2
    assert verify(problem, found).valid


def test_too_few_buffers_for_any_allocation_are_infeasible_and_say_so() -> None:
    network = network_of([], [0], [1])
    problem = AllocationProblem(network, limited(array_of(1, 3, ("mesh",), ("west",)), 4, 6))
    for method in METHODS.values():
        outcome = method.search(problem, Effort())
        assert outcome.proven and outcome.mapping is None
    assert "7 buffers" in (why_infeasible(problem) or "") and "border.buffers" in (
        why_infeasible(problem) or ""
    )
    enough = replace(problem, machine=limited(problem.machine, 4, 7))
    assert why_infeasible(enough) is None
    assert METHODS["auto"].search(enough, Effort()).mapping is not None


def test_too_few_address_generators_for_any_allocation_are_infeasible() -> None:
    problem = AllocationProblem(network_of([], [0]), array_of(2, 2, generators=3))
    assert METHODS["auto"].search(problem, Effort()).proven
    assert "4 streams" in (why_infeasible(problem) or "")
    alone = replace(problem, mode="layer-by-layer", machine=array_of(2, 2, generators=1))
    assert "3 streams" in (why_infeasible(alone) or "")


@pytest.mark.parametrize("model", ["streaming", "calculus"])
def test_an_allocation_whose_streams_are_too_much_is_slowed_down_and_not_called_optimal(model: Model) -> None:
    # Two PEs a layer take a position of 8 maps in 4 cycles: two words a cycle on links of one.
    network, machine = network_of([], [0], [1]), limited(array_of(2, 3), 1, 8)
    pins = {"conv0": Pin(pes=2), "conv1": Pin(pes=2)}
    problem = AllocationProblem(network, machine, "latency", model, pins=pins)
    outcome = METHODS["auto"].search(problem, Effort())
    bare = METHODS["auto"].search(replace(problem, machine=limited(machine, None)), Effort())
    assert bare.proven and bare.value is not None
    assert outcome.mapping is not None and outcome.value is not None
    assert verify(problem, outcome.mapping).valid
    assert outcome.value > bare.value
    assert not outcome.proven and outcome.bound == bare.value and outcome.restrictions
    assert not report(problem, outcome.mapping)["violations"]


def test_slower_layers_that_cost_no_throughput_leave_a_proof() -> None:
    # The second layer, of the same size, has idle cycles to spare where the first is pinned to a slow pace.
    network = network_of([], [0])
    machine = limited(array_of(1, 8), 1, 8)
    pins = {"conv0": Pin(pes=1, throttle=24), "conv1": Pin(pes=4)}
    problem = AllocationProblem(network, machine, model="streaming", pins=pins)
    outcome = METHODS["auto"].search(problem, Effort())
    assert outcome.mapping is not None and outcome.mapping.throttle[1] > 0
    assert outcome.proven and outcome.value == machine.clock_hz / 32


def test_a_pinned_pace_that_no_links_carry_is_not_answered_and_not_called_infeasible() -> None:
    network = network_of([], [0])
    machine = limited(array_of(2, 4), 1, 8)
    pins = {name: Pin(pes=4, throttle=0) for name in network.names}
    outcome = METHODS["auto"].search(AllocationProblem(network, machine, pins=pins), Effort())
    assert outcome.mapping is None and not outcome.proven and outcome.stop == "heuristic"
    assert outcome.bound is not None


def test_an_array_without_limits_gets_no_ways_of_its_own() -> None:
    network, machine = network_of([], [0]), limited(array_of(2, 2), None)
    found = place(AllocationProblem(network, machine), allocation_of(1, 1))
    assert found.placement is not None and found.placement.ways == ()


def test_ways_are_written_down_where_the_shortest_ones_overload_something() -> None:
    network, given_one = network_of([], [0], [1]), allocation_of(1, 1, 1)
    for buffers, listed in ((8, False), (2, True)):
        machine = limited(array_of(2, 2, ("mesh",), ("west", "east")), 4, buffers)
        problem = AllocationProblem(network, machine, model="streaming")
        found = place(problem, given_one)
        assert found.placement is not None and bool(found.placement.ways) == listed
        assert verify(problem, found).valid


@pytest.mark.parametrize("name", ["mnist-tcpa", "squeezenet"])
def test_what_the_preset_can_carry_is_proven_placed_and_simulated(name: str) -> None:
    network = stream_network(load_layers(name, None))
    machine = array_of(8, 8)
    problem = AllocationProblem(network, machine, model="streaming")
    outcome = METHODS["greedy"].search(problem, Effort())
    assert outcome.mapping is not None and outcome.mapping.placement is not None
    assert verify(problem, outcome.mapping).valid


def test_a_throughput_that_the_links_bound_is_proven_by_them() -> None:
    # 64 units a PE read faster than a link of a word a cycle brings windows to a layer of several PEs.
    network = stream_network(load_layers("mnist-tcpa", None))
    machine = limited(array_of(4, 4), 1, 8)
    units = machine.functional_units.model_copy(update={"convolution": 64, "pool": 64})
    machine = machine.model_copy(update={"functional_units": units})
    problem = AllocationProblem(network, machine, model="streaming")
    outcome = METHODS["auto"].search(problem, Effort())
    assert outcome.proven and outcome.mapping is not None
    # The third layer's 24 maps and 3x3 pixels take 216 cycles to arrive, 14x14 times.
    assert outcome.value == machine.clock_hz / (216 * 196)
    assert verify(problem, outcome.mapping).valid
    without = METHODS["auto"].search(replace(problem, machine=limited(machine, None, 8)), Effort())
    assert without.value is not None and without.value > outcome.value


@pytest.mark.parametrize(("words", "kernel"), [(1, (3, 3)), (2, (3, 3)), (1, (1, 1)), (3, (5, 5))])
def test_no_allocation_that_is_placed_beats_the_bound_of_the_links(
    words: int, kernel: tuple[int, int]
) -> None:
    network = Net((6, 6), 3).convolution(5, kernel).convolution(4, kernel, pads=kernel).network()
    machine = limited(array_of(2, 3), words, 8)
    units = machine.functional_units.model_copy(update={"convolution": 64})
    machine = machine.model_copy(update={"functional_units": units})
    problem = AllocationProblem(network, machine, model="streaming")
    least, found = least_interval_over_links(problem), 0
    for first, second in itertools.product((1, 2, 4), repeat=2):
        for idle in (0, 7, 60):
            given_one = allocation_of(first, second, delta=(64, 64), throttle=(idle, idle))
            at_rest = place(problem, given_one) if first + second <= 6 else given_one
            if at_rest.placement is not None:
                found += 1
                cost = verify(problem, at_rest).cost
                assert cost is not None and cost.interval >= least
    assert found > 0


def test_a_front_without_buffers_for_any_point_is_empty_and_proven() -> None:
    machine = limited(array_of(1, 3, ("mesh",), ("west",)), 4, 6)
    found = front(AllocationProblem(network_of([], [0], [1]), machine), Effort())
    assert found.points == () and found.complete


JOINED = (
    Net((5, 5), 4)
    .convolution(4, 3, pads=(1, 1), groups=4)
    .convolution(6, 1, 0)
    .convolution(6, 1, 0)
    .elementwise("Add", 1, 2)
    .pool(2)
    .network()
)


@pytest.mark.parametrize("pes", [(1, 1, 1, 1, 1), (3, 2, 4, 2, 2), (4, 6, 1, 3, 1), (2, 5, 5, 3, 1)])
@pytest.mark.parametrize("links", [["mesh"], ["torus"], ["mesh", "diagonal"]])
def test_the_referee_rejects_a_word_less_than_the_model_counts(
    pes: tuple[int, ...], links: list[str]
) -> None:
    machine = limited(array_of(4, 4, links), None)
    given_one = allocation_of(*pes, delta=(4,) * 5)
    machine = machine.model_copy(
        update={
            "functional_units": machine.functional_units.model_copy(
                update={"convolution": 4, "pool": 4, "elementwise": 4}
            )
        }
    )
    problem = AllocationProblem(JOINED, machine, model="streaming")
    found = place(problem, given_one)
    cost = verify(problem, found).cost
    assert cost is not None
    said = links_json(JOINED, machine, found, [timing.z_out for timing in cost.timed])
    assert said is not None
    enough = math.ceil(said["busiest"]["words"])
    assert enough > 1
    assert verify(replace(problem, machine=limited(machine, enough)), found).valid
    broken = verify(replace(problem, machine=limited(machine, enough - 1)), found).broken
    assert {rule.rule for rule in broken} == {CARRIED}
    most, busiest = said["buffers"]["most"], said["buffers"]["at"]
    assert verify(replace(problem, machine=limited(machine, None, most)), found).valid
    full = verify(replace(problem, machine=limited(machine, None, most - 1)), found).broken
    assert str(busiest) in {rule.place for rule in full if rule.rule == HELD}


def test_what_was_known_and_placed_is_kept_where_it_is_better_than_what_is_slowed_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network, machine = network_of([], [0], [1]), limited(array_of(2, 3), 1, 8)
    pins = {"conv0": Pin(pes=2), "conv1": Pin(pes=2)}
    problem = AllocationProblem(network, machine, "latency", "streaming", pins=pins)
    known = METHODS["auto"].search(problem, Effort())
    assert known.mapping is not None and known.value is not None
    monkeypatch.setattr("mapper.solver.pe_allocation.placement.settling.SLOWER", ("4",))
    slower = METHODS["auto"].search(problem, Effort())
    assert slower.value is not None and slower.value > known.value
    start = Start(problem, known.mapping, known.value, known.bound, "auto")
    outcome = METHODS["auto"].search(problem, Effort(start=start))
    assert outcome.value == known.value and outcome.mapping is not None
    assert outcome.mapping.placement is not None and verify(problem, outcome.mapping).valid
