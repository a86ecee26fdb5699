"""Every method of the kind: those that select algorithms of a network, and those that solve a PBQP instance."""

from __future__ import annotations

from typing import Any

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.solver.algorithm_selection.catalogue import METHODS as SELECTION_METHODS
from mapper.solver.method import Effort, Method, Outcome
from mapper.solver.pbqp.catalogue import METHODS as PBQP_METHODS
from mapper.workloads.document import InputError

Problem = SelectionProblem | PbqpProblem


def _joined(name: str) -> Method[Any, Any]:
    """The method of that name of whichever problem is given; some have it of one sort alone."""
    network, instance = SELECTION_METHODS.get(name), PBQP_METHODS.get(name)

    def search(problem: Problem, effort: Effort) -> Outcome[Any]:
        if isinstance(problem, PbqpProblem):
            if instance is None:
                remedy = f"selects algorithms of a network; a PBQP instance has {', '.join(PBQP_METHODS)}"
                raise InputError("--method", name, remedy)
            return instance.search(problem, effort)
        if network is None:
            remedy = f"solves PBQP instances; a network has {', '.join(SELECTION_METHODS)}"
            raise InputError("--method", name, remedy)
        return network.search(problem, effort)

    def prepare() -> None:
        for method in (network, instance):
            if method is not None:
                method.prepare()

    found = [method for method in (network, instance) if method is not None]
    said = "; ".join(
        f"{sort}: {method.summary}"
        for sort, method in (("networks", network), ("PBQP", instance))
        if method is not None
    )
    return Method(name, all(method.exact for method in found), said, search, prepare)


METHODS: dict[str, Method[Any, Any]] = {
    name: _joined(name) for name in dict.fromkeys((*SELECTION_METHODS, *PBQP_METHODS))
}
