"""Random partitions: exact methods agree with trying everything, no heuristic is better, every program runs."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given

from mapper.arch.snowflake import BANK_INSTRUCTIONS, INSTRUCTION_BYTES, SnowflakeMachine, Timing
from mapper.codegen.trace_partition import compile_program
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.referee.verify import verify
from mapper.models.trace_partition.mapping import Partition
from mapper.sim.trace_partition.report import report
from mapper.solver.trace_partition.catalogue import METHODS
from tests.codegen.trace_partition.random_layer import random_data
from tests.solver.conformance import refereed_by
from tests.solver.sample import Sample, counts, drawn
from tests.solver.trace_partition.random_partition import varied_problems

USUAL_CLOCK = 200
LOOSE = 0.1
"""Of the simulated cycles of a layer, by how much the model may be off. The kind's 5 % holds for layers of networks; in
random ones of a few hundred cycles what the model leaves out (exact registers, the filling of banks) is more."""


def report_of(problem: PartitionProblem, partition: Partition) -> dict[str, Any]:
    """The partition's program on both simulators."""
    rng = random.Random(0)
    data = {layer.name: random_data(rng, layer) for layer in problem.network.traced}
    program = compile_program(problem.network, partition, problem.machine, problem.configuration, data, ())
    return report(problem, partition, program, data)


def is_usual(machine: SnowflakeMachine) -> bool:
    """Whether a machine's times are such that the model's tolerance is stated for them: not where a latency is longer
    than a layer, a queue holds one, or the memory is a thousand times faster or slower than the units."""
    usual = machine.timing == Timing()
    return usual and machine.clock_mhz == USUAL_CLOCK


def is_near(layer: dict[str, Any], machine: SnowflakeMachine) -> bool:
    """Whether a layer's cycles are about the model's, a bank of instructions of each cluster more or less: the first is
    there when a program begins, others come as a whole, where the model has a step's instructions come before it."""
    cycles, scale = machine.cycles_per_byte
    banks = machine.clusters * BANK_INSTRUCTIONS * INSTRUCTION_BYTES * cycles / scale
    off = abs(layer["cycles_model"] - layer["cycles_simulated"])
    return bool(off <= LOOSE * layer["cycles_simulated"] + banks)


@pytest.mark.parametrize("count", counts(quick=20))
def test_methods_agree_on_random_partitions_and_every_program_runs(count: int) -> None:
    exact = frozenset(name for name, method in METHODS.items() if method.exact)
    sample = Sample(refereed_by(verify, PartitionProblem.value))

    def runs(problem: PartitionProblem, partition: Partition) -> bool:
        """All words equal the reference's, no hazard is found, and the model's cycles are near."""
        found = report_of(problem, partition)
        layers = list(found["layers"].values())
        sample.counts["layers run"] += len(layers)
        sample.counts["layers within the kind's tolerance"] += sum(layer["agrees"] for layer in layers)
        sound = found["outputs_equal"] and not found["hazards_found"]
        near = all(is_near(layer, problem.machine) for layer in layers)
        return bool(sound and (near or not is_usual(problem.machine)))

    @drawn(count)
    @given(varied_problems())
    def holds(problem: PartitionProblem) -> None:
        sample.examine(problem, tuple(METHODS.values()), exact, runs)

    holds()
    sample.check_telling(unanswered=0.05, missed=0.15)
