"""Mapped networks as programs, and what running one layer of them gives."""

from __future__ import annotations

from collections.abc import Sequence

from mapper.codegen.modulo_schedule.network.compiler import compile_network
from mapper.codegen.modulo_schedule.network.driver_listing import driver_listing
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.kind.network_constants import file_weights
from mapper.kind.operator_structure import operator_structure
from mapper.models.modulo_schedule.network.mapping import LayerMapping
from mapper.models.modulo_schedule.program.constant import Values, Weights
from mapper.models.modulo_schedule.program.program import Program
from mapper.models.modulo_schedule.program.program_file import written
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.weight import seeded_weights

Answered = Sequence[tuple[LayerProblem, LayerMapping]]
NO_PROGRAM = "no-program.txt"


def weights_of(network: LayerNetwork, seed: int) -> tuple[Weights, str]:
    """The network's own weights, or seeded ones, and where they are from."""
    return file_weights(network) or (seeded_weights(network.operators, seed), f"seed {seed}")


def compiled(network: LayerNetwork, answered: Answered, seed: int) -> tuple[Program, Values]:
    """The program of a network whose layers are mapped, and its constants.

    Raises: InputError if a layer has no program.
    """
    weights, origin = weights_of(network, seed)
    mapped = {problem.layer.name: (problem, mapping) for problem, mapping in answered}
    return compile_network(network, mapped, weights, operator_structure(network), origin)


def generated_network(network: LayerNetwork, answered: Answered, seed: int) -> dict[str, str | bytes]:
    """The files of the whole network: the program with its constants and the listing of its driver; if a layer has no
    program, a line that says why."""
    try:
        program, constants = compiled(network, answered, seed)
    except InputError as error:
        return {NO_PROGRAM: f"{error}\n"}
    return {**written(program, constants), "driver.txt": driver_listing(program)}
