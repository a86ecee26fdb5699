from __future__ import annotations

import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.cgra_preset import srp_names
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.sim.modulo_schedule import report
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.heuristic.iterative import search_briefly
from mapper.workloads.graph.kernel_source import kernel_names, load_kernel

GRIDS = tuple(f"{family}-{side}x{side}" for family in ("mesh", "torus") for side in (2, 3, 4, 5))
KERNELS = tuple(name for name, _ in kernel_names())
MACHINES = (*srp_names(), *GRIDS, "left-memory-4x4")
LARGE = {"butterfly", "conv3x3"}
"""Kernels of many operations, which run on a few arrays in `make test` and on all in `make slow`."""
FEW = {"srp-2x2", "srp-4x4", "torus-3x3"}


def runs_right(kernel_name: str, machine_name: str) -> None:
    kernel, machine = load_kernel(kernel_name)[0], load_machine(machine_name)[0]
    assert isinstance(machine, CgraMachine)
    problem = ModuloProblem(kernel, machine)
    schedule = search_briefly(problem, Effort()).mapping
    assert schedule is not None
    assert verify(problem, schedule).broken == ()
    found = report(kernel, machine, schedule, 1)
    assert found["outputs_equal"] and found["agrees"]
    assert kernel.trip_count is not None
    assert found["cost_simulated"]["cycles"] == (kernel.trip_count + schedule.stages - 1) * schedule.ii


@pytest.mark.parametrize(
    ("kernel", "machine"),
    [
        pytest.param(
            kernel, machine, marks=pytest.mark.slow if kernel in LARGE and machine not in FEW else ()
        )
        for kernel in KERNELS
        for machine in MACHINES
    ],
)
def test_every_kernel_on_every_array_leaves_the_memory_of_the_reference(kernel: str, machine: str) -> None:
    runs_right(kernel, machine)
