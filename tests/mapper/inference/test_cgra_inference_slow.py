"""The paper's networks, compiled for its arrays and run: the reference's words in the model's cycles."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.kind.modulo_schedule.network_program import weights_of
from mapper.workloads.source import load_layers
from tests.mapper.inference.test_cgra_inference import checked, generated

RUNS = [
    ("lenet5", "srp-2x2"), ("lenet5", "srp-4x4"), ("cifar10", "srp-2x2"), ("cifar10", "srp-4x4"),
    ("squeezenet", "srp-4x4"), ("squeezenet-1.0", "srp-4x4"), ("alexnet", "srp-4x4"), ("alexnet-darknet", "srp-4x4"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("network", "array"), RUNS)
def test_a_network_of_the_paper_runs_as_tuned(network: str, array: str, tmp_path: Path) -> None:
    solution, loaded = generated(network, array, "algorithm-1", tmp_path / "out")
    checked(solution, loaded, weights_of(load_layers(network), 0)[0])
