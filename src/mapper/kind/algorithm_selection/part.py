"""Networks as parts of the kind ``algorithm_selection``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from mapper.arch.overlay import OverlayMachine
from mapper.formulations.algorithm_selection.problem import Objective, SelectionProblem, longest_units
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import largest
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.kind.algorithm_selection.pins import read_fix
from mapper.kind.kind import Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.models.algorithm_selection.control.sequence import Control
from mapper.models.algorithm_selection.cost import evaluate
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.module import module_of, module_units
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers

MOST_SHOWN = 80
"""Layers that are listed on a terminal."""


@dataclass(frozen=True)
class NamedSelection:
    """A selection that knows its network, as documents need it."""

    network: OverlayNetwork
    selection: Selection

    def to_json(self) -> dict[str, Any]:
        return self.selection.to_json(self.network)


def read_network(text: str, batch: int | None) -> Workload:
    """The network that ``text`` names; what the overlay does not run is listed when the problem is posed."""
    network = load_layers(text, batch)
    return Workload(network, network.operators.files, network.operators.batch)


def pose_network(
    value: LayerNetwork, machine: OverlayMachine, objective: str, options: Options
) -> tuple[ProblemPart, ...]:
    """The whole network as one part.

    Raises: InputError for unknown decisions, or fewest DSPs without a throughput.
    """
    network = overlay_network(value, machine)
    fixed = read_fix(options.fix, network)
    longest = None
    if options.min_throughput is not None:
        if not math.isfinite(options.min_throughput) or options.min_throughput <= 0:
            raise InputError(
                "--min-throughput", str(options.min_throughput), "is no number of frames per second above 0"
            )
        if objective == "edp":
            raise InputError(
                "--min-throughput", "", "goes with the objectives latency and dsps; leave it out"
            )
        longest = longest_units(options.min_throughput, network)
    elif objective == "dsps":
        raise InputError(
            "--min-throughput", "", "is missing; the fewest DSPs are for a throughput in frames per second"
        )
    problem = SelectionProblem(
        network,
        cast(Objective, objective),
        longest,
        options.max_pes or 0,
        fixed.array,
        fixed.pins,
        fixed.stores,
    )
    return (ProblemPart(value.name, value.name, problem, 0, workload=value),)


def skipped(value: LayerNetwork, machine: OverlayMachine) -> tuple[dict[str, Any], ...]:
    """What takes none of the overlay's time."""
    macs = value.macs or 1
    return tuple(
        {
            "name": layer.name,
            "op": layer.op,
            "reason": layer.reason,
            "macs": layer.macs,
            "share_of_macs": layer.macs / macs,
            "share_of_time": None,
        }
        for layer in overlay_network(value, machine).host
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


def describe_selection(problem: SelectionProblem, part: Part) -> list[str]:
    """The array, how its time is spent, and what each layer is computed with."""
    assert isinstance(part.mapping, NamedSelection) and part.breakdown is not None
    selection = part.mapping.selection
    rows, columns = selection.array
    spent = ", ".join(f"{cause} {count:,}" for cause, count in part.breakdown["cycles"].items() if count)
    counts: dict[str, int] = {}
    for choice in selection.choices:
        named = f"{choice.algorithm}/{choice.dataflow}"
        counts[named] = counts.get(named, 0) + 1
    lines = [
        f"  array    {rows} x {columns} ({rows * columns:,} PEs)",
        f"  cycles   {spent}",
        "  chosen   " + ", ".join(f"{count} {named}" for named, count in sorted(counts.items())),
    ]
    layers = part.breakdown["layers"]
    width = max(map(len, problem.network.names))
    for name, choice in list(zip(problem.network.names, selection.choices, strict=True))[:MOST_SHOWN]:
        cycles, share = layers[name]["cycles"], layers[name]["utilisation"]
        lines.append(
            f"  {name:{width}}  {choice.algorithm:12} {choice.dataflow}  {cycles:>10,} cycles, {share:6.1%} of the PEs"
        )
    more = len(problem.network.names) - MOST_SHOWN
    return [*lines, f"  and {more} more"] if more > 0 else lines


def compared_lines(problem: SelectionProblem, mappings: Mapping[str, NamedSelection]) -> list[str]:
    """Latency that the best selection saves against every other method's [Meng2021, Table 4], and microseconds per
    module
    (Figs. 11 and 12)."""
    network = problem.network
    known = {name: shown.selection for name, shown in mappings.items()}
    costs = {name: evaluate(network, selection) for name, selection in known.items()}
    if not costs:
        return []
    best = min(cost.units for cost in costs.values())
    saved = (f"{name} {1 - best / cost.units:.1%}" for name, cost in costs.items())
    lines = ["latency saved by the best against: " + ", ".join(saved)]
    modules = {name: module_units(network, known[name], costs[name]) for name in known}
    scale = network.machine.units_per_cycle * network.machine.clock_hz / 1e6
    part = module_of(network)
    lines += ["", "microseconds per module", f"  {'layers':20}" + "".join(f"{name:>13}" for name in known)]
    for module in range(max(part) + 1):
        first, last = part.index(module), len(part) - 1 - part[::-1].index(module)
        spent = "".join(f"{modules[name][module] / scale:13.1f}" for name in known)
        lines.append(f"  {network.names[first] + ' to ' + network.names[last]:20}{spent}")
    return lines


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
    """What the vertices of ``cost_problem`` stand for."""
    network = problem.network
    stored = (f"{network.stores[at].name} stored" for at in GraphBuilder(problem).vertex)
    return (*network.names, *stored)


def overlay_of(part: ProblemPart, selection: Selection) -> tuple[Control, dict[str, str]]:
    """The control sequence of a selection, and the files of its overlay."""
    from mapper.codegen.algorithm_selection import overlay_files
    from mapper.models.algorithm_selection.control.selection import selection_control

    control = selection_control(part.workload, part.problem.network, selection)
    return control, overlay_files(control, part.workload)
