"""Runs of fused layers that are given by ``--fix segments=…``."""

from __future__ import annotations

import pytest

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.kind.pe_allocation.pins import read_fix
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork, stream_network
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers


@pytest.fixture(scope="module")
def network() -> StreamNetwork:
    return stream_network(load_layers("mnist-tcpa", None))


def test_names_of_first_layers_become_positions(network: StreamNetwork) -> None:
    assert read_fix({"mode": "mixed", "segments": "conv0, conv2,conv4"}, network).segments == (0, 2, 4)
    assert read_fix({"segments": "conv0", "mode": "mixed"}, network).segments == (0,)
    assert read_fix({"mode": "mixed"}, network).segments is None


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({"segments": "conv0,conv2"}, "add mode=mixed"),
        ({"mode": "mixed", "segments": "conv2"}, "conv0 first"),
        ({"mode": "mixed", "segments": "conv0,conv4,conv2"}, "in the order of the layers"),
        ({"mode": "mixed", "segments": "conv0,conv0"}, "in the order of the layers"),
        ({"mode": "mixed", "segments": "conv0,conv9"}, "'conv9' is not a layer of the array"),
        ({"mode": "mixed", "segments": ""}, "is not a layer of the array"),
    ],
)
def test_runs_that_cannot_be_are_refused(network: StreamNetwork, given: dict[str, str], remedy: str) -> None:
    with pytest.raises(InputError, match=remedy):
        read_fix(given, network)


def test_the_referee_wants_the_given_runs(network: StreamNetwork) -> None:
    document = tcpa_preset("tcpa-4x4")
    assert document is not None
    machine = tcpa_from_document(document, "tcpa-4x4")
    allocation = Allocation(
        "mixed", (1,) * 5, (0, 0, 0, 0, 0), (2,) * 5, segments=(0, 1, 2, 3, 4), on_chip=(False,) * 4
    )
    given = AllocationProblem(network, machine, mode="mixed", segments=(0, 1, 2, 3, 4))
    other = AllocationProblem(network, machine, mode="mixed", segments=(0, 1, 2, 4))
    assert verify(given, allocation).valid
    assert [(broken.place, broken.size) for broken in verify(other, allocation).broken] == [("segments", 1)]
