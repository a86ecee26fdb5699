"""Partitions compiled and run: constants of a network, its program, the simulators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from mapper.codegen.trace_partition import compile_program, listing
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.kind.network_constants import file_weights
from mapper.kind.trace_partition.part import PartitionPart
from mapper.models.trace_partition.cost import evaluate
from mapper.models.trace_partition.data.quantisation import LayerData, quantised
from mapper.models.trace_partition.data.seeded_weight import sensible_weights
from mapper.models.trace_partition.isa.program import Program
from mapper.models.trace_partition.isa.program_file import load_program, write_program
from mapper.models.trace_partition.lowering.host_call import host_calls
from mapper.models.trace_partition.lowering.layer import TraceNetwork
from mapper.models.trace_partition.mapping import Partition
from mapper.models.trace_partition.partition_cost import LayerCost
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork

BINARY = "program.snow"


def constants(
    network: LayerNetwork, trace: TraceNetwork, seed: int
) -> tuple[Mapping[str, npt.NDArray[Any]], str]:
    """The weights of a network, and where they are from: the ONNX file itself if it is there with the hash of the
    solution, else seeded ones; those of the catalogue are constants that would hide a wrong layout.

    Raises: InputError if the file cannot be read.
    """
    return file_weights(network) or (sensible_weights(network, trace, seed), f"seed {seed}")


def compiled(
    problem: PartitionProblem, partition: Partition, network: LayerNetwork, seed: int
) -> tuple[Program, dict[str, LayerData], str]:
    """The program, the constants in it, and where they are from."""
    weights, origin = constants(network, problem.network, seed)
    data = quantised(network, problem.network, weights)
    calls = host_calls(network, problem.network, weights)
    program = compile_program(problem.network, partition, problem.machine, problem.configuration, data, calls)
    return program, data, origin


def simulated(part: PartitionPart, partition: Partition, seed: int, file: Path | None) -> dict[str, Any]:
    """The functional and the cycle simulator on the program that the partition becomes, or on that of ``file``.

    Raises: InputError if the file holds no program for this machine and network.
    """
    from mapper.sim.trace_partition.report import report

    problem = part.problem
    program, data, origin = compiled(problem, partition, part.workload, seed)
    if file is not None:
        given = load_program(file)
        if (given.inputs, given.outputs, len(given.clusters)) != (
            program.inputs,
            program.outputs,
            len(program.clusters),
        ):
            raise InputError(
                str(file), "", "is a program of another network or configuration; generate it again"
            )
        program = given
    result = report(problem, partition, program, data, seed)
    layers, notes = result.pop("layers"), result["notes"]
    cost = evaluate(problem.network, problem.machine, problem.configuration, partition)
    parts = [
        _layer_result(layer.name, own, layers[layer.name])
        for layer, own in zip(problem.network.traced, cost.layers, strict=True)
    ]
    return {**result, "parts": [{**parts[0], "notes": notes}, *parts[1:]], "data": {"weights": origin}}


def _layer_result(name: str, cost: LayerCost, found: dict[str, Any]) -> dict[str, Any]:
    """One layer as ``simulate`` lists it; what else the simulators say of it stands under ``physical``."""
    run = replace(cost, cycles=found["cycles_simulated"], bytes={"all": found["dram_bytes_simulated"]})
    return {
        "name": name,
        "outputs_equal": found["outputs"] != "different",
        "max_error": found["max_error"],
        "agrees": found["agrees"],
        "cost_model": cost.cost_json(),
        "cost_simulated": run.cost_json(),
        "physical": found,
    }


def generated(part: PartitionPart, partition: Partition, seed: int) -> dict[str, str | bytes]:
    """The assembler listing, the binary, and the picture of loads, computing and stores over time."""
    from mapper.sim.trace_partition.cycle.simulation import simulate_cycles
    from mapper.sim.trace_partition.timeline import timeline_picture

    problem = part.problem
    program, _, _ = compiled(problem, partition, part.workload, seed)
    timeline = timeline_picture(problem.network.name, simulate_cycles(program, problem.machine))
    return {
        "program.s": listing(program),
        BINARY: write_program(program),
        "timeline.svg": timeline,
    }
