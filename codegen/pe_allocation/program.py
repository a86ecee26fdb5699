"""What an allocation becomes: files of programs and the configuration of the array."""

from __future__ import annotations

import json

from mapper.codegen.pe_allocation.chart import chart
from mapper.codegen.pe_allocation.document import document
from mapper.codegen.pe_allocation.listing import listing
from mapper.codegen.pe_allocation.picture import picture
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.workloads.text.file_name import file_names


def generate(problem: AllocationProblem, allocation: Allocation) -> dict[str, str]:
    """File names and their text: ``configuration.json`` (``mapper.tcpa-configuration/1``), for every layer
    ``NAME.txt``, the programs of its PEs, ``gantt.svg``, and ``placement.svg`` if there is one.

    Raises: InputError as ``configure``.
    """
    network, machine = problem.network, problem.machine
    configuration = configure(network, machine, allocation, problem.model)
    cost = evaluate(network, machine, allocation, problem.model)
    files = {
        "configuration.json": json.dumps(document(configuration, machine), allow_nan=False, indent=1) + "\n",
        "gantt.svg": chart(f"{network.name} on {machine.name}", network.names, cost),
    }
    if allocation.placement is not None:
        files["placement.svg"] = picture(network, machine, allocation, allocation.placement)
    for position, name in enumerate(file_names(layer.name for layer in configuration.layers)):
        files[f"{name}.txt"] = listing(configuration, position)
    return files
