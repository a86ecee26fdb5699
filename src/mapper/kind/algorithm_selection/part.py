"""Networks as parts of the kind ``algorithm_selection``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mapper.arch.overlay import OverlayMachine
from mapper.formulations.algorithm_selection.problem import Objective as ObjectiveName
from mapper.formulations.algorithm_selection.problem import SelectionProblem, longest_units
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import largest
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.formulations.objective import DSPS, EDP, Objective
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.kind.algorithm_selection.numbers import Run, file_formats
from mapper.kind.algorithm_selection.pins import read_fix
from mapper.kind.part import Options, ProblemPart, ShownVerdict, Workload
from mapper.models.algorithm_selection.control.sequence import Control
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.number.network_number import NetworkNumbers
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.lying import is_joined, joined
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.models.algorithm_selection.running_cost import piece_counts
from mapper.workloads.document import InputError
from mapper.workloads.network.building import network_layers
from mapper.workloads.network.network import Dims
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.quantisation import (
    is_quantised,
    with_requantising,
    without_quantising,
)
from mapper.workloads.source import load_layers

if TYPE_CHECKING:
    from mapper.codegen.algorithm_selection.piece import Limits

SelectionPart = ProblemPart[LayerNetwork, SelectionProblem]


@dataclass(frozen=True)
class NamedSelection:
    """A selection that knows its network, as documents need it."""

    network: OverlayNetwork
    selection: Selection

    def to_json(self) -> dict[str, Any]:
        return self.selection.to_json(self.network)


def read_network(text: str, batch: int | None, dims: Dims) -> Workload[LayerNetwork]:
    """The network that ``text`` names; what the overlay does not run is listed when the problem is posed."""
    network = load_layers(text, batch, dims)
    if is_quantised(network.operators):
        plain = without_quantising(network.operators)
        network = network_layers(with_requantising(plain, file_formats(network)))
    return Workload(network, network.operators.files, network.operators.batch)


def pose_network(
    value: LayerNetwork, machine: OverlayMachine, objective: Objective, options: Options
) -> tuple[SelectionPart, ...]:
    """The whole network as one part.

    Raises: InputError for unknown decisions, or fewest DSPs without a throughput.
    """
    value = ordered(value, machine)
    network = overlay_network(value, machine)
    fixed = read_fix(options.fix, network)
    longest = None
    if options.min_throughput is not None:
        if not math.isfinite(options.min_throughput) or options.min_throughput <= 0:
            raise InputError(
                "--min-throughput",
                str(options.min_throughput),
                "is not a number of frames per second above 0",
            )
        if objective == EDP:
            raise InputError(
                "--min-throughput", "", "goes with the objectives latency and dsps; leave it out"
            )
        longest = longest_units(options.min_throughput, network)
    elif objective == DSPS:
        raise InputError(
            "--min-throughput", "", "is missing; the fewest DSPs are for a throughput in frames per second"
        )
    problem = SelectionProblem(
        network,
        cast(ObjectiveName, objective.name),
        longest,
        options.max_pes or 0,
        fixed.array,
        fixed.pins,
        fixed.stores,
    )
    return (ProblemPart(value.name, value.name, problem, 0, value),)


def skipped(value: LayerNetwork, machine: OverlayMachine) -> tuple[dict[str, Any], ...]:
    """What takes none of the overlay's time, with what its words take on the host at the least where the overlay is
    counted as it is generated; nothing where parts of a concatenation lie side by side."""
    from mapper.sim.algorithm_selection.host import hosted

    value = ordered(value, machine)
    macs, network = value.macs or 1, overlay_network(value, machine)
    pooled = machine.engines is not None and machine.engines.pools
    timed = {pool.name for pool in network.running.pools} if pooled else set()
    timed |= {layer.pooled.name for layer in network.layers if layer.pooled is not None}
    aliased = joined(value)
    beside = {
        one["name"]: one["least_ms"]
        for one in hosted(value, [one.name for one in value.layers if is_joined(one, aliased)], machine)
    }
    return tuple(
        {
            "name": layer.name,
            "op": layer.op,
            "reason": layer.reason,
            "macs": layer.macs,
            "share_of_macs": layer.macs / macs,
            "share_of_time": None,
            **({} if machine.engines is None else {"least_ms": beside.get(layer.name)}),
        }
        for layer in network.host
        if layer.name not in timed
    )


def verify_selection(problem: SelectionProblem, selection: Selection) -> ShownVerdict:
    """The referee's verdict and the model's cost."""
    verdict = verify(problem, selection)
    cost = verdict.cost
    if cost is None:
        return ShownVerdict(verdict.broken, None, None, None)
    return ShownVerdict(
        verdict.broken, cost.cost_json(), cost.breakdown_json(problem.network), problem.value(cost)
    )


def cost_problem(problem: SelectionProblem, array: tuple[int, int] | None = None) -> PbqpProblem:
    """The PBQP of one shape of the array, the largest if none is given, in the machine's units of time. Its
    vertices and edges are those of every shape; its costs are not.

    Raises: InputError if pins and limits leave no shape, or a layer or a tensor no choice.
    """
    builder = GraphBuilder(problem)
    shape = array or largest_array(problem)
    if builder.nothing_left is not None:
        raise _without_selection(problem)
    return PbqpProblem(builder.graph_at(shape).instance(problem.network.name))


def largest_array(problem: SelectionProblem) -> tuple[int, int]:
    """The shape of most PEs.

    Raises: InputError if there is none.
    """
    found = largest(problem)
    if found is None:
        raise _without_selection(problem)
    return found


def _without_selection(problem: SelectionProblem) -> InputError:
    return InputError(problem.network.name, "", "has no selection under these pins and limits; loosen them")


def cost_names(problem: SelectionProblem) -> tuple[str, ...]:
    """What the vertices of ``cost_problem`` stand for, on the largest array."""
    return GraphBuilder(problem).graph_at(largest_array(problem)).instance_names()


def overlay_of(
    part: SelectionPart, selection: Selection, numbers: NetworkNumbers
) -> tuple[Control, dict[str, str | bytes]]:
    """The control sequence of a selection, and the files of its overlay."""
    from mapper.codegen.algorithm_selection import overlay_files
    from mapper.models.algorithm_selection.control.selection import selection_control

    control = selection_control(part.workload, part.problem.network, selection)
    return control, overlay_files(control, part.workload, numbers, limits(part.problem.network, selection))


def limits(network: OverlayNetwork, selection: Selection) -> Limits:
    """What the machine's buffers hold, and how the model therefore cuts the kernels of layers."""
    from mapper.codegen.algorithm_selection.piece import Limits

    machine = network.machine
    if machine.engines is None:
        return Limits()
    room, ahead = machine.engines.buffers, machine.engines.inputs_ahead
    parts, kept = {}, set()
    for name, layer, choice in zip(network.names, network.layers, selection.choices, strict=True):
        needed = layer.kernel_parts(choice.algorithm, machine)
        if choice.parts > 1:
            needed = (1, choice.parts)
            kept.add(name)
        assert needed is not None
        parts[name] = needed
    pooled = {layer.name: layer.pooled for layer in network.layers if layer.pooled is not None}
    pieces = piece_counts(network, selection)
    if room is None:
        return Limits(None, None, 0, parts, frozenset(kept), ahead, pooled, pieces)
    return Limits(room.input, room.result, room.tensor, parts, frozenset(kept), ahead, pooled, pieces)


def with_own_numbers(result: dict[str, Any], network: LayerNetwork, run: Run) -> dict[str, Any]:
    """What ``mapper simulate`` says of the integers: where they are from, and how far they are from onnxruntime's. The
    integers of a quantised network are onnxruntime's own, or the outputs are not equal."""
    from mapper.sim.algorithm_selection.own import beside_onnxruntime

    made = result.pop("results")
    result["data"] = {"weights": run.numbers.origin}
    if run.model is None or run.frame is None:
        return result
    found = beside_onnxruntime(network, run.numbers, run.model, run.frame, made, run.integers or {})
    if found["exact"]:
        said = (
            "every integer equals onnxruntime's"
            if found["equal"]
            else f"{sum(found['differ'].values())} integers"
        )
        said += (
            ""
            if found["equal"]
            else f" of {len(found['differ'])} tensors differ, by {found['largest']} at most"
        )
    else:
        worst = max(found["layers"].items(), key=lambda one: one[1]["mean"])
        percent = 100 * worst[1]["mean"]
        said = f"weights rounded per tensor: root of the mean square at most {percent:.2f} % ({worst[0]})"
    equal = result["outputs_equal"] and found["equal"] is not False
    return {
        **result,
        "outputs_equal": equal,
        "agrees": result["agrees"] and equal,
        "onnxruntime": found,
        "notes": [*result["notes"], f"beside onnxruntime: {said}"],
    }


def rtl_lines(result: Mapping[str, Any], array: tuple[int, int]) -> list[str]:
    """What ``mapper simulate --rtl`` says in words: the whole, its causes, and the layers that are farthest off."""
    from mapper.sim.algorithm_selection.agreement import beyond_line
    from mapper.sim.algorithm_selection.host import hosted_line

    cycles, model = result["cycles"], result["cycles_model"]
    said = f"Verilog: {len(result['steps'])} steps run on {array[0]}x{array[1]} PEs, "
    said += "every word equal, " if result["outputs_equal"] else "words DIFFER, "
    said += f"{cycles:,} cycles; the model says {model:,}"
    lines = [said, hosted_line(result["host"])]
    verilog, stated = result["causes"]["verilog"], result["causes"]["model"]
    if any(stated.values()):
        own = ", ".join(f"{cause} {verilog[cause]:,} ({stated[cause]:,})" for cause in stated)
        lines.append(f"Verilog's cycles by cause (the model's): {own}")
        off = {name: one["off"] for name, one in result["layers"].items() if one["off"] is not None}
        worst = max(off, key=lambda name: abs(off[name]))
        lines.append(f"farthest off: {worst}, {100 * off[worst]:+.1f} % of what the model says of it")
        lines.append(beyond_line(result["beyond"]))
    return lines
