"""Networks whose PEs execute their programs, and machines with other PEs."""

from __future__ import annotations

from typing import Any

from mapper.arch.tcpa import TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.sim.pe_allocation.report import report


def with_pe(functional: int = 2, **fields: Any) -> TcpaMachine:
    """The preset of 4x4 PEs of so many units and with these fields."""
    document = tcpa_preset("tcpa-4x4")
    assert document is not None
    counts = dict.fromkeys(document["functional_units"], functional)
    changed = {**document, "functional_units": counts, "processing_element": fields}
    return tcpa_from_document(changed, "tcpa-4x4")


def executed(network: StreamNetwork, allocation: Allocation, seed: int = 0, **fields: Any) -> dict[str, Any]:
    """The report of ``allocation``, its programs executed on PEs with these fields."""
    machine = with_pe(max(2, *allocation.delta), **fields)
    problem = AllocationProblem(network, machine, model="streaming", mode=allocation.mode)
    return report(problem, allocation, seed, words=True)
