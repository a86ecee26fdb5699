"""Raw PBQP instances as parts of the kind ``algorithm_selection``: no machine, the objective is the value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mapper.formulations.pbqp.problem import PbqpProblem, pbqp_problem
from mapper.formulations.pbqp.referee.verify import verify
from mapper.kind.part import Options, ProblemPart, ShownVerdict, Workload
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.workloads.document import InputError, sha256
from mapper.workloads.network.network import InputFile
from mapper.workloads.pbqp.document import pbqp_document, pbqp_from_document
from mapper.workloads.pbqp.file import read_pbqp
from mapper.workloads.pbqp.instance import PbqpInstance

InstancePart = ProblemPart[PbqpInstance, PbqpProblem]
ROUNDING = 1e-9
"""The share of all costs together, as amounts, by which sums of some of them differ, with room to spare."""


def read_instance(text: str) -> Workload[PbqpInstance]:
    """The instance in a file.

    Raises: InputError naming the file, the line or field, and what to do.
    """
    instance, data = read_pbqp(Path(text))
    return Workload(instance, (InputFile(text, sha256(data)),))


def pose_instance(value: PbqpInstance, options: Options) -> tuple[InstancePart, ...]:
    """The instance as one part; ``--fix VERTEX=CHOICE`` pins."""
    return (ProblemPart(value.name, value.name, pbqp_problem(value, options.fix), 0, value),)


def verify_assignment(problem: PbqpProblem, assignment: PbqpAssignment) -> ShownVerdict:
    """The referee's verdict and the value."""
    verdict = verify(problem, assignment)
    if verdict.cost is None:
        return ShownVerdict(verdict.broken, None, None, None)
    return ShownVerdict(verdict.broken, {"value": verdict.cost}, {"cycles": {}, "bytes": {}}, verdict.cost)


def rounding(problem: PbqpProblem) -> float:
    """By how much sums of the instance's costs differ that are equal but for rounding."""
    given = problem.instance
    if given.exact:
        return 0.0
    amounts = (np.abs(costs[np.isfinite(costs)]).sum() for costs in (given.vertex_cost, given.edge_cost))
    return ROUNDING * float(sum(amounts))


def instance_structure(value: PbqpInstance) -> dict[str, Any]:
    """The instance as it stands in a solution document."""
    return {"pbqp": pbqp_document(value)}


def read_instance_structure(structure: Mapping[str, Any], name: str, source: str) -> PbqpInstance:
    """The instance that a document describes."""
    fields = structure.get("pbqp")
    if not isinstance(fields, dict):
        raise InputError(source, "problem.structure.pbqp", "must hold the instance")
    return pbqp_from_document(fields, f"{source}: problem.structure.pbqp", name)
