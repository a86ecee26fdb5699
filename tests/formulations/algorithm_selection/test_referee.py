"""The referee of selections names every rule that is broken, with its place and size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import Pin, SelectionProblem
from mapper.formulations.algorithm_selection.referee import verify as referee
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.models.algorithm_selection.choice import Algorithm, Choice
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.mapping_file import selection_from_json
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.solver.algorithm_selection.exact.fixed import solve_at
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers

UNLIKE: dict[Algorithm, Algorithm] = {"im2col": "kn2row", "kn2row": "im2col"}


@pytest.fixture(scope="module")
def problem() -> SelectionProblem:
    machine, _ = load_machine("dynamap-u200-model")
    assert isinstance(machine, OverlayMachine)
    return SelectionProblem(overlay_network(load_layers("squeezenet"), machine))


@pytest.fixture(scope="module")
def selection(problem: SelectionProblem) -> Selection:
    found = solve_at(problem, (64, 64))
    assert found is not None
    return found.selection


def broken(problem: SelectionProblem, selection: Selection) -> list[tuple[str, str, float]]:
    return [(rule.rule, rule.place, rule.size) for rule in verify(problem, selection).broken]


def changed(selection: Selection, at: int, choice: Choice) -> Selection:
    return replace(selection, choices=(*selection.choices[:at], choice, *selection.choices[at + 1 :]))


def test_a_selection_of_the_search_breaks_nothing(problem: SelectionProblem, selection: Selection) -> None:
    assert broken(problem, selection) == []


def test_an_array_that_is_too_large_is_counted_in_pes(
    problem: SelectionProblem, selection: Selection
) -> None:
    assert broken(problem, replace(selection, array=(100, 61))) == [(referee.SHAPE, "array", 16)]


def test_an_algorithm_that_cannot_compute_a_layer_has_no_cost(
    problem: SelectionProblem, selection: Selection
) -> None:
    # conv1 has stride 2, conv2 a kernel of 1 x 1.
    for at, algorithm in ((0, "winograd"), (1, "kn2row"), (3, "winograd-4x4")):
        wrong = changed(selection, at, Choice(algorithm, "NS"))  # type: ignore[arg-type]
        assert broken(problem, wrong)[0] == (referee.COMPUTED, f"conv{at + 1}", 1)
        assert verify(problem, wrong).cost is None


def test_an_edge_is_stored_as_its_reader_wants_it(problem: SelectionProblem) -> None:
    posed = SelectionProblem(overlay_network(load_layers("alexnet"), problem.machine))
    found = solve_at(posed, (64, 64))
    assert found is not None
    given = found.selection
    other = next(label for label in posed.network.labels[0] if label != given.stores[0])
    wrong = replace(given, stores=(other, *given.stores[1:]))
    assert broken(posed, wrong) == [(referee.READ, "conv1", 1)]
    nothing = replace(given, stores=("rows", *given.stores[1:]))
    assert broken(posed, nothing) == [(referee.STORED, "conv1", 1)]


def test_pins_that_are_not_kept_are_named(problem: SelectionProblem, selection: Selection) -> None:
    given = selection.choices[0]
    pins = {"conv1": Pin(frozenset({UNLIKE[given.algorithm]}), frozenset())}
    posed = replace(problem, pins=pins, array=(32, 32))
    assert {place for _, place, _ in broken(posed, selection)} == {
        "array",
        "conv1.algorithm",
        "conv1.dataflow",
    }


def test_a_late_inference_is_counted_in_cycles(problem: SelectionProblem, selection: Selection) -> None:
    cost = verify(problem, selection).cost
    assert cost is not None
    unit = problem.machine.units_per_cycle
    posed = replace(problem, longest_units=cost.units - 3 * unit)
    assert broken(posed, selection) == [(referee.PACE, "throughput", 3)]


def test_a_document_with_a_strange_layer_or_edge_is_refused(
    problem: SelectionProblem, selection: Selection
) -> None:
    document = selection.to_json(problem.network)
    strange = {
        **document,
        "choice": {**document["choice"], "conv99": {"algorithm": "im2col", "dataflow": "NS"}},
    }
    with pytest.raises(InputError, match=r"choice\.conv99"):
        selection_from_json(strange, problem.network, "file")
    with pytest.raises(InputError, match="not an edge"):
        selection_from_json({**document, "on_chip": [["conv1", "conv9"]]}, problem.network, "file")
    with pytest.raises(InputError, match="array"):
        selection_from_json({**document, "array": [0, 4]}, problem.network, "file")


@pytest.fixture(scope="module")
def generated() -> SelectionProblem:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    return SelectionProblem(overlay_network(load_layers("lenet5"), machine))


@pytest.mark.parametrize(("layer", "parts", "place"), [("conv1", 2, "conv1"), ("gemm1", 3, "gemm1")])
def test_parts_that_kernels_cannot_come_in_have_no_cost(
    generated: SelectionProblem, layer: str, parts: int, place: str
) -> None:
    """conv1 has six maps, which are one row of lanes; gemm1 has 120, which are one too."""
    found = solve_at(generated, (16, 16))
    assert found is not None
    at = generated.network.names.index(layer)
    wrong = changed(found.selection, at, replace(found.selection.choices[at], parts=parts))
    assert broken(generated, wrong)[0] == (referee.PARTS, place, parts)
    assert verify(generated, wrong).cost is None


def test_parts_of_kernels_are_read_as_they_are_written() -> None:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    posed = SelectionProblem(overlay_network(load_layers("googlenet"), machine))
    at = posed.network.names.index("gemm1")
    pins = {"gemm1": Pin(parts=frozenset({4}))}
    found = solve_at(replace(posed, pins=pins), (47, 128))
    assert found is not None and found.selection.choices[at].parts == 4
    document = found.selection.to_json(posed.network)
    assert document["choice"]["gemm1"]["parts"] == 4 and "parts" not in document["choice"]["conv1"]
    assert selection_from_json(document, posed.network, "file") == found.selection
    pinned = replace(posed, pins={"gemm1": Pin(parts=frozenset({2}))})
    assert broken(pinned, found.selection) == [(referee.PINNED, "gemm1.parts", 1)]


def test_maps_that_stay_on_the_generated_overlay_go_to_the_next_layer_alone_and_fit() -> None:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine) and machine.engines is not None
    posed = SelectionProblem(overlay_network(load_layers("resnet50"), machine))
    found = solve_at(posed, (47, 128))
    assert found is not None and broken(posed, found.selection) == []
    given, network = found.selection, posed.network
    direct = {network.source[reader] for reader in network.running.direct}
    # 56 x 56 positions of 64 maps beside as many: 3,136 rows each, and there are 4,096.
    beside = min(direct - {*given.on_chip})
    reader = network.names[network.stores[beside].readers[0]]
    assert broken(posed, replace(given, on_chip=tuple(sorted({*given.on_chip, beside})))) == [
        (referee.STAYS, reader, 2 * 3136 - 4096)
    ]
    other = next(at for at in range(len(network.stores)) if at not in direct)
    name = network.stores[other].name
    assert (referee.STAYS, name, 1) in broken(posed, replace(given, on_chip=(other,)))
    assert broken(posed, replace(given, on_chip=())) == []


def test_maps_channel_by_channel_are_read_and_made_without_transforms() -> None:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    network = overlay_network(load_layers("squeezenet"), machine)
    at = next(at for at, store in enumerate(network.stores) if store.name == "conv2")
    readers = [network.names[reader] for reader in network.stores[at].readers]
    assert readers == ["conv3", "conv4"]
    posed = SelectionProblem(network, stores={"conv2": "planes"})
    found = solve_at(posed, (47, 128))
    assert found is not None and broken(posed, found.selection) == []
    assert found.selection.choices[3].algorithm == "kn2row"
    for algorithm in ("im2col", "winograd-4x4"):
        wrong = changed(found.selection, 3, Choice(algorithm, "WS"))
        assert broken(posed, wrong) == [(referee.LYING, "conv4", 1)]
