"""What an allocation becomes: files of programs and the configuration of the array."""

from __future__ import annotations

import json
from typing import Any

from mapper.arch.source import machine_to_document
from mapper.codegen.pe_allocation.chart import chart
from mapper.codegen.pe_allocation.document import document
from mapper.codegen.pe_allocation.listing import listing
from mapper.codegen.pe_allocation.picture import picture
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.configuration.program import Configuration
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.number.plan import NumberPlan
from mapper.models.pe_allocation.number.plan_file import plan_arrays, plan_document
from mapper.workloads.network.operator_document import operators_document
from mapper.workloads.text.file_name import file_names

NETWORK, CONSTANTS, CONFIGURATION = "network.json", "constants.npz", "configuration.json"
NETWORK_SCHEMA = "mapper.tcpa-network/1"


def generate(
    problem: AllocationProblem, allocation: Allocation, plan: NumberPlan | None = None, origin: str = ""
) -> dict[str, str]:
    """File names and their text: ``configuration.json`` (``mapper.tcpa-configuration/1``), for every layer
    ``NAME.txt``, the programs of its PEs, ``gantt.svg``, ``placement.svg`` if there is a placement, and of a network
    with numbers of its own (``plan``, weights from ``origin``) ``network.json``, by which it can be run with the
    constants (``constants``).

    Raises: InputError as ``configure``.
    """
    network, machine = problem.network, problem.machine
    configuration = configured(problem, allocation, plan)
    cost = evaluate(network, machine, allocation, problem.model)
    files = {
        CONFIGURATION: _text(document(configuration, machine)),
        "gantt.svg": chart(f"{network.name} on {machine.name}", network.names, cost),
    }
    if plan is not None:
        files[NETWORK] = _text(
            {
                "schema": NETWORK_SCHEMA,
                "model": problem.model,
                "machine": machine_to_document(machine),
                "mapping": allocation.to_json(network.names),
                "numbers": plan_document(plan, origin),
                "operators": operators_document(plan.network.operators),
            }
        )
    if allocation.placement is not None:
        files["placement.svg"] = picture(network, machine, allocation, allocation.placement)
    for position, name in enumerate(file_names(layer.name for layer in configuration.layers)):
        files[f"{name}.txt"] = listing(configuration, position)
    return files


def constants(plan: NumberPlan | None) -> dict[str, bytes]:
    """``constants.npz`` with the weights and all other constants of a network with numbers of its own."""
    return {} if plan is None else {CONSTANTS: plan_arrays(plan)}


def configured(
    problem: AllocationProblem, allocation: Allocation, plan: NumberPlan | None = None
) -> Configuration:
    """The configuration of an allocation, with the rules and shifts of a network's own numbers where there are any.

    Raises: InputError as ``configure``.
    """
    found = configure(problem.network, problem.machine, allocation, problem.model)
    return found if plan is None else plan.configured(found)


def _text(fields: dict[str, Any]) -> str:
    return json.dumps(fields, allow_nan=False, indent=1) + "\n"
