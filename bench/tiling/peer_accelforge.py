"""AccelForge (the Turbo-Charged Mapper, exact under its own cost model) on a 196x512x512 matrix product.

It wants Python 3.12 and graphviz's ``dot``; without them the figure that was measured once is quoted. The
machine is as near to ``dmazerunner-256`` as it can describe: no DMA initiation, and NoC widths as throughputs
of the scratch-pad (bits a cycle).
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import time
from pathlib import Path

ROWS, COLUMNS, DEPTH = 196, 512, 512
QUOTED_CPU_SECONDS = 14.5
PJ = 1e-12


def memory(name: str, bits: str, pj_per_bit: float, read: str, write: str) -> str:
    """A memory of all operands; throughputs in bits a cycle."""
    return f"""
  - !Memory
    name: {name}
    size: {bits}
    leak_power: 0
    area: 0
    tensors: {{keep: All}}
    actions:
    - {{name: read, energy: {pj_per_bit * PJ}, throughput: {read}, latency: 0}}
    - {{name: write, energy: {pj_per_bit * PJ}, throughput: {write}, latency: 0}}"""


def specification() -> str:
    """Machine and workload in AccelForge's form: 16-bit words, 16x16 PEs, 512 B each, 64 kB scratch-pad."""
    return f"""
arch:
  nodes:{memory("Dram", "inf", 200 / 16, "213", "213")}{memory("ScratchPad", "524288", 13.5 / 16, "48", "16")}
  - !Container
    name: PeArray
    spatial: [{{name: rows, fanout: 16}}, {{name: columns, fanout: 16}}]{
        memory("RegisterFile", "4096", 0.96 / 16, "inf", "inf")
    }
  - !Compute
    name: Mac
    leak_power: 0
    area: 0
    actions: [{{name: compute, energy: {0.075 * PJ}, throughput: 1, latency: 0}}]
workload:
  iteration_space_shape: {{i: 0 <= i < {ROWS}, j: 0 <= j < {COLUMNS}, k: 0 <= k < {DEPTH}}}
  bits_per_value: {{All: 16}}
  einsums:
  - name: Product
    tensor_accesses:
    - {{name: A, projection: [i, k]}}
    - {{name: B, projection: [k, j]}}
    - {{name: O, projection: [i, j], output: True}}
"""


def run() -> tuple[float, float]:
    """Energy (pJ) and latency (cycles) of its least energy-delay product, searched in one process."""
    import accelforge

    accelforge.set_n_parallel_jobs(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "specification.yaml"
        path.write_text(specification(), encoding="utf-8")
        problem = accelforge.Spec.from_yaml(str(path))
    problem.mapper.metrics = accelforge.Metrics.ENERGY_DELAY_PRODUCT
    found = problem.map_workload_to_arch(print_progress=False)
    return float(found.energy()) / PJ, float(found.latency())


def main() -> None:
    title = f"AccelForge, {ROWS}x{COLUMNS}x{DEPTH} matrix product, EDP"
    if importlib.util.find_spec("accelforge") is None or shutil.which("dot") is None:
        print(
            f"{title}: {QUOTED_CPU_SECONDS} CPU s (quoted, not run here: "
            "needs Python 3.12, `pip install accelforge` and graphviz's dot)"
        )
        return
    wall, before = time.perf_counter(), os.times()
    energy, cycles = run()
    after = os.times()
    wall = time.perf_counter() - wall
    print(
        f"{title}: {sum(after[:4]) - sum(before[:4]):.2f} CPU s, {wall:.2f} s wall, "
        f"{energy:.4g} pJ, {cycles:.4g} cycles, EDP {energy * cycles:.4g} (own cost model)"
    )


if __name__ == "__main__":
    main()
