"""How large a nest may be that is run with real data."""

from __future__ import annotations

from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.tensor import tensors

MOST_BYTES = 1 << 30
"""Memory that the tensors of a run may take: a byte per word that is read, 33 per word of the result."""
MOST_ITERATIONS = 1 << 40
"""Executions of the statement that are simulated at most; more would take many minutes."""


def check_size(nest: LoopNest) -> None:
    """Raises: InputError if ``nest`` is too large to run with real data."""
    held = sum(tensor.words * (33 if tensor.written else 1) for tensor in tensors(nest))
    if held > MOST_BYTES:
        remedy = f"a run takes {held >> 20} MiB of data, more than {MOST_BYTES >> 20}; lower the bounds"
        raise InputError(nest.name, "loops", remedy)
    if nest.iterations > MOST_ITERATIONS:
        remedy = f"{nest.iterations} iterations, more than {MOST_ITERATIONS}; lower the bounds"
        raise InputError(nest.name, "loops", remedy)
