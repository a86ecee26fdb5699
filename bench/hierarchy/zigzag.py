"""ZigZag's own test cases beside proven optima: the twelve pairs of energy and latency of its `tests/main/test_origin`.

    python -m bench.hierarchy.zigzag FOLDER [--seconds S]      FOLDER: a clone of KULeuven-MICAS/zigzag

For each pair: ZigZag's energy and cycles by its own model and search, and the least energy by this project's model of
the machine that is read from the same file, with loops bound to dimensions of the array as ZigZag's mapping file binds
them, and with any loops. Where that file says the order of loops too, the mapping itself is costed. Rules that differ:

- `uneven`: ZigZag may put a loop at another level for each tensor; here a level has the same loops for all.
- `widths`: results have 16 or 32 bits there until they are final; here 8 in levels that other tensors share.
- `granularity`: it packs a partly used access into others; here each tile takes whole accesses.
- `ports`: its latency has stalls of each tensor's own port, and loading before the first cycle; here levels overlap.
- `locality`: it takes out levels that a layer does not need, so that all tensors of one that fits start inside (the
  64-byte accesses to `l3` of `gemm_l1_l3` are none there, and most of the energy here).
- `other layers`: it counts pools and additions; here layers that multiply alone.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import mapper
from bench.measure import measure, show
from mapper.arch.hierarchy import HierarchyMachine, hierarchy_from_document
from mapper.arch.source import load_machine, machine_to_document
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.method import Effort
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document
from mapper.workloads.source import load_network
from mapper.workloads.text.structured_text import load_yaml

Places = dict[str, tuple[int, str]]
"""The level and axis of each dimension of the array."""
HEADING = (
    "machine",
    "workload",
    "ZigZag pJ",
    "cycles",
    "bound loops pJ",
    "cycles",
    "any loops pJ",
    "cycles",
    "proven",
    "s",
)


@dataclass(frozen=True)
class Case:
    """A pair of ZigZag's: files, and its energy and latency."""

    machine: str
    mapping: str
    workload: str
    energy: float
    latency: float


def cases(folder: Path) -> list[Case]:
    """The pairs that the tests hold."""
    found = []
    for path in sorted((folder / "tests/main/test_origin").glob("*.py")):
        text = path.read_text()
        table = ast.literal_eval(re.search(r"ens_lats = (\{.*?\n\})", text, re.DOTALL)[1])  # type: ignore[index]
        (mapping,) = re.findall(r'return "(zigzag/inputs/mapping/.*?)"', text)
        (machine,) = re.findall(r'return "(zigzag/inputs/hardware/.*?)"', text)
        found += [Case(machine, mapping, name, *pair) for name, pair in table.items()]
    return found


def nests(path: Path) -> list[LoopNest]:
    """The layers of a workload that multiply."""
    found = []
    for layer in yaml.safe_load(path.read_text()):
        if not layer["operator_type"].startswith(("Conv", "Gemm")):
            continue
        related = dict(one.replace(" ", "").split("=") for one in layer["dimension_relations"])
        operands = []
        for name, index in re.findall(r"([OWI])((?:\[\w+\])+)", layer["equation"]):
            places = [related.get(one, one).upper() for one in re.findall(r"\[(\w+)\]", index)]
            operands.append(
                {"tensor": name, "index": places, "access": "read_write" if name == "O" else "read"}
            )
        loops = dict(zip(layer["loop_dims"], layer["loop_sizes"], strict=True))
        document = {
            "schema": "mapper.nest/1",
            "name": f"layer{layer['id']}",
            "loops": loops,
            "operands": operands,
        }
        found.append(nest_from_document(document, str(path)))
    return found


def read_machine(path: Path) -> HierarchyMachine:
    """The machine of a file. One of ZigZag's has the ports of a memory twice, of which it takes the second."""
    text = re.sub(
        r"    ports:\n(?:      - fh.*\n(?:        \w\w: .*\n)*)+(?=    ports:)", "", path.read_text()
    )
    with tempfile.TemporaryDirectory(dir=None) as folder:
        own = Path(folder) / path.name
        own.write_text(text)
        machine, _ = load_machine(str(own))
    assert isinstance(machine, HierarchyMachine)
    return machine


def axes(machine: HierarchyMachine, hardware: dict[str, Any]) -> Places:
    """The level and axis of every dimension of the array that has more than one multiplier."""
    array = hardware["operational_array"]
    sizes = dict(zip(array["dimensions"], array["sizes"], strict=True))
    inward: list[str] = []
    memories = sorted(reversed(hardware["memories"].values()), key=lambda one: -len(one["served_dimensions"]))
    for memory in [*memories, {"served_dimensions": []}]:
        inward += [one for one in sizes if one not in memory["served_dimensions"] and one not in inward]
    places = [
        (number, axis)
        for number, level in enumerate(machine.levels)
        for axis in "xy"
        if getattr(level.fanout, axis) > 1
    ]
    return dict(zip([one for one in inward if sizes[one] > 1], places, strict=True))


def bound_to(machine: HierarchyMachine, where: Places, spatial: dict[str, list[str]]) -> HierarchyMachine:
    """The machine whose fan-outs carry the loops of a mapping file alone."""
    document = machine_to_document(machine)
    for dimension, (level, axis) in where.items():
        loops = [one.split(",")[0].strip() for one in spatial.get(dimension, [])]
        document["levels"][level]["fanout"][f"{axis}_loops"] = loops
    return hierarchy_from_document(document, machine.name)


def given_mapping(
    nest: LoopNest, machine: HierarchyMachine, where: Places, entry: dict[str, Any]
) -> HierarchyMapping | None:
    """The mapping that a file gives with the order of its loops, all at the innermost level that the tensors fit."""
    if "temporal_ordering" not in entry:
        return None
    space: list[list[SpatialLoop]] = [[] for _ in machine.levels]
    left = dict(nest.bounds)
    for dimension, loops in entry["spatial_mapping"].items():
        level, axis = where[dimension]
        for one in loops:
            name, size = (part.strip() for part in one.split(","))
            space[level].append(SpatialLoop(name, int(size), "x" if axis == "x" else "y"))
            left[name] //= int(size)
    order = [TemporalLoop(name, left[name]) for name, _ in reversed(entry["temporal_ordering"])]
    words = sum(operand.words(nest.trip_counts) for operand in nest.operands)
    shared = [
        n for n, one in enumerate(machine.levels) if len(one.keep) == 3 and words <= (one.capacity or words)
    ]
    levels = [
        LevelMapping(one.name, tuple(one.keep), tuple(order) if n == max(shared) else (), tuple(space[n]))
        for n, one in enumerate(machine.levels)
    ]
    return HierarchyMapping(tuple(levels))


def least(layers: Sequence[LoopNest], machine: HierarchyMachine, seconds: float) -> tuple[float, int, bool]:
    """Energy and cycles of the layers' mappings of least energy, equal layers once, and whether all are proven."""
    known: dict[LoopNest, tuple[float, int, bool]] = {}
    for nest in dict.fromkeys(layer.same_problem() for layer in layers):
        problem = HierarchyProblem(nest, machine, "energy", Pins())
        outcome = METHODS["auto"].search(problem, Effort(time.monotonic() + seconds, 2))
        if outcome.mapping is None:
            raise mapper.InputError(nest.name or "layer", "", f"no mapping within {seconds:g} s")
        cost = evaluate(nest, machine, outcome.mapping)
        known[nest] = (cost.energy_pj or 0.0, cost.cycles, outcome.proven)
    own = [known[layer.same_problem()] for layer in layers]
    return sum(one[0] for one in own), sum(one[1] for one in own), all(one[2] for one in own)


def row(folder: Path, case: Case, seconds: float) -> tuple[str, ...]:
    """A line of the table; what cannot be read says why."""
    name, workload = Path(case.machine).stem, Path(case.workload).name
    theirs = (name, workload, f"{case.energy:.4e}", f"{case.latency:,.0f}")
    try:
        machine = read_machine(folder / case.machine)
    except mapper.InputError as error:
        return (*theirs, " ".join(str(error).partition(".yaml: ")[2].split())[:60], "", "", "", "", "")
    if workload.endswith(".onnx"):
        # The same network; the clone's file has its weights elsewhere.
        layers = [layer.nest for layer in load_network(Path(workload).stem).layers]
    else:
        layers = nests(folder / case.workload)
    hardware = load_yaml(
        (folder / case.machine).read_text().replace("    ports:\n      - fh", "    was:\n      - fh")
    )
    entry = yaml.safe_load((folder / case.mapping).read_text())[0]
    where = axes(machine, hardware)
    spaces = (bound_to(machine, where, entry["spatial_mapping"]), machine)
    try:
        found = measure(lambda: [least(layers, one, seconds) for one in spaces])
    except mapper.InputError as error:
        return (*theirs, str(error), "", "", "", "", "")
    cells = [(f"{energy:.4e}", f"{cycles:,}") for energy, cycles, _ in found.result]
    proven = "all" if all(one[2] for one in found.result) else "not all"
    own = given_mapping(layers[0], machine, where, entry)
    if own is not None:
        cost = evaluate(layers[0], machine, own)
        print(f"{name}: ZigZag's mapping costs {cost.energy_pj:.4e} pJ and {cost.cycles:,} cycles here")
    return (*theirs, *cells[0], *cells[1], proven, f"{found.cpu:.1f}")


def main() -> int:
    """Exit code 0: what differs is explained by rules."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a clone of KULeuven-MICAS/zigzag")
    parser.add_argument("--seconds", type=float, default=10.0, help="limit of a layer")
    parser.add_argument("--only", default="", help="machines whose name has this")
    given = parser.parse_args()
    lines = [
        row(given.folder, one, given.seconds) for one in cases(given.folder) if given.only in one.machine
    ]
    show("ZigZag's test cases", HEADING, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
