"""A linear program as text in a form that solvers read."""

from __future__ import annotations

import pulp

from mapper.workloads.process.temporary import temporary_folder


def program_text(model: pulp.LpProblem, form: str) -> str:
    """``model`` in the form ``lp`` or ``mps``, with the names of its variables."""
    with temporary_folder() as folder:
        path = folder / f"model.{form}"
        if form == "lp":
            model.writeLP(str(path))
        else:
            model.writeMPS(str(path))
        return path.read_text()
