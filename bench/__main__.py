"""Run every benchmark, one after another, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = (
    "bench.tiling.speed",
    "bench.tiling.network",
    "bench.tiling.pruning",
    "bench.tiling.physical",
    "bench.tiling.prior_dataflow",
    "bench.tiling.memory_sweep",
    "bench.tiling.formulation",
    "bench.tiling.gap_over_time",
    "bench.tiling.peer_zigzag",
    "bench.tiling.peer_accelforge",
    "bench.modulo_schedule.kernel_proof",
    "bench.modulo_schedule.portfolio",
    "bench.modulo_schedule.large_graph",
    "bench.modulo_schedule.network_tuning",
    "bench.modulo_schedule.loop_proof",
    "bench.modulo_schedule.tuning_phase",
    "bench.pe_allocation.proof",
    "bench.pe_allocation.agreement",
    "bench.pe_allocation.front",
    "bench.pe_allocation.placement",
    "bench.pbqp.speed",
    "bench.pbqp.gap",
    "bench.algorithm_selection.joint",
    "bench.algorithm_selection.tables",
    "bench.algorithm_selection.synthesis",
    "bench.trace_partition.partition",
    "bench.trace_partition.layers",
    "bench.trace_partition.scaling",
    "bench.hierarchy.gemmini",
    "bench.hierarchy.tensor_program_dse",
    "bench.hierarchy.co_design",
    "bench.hierarchy.eyeriss",
    "bench.promise",
    "bench.sweep_scaling",
)


def main() -> int:
    """Exit code 1 if a benchmark failed to run."""
    failed = 0
    for name in BENCHMARKS:
        print(f"\n== {name}", flush=True)
        failed |= subprocess.run([sys.executable, "-m", name], check=False).returncode
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
