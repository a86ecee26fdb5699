"""Run every benchmark, one after another, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = (
    "bench.tiling_speed",
    "bench.tiling_network",
    "bench.tiling_pruning",
    "bench.prior_dataflow",
    "bench.memory_sweep",
    "bench.gap_over_time",
    "bench.peer_zigzag",
    "bench.peer_accelforge",
    "bench.kernel_proof",
    "bench.large_graph",
    "bench.network_tuning",
    "bench.loop_proof",
    "bench.tuning_phase",
    "bench.allocation_proof",
    "bench.allocation_agreement",
    "bench.allocation_front",
    "bench.placement",
    "bench.pbqp_speed",
    "bench.dynamap_joint",
    "bench.dynamap_tables",
    "bench.snowflake_partition",
    "bench.snowflake_layers",
    "bench.snowflake_scaling",
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
