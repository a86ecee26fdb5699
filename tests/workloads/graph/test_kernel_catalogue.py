"""The built-in kernels compute what their references in Python compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mapper.workloads.graph.document import kernel_document, kernel_from_document
from mapper.workloads.graph.kernel_execution import execute
from mapper.workloads.graph.kernel_source import kernel_names, load_kernel
from mapper.workloads.reference.kernel import reference, seeded_memory

NAMES = [name for name, _ in kernel_names()]


def test_the_catalogue_has_its_dozen() -> None:
    fixed = "gemm fir dot gemv conv3x3 histogram bitcount isqrt saturate hashround butterfly stencil"
    assert fixed.split() == NAMES


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_the_graph_leaves_the_memory_that_the_reference_leaves(name: str, seed: int) -> None:
    kernel, _ = load_kernel(name)
    before = seeded_memory(kernel, seed)
    after, wanted = execute(kernel, before), reference(name, before)
    assert after.keys() == wanted.keys()
    for array in wanted:
        assert after[array].tobytes() == wanted[array].tobytes(), array
    assert any(not np.array_equal(before[array], wanted[array]) for array in wanted)


@pytest.mark.parametrize("name", NAMES)
def test_only_arrays_said_to_be_written_change(name: str) -> None:
    kernel, _ = load_kernel(name)
    before = seeded_memory(kernel, 3)
    after = execute(kernel, before)
    for array in kernel.arrays:
        assert array.written or np.array_equal(before[array.name], after[array.name])


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_survives_the_way_through_its_document(name: str) -> None:
    kernel, _ = load_kernel(name)
    assert kernel_from_document(kernel_document(kernel), name) == kernel


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_has_from_six_to_some_thirty_operations(name: str) -> None:
    kernel, inputs = load_kernel(name)
    assert 6 <= len(kernel.graph.operations) <= 34
    assert kernel.trip_count is not None
    assert [entry.path for entry in inputs] == [f"catalogue:{name}"]


def test_every_source_in_the_catalogue_is_an_entry() -> None:
    folder = Path(__file__).parents[3] / "workloads" / "catalogue" / "kernels"
    assert {path.stem for path in folder.iterdir()} == set(NAMES)
