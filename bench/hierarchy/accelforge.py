"""AccelForge beside this project, on products of matrices on its `tpu_v4i`.

    python -m bench.hierarchy.accelforge FOLDER PYTHON [--products 128x256x512 ...]

FOLDER: a clone of Accelergy-Project/accelforge; PYTHON: the interpreter (3.12 or later) of an environment of its own
with `pip install accelforge`, and graphviz's `dot`. Its search is exact under its own model. On `eyeriss` and `simba`
energies and latencies of memories come from CACTI, whose program in the package needs glibc 2.38; where it does not
start, AccelForge has no answer, and the line says so. Rules that differ:

- `cycles`: there are no whole cycles.
- `min_usage`: it uses every instance of a fan-out that says so; here fewer may be used, unless `--fix` pins them.
- `sums`: a sum that meets others in a level is not read back there; here it is, but for the first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import measure, show
from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.source import load_machine
from mapper.formulations.hierarchy.problem import HierarchyProblem, ObjectiveName
from mapper.models.hierarchy.cost import evaluate
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document

MACHINES = ("tpu_v4i", "eyeriss", "simba")
METRICS: dict[ObjectiveName, str] = {"latency": "LATENCY", "energy": "ENERGY", "edp": "ENERGY_DELAY_PRODUCT"}
PRODUCTS = ("128x256x512", "512x512x512")
SECONDS = 30.0
THERE = """
import json, os, sys, time
import accelforge
accelforge.set_n_parallel_jobs(1)
machine, workload, metric = sys.argv[1:]
problem = accelforge.Spec.from_yaml(machine, workload)
problem.mapper.metrics = getattr(accelforge.Metrics, metric)
began = os.times()
found = problem.map_workload_to_arch(print_progress=False)
ended = os.times()
print("answer", json.dumps([float(found.energy()), float(found.latency()), sum(ended[:4]) - sum(began[:4])]))
"""
"""What runs in AccelForge's environment: joules, seconds, and CPU seconds of the search."""


def nest(m: int, n: int, k: int) -> LoopNest:
    """The product, with the tensors that its machines name."""
    operands: list[dict[str, Any]] = [
        {"tensor": "W", "index": ["k", "n"]},
        {"tensor": "A", "index": ["m", "k"]},
        {"tensor": "O", "index": ["m", "n"], "access": "read_write"},
    ]
    loops = {"m": m, "n": n, "k": k}
    return nest_from_document(
        {"schema": "mapper.nest/1", "name": f"{m}x{n}x{k}", "loops": loops, "operands": operands}, "product"
    )


def workload(m: int, n: int, k: int) -> str:
    """The same in AccelForge's form."""
    return f"""
workload:
  iteration_space_shape: {{m: 0 <= m < {m}, n: 0 <= n < {n}, k: 0 <= k < {k}}}
  bits_per_value: {{All: 8}}
  einsums:
  - name: Product
    tensor_accesses:
    - {{name: A, projection: [m, k]}}
    - {{name: W, projection: [k, n]}}
    - {{name: O, projection: [m, n], output: True}}
    renames: {{weight: W, input: A, output: O}}
"""


def theirs(
    python: Path, machine: Path, sizes: tuple[int, int, int], metric: str
) -> tuple[float, float, float] | str:
    """pJ, microseconds and CPU seconds by AccelForge, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "workload.yaml"
        file.write_text(workload(*sizes))
        words = [str(python), "-c", THERE, str(machine), str(file), metric]
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
    answer = [line for line in ended.stdout.splitlines() if line.startswith("answer ")]
    if not answer:
        return "CACTI does not start" if "CACTI failed" in ended.stdout + ended.stderr else "no answer"
    joules, seconds, cpu = json.loads(answer[-1].removeprefix("answer "))
    return joules * 1e12, seconds * 1e6, cpu


def ours(
    machine: HierarchyMachine, sizes: tuple[int, int, int], objective: ObjectiveName
) -> tuple[float | None, float | None, float, bool]:
    """pJ, microseconds (None without a clock), CPU seconds and whether it is proven.

    Raises: InputError if the machine's file gives no energies and they are asked for.
    """
    posed = HierarchyProblem(nest(*sizes), machine, objective)
    found = measure(lambda: METHODS["auto"].search(posed, Effort(time.monotonic() + SECONDS)))
    assert found.result.mapping is not None, "an outermost level without a limit holds everything"
    cost = evaluate(posed.nest, machine, found.result.mapping)
    latency = None if cost.latency_ms is None else cost.latency_ms * 1e3
    return cost.energy_pj, latency, found.cpu, found.result.proven


def row(python: Path, path: Path, product: str, objective: ObjectiveName) -> tuple[str, ...]:
    """A line of the table."""
    m, n, k = (int(one) for one in product.split("x"))
    machine, _ = load_machine(str(path))
    assert isinstance(machine, HierarchyMachine)
    found = theirs(python, path, (m, n, k), METRICS[objective])
    left = (
        (found, "", "")
        if isinstance(found, str)
        else (f"{found[0]:.4e}", f"{found[1]:.4f}", f"{found[2]:.1f}")
    )
    try:
        energy, latency, cpu, proven = ours(machine, (m, n, k), objective)
    except InputError:
        return (path.stem, product, objective, *left, "no energies in the file", "", "", "")
    shown = ("–" if energy is None else f"{energy:.4e}", "–" if latency is None else f"{latency:.4f}")
    return (path.stem, product, objective, *left, *shown, f"{cpu:.2f}", str(proven))


def main() -> int:
    """Exit code 0: what differs is explained by rules."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a clone of Accelergy-Project/accelforge")
    parser.add_argument("python", type=Path, help="the interpreter that has accelforge")
    parser.add_argument("--products", nargs="+", default=PRODUCTS, help="rows x columns x depth")
    given = parser.parse_args()
    lines = [
        row(given.python, given.folder / "examples" / "arches" / f"{name}.yaml", product, objective)
        for name in MACHINES
        for product in (given.products if name == MACHINES[0] else given.products[:1])
        for objective in METRICS
    ]
    heading = ("machine", "product", "least", "pJ there", "us there", "CPU s", "pJ", "us", "CPU s", "proven")
    show("AccelForge beside this project", heading, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
