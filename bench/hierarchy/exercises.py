"""The dense reference outputs of Timeloop's exercises: the model's counts and energies beside them, then the optimum.

``git clone https://github.com/Accelergy-Project/timeloop-accelergy-exercises``, then
``python -m bench.hierarchy.exercises FOLDER [SECONDS]``. Each output has the machine, the tables of energies and areas,
the mapping and the statistics that Timeloop wrote. Every count must be equal and every energy to the digits that are
printed; the exit code is 1 otherwise. The optimum is that of the same machine with its constraints, by Timeloop's own
objective (EDP), without padding, in SECONDS at the most (20).
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.measure import measure, show
from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.timeloop.document import parse_timeloop
from mapper.arch.timeloop.machine import machine_of
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.cost import HierarchyCost, counts, evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.mapping_file import hierarchy_mapping
from mapper.solver.hierarchy.catalogue import AUTOMATIC
from mapper.solver.method import Effort
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.timeloop_problem import timeloop_nest

SECONDS = 20.0
TUTORIAL = "workspace/tutorial_exercises/01_accelergy_timeloop_2020_ispass/timeloop"
MODELS = {
    "00-model-conv1d-1level/ref-output": "conv1d-1level",
    "01-model-conv1d-2level/ref-output/os": "conv1d-2level-os",
    "01-model-conv1d-2level/ref-output/ws": "conv1d-2level-ws",
    "02-model-conv1d+oc-2level/ref-output/no-tiling": "conv1d+oc-2level-os",
    "02-model-conv1d+oc-2level/ref-output/tiling": "conv1d+oc-2level-os-tiled",
    "03-model-conv1d+oc-3level/ref-output/bypass": "conv1d+oc-3level-bypass",
    "03-model-conv1d+oc-3level/ref-output/no-bypass": "conv1d+oc-3level",
    "04-model-conv1d+oc-3levelspatial/ref-output/cp": "conv1d+oc+ic-3levelspatial-cp-ws",
    "04-model-conv1d+oc-3levelspatial/ref-output/kp": "conv1d+oc+ic-3levelspatial-kp-ws",
}
"""Outputs of the model alone, with the names of the mappings that it was given."""
MAPPERS = (
    *(f"{TUTORIAL}/05-mapper-conv1d+oc-3level/ref-output/{one}" for one in ("baked", "freebypass", "null")),
    f"{TUTORIAL}/06-mapper-convlayer-eyeriss/ref-output",
    *(f"{TUTORIAL}+accelergy/ref-output/{one}" for one in ("fpmac", "intmac")),
    *(
        f"workspace/example_designs/example_designs/{one}/ref_outputs/default_problem"
        for one in ("eyeriss_like", "simba_like", "simple_output_stationary", "simple_weight_stationary")
    ),
    "workspace/tutorial_exercises/02_interface_and_design_space_exploration_2024/outputs",
)
"""Outputs of the mapper, which wrote its mapping beside them."""
COUNT = re.compile(r"\s+(Scalar (?:reads|fills|updates)|Energy \(total\))[^:]*: ([\d.]+)")


@dataclass(frozen=True)
class Output:
    """One reference output: its inputs as values, and the counts (by level, tensor and name), cycles and energy (with
    its unit) that were printed."""

    name: str
    nest: LoopNest
    machine: HierarchyMachine
    mapping: HierarchyMapping
    printed: dict[str, dict[str, dict[str, float]]]
    cycles: int
    energy: float
    unit: str


def outputs(folder: Path) -> Iterator[Output]:
    """All of them, those of the model first."""
    for place, name in MODELS.items():
        path = folder / TUTORIAL / place
        mapping = folder / TUTORIAL / place.split("/")[0] / "map" / f"{name}.map.yaml"
        yield _output(path.relative_to(folder), folder, "timeloop-model", mapping)
    for place in MAPPERS:
        yield _output(Path(place), folder, "timeloop-mapper", folder / place / "timeloop-mapper.map.yaml")


def _output(place: Path, folder: Path, tool: str, mapping: Path) -> Output:
    own = folder / place
    inputs = own / "parsed-processed-input.yaml"
    text = inputs.read_text()
    document = parse_timeloop(text, str(inputs))
    roots = {"architecture": ("inputs", document["architecture"])}
    if "architecture_constraints" in document:
        roots["constraints"] = ("inputs", document["architecture_constraints"])
    for root in ("ERT", "ART"):
        table = own / f"{tool}.{root}.yaml"
        roots[root] = (root, parse_timeloop(table.read_text(), str(table))[root])
    parts = [one for one in place.parts if "ref" not in one and one not in ("default_problem", "outputs")]
    name = "/".join(parts[-2:] if parts[-2][:2].isdigit() or "accelergy" in parts[-2] else parts[-1:])
    machine, nest = machine_of(roots, name), timeloop_nest(text, str(inputs))[0]
    found = hierarchy_mapping(yaml.safe_load(mapping.read_text()), nest, machine, str(mapping))
    statistics = (own / f"{tool}.stats.txt").read_text()
    summary = statistics[statistics.rfind("Summary Stats") :]
    cycles, energy = re.search(r"Cycles: (\d+)", summary), re.search(r"Energy: ([\d.]+) (\w+)", summary)
    assert cycles is not None and energy is not None, "Timeloop ends with a summary"
    return Output(
        name, nest, machine, found, _printed(statistics), int(cycles[1]), float(energy[1]), energy[2]
    )


def _printed(text: str) -> dict[str, dict[str, dict[str, float]]]:
    """Counts and energies of each tensor at each level."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    level = tensor = ""
    for line in text[: text.find("Networks")].splitlines():
        if heading := re.match(r"=== (\S+) ===", line):
            level, tensor = heading[1], ""
        elif name := re.match(r"    (\w+):$", line):
            tensor = name[1]
        elif tensor and (count := COUNT.match(line)):
            found.setdefault(level, {}).setdefault(tensor, {})[count[1]] = float(count[2])
    return found


def differences(output: Output, cost: HierarchyCost) -> tuple[int, list[str]]:
    """How many numbers were compared, and those that differ."""
    compared, found = 0, []
    every = counts(output.nest, output.machine, output.mapping)
    for level, tensors in zip(output.machine.levels, every, strict=True):
        for tensor, own in tensors.items():
            printed = output.printed.get(level.name, {}).get(tensor, {})
            here: dict[str, Any] = {
                "Scalar reads": own.reads,
                "Scalar fills": own.fills,
                "Scalar updates": own.updates,
                "Energy (total)": (cost.energy_of or {})[level.name][tensor],
            }
            for name, number in here.items():
                there = printed.get(name, 0.0)
                compared += 1
                # Energies have two digits behind the point.
                close = 0.006 + 1e-6 * there if name.startswith("Energy") else 0
                if abs(number - there) > close:
                    found.append(f"{level.name} {tensor} {name}: {number} here, {there} there")
    return compared, found


def row(output: Output, seconds: float) -> tuple[list[str], list[str]]:
    """A line of the table, and what differs."""
    cost = evaluate(output.nest, output.machine, output.mapping)
    assert cost.energy_pj is not None and cost.edp_pj_cycles is not None, "its table has energies"
    compared, wrong = differences(output, cost)
    energy = cost.energy_pj * {"uJ": 1e-6, "pJ": 1.0}[output.unit]
    if cost.cycles != output.cycles or abs(energy - output.energy) > 0.006:
        wrong.append(f"{cost.cycles} cycles and {energy:.2f} {output.unit} in all")
    problem = HierarchyProblem(output.nest, output.machine, "edp")
    found = measure(lambda: AUTOMATIC.search(problem, Effort(deadline=time.monotonic() + seconds)))
    best = found.result
    line = [
        output.name,
        f"{compared - len(wrong)}/{compared}",
        f"{output.cycles}",
        f"{output.energy:.2f} {output.unit}",
        "–" if best.value is None else f"{cost.edp_pj_cycles / best.value:.3f}",
        "yes"
        if best.proven
        else "no"
        if best.bound is None
        else f"at most {cost.edp_pj_cycles / best.bound:.3f}",
        f"{found.cpu:.1f}",
    ]
    return line, [f"{output.name}: {one}" for one in wrong]


def main() -> int:
    """Print the table and what differs."""
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    lines, wrong = [], []
    for output in outputs(Path(sys.argv[1])):
        line, differs = row(output, seconds)
        lines.append(line)
        wrong += differs
    heading = ["output", "equal numbers", "cycles", "energy", "EDP / least", "proven", "CPU s"]
    show(
        "Timeloop's exercises: counts and energies by the model, and how far the mapping was off",
        heading,
        lines,
    )
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
