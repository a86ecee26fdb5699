"""What selections drawn at random have shown: steps whose cycles the model says now, each in the smallest network."""

from __future__ import annotations

import json
from pathlib import Path

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.codegen.algorithm_selection import overlay_files
from mapper.formulations.algorithm_selection.problem import Pin, SelectionProblem
from mapper.kind.algorithm_selection.part import limits
from mapper.models.algorithm_selection.choice import Choice
from mapper.models.algorithm_selection.control.selection import selection_control
from mapper.models.algorithm_selection.layer_cause import causes
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.sim.algorithm_selection.agreement import beyond
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.source import load_layers

Steps = dict[str, int]


def _machine(**buffers: int) -> OverlayMachine:
    """The preset, or with other buffers."""
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    engines = machine.engines
    assert engines is not None and engines.buffers is not None
    room = engines.buffers.model_copy(update=buffers)
    return machine.model_copy(update={"engines": engines.model_copy(update={"buffers": room})})


def _both(
    net: NetworkBuilder,
    output: str,
    folder: Path,
    array: tuple[int, int],
    choices: dict[str, Choice],
    machine: OverlayMachine | None = None,
    stores: dict[str, str] | None = None,
) -> tuple[Steps, Steps]:
    """Cycles of every step by the program, and by the model."""
    machine = machine or _machine()
    (folder / "net.onnx").write_bytes(net.model(output, 1).SerializeToString())
    network = ordered(load_layers(str(folder / "net.onnx")), machine)
    pins = {
        name: Pin(frozenset({one.algorithm}), frozenset({one.dataflow}), frozenset({one.parts}))
        for name, one in choices.items()
    }
    problem = SelectionProblem(overlay_network(network, machine), array=array, pins=pins, stores=stores or {})
    found = joint(problem, Effort()).mapping
    assert found is not None
    kept = limits(problem.network, found)
    files = overlay_files(selection_control(network, problem.network, found), network, limits=kept)
    steps = {one["name"]: one["cycles"] for one in json.loads(files["overlay.json"])["steps"]}
    return steps, {name: own.cycles for name, own in causes(problem.network, found).items()}


def test_the_program_has_the_pieces_that_the_model_counts(tmp_path: Path) -> None:
    """Three pieces of conv3 take as long as five, but need the output mover later, which stores conv2 so long."""
    net = NetworkBuilder("pieces", 192, 27, 27)
    narrow = net.convolution(net.convolution(net.input, "conv1", 96, 1), "conv2", 128, 3, pad=1)
    both = net.concatenation("concat1", [narrow, net.convolution(net.input, "conv3", 16, 1)])
    choices = {"conv2": Choice("winograd-4x4", "WS"), "conv3": Choice("im2col", "IS")}
    steps, said = _both(net, both, tmp_path, (35, 89), choices)
    assert not beyond(steps, said)


def test_pieces_that_are_read_channel_by_channel_leave_later_kernels_less(tmp_path: Path) -> None:
    """Five pieces of 80 or 88 positions are two rows of 64 lanes each, where the whole map would be seven."""
    net = NetworkBuilder("planes", 48, 52, 8)
    branches = [net.convolution(net.input, f"conv{at}", maps, 1) for at, maps in ((1, 160), (2, 130))]
    narrow = net.convolution(net.concatenation("concat1", branches), "conv3", 16, 1)
    both = [net.convolution(narrow, "conv4", 48, 5, pad=2), net.convolution(narrow, "conv5", 64, 3, pad=1)]
    output = net.concatenation("concat2", both)
    choices = {"conv3": Choice("im2col", "NS"), "conv4": Choice("winograd-4x4", "IS")}
    steps, said = _both(net, output, tmp_path, (47, 32), choices, stores={"concat1": "planes"})
    assert not beyond(steps, said)


def test_the_last_part_of_uneven_maps_takes_less(tmp_path: Path) -> None:
    """129 maps in two parts are 65 and 64, a row of 64 columns less; 320 in three 107, 107 and 106."""
    net = NetworkBuilder("uneven", 64, 13, 13)
    output = net.convolution(net.convolution(net.input, "conv1", 129, 3, pad=1), "conv2", 320, 3, pad=1)
    choices = {"conv1": Choice("im2col", "NS", 2), "conv2": Choice("winograd-4x4", "NS")}
    for array in ((32, 64), (27, 106)):
        steps, said = _both(net, output, tmp_path, array, choices)
        assert not beyond(steps, said)


def test_kernels_that_a_pool_waits_for_are_fetched_behind_the_first_product(tmp_path: Path) -> None:
    """Nothing of them is read while conv1's input is on its way."""
    net = NetworkBuilder("late", 832, 6, 6)
    wide, narrow = (net.convolution(net.input, f"conv{at}", maps, 1) for at, maps in ((1, 704), (2, 128)))
    joined = net.concatenation("concat1", [wide, narrow])
    plain = net.convolution(joined, "conv3", 384, 1)
    pooled = net.convolution(net.pool(joined, "pool1", 3, 1, 1), "conv4", 64, 1)
    output = net.concatenation("concat2", [plain, pooled])
    choices = {"conv2": Choice("im2col", "IS"), "conv3": Choice("im2col", "NS")}
    steps, said = _both(net, output, tmp_path, (48, 87), choices)
    assert not beyond(steps, said)


def test_parts_of_the_depth_are_fetched_behind_the_product_before(tmp_path: Path) -> None:
    """Kernels of few rows, which the array waits for."""
    net = NetworkBuilder("deep", 8, 12, 12)
    flat = net.apply("Flatten", "flat", net.convolution(net.input, "conv1", 4, 3, pad=1))
    output = net.linear(net.linear(flat, "gemm1", 576, 64), "gemm2", 64, 10)
    steps, said = _both(net, output, tmp_path, (16, 64), {}, _machine(kernel=64 * 128 * 2))
    assert not beyond(steps, said)


def test_taps_that_reach_every_output_come_first(tmp_path: Path) -> None:
    """Three parts of nine taps: those of the middle row fill the sums, which nothing has to clear."""
    net = NetworkBuilder("taps", 16, 12, 12)
    output = net.convolution(net.input, "conv1", 8, 3, pad=1)
    choices = {"conv1": Choice("kn2row", "IS")}
    steps, said = _both(net, output, tmp_path, (16, 64), choices, _machine(kernel=64 * 128 * 2))
    assert not beyond(steps, said)


def test_a_pool_is_held_up_by_all_of_the_first_load_of_the_layer_beside_it(tmp_path: Path) -> None:
    """36 products are fetched while 360 rows of tiles are loaded; the pool waits for these alone."""
    net = NetworkBuilder("held", 1, 20, 14)
    first = net.convolution(net.input, "conv1", 1, 3, pad=1)
    pool, wide = net.pool(net.input, "pool1", 3, 1), net.convolution(net.input, "conv2", 64, 3)
    both = net.concatenation("concat1", [wide, net.convolution(pool, "conv3", 33, 3, pad=1)])
    joined = net.concatenation("concat2", [both, net.convolution(first, "conv4", 1, 3)])
    choices = {"conv1": Choice("im2col", "IS"), "conv2": Choice("winograd-4x4", "NS")}
    steps, said = _both(net, joined, tmp_path, (16, 64), choices)
    assert not beyond(steps, said)


def test_kernels_of_the_first_layer_are_read_while_an_average_before_it_leaves(tmp_path: Path) -> None:
    net = NetworkBuilder("averaged", 3, 24, 16)
    output = net.convolution(net.pool(net.input, "pool1", 2, 2, mean=True), "conv1", 9, 1)
    steps, said = _both(net, output, tmp_path, (5, 40), {"conv1": Choice("im2col", "NS")})
    assert not beyond(steps, said)


def test_the_first_layer_after_a_stop_begins_while_an_addition_leaves_that_it_does_not_read(
    tmp_path: Path,
) -> None:
    net = NetworkBuilder("meanwhile", 2, 20, 20)
    added = net.apply("Add", "add1", net.apply("Tanh", "tanh1", net.input), net.input)
    both = [net.convolution(net.input, "conv1", 5, 1), net.convolution(added, "conv2", 7, 1)]
    output = net.concatenation("concat1", both)
    steps, said = _both(net, output, tmp_path, (8, 40), {"conv1": Choice("im2col", "IS")})
    assert not beyond(steps, said)
