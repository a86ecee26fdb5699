"""The formulation of a problem, in words, symbols and counts of the instance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from mapper.api.problem import pose
from mapper.kind.part import Options
from mapper.workloads.process.whole_file import check_writable, write_whole

Form = Literal["text", "markdown", "latex", "html"]


def explain(
    workload: str | None = None,
    arch: str | None = None,
    objective: str | None = None,
    options: Options | None = None,
    form: str = "text",
    fix: Mapping[str, Any] | None = None,
) -> str:
    """The formulation of the workload's first part; name another as ``workload/part``.

    Raises: InputError if the problem cannot be posed.
    """
    from mapper.formulations.explanation import render

    problem = pose(workload, arch, objective, options, fix)
    part = problem.parts[0].problem
    formulation = problem.kind.formulation(part)
    read = problem.kind.source_remarks(
        problem.workload, problem.read.value, problem.machine, problem.options.source
    )
    return render(formulation, form, [*problem.kind.remarks(part, formulation), *read])


def export(
    workload: str | None,
    arch: str | None,
    objective: str | None,
    options: Options | None,
    form: str,
    path: Path,
) -> None:
    """Write the model of the first part as ``lp``, ``mps`` or ``cpsat`` text.

    Raises: InputError if the formulation has no such form or the file cannot be written.
    """
    problem = pose(workload, arch, objective, options)
    check_writable(path, "--export")
    write_whole(path, problem.kind.model(problem.parts[0].problem).export(form), "--export")
