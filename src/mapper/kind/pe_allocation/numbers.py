"""The numbers that a network is run with on the array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.kind.network_constants import file_weights, network_model
from mapper.kind.part import ProblemPart
from mapper.models.pe_allocation.number.plan import NumberPlan, word_bits
from mapper.models.pe_allocation.number.unknown import UnknownNumbersError
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.weight import seeded_weights

if TYPE_CHECKING:
    from mapper.sim.pe_allocation.own.numbers import Given

CALIBRATION_FRAMES = 4
"""Seeded frames by whose numbers the fractions of words are chosen, where there are no others."""


def given_numbers(network: LayerNetwork, seed: int) -> Given | None:
    """The network's own weights if its file is there as it was, else seeded ones; None without a model.

    Raises: InputError if the file cannot be read.
    """
    from mapper.sim.pe_allocation.own.numbers import Given

    model = network_model(network)
    if model is None:
        return None
    weights, origin = file_weights(network) or (seeded_weights(network.operators, seed), f"seed {seed}")
    return Given(network, model, weights, origin)


def planned(part: ProblemPart[LayerNetwork, AllocationProblem], seed: int) -> tuple[NumberPlan | None, str]:
    """The numbers that a network is configured with, and where its weights are from; None if it has none here.

    Raises: InputError if its file cannot be read.
    """
    from mapper.sim.pe_allocation.own.numbers import own_numbers

    given = given_numbers(part.workload, seed)
    if given is None:
        return None, "the network's file is not there"
    bits = word_bits(part.problem.machine.word_bytes)
    try:
        return own_numbers(given, part.problem.network, bits, CALIBRATION_FRAMES, seed).plan, given.origin
    except UnknownNumbersError as error:
        return None, str(error)
