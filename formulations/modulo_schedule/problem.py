"""The modulo-scheduling problem as a value: a kernel, a machine, and the initiation interval to minimise."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.arch.cgra import CgraMachine
from mapper.workloads.graph.kernel import Kernel


@dataclass(frozen=True)
class ModuloProblem:
    """Schedule ``kernel`` on ``machine`` with the least II; ties by stages, then moves.

    ``fixed_ii`` pins the II.
    """

    kernel: Kernel
    machine: CgraMachine
    fixed_ii: int | None = None
